from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.utils.text import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\n\ttext 你好 🙂", "plain\n\ttext 你好 🙂"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("over\rwritten", "over\\rwritten"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("lone \ud800", "lone \\ud800"),
    ],
)
def test_what_a_terminal_would_obey_is_escaped(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(st.text())
def test_the_result_can_be_printed(text: str) -> None:
    shown = printable(text)
    shown.encode()
    assert "\x1b" not in shown
