"""Who reads the best candidates once more, next to the question?"""
