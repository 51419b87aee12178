"""Labels in the reader's language: all of them are in the table, and none is left in English."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import ais_prompt
from ais_prompt.checks import MisspeltPlaceholder, PromptWarning
from ais_prompt.preview import PromptView, Token, preview_sample, write_prompts
from ais_prompt.report import counted, prompts_page, prompts_part, runs_page, say, side_by_side
from ais_prompt.store import RunFolder
from tests.support.prompt_tasks import prompt_task

ASSETS = files("ais_prompt.report.web") / "assets"
TABLE = json.loads((ASSETS / "zh.json").read_text("utf-8"))
SHOTS = [{"q": f"{n}+{n}", "a": str(2 * n)} for n in (1, 2)]
TURNS = [{"role": "HUMAN", "prompt": "{q}"}, {"role": "BOT", "prompt": "{a}"}]
BEGIN = [{"role": "SYSTEM", "fallback_role": "HUMAN", "prompt": "求和"}, "</E>"]
META = {"round": [{"role": "HUMAN", "begin": "问："}, {"role": "BOT", "begin": "答：", "generate": True}]}
DIALOGUE = {"type": "MultiTurnPromptTemplate", "turn_columns": ["q", "a"], "template": {"round": TURNS}}
OF_DATA = set(
    "data model large test id max_seq_len SYSTEM HUMAN BOT user assistant system ice_separator ice_eos_token of "
    "datasets infer_cfg prompt_template ice_template template retriever models meta_template round begin prompt "
    "choices inferencer Tab zh utf width device-width initial-scale no-referrer temperature max_out_len asks "
    "log-likelihoods".split()
)
"""Words of the data and the config, roles, names of config keys, and the head of a page."""


class Texts(HTMLParser):
    """Collects what a reader sees or hears: texts, and the attributes that are shown or read out."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._hidden = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden = tag in ("style", "script")
        self.texts += [value or "" for name, value in attrs if name in ("aria-label", "data-from", "title")]

    def handle_endtag(self, tag: str) -> None:
        self._hidden = False

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.texts.append(data)


def english(page: str) -> set[str]:
    return set(re.findall(r"[A-Za-z][A-Za-z_-]+", " ".join(Texts(page).texts))) - OF_DATA


def views(prompt: Any, **more: Any) -> list[PromptView]:
    """Prompts without the texts of their warnings: these are messages, as those of `check`."""
    return [replace(view, warnings=()) for view in preview_sample(prompt_task(prompt, **more), 1, origins=True)]


def with_shots(prompt: Any, **more: Any) -> list[PromptView]:
    return views(prompt, train=SHOTS, ice={"round": TURNS}, **more)


def dialogue(inferencer: Any) -> list[PromptView]:
    rows = [{"q": ["1+1", "2+2"], "a": ["2", "4"]}]
    return views(DIALOGUE, rows=rows, inferencer=inferencer, style="messages")


def every_kind() -> Sequence[PromptView]:
    """Prompts with all that the view can show: all origins, titles, examples, tokens, lengths, gold and warnings."""
    whole = {"begin": BEGIN, "round": TURNS}
    warnings = (PromptWarning("", "", ""), MisspeltPlaceholder("", "", "", "{qq}"))
    [first] = with_shots(whole, meta=META)
    [chat] = with_shots(whole, style="messages")
    choices = views("{q}", rows=[{"q": "3+3", "a": "6", "choices": ["6"]}], inferencer={"type": "ChoicesInferencer"})
    two = {"type": "PPLInferencer", "labels": ["A", "B"]}
    turns = [{"type": "MultiTurnGenInferencer", "infer_mode": mode} for mode in ("every", "last", "every_with_gt")]
    return [
        replace(first, tokens=3, max_seq_len=2, warnings=warnings, left_out=1, all_tokens=(Token(1, "求", True),)),
        replace(first, tokens=3, shots=first.shots[:1], gold_sent="all"),
        replace(first, origins=None, shots=()),
        replace(chat, gold_sent="earlier turns"),
        *with_shots({label: {"begin": ["</E>"], "round": TURNS} for label in "AB"}, inferencer=two),
        *(view for one in turns for view in dialogue(one)),
        *(
            replace(first, title=f"turn 2, tools: 加{more}")
            for more in ("", ", expected calls in place of the model's")
        ),
        replace(first, title="tools: 加"),
        *choices,
    ]


def test_no_label_of_the_prompt_view_stays_english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AISPROMPT_LANG", "zh")
    shown = every_kind()
    other = replace(shown[0], model="large", prompt="", origins=None)
    pages = [
        prompts_page(say("Prompts of {configs}", configs="甲"), side_by_side([("", [view, other])])) for view in shown
    ]
    same = prompts_page("", side_by_side([("", [shown[0], replace(shown[0], model="model 2")])]))
    assert {word for page in [*pages, same] for word in english(page)} == set()
    assert '<html lang="zh">' in same


@pytest.mark.thorough
def test_the_words_of_the_view_are_english_without_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AISPROMPT_LANG", "en")
    page = prompts_page("", side_by_side([("", [every_kind()[0]])]))
    assert {"Gold", "Warning", "tokens", "characters"} <= english(page)
    assert not re.search("提示词|示例", page)


def test_the_prompts_of_a_report_are_in_its_language(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    task = prompt_task({"round": TURNS})
    write_prompts([task], RunFolder(tmp_path))
    monkeypatch.setenv("AISPROMPT_LANG", "zh")
    assert english(prompts_part(RunFolder(tmp_path))) == set()


def test_the_scripts_of_a_page_have_the_same_table(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    label = json.dumps(TABLE["No matching runs."])
    monkeypatch.setenv("AISPROMPT_LANG", "zh")
    assert label in runs_page(tmp_path, {})
    monkeypatch.setenv("AISPROMPT_LANG", "en")
    assert label not in runs_page(tmp_path, {})


@pytest.mark.parametrize(("name", "found"), [("en", "1 token, 1,319 tokens"), ("zh", "1 个词元, 1,319 个词元")])
def test_a_number_has_its_noun(monkeypatch: pytest.MonkeyPatch, name: str, found: str) -> None:
    monkeypatch.setenv("AISPROMPT_LANG", name)
    assert f"{counted(1, 'token')}, {counted(1319, 'token')}" == found


@pytest.mark.thorough
def test_every_label_is_translated() -> None:
    said = set()
    for path in Path(ais_prompt.__file__).parent.rglob("*.py"):
        said |= set(re.findall(r'\b(?:say|counted)\(\s*"([^"]+)"', path.read_text("utf-8")))
    assert len(said) > 15
    package = Path(ais_prompt.__file__).parent
    for path in package.rglob("*.js"):
        said |= set(re.findall(r'\bsay\("([^"]+)"', path.read_text("utf-8")))
    for path in package.rglob("*.html"):
        said |= set(re.findall(r"data-say>([^<]+)<", path.read_text("utf-8")))
    assert len(said) > 100
    tables = (json.loads(path.read_text("utf-8")) for path in package.rglob("zh.json"))
    assert said - {label for table in tables for label in table} == set()


def test_a_translation_names_the_same_values() -> None:
    for label, translated in TABLE.items():
        names = [sorted(re.findall(r"\{\w+\}", text)) for text in (label, translated)]
        assert names[0] == names[1], label
