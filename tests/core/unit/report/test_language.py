"""Labels in the reader's language."""

from __future__ import annotations

import io
import json
from importlib.resources import files

import pytest
from msgspec.structs import replace
from rich.console import Console

from ais_prompt.report import LONG_HEADER, hint_in_language, label_language, print_summary, term
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
    assert ("数据集" in stream.getvalue(), "1 无答案" in stream.getvalue()) == (terminal, terminal)
    assert ("dataset" in stream.getvalue(), "1 no answer" in stream.getvalue()) != (terminal, terminal)


HINTS = {
    "Next:": "接下来:",
    "Run folder: outputs/Next/1": "运行文件夹: outputs/Next/1",
    "  look at every sample        aisprompt view sums": "  查看每个样本                aisprompt view sums",
    "  ask a random sample instead aisprompt run": "  改为询问随机样本            aisprompt run",
    "  see what was sent           aisprompt view-prompt 'Next:  score.py'": (
        "  查看发送的内容              aisprompt view-prompt 'Next:  score.py'"
    ),
    "  summary       all of this as txt, csv, md and json": "  summary       以上内容的 txt、csv、md 和 json",
    "score: n  failed": "score: n  failed",
    "Warning: a\n  where: b\n  summary       all of this as txt, csv, md and json": (
        "Warning: a\n  where: b\n  summary       以上内容的 txt、csv、md 和 json"
    ),
    "": "",
}


@pytest.mark.parametrize("line", HINTS)
def test_labels_of_hints_are_translated_and_columns_stay(monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    monkeypatch.setenv("AISPROMPT_LANG", "en")
    assert hint_in_language(line) == line
    monkeypatch.setenv("AISPROMPT_LANG", "zh")
    assert hint_in_language(line) == HINTS[line]


def test_no_word_is_translated_twice() -> None:
    package = files("ais_prompt.report")
    paths = ("zh.json", "hints_zh.json", "web/assets/zh.json")
    words = [word for path in paths for word in json.loads((package / path).read_text("utf-8"))]
    assert len(words) == len(set(words))


def test_the_words_of_every_table_of_a_terminal_are_translated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AISPROMPT_LANG", "zh")
    assert [name for name in LONG_HEADER if name != "stderr" and term(name) == name] == []
