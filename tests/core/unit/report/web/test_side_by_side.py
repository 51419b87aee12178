"""Models side by side: which questions the server finds, and which models are right, compared with all rows."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.report import STATES, Query, SampleIndex, ServedReport, find_questions, verdict_of
from tests.core.browser.sample_run import make_sample_run

MISSES = {"partial", "wrong", "unparsed", "truncated", "failed"}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> SampleIndex:
    return SampleIndex(make_sample_run(tmp_path_factory.mktemp("run"))).wait(whole=True)


def every(index: SampleIndex) -> list[list[dict[str, Any]]]:
    """The samples of each question, in the order of the data."""
    tasks = index.overview["tasks"]
    rows = [index.row(number) | {"of": tasks[index.row(number)["task"]]} for number in range(index.size)]
    rows.sort(key=lambda row: (row["of"]["dataset"], row["id"], row["number"]))
    asked = [list(samples) for _, samples in groupby(rows, lambda row: (row["of"]["dataset"], row["id"]))]
    return sorted(asked, key=lambda samples: samples[0]["number"])


def verdict(samples: list[dict[str, Any]]) -> str:
    states = [row["state"] for row in samples]
    if not set(states) <= {"right", *MISSES}:
        return ""
    right = [state == "right" for state in states]
    return {(True, True): "all", (True, False): "first", (False, True): "second"}.get((right[0], right[1]), "none")


@pytest.mark.thorough
@given(
    states=st.lists(st.sampled_from(STATES), unique=True, max_size=2),
    datasets=st.lists(st.sampled_from(["sums", "choice", "通用-chat", "repeated"]), unique=True, max_size=2),
    wanted=st.sampled_from(["", "all", "first", "second", "none"]),
)
def test_questions_are_those_of_which_a_sample_passes(
    index: SampleIndex, states: list[str], datasets: list[str], wanted: str
) -> None:
    query = Query(datasets=tuple(datasets), states=tuple(states))
    found = find_questions(index, query, index.size, wanted)
    assert found.models == ("small", "large")
    passing = [
        samples
        for samples in every(index)
        if any(
            (not states or row["state"] in states) and (not datasets or row["of"]["dataset"] in datasets)
            for row in samples
        )
    ]
    assert found.verdicts == Counter(name for samples in passing if (name := verdict(samples)))
    shown = [samples[0]["number"] for samples in passing if wanted in ("", verdict(samples))]
    assert found.numbers.tolist() == shown


@pytest.mark.thorough
def test_one_model_has_nothing_beside_it(index: SampleIndex) -> None:
    assert not find_questions(index, Query(models=("small",)), index.size, "").numbers


@pytest.mark.thorough
def test_the_server_answers_with_the_samples_of_each_question(index: SampleIndex) -> None:
    report = ServedReport(index.folder)
    answer = report.questions("query=17%2B17&verdict=second&from=0&to=5")
    assert answer["length"] == len(answer["rows"]) == answer["verdicts"]["second"]
    for small, large in answer["rows"]:
        assert (small["id"], small["question"]) == (large["id"], large["question"])
        assert (small["state"] == "right", large["state"]) == (False, "right")
    assert len(report.questions("from=10&to=15")["rows"]) == 5


@pytest.mark.parametrize(
    ("right", "missed", "asked", "models", "expected"),
    [
        (0b11, 0, 0b11, 2, "all"),
        (0b01, 0b10, 0b11, 2, "first"),
        (0b10, 0b01, 0b11, 2, "second"),
        (0, 0b11, 0b11, 2, "none"),
        (0b01, 0, 0b11, 2, ""),  # the other has neither right nor wrong
        (0b101, 0b010, 0b111, 3, "some"),
        (0b100, 0b001, 0b101, 3, "some"),  # the second was not asked
        (0b111, 0, 0b111, 3, "all"),
    ],
)
def test_verdicts(right: int, missed: int, asked: int, models: int, expected: str) -> None:
    assert verdict_of(right, missed, asked, models) == expected
