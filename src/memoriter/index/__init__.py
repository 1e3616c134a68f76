"""Here is a log: how do I find things in it quickly?"""
