"""Which columns of a row are stored with its prediction."""

from __future__ import annotations

from ais_prompt.engine import LONGEST_NAME, columns_of
from ais_prompt.types import Sample


def test_numbers_flags_and_short_texts_are_stored_but_not_the_gold() -> None:
    fields = {
        "subject": "数论",
        "level": 3,
        "share": 0.5,
        "hard": True,
        "answer": "A",
        "question": "x" * (LONGEST_NAME + 1),
        "lines": "a\nb",
        "empty": "",
        "options": ["a", "b"],
        "nothing": None,
    }
    assert columns_of(Sample("s", 0, fields, "A"), "answer") == {
        "subject": "数论",
        "level": 3,
        "share": 0.5,
        "hard": True,
    }


def test_without_a_gold_column_every_name_is_stored() -> None:
    assert columns_of(Sample("s", 0, {"answer": "A"}), None) == {"answer": "A"}
