"""Labels in the reader's language."""

from __future__ import annotations

import io

import pytest
from msgspec.structs import replace
from rich.console import Console

from ais_prompt.report import label_language, print_summary, term
from ais_prompt.scoring import Row

NAMES = ("AISPROMPT_LANG", "LC_ALL", "LC_MESSAGES", "LANG")


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "AISPROMPT_LANG": "en"}, "en"),
        ({"LANG": "C", "AISPROMPT_LANG": "ZH"}, "zh"),
    ],
)
def test_the_variable_goes_before_the_locale(
    monkeypatch: pytest.MonkeyPatch, values: dict[str, str], found: str
) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    assert label_language() == found
    assert term("dataset") == ("数据集" if found == "zh" else "dataset")


@pytest.mark.parametrize("terminal", [True, False])
def test_only_a_terminal_has_chinese_headings(monkeypatch: pytest.MonkeyPatch, terminal: bool) -> None:
    monkeypatch.setenv("AISPROMPT_LANG", "zh")
    stream = io.StringIO()
    rows = [Row(data, model, metric="accuracy", score=0.5, n=4) for data in ("sums", "products") for model in "ab"]
    console = Console(file=stream, width=120, force_terminal=terminal, color_system=None, _environ={})
    print_summary(rows, console)
    print_summary([replace(rows[0], scored=3, unparsed=1)], console)
    assert ("数据集" in stream.getvalue(), "1 未解析" in stream.getvalue()) == (terminal, terminal)
    assert ("dataset" in stream.getvalue(), "1 no answer" in stream.getvalue()) != (terminal, terminal)
