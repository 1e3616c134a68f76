"""Where does a text lie in the space of meanings?"""
