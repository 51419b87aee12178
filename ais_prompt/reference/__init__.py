"""The reference: what everything is called, takes and means, read from signatures, docstrings and tables.

`aisprompt describe` shows an entry in a terminal, and ``python -m tools.reference`` writes the pages of docs/reference.
"""
