"""The verbs that coordinate several rooms: run, score, check, and gates. Others call their room directly."""
