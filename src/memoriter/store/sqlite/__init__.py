"""How does one SQLite file keep the log, through crashes and beside other processes?"""
