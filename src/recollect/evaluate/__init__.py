"""How good is it?"""
