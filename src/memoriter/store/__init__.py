"""Where is it kept, and in which order was it written?"""
