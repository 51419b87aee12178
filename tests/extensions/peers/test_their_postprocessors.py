"""The ``_peer`` postprocessors behave as OpenCompass' functions do, which run in place from its wheel."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.registry import POSTPROCESSORS
from bench.extraction import CORPORA, CORPUS, SETS, SUBJECTS, UNSEEN, measure, peer_functions, subjects, texts
from tests.support.parts import shipped_names

WHEEL = Path(os.environ.get("OPENCOMPASS_WHEEL", "opencompass-0.5.4-py3-none-any.whl"))
needs_wheel = pytest.mark.skipif(not WHEEL.is_file(), reason="OPENCOMPASS_WHEEL names no wheel of opencompass 0.5.4")
NAMES = sorted(name for name in shipped_names(POSTPROCESSORS) if name.endswith("_peer"))
NEED_OPTIONS = ("first_option_postprocess", "last_option_postprocess")
EVERY_TEXT = [
    text
    for subject in SUBJECTS
    for language in ("en", "zh")
    for name in (*SETS, "nothing")
    for text, _ in texts(CORPUS, subject, language, name)
]
PIECES = (
    *"ABCDTa1.5,-$ \n:：。，()*{}是为选",
    *("<think>", "</think>", "答案", "应该", "故选", "只有", "正确", "错误", "说法", "所以", "因此", "选项", "1,000"),
    *(
        "The answer is",
        "The correct answer is",
        "final answer",
        "\\boxed{",
        "\\frac",
        "\\sqrt",
        "\\text{",
        "Question:",
        "```\n",
        "the ",
    ),
)
FACTS = [
    ("general", "3.14", "3"),
    ("general", "The Eiffel  Tower, Paris", "Eiffel Tower"),
    ("first_capital", "Ä or B", "Ä"),
    ("last_capital", "none", ""),
    ("first_capital_multi", "x ABE", "AB"),
    ("first_option", "It is not A but C, of course", "A"),
    ("first_option", "答案不是A，选C", "C"),
    ("first_option", "The answer is Africa", "A"),
    ("last_option", "B is right. Awful", "A"),
    ("multiple_select", "The answer is B", "BT"),
    ("first_number", "v.5", 0.5),
    ("gsm8k", "1,000", "000"),
    ("gsm8k", "none", "NULL"),
    ("math_v2", "The answer is 3.5", "3"),
    ("math_v2", "so \\boxed{{1}}", "1"),
    ("humaneval_v2", "    return 1", "return 1"),
    ("extract_non_reasoning_content", "<think>4", "<think>4"),
    ("generic_llmjudge", "Based on it: A", "B"),
]


def peer(name: str) -> Callable[[str], Any]:
    stem, _, version = name.partition("_v")
    multi = stem.removesuffix("_multi")
    full = stem if stem.startswith("extract") else f"{multi}_postprocess" + ("_multi" if stem != multi else "")
    return POSTPROCESSORS.get(full + (f"_v{version}" if version else "") + "_peer")


@pytest.mark.parametrize(("name", "text", "found"), FACTS)
def test_recorded_facts(name: str, text: str, found: object) -> None:
    assert peer(name)(text) == found


@pytest.fixture(scope="module")
def functions() -> dict[str, Callable[..., Any]]:
    found = peer_functions(WHEEL)
    # In the wheel the judge's function has a name of its own: the public one reads whole files of verdicts.
    found["generic_llmjudge_postprocess"] = found["_generic_llmjudge_postprocess"]
    return found


def same(name: str, functions: dict[str, Callable[..., Any]], text: str) -> None:
    original = name.removesuffix("_peer")
    options = {"options": "ABCD"} if original in NEED_OPTIONS else {}
    assert POSTPROCESSORS.get(name)(text) == functions[original](text, **options), text


@needs_wheel
@pytest.mark.parametrize("name", NAMES)
def test_they_agree_on_every_phrasing(name: str, functions: dict[str, Callable[..., Any]]) -> None:
    for text in EVERY_TEXT:
        same(name, functions, text)


@needs_wheel
@pytest.mark.parametrize("name", NAMES)
@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join) | st.text(max_size=40))
def test_they_agree_on_any_text(name: str, functions: dict[str, Callable[..., Any]], text: str) -> None:
    same(name, functions, text)


@needs_wheel
@pytest.mark.parametrize("corpus", CORPORA, ids=lambda corpus: corpus.name)
@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: f"{subject.name}, {subject.corpus}")
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", SETS)
def test_our_recall_is_never_below_theirs(
    corpus: Path, subject: Any, language: str, name: str, functions: dict[str, Callable[..., Any]]
) -> None:
    if subject not in subjects(corpus) or (corpus in UNSEEN and not subject.reads_nothing):
        pytest.skip("no phrasings of this kind, or of letters that theirs meets in a thought")
    ours = measure(corpus, subject, partial(POSTPROCESSORS.get(subject.name), **subject.options), language, name)
    function = partial(functions[subject.name], **subject.peer_options)
    assert ours.right >= measure(corpus, subject, function, language, name).right
