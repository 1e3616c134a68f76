"""Which rows does this one signal find, and how good are they?"""
