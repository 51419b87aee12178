"""Audits of scorers: answers that know nothing must not score above chance."""

from typing import Final

from ais_prompt.extension import Extension

EXTENSION: Final = Extension(documents={"check": "documents:CheckFields"}, steps={"audit": "scorers:audit_scorers"})
