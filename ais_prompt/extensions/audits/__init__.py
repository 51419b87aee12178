"""Audits of scorers, which must not score answers that know nothing above chance, and of how answers are read."""

from typing import Final

from ais_prompt.extension import Extension

EXTENSION: Final = Extension(
    documents={"check": "scorers:CheckFields"},
    steps={"audit": "scorers:audit_scorers", "audit_answers": "other_readings:audit_reading"},
)
