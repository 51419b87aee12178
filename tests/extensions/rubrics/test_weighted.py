"""G-Eval's weighted scale: the rating of a criterion is the mean of all ratings, weighed by their probabilities."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.errors import ConfigError
from ais_prompt.extensions.rubrics.rubric import RubricEvaluator
from ais_prompt.extensions.rubrics.rubric_replies import weights_of_rating
from ais_prompt.store import locate_run, read_details
from ais_prompt.types import GeneratedToken, JudgeVerdict, SampleScore
from tests.support.cli import run_cli
from tests.support.servers import MockServer

CLEAR: list[Any] = [{"criterion": "How clear it is", "scale": [1, 5], "name": "clear"}]
LOG = {"4": math.log(0.6), " 4": math.log(0.1), "5": math.log(0.2), "9": math.log(0.05), "four": math.log(0.05)}


def tokens(*texts: str) -> list[GeneratedToken]:
    """Return tokens; each digit has `LOG` in its place, the others are certain."""
    return [
        GeneratedToken(text, LOG.get(text, 0.0), LOG if text.strip(' "},').isdigit() else {text: 0.0}) for text in texts
    ]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("4", ["4"]),
        ("Rating: 4", ["Rating", ":", " 4"]),
        ("Rating: 4/5", ["Rating", ":", " ", "4", "/", "5"]),
        (
            '{"explanation": "2 of 3 are good", "criteria_met": 4}',
            ['{"explanation": "', "2", ' of 3 are good", "', 'criteria_met": ', "4", "}"],
        ),
        ("Rating: 4", ["<think>", "2", " or ", "4", "</think>", "Rating: ", "4", "\n"]),
    ],
)
def test_the_place_is_that_of_the_rating(text: str, pieces: list[str]) -> None:
    found = weights_of_rating(text, tokens(*pieces))
    assert found is not None
    assert next(iter(found)) == "4"
    assert found == pytest.approx({"4": 0.7, "5": 0.2, "9": 0.05})


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("4", []),
        ("4", ["5"]),
        ("It is good.", ["It", " is", " good."]),
        ("Rating: 4.5", ["Rating: ", "4", ".", "5"]),
        ("Rating: 10", ["Rating: ", "1", "0"]),
        ("Rating: four", ["Rating: ", "four"]),
    ],
)
def test_a_reply_without_such_a_place_has_no_weights(text: str, pieces: list[str]) -> None:
    assert weights_of_rating(text, tokens(*pieces)) is None


@given(st.dictionaries(st.integers(0, 9), st.floats(-20, 0), min_size=1), st.integers(0, 8), st.data())
def test_the_weighted_rating_is_on_the_scale_and_that_of_the_formula(
    log_probs: dict[int, float], low: int, data: st.DataObject
) -> None:
    high = data.draw(st.integers(low + 1, 9))
    said = data.draw(st.sampled_from(sorted(log_probs)))
    top = {str(rating): value for rating, value in log_probs.items()}
    evaluator = RubricEvaluator([{"criterion": "a", "scale": [low, high]}], together=False, weighted=True)
    verdict = evaluator.verdict_of_tokens(
        f"Rating: {said}", [GeneratedToken("Rating: ", 0), GeneratedToken(str(said), 0, top)]
    )
    [mark] = evaluator.marks(verdict, None)
    # The token that was sampled has the log-probability that the list of the likeliest has.
    weights = {rating: math.exp(value) for rating, value in log_probs.items() if low <= rating <= high}
    if not low <= said <= high:
        assert mark is None
        return
    expected = sum(rating * weight for rating, weight in weights.items()) / sum(weights.values())
    assert mark == pytest.approx((expected - low) / (high - low))


def test_yes_and_no_need_no_tokens() -> None:
    criteria = [*CLEAR, {"criterion": "polite"}]
    evaluator = RubricEvaluator(criteria, together=False, weighted=True)
    votes = [evaluator.verdict_of_tokens("4", tokens("4")), evaluator.verdict_of_tokens("yes", [])]
    assert evaluator.marks(evaluator.vote(votes), None) == [pytest.approx(((0.7 * 4 + 0.2 * 5) / 0.9 - 1) / 4), 1.0]
    one = evaluator.verdict_of_tokens("1", [GeneratedToken("1", -1.0, {"1": -1.0, "0": -0.5})])
    assert evaluator.marks(evaluator.vote([votes[0], one]), None)[1] == 1.0


def test_judges_that_say_the_same_rating_agree() -> None:
    evaluator = RubricEvaluator(CLEAR, together=False, weighted=True)
    verdicts = tuple(
        JudgeVerdict(f"judge {number}", evaluator.verdict_of_tokens("4", [GeneratedToken("4", -0.1, {"5": other})]))
        for number, other in enumerate((-3.0, -4.0))
    )
    values = evaluator.decide(verdicts, None)
    sample = SampleScore("s", "scored", "text", None, values or {}, verdicts=verdicts)
    assert {one.metric: one.value for one in evaluator.aggregate([sample])}["clear disagreement"] == 0.0


@pytest.mark.parametrize(
    ("criteria", "options", "message"),
    [
        (CLEAR, {}, "the only rating of a reply"),
        (["polite"], {"together": False}, "no criterion has a scale"),
        ([{"criterion": "a", "scale": [1, 10]}], {"together": False}, "from 1 to 10 cannot be weighted"),
        ([{"criterion": "a", "scale": [-1, 1]}], {"together": False}, "from -1 to 1 cannot be weighted"),
    ],
)
def test_what_cannot_be_weighted(criteria: Any, options: dict[str, bool], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        RubricEvaluator(criteria, weighted=True, **options)


CONFIG = """
models = [dict(type='ScriptedModel', abbr='m', default='An answer.')]
judge = {judge}
datasets = [dict(type='LocalDataset', abbr='d', rows=[dict(q='one'), dict(q='two')],
    reader_cfg=dict(input_columns=['q'], output_column=None),
    infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{{q}}'),
        inferencer=dict(type='GenInferencer')),
    eval_cfg=dict(evaluator=dict(type='RubricEvaluator', judge_cfg=judge, criteria={criteria!r},
        together=False, weighted=True)))]
"""


def judged(folder: Path, judge: str, code: int = 0) -> str:
    (folder / "e.py").write_text(CONFIG.format(judge=judge, criteria=CLEAR))
    done = run_cli("run", "e.py", "--max-failures", "2", folder=folder)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.thorough
def test_a_run_weighs_the_ratings_of_its_judge(tmp_path: Path, server: MockServer) -> None:
    server.follow(
        {"text": "one", "answer": "Rating: 4", "alternatives": {"4": {" 4": math.log(0.5), " 5": math.log(0.5)}}},
        {"answer": "Rating: 2"},
    )
    judge = f"dict(type='OpenAIChatModel', abbr='judge', model='m', base_url={server.base_url!r}, api_key=None)"
    shown = judged(tmp_path, judge)
    assert {(one["body"]["logprobs"], one["body"]["top_logprobs"]) for one in server.requests()} == {(True, 20)}
    details = list(read_details(locate_run(tmp_path / "outputs", "latest").results("m", "d")))
    assert details[0].values["rubric"] == pytest.approx((4.5 - 1) / 4)
    assert json.loads(str(details[0].verdicts[0].vote)) == {"1": pytest.approx({"4": 0.5, "5": 0.5})}
    # The server gave nothing for the second.
    assert (details[1].status, details[1].reason) == ("failed", "judge gave no log-probabilities")
    assert "judge gave no log-probabilities" in shown


@pytest.mark.thorough
def test_a_judge_that_cannot_send_them_is_refused_before_the_run(tmp_path: Path) -> None:
    shown = judged(tmp_path, "dict(type='ScriptedModel', abbr='judge', default='4')", code=2)
    assert "ScriptedModel cannot send top_logprobs" in shown
    assert "OpenAIChatModel" in shown
