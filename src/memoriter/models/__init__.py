"""How is somebody's model reached: a folder on this machine, a server, a thread of its own?"""
