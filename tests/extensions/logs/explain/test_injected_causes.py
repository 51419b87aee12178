"""Causes that are put into a copy of a log that a tool really wrote, one to three at once, are found to 0.1 point."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import pytest

from ais_prompt.comparison import read_stored_run
from ais_prompt.extensions.logs.explain.ladder import explain_runs
from ais_prompt.extensions.logs.log_files import zip_file
from ais_prompt.metrics import exact_mean
from tests.support.real_data import ROOT

LOG = ROOT / "tests/data/other_logs/inspect_match.eval"
Samples = dict[int, dict[str, Any]]
Log = dict[str, Any]


def answer(samples: Samples, number: int, text: str, reason: str = "stop") -> None:
    """Replace the answer to a question by a wrong one."""
    choice = samples[number]["output"]["choices"][0]
    choice["message"]["content"] = samples[number]["output"]["completion"] = text
    choice["stop_reason"] = reason
    samples[number]["scores"]["match"].update(value="I", answer=text)


def cut(log: Log, samples: Samples) -> None:
    """The right answers 1 and 3 are cut."""
    for number in (1, 3):
        answer(samples, number, "Let us add", "max_tokens")


def golds(log: Log, samples: Samples) -> None:
    """The golds of the right answers 5 and 7 are others."""
    for number in (5, 7):
        samples[number]["target"] = "999"
        samples[number]["scores"]["match"]["value"] = "I"


def field(log: Log, samples: Samples) -> None:
    """Every request has a field more, and the right answer 9 is another."""
    answer(samples, 9, "I cannot add.")
    for sample in samples.values():
        for event in sample["events"]:
            if event["event"] == "model":
                event["call"]["request"]["min_tokens"] = 16


def failures(log: Log, samples: Samples) -> None:
    """The wrong answers 2 and 6 failed, and are not scored."""
    for number in (2, 6):
        samples[number].update(error={"message": "timeout"}, scores={})


def fewer(log: Log, samples: Samples) -> None:
    """The questions 8, 10 and 13 are not asked; 10 is a right answer."""
    for number in (8, 10, 13):
        del samples[number]


def rule(log: Log, samples: Samples) -> None:
    """Another scorer takes the gold anywhere in the answer: 4, 16 and 17 are right now."""
    log["eval"]["scorers"][0].update(name="includes", options={})
    log["results"]["scores"][0].update(name="includes", scorer="includes")
    for number, sample in samples.items():
        if sample["scores"]:
            sample["scores"]["includes"] = sample["scores"].pop("match")
            if number in (4, 16, 17):
                sample["scores"]["includes"]["value"] = "C"


def aggregation(log: Log, samples: Samples) -> None:
    """The tool reports 5 points less than the mean."""
    log["results"]["scores"][0]["metrics"]["accuracy"]["value"] -= 0.05


CAUSES: Final[Mapping[str, Callable[[Log, Samples], None]]] = {
    "truncation": cut,
    "data": golds,
    "decoding or chance": field,
    "failures": failures,
    "other samples": fewer,
    "extraction and metric": rule,
    "aggregation": aggregation,
}


@pytest.fixture(scope="module")
def log() -> tuple[str, str]:
    """Header and samples as JSON."""
    with zip_file()(LOG) as archive:
        members = [json.loads(archive.read(name)) for name in archive.namelist() if name.startswith("samples/")]
        return archive.read("header.json").decode(), json.dumps(members)


def values(samples: Samples) -> dict[int, float]:
    """The scores of the answered samples by the log's own verdicts."""
    return {
        number: float(next(iter(sample["scores"].values()))["value"] == "C")
        for number, sample in samples.items()
        if sample["scores"]
    }


@pytest.mark.thorough
@pytest.mark.parametrize(
    "causes", [found for size in (1, 2, 3) for found in combinations(CAUSES, size)], ids=" + ".join
)
def test_injected_causes_are_found(tmp_path: Path, log: tuple[str, str], causes: tuple[str, ...]) -> None:
    header, written = json.loads(log[0]), json.loads(log[1])
    samples = {int(sample["id"]): sample for sample in written}
    before = values(samples)
    (tmp_path / "a.json").write_text(json.dumps({**header, "samples": written}))
    alone = {}  # what a cause does to the sum of the scores of all samples
    for name in causes:
        copies = {int(sample["id"]): sample for sample in json.loads(log[1])}
        CAUSES[name](json.loads(log[0]), copies)
        alone[name] = sum(score - before[number] for number, score in values(copies).items())
    for name in causes:
        if name != "aggregation":
            CAUSES[name](header, samples)
    after = values(samples)
    header["results"]["scores"][0]["metrics"]["accuracy"]["value"] = exact_mean(list(after.values()))
    if "aggregation" in causes:
        aggregation(header, samples)
    (tmp_path / "b.json").write_text(json.dumps({**header, "samples": list(samples.values())}))

    [ladder], notes = explain_runs(*(read_stored_run(str(tmp_path / f"{name}.json")) for name in "ab"))
    assert not notes
    # No two causes touch the score of one sample, so that of the answered ones they simply add up.
    expected = {name: alone[name] / len(after) for name in causes}
    asked = exact_mean([before[number] for number in samples])
    for name, share in (
        ("other samples", asked - exact_mean(list(before.values()))),
        ("failures", exact_mean([before[number] for number in after]) - asked),
        ("aggregation", -0.05),
    ):
        if name in causes:
            expected[name] = share
    assert {step.cause: step.difference for step in ladder.steps} == pytest.approx(expected, abs=1e-3)
    assert sum(expected.values()) == pytest.approx(ladder.difference, abs=1e-3)
    uncertain = {step.cause for step in ladder.steps if step.certainty != "certain"}
    assert uncertain <= {"decoding or chance"}
