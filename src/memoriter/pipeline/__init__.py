"""Here is a query: what runs, in which order, and how is it put together?"""
