"""Why this answer, why not another one, and can anyone check it?"""
