"""How fast is it? `python -m bench` prints tables and never fails on speed."""
