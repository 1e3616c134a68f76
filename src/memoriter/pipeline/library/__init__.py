"""Which recipes come with the house?"""
