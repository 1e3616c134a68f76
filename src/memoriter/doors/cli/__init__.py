"""How does a person at a terminal come in?"""
