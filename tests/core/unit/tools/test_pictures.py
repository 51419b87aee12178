"""The picture of the terminal: its texts, and nothing from elsewhere."""

from __future__ import annotations

import re

from tests.support.markdown import svg_lines
from tools.pictures import COMMAND, TERMINAL, draw_terminal


def test_the_picture_shows_the_command_and_what_it_printed() -> None:
    svg = draw_terminal("\x1b[1mdataset\x1b[0m  n < 3\n")
    assert svg_lines(svg)[:2] == [f"$ {COMMAND}", "dataset  n < 3"]
    assert "bold" in svg


def test_the_picture_loads_nothing() -> None:
    for svg in (draw_terminal("text"), TERMINAL.read_text("utf-8")):
        assert "<svg" in svg
        assert not re.search(r"url\(\W*http|href|src=|@import", svg)
