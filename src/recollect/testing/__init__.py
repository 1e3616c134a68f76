"""Is this a store, and is this ranking right?"""
