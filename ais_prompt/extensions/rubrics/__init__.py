"""Rubrics: judges say of each criterion whether an answer meets it."""

from typing import Final

from ais_prompt.extension import Extension

EXTENSION: Final = Extension(parts={"evaluators": {"RubricEvaluator": "rubric"}})
