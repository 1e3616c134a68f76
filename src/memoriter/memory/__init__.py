"""What can I do with a memory? The façade, and the only room that opens stores and models."""
