"""How does an answer look on paper?"""
