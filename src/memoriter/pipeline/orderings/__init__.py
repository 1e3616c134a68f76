"""What moves or drops rows once they have their scores: each ordering is one small file."""
