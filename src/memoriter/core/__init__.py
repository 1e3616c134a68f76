"""What is a memory, and what are the values every other room speaks in?"""
