"""Rows for the tests of retrievers."""

from __future__ import annotations

from collections.abc import Iterable

from ais_prompt.types import Sample


def samples(questions: Iterable[object]) -> list[Sample]:
    """A split with one column ``q``; equal questions make equal rows."""
    return [Sample(f"id-{index}", index, {"q": value}, None) for index, value in enumerate(questions)]
