"""Is the answer mathematically the same as the gold answer?"""
