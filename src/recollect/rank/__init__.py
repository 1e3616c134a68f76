"""Here are the numbers: which rows come first?"""
