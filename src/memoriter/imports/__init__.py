"""What does somebody else's file say? One reader per format; none of them writes."""
