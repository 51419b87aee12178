"""Leaks: no template writes its gold answer; the data are searched for gold answers, copies and broken rows."""

from typing import Final

from ais_prompt.extension import Extension

EXTENSION: Final = Extension(steps={"check": "search:search_leaks", "near_copies": "near_copies:pair_near_copies"})
