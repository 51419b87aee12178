"""Scores of rubrics are those of HealthBench's own code: of its published example, and of rubrics that are drawn.

The table is written by ``python -m tools.real.judgements``, which names its source and the licence of that code.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from ais_prompt.extensions.rubrics.rubric import RubricEvaluator
from ais_prompt.types import JudgeVerdict, SampleScore

TABLE: Final = json.loads((Path(__file__).parents[2] / "data" / "judgements" / "healthbench.json").read_text("utf-8"))


def sample(evaluator: RubricEvaluator, number: int, rubric: list[dict[str, Any]], marks: list[bool]) -> SampleScore:
    vote = json.dumps({str(place): mark for place, mark in enumerate(marks, 1)})
    values = evaluator.score(vote, {"rubrics": rubric})
    verdicts = (JudgeVerdict("judge", vote),)
    return SampleScore(str(number), "scored", "answer", {"rubrics": rubric}, values, verdicts=verdicts)


def test_the_published_example() -> None:
    """Three of four criteria are met, of which one takes points: simple-evals, ``test_calculate_score``."""
    rubric: list[dict[str, Any]] = [{"criterion": "test", "points": points, "tags": []} for points in (7, 5, 10, -6)]
    found = RubricEvaluator("rubrics").score(json.dumps({"1": True, "2": False, "3": True, "4": True}), rubric)
    assert found["rubric"] == pytest.approx((7 + 0 + 10 - 6) / (7 + 5 + 10))


@pytest.mark.parametrize("run", TABLE["runs"], ids=[f"{len(one['questions'])} rubrics" for one in TABLE["runs"]])
def test_answers_and_means_are_those_of_simple_evals(run: dict[str, Any]) -> None:
    evaluator = RubricEvaluator("rubrics")
    samples = []
    for number, one in enumerate(run["questions"]):
        samples.append(sample(evaluator, number, one["rubric"], one["marks"]))
        ours = {name: value for name, value in samples[-1].values.items() if ":" in name}
        theirs = {name: value for name, value in one["metrics"].items() if ":" in name}
        assert samples[-1].values["rubric"] == pytest.approx(one["metrics"]["overall_score"])
        assert ours == pytest.approx(theirs)
    found = {score.metric: score for score in evaluator.aggregate(samples)}
    theirs = run["metrics"]
    assert found["rubric"].value == pytest.approx(run["score"])
    tags = [
        name for name in theirs if ":" in name and name.count(":") == 1 and not name.startswith(("score", "overall"))
    ]
    assert {tag: found[tag].value for tag in tags} == pytest.approx({tag: theirs[tag] for tag in tags})
    # Their standard deviation is that of 1,000 resamples, whose means are clipped too.
    if 0.2 < run["score"] < 0.8 and len(samples) > 10:
        low, high = found["rubric"].interval or (0.0, 0.0)
        assert (high - low) / 2 / 1.96 == pytest.approx(theirs["overall_score:bootstrap_std"], rel=0.15)
