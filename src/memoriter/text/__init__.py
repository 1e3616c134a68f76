"""Which words does a text have?"""
