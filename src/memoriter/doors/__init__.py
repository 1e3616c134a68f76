"""How does the outside world come in?"""
