"""What changes a score once it is there: each boost is one small file."""
