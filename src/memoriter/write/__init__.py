"""How does a memory get in, change, and leave?"""
