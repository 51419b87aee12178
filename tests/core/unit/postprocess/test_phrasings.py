"""The corpus of phrasings: what must be found in it, and where nothing must be found."""

from __future__ import annotations

import csv
import json
import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from unicodedata import normalize

import pytest

from ais_prompt.postprocess import first_option_postprocess, last_option_postprocess
from ais_prompt.registry import POSTPROCESSORS
from bench.extraction import CORPORA, CORPUS, SETS, SUBJECTS, UNSEEN, Subject, measure, subjects, texts
from bench.extraction_real import answers
from bench.extraction_real import measure as measure_real
from tests.support.parts import shipped_names
from tests.support.real_data import BBH, needs

LETTER_TASKS = (
    "logical_deduction_seven_objects",
    "logical_deduction_three_objects",
    "movie_recommendation",
    "reasoning_about_colored_objects",
    "snarks",
    "tracking_shuffled_objects_five_objects",
    "tracking_shuffled_objects_seven_objects",
)
QUICK_AND_THOROUGH = [
    pytest.param(corpus, id=corpus.name, marks=[] if corpus == CORPUS else pytest.mark.thorough) for corpus in CORPORA
]
UNDERSTANDING = [subject for subject in SUBJECTS if subject.reads_nothing]


def found_by(subject: Subject, text: str) -> object:
    return partial(POSTPROCESSORS.get(subject.name), **subject.options)(text)


LEAST_RECALL = {
    "options": {"ordinary": 0.82, "adversarial": 0.73},
    "numbers": {"ordinary": 0.87, "adversarial": 0.19},
    "maths": {"ordinary": 0.75, "adversarial": 0.64},
    "words": {"ordinary": 0.87, "adversarial": 0.9},
}
"""Of each corpus. *Unparsed* is a state, not a fault: "Not 18. 42." gives no reason to read 42."""
MOST_FALSE_READS = 0.07
"""For each postprocessor, language and corpus; a set may have 12 texts."""


@pytest.mark.thorough
@pytest.mark.parametrize("corpus", QUICK_AND_THOROUGH)
@pytest.mark.parametrize("subject", UNDERSTANDING, ids=lambda subject: f"{subject.name}, {subject.corpus}")
def test_golds_come_back_and_nothing_is_read_where_there_is_none(corpus: Path, subject: Subject) -> None:
    if subject not in subjects(corpus):
        pytest.skip("no such phrasings")
    function = partial(POSTPROCESSORS.get(subject.name), **subject.options)
    for name in SETS:
        both = [measure(corpus, subject, function, language, name) for language in ("en", "zh")]
        right, n = sum(one.right for one in both), sum(one.texts for one in both)
        assert right >= LEAST_RECALL[subject.corpus][name] * n, [one.missed for one in both]
    nothing = [measure(corpus, subject, function, language, "nothing") for language in ("en", "zh")]
    read = [missed for one in nothing for missed in one.missed]
    assert len(read) <= MOST_FALSE_READS * sum(one.texts for one in nothing), read


@pytest.mark.parametrize("corpus", UNSEEN, ids=lambda corpus: corpus.name)
def test_the_unseen_corpus_has_enough_phrasings(corpus: Path) -> None:
    for kind in ("options", "numbers", "maths"):
        both = tomllib.loads((corpus / f"{kind}.toml").read_text("utf-8"))
        assert sum(len(both[language][name]) for language in ("en", "zh") for name in SETS) >= 40
        assert sum(len(both[language]["nothing"]) for language in ("en", "zh")) >= 30


def test_the_corpus_is_large_enough() -> None:
    for language in ["en", "zh"]:
        for kind in ["options", "numbers", "maths", "words"]:
            for corpus in CORPORA[:3]:
                phrasings = tomllib.loads((corpus / f"{kind}.toml").read_text("utf-8"))[language]
                assert len({*phrasings["ordinary"], *phrasings["adversarial"]}) >= 60
                assert len(set(phrasings["nothing"])) >= 20


@pytest.mark.thorough
@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: f"{subject.name}, {subject.corpus}")
def test_a_reading_names_its_rule_and_its_span(subject: Subject) -> None:
    """The span lies in the answer, and holds what was read whenever the text was not rewritten on the way."""
    for language in ("en", "zh"):
        for text, gold in (pair for name in SETS for pair in texts(CORPUS, subject, language, name)):
            found = found_by(subject, text)
            if found is None:
                continue
            reading = found.reading  # type: ignore[attr-defined]
            assert reading.rule
            assert 0 <= reading.start <= reading.end <= len(text)
            if subject.corpus == "options" and len(gold) == 1 and len(str(found)) == 1:
                assert normalize("NFKC", text[reading.start : reading.end]) == str(found)


FOR_GOLDS = {"without_commas_postprocess"}
READ_THOUGHTS = {
    "PeerPostprocessor",
    "logged_choice",
    "logged_letters",
    "logged_marked_letter",
    "logged_math",
    "logged_regex",
}
"""Rules of other programs, which read the whole text."""
ARGUMENTS = {
    "label_postprocess": {"labels": ["A", "B"]},
    "match_answer_pattern": {"answer_pattern": r"answer is (\w)"},
    "mathbench_postprocess": {"name": "college_en"},
    "mgsm_postprocess": {"lang": "en"},
    "xml_tag_postprocessor": {"tag": "<think>"},
}
"""What a postprocessor cannot be called without."""


@pytest.mark.thorough
def test_a_thought_that_never_ends_holds_no_answer() -> None:
    cases = [
        name
        for name in sorted(shipped_names(POSTPROCESSORS))
        if "dataset" not in name and not name.endswith("_peer") and name not in {*READ_THOUGHTS, *FOR_GOLDS}
    ]
    for name in cases:
        text = "<think>The answer is A: 42. Verdict: A. Rating: [[7]] \\boxed{3}"
        assert POSTPROCESSORS.get(name)(text, **ARGUMENTS.get(name, {})) is None


@pytest.mark.parametrize("wide", ["Ｂ", "（Ｂ）", "答案是Ｂ。", "The answer is 𝐁.", "Ⓑ"])
def test_wide_letters_are_letters(wide: str) -> None:
    assert first_option_postprocess(wide) == "B"


@pytest.mark.thorough
@needs(BBH)
@pytest.mark.parametrize("function", [first_option_postprocess, last_option_postprocess])
@pytest.mark.slow
def test_real_answers_that_name_one_option_are_read_and_no_others(function: Callable[..., object]) -> None:
    reading = measure_real(function, list(answers(BBH)))
    assert reading.found >= 0.999 * reading.named
    assert reading.read <= 0.002 * reading.without


@pytest.mark.thorough
@needs(BBH)
@pytest.mark.parametrize("task", LETTER_TASKS)
@pytest.mark.parametrize("prompting", ["cot", "direct"])
def test_published_accuracies_are_met(task: str, prompting: str) -> None:
    with (BBH / "accuracies.tsv").open(encoding="utf-8") as stream:
        published = {(row["task"], row["prompting"]): row for row in csv.DictReader(stream, delimiter="\t")}
    lines = (BBH / f"{task}.davinci_{prompting}.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    for function in (first_option_postprocess, last_option_postprocess):
        right = sum(function(row["prediction"], options="ABCDEFGHIJKLMNOPQR") == row["target"][1] for row in rows)
        assert 100 * right / len(rows) == pytest.approx(float(published[task, prompting]["accuracy_percent"]))
