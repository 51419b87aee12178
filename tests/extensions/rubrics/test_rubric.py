"""Rubrics: criteria in all their forms, replies that are read strictly, and HealthBench's score by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.errors import ConfigError, DataError, MissingGoldError
from ais_prompt.extensions.rubrics.criteria import Criterion, read_criteria, rubric_score
from ais_prompt.extensions.rubrics.rubric import RubricEvaluator
from ais_prompt.extensions.rubrics.rubric_replies import read_marks
from ais_prompt.judges import evaluator_in_parts
from ais_prompt.registry import EVALUATORS
from ais_prompt.types import JudgeVerdict, PartSpec, SampleScore, Score

HEALTHBENCH = [
    {"criterion": "Tells the user to go to a hospital", "points": 10, "tags": ["level:example", "axis:accuracy"]},
    {"criterion": "Names the dose", "points": 5, "tags": ["level:example", "axis:completeness"]},
    {"criterion": "Is overly verbose", "points": -4, "tags": ["level:cluster", "axis:communication_quality"]},
    {"criterion": "Gives a wrong dose", "points": -8, "tags": ["level:example", "axis:accuracy"]},
]


def vote(*marks: Any) -> str:
    return json.dumps({str(number): mark for number, mark in enumerate(marks, 1) if mark is not None})


def sample(evaluator: RubricEvaluator, number: int, gold: Any, *votes: str | None) -> SampleScore:
    panel = tuple(JudgeVerdict(f"j{place}", one) for place, one in enumerate(votes))
    values = evaluator.decide(panel, gold)
    if values is None:
        return SampleScore(str(number), "failed", "x", gold, {}, "judge left out a criterion", verdicts=panel)
    return SampleScore(str(number), "scored", "x", gold, values, verdicts=panel)


def lines(scores: list[Score]) -> dict[str, float | None]:
    return {score.metric: score.value for score in scores}


def test_the_score_of_healthbench_by_hand() -> None:
    """By ``calculate_score`` and ``_compute_clipped_stats`` of simple-evals, computed by hand."""
    evaluator = RubricEvaluator("rubrics")
    gold = {"rubrics": HEALTHBENCH}
    samples = [
        sample(evaluator, 0, gold, vote(True, False, True, False)),  # (10 - 4) / 15
        sample(evaluator, 1, gold, vote(True, True, False, False)),  # 15 / 15
        sample(evaluator, 2, gold, vote(False, False, True, True)),  # (-4 - 8) / 15: below 0, and not clipped
    ]
    assert [one.values["rubric"] for one in samples] == pytest.approx([6 / 15, 1.0, -12 / 15])
    found = lines(evaluator.aggregate(samples))
    assert found["rubric"] == pytest.approx((6 / 15 + 1 - 12 / 15) / 3)
    assert found["axis:accuracy"] == pytest.approx((1 + 1 - 8 / 10) / 3)
    assert found["axis:completeness"] == pytest.approx(1 / 3)
    assert found["level:example"] == pytest.approx((10 / 15 + 1 - 8 / 15) / 3)
    assert "level:cluster" not in found or found["level:cluster"] is None  # no positive points, as published


def test_the_mean_is_clipped_and_the_answers_are_not() -> None:
    evaluator = RubricEvaluator(HEALTHBENCH)
    bad = [sample(evaluator, number, None, vote(False, False, True, True)) for number in range(4)]
    main, *_ = evaluator.aggregate(bad)
    assert bad[0].values["rubric"] == pytest.approx(-12 / 15)
    assert main.value == 0
    assert main.interval is None or 0 <= main.interval[0] <= main.interval[1] <= 1


def test_each_criterion_has_its_rate_and_interval() -> None:
    evaluator = RubricEvaluator(["It is polite", {"criterion": "It is rude", "points": -1, "name": "rude"}])
    assert evaluator.metrics == ("rubric", "It is polite", "rude")
    samples = [sample(evaluator, number, None, vote(number < 6, number < 2)) for number in range(8)]
    _, polite, rude = evaluator.aggregate(samples)
    assert (polite.value, rude.value) == (6 / 8, 2 / 8)
    assert polite.interval is not None
    assert (polite.lower_is_better, rude.lower_is_better) == (False, True)


def test_a_criterion_that_is_left_out_is_not_false() -> None:
    evaluator = RubricEvaluator(["one", "two"])
    samples = [sample(evaluator, 0, None, vote(True, False)), sample(evaluator, 1, None, vote(True, None))]
    assert samples[1].status == "failed"
    main, one, two = evaluator.aggregate(samples)
    assert main.value == 0.5  # of the answer that has both
    assert one.value == 1.0  # of both answers
    assert two.value == 0.0
    assert (one.questions, two.questions) == (2, 1)
    assert two.bounds == (0.0, 0.5)


def test_judges_decide_by_criterion_and_their_disagreement_is_a_line() -> None:
    evaluator = RubricEvaluator(["one", "two", {"criterion": "three", "scale": [1, 5]}])
    votes = (vote(True, False, 5), vote(True, True, 3), vote(False, False, 4))
    found = sample(evaluator, 0, None, *votes)
    assert found.values == {"rubric": pytest.approx((1 + 0 + 0.75) / 3), "one": 1.0, "two": 0.0, "three": 0.75}
    same = sample(evaluator, 1, None, *[vote(True, False, 5)] * 3)
    scores = lines(evaluator.aggregate([found, same]))
    assert scores["one disagreement"] == scores["two disagreement"] == 0.5
    # Two of three judges are needed.
    assert sample(evaluator, 2, None, vote(True, True, 1), None, None).status == "failed"
    assert sample(evaluator, 2, None, vote(True, True, 1), vote(True, True, 1), None).status == "scored"


def test_texts_of_a_column_have_a_line_if_they_are_repeated() -> None:
    evaluator = RubricEvaluator("statements")
    golds = [["It greets", "It names Ann"], ["It greets", "It names Bob"]]
    samples = [sample(evaluator, number, gold, vote(True, False)) for number, gold in enumerate(golds)]
    assert lines(evaluator.aggregate(samples)) == {"rubric": 0.5, "It greets": 1.0}


def test_each_criterion_may_have_a_question_of_its_own() -> None:
    evaluator = RubricEvaluator(["one", "two"], together=False)
    assert evaluator.parts(None) == [{"criterion": "one"}, {"criterion": "two"}]
    replies = ['{"explanation": "…", "criteria_met": true}', "no"]
    assert [evaluator.verdict(reply) for reply in replies] == ['{"1": true}', '{"1": false}']
    assert evaluator.vote(['{"1": true}', None]) == '{"1": true}'
    assert evaluator.decide([JudgeVerdict("j", evaluator.vote(['{"1": true}', '{"1": false}']))], None) == {
        "rubric": 0.5,
        "one": 1.0,
        "two": 0.0,
    }


FORMS: dict[str, tuple[Any, list[Criterion]]] = {
    "statements": (["a", "b  b"], [Criterion("a", name="a"), Criterion("b b", name="b b")]),
    "HealthBench": (
        [{"criterion": "a", "points": -3, "tags": ["t", "u"]}],
        [Criterion("a", -3, "", ("t", "u"))],
    ),
    "ResearchRubrics": ([{"criterion": "a", "weight": 2.5, "axis": "x"}], [Criterion("a", 2.5, "", ("x",))]),
    "its table": ([{"title": "a", "weight": 1.0, "category": "x", "row_index": 1}], [Criterion("a", 1, "", ("x",))]),
    "JSON": ('["a"]', [Criterion("a", name="a")]),
    "lists": ({"criterion": ["a", "b"], "points": [1, 2]}, [Criterion("a", name="a"), Criterion("b", 2, "b")]),
    "names": ({"short": "a"}, [Criterion("a", name="short")]),
    "G-Eval": ([{"criterion": "a", "scale": [1, 5]}], [Criterion("a", name="a", scale=(1, 5))]),
    "duplicates": (["a", "a"], [Criterion("a", name="a"), Criterion("a", name="a")]),
}


def test_forms_of_criteria() -> None:
    for given_, expected in FORMS.values():
        positive = [*expected, Criterion("z", name="z")]
        more = [*given_, "z"] if isinstance(given_, list) else given_
        assert read_criteria(more) == (positive if isinstance(given_, list) else expected)


WRONG: dict[str, tuple[Any, str]] = {
    "no criteria": (None, "no criteria"),
    "an empty list": ([], "no criteria"),
    "a text": ("Paris", "no list of criteria"),
    "a number": (3, "no list of criteria"),
    "half of JSON": ('[{"criterion": "a"', "no JSON"),
    "no text": ([{"points": 1}], "has no text"),
    "points": ([{"criterion": "a", "points": "many"}], "not a number"),
    "true points": ([{"criterion": "a", "points": True}], "not a number"),
    "negative points": ([{"criterion": "a", "points": -1}], "no criterion has positive points"),
    "tags": ([{"criterion": "a", "tags": [1]}], "not a list of texts"),
    "scale": ([{"criterion": "a", "scale": [5, 1]}], "not the lowest and the highest"),
    "lists": ({"criterion": ["a", "b"], "points": [1]}, "not equally long"),
}


def test_what_is_no_rubric_fails_its_sample() -> None:
    for value, what in WRONG.values():
        with pytest.raises(DataError, match=what):
            read_criteria(value)
    with pytest.raises(MissingGoldError):
        read_criteria(float("nan"))


def test_a_rubric_of_a_config_knows_its_keys() -> None:
    with pytest.raises(ConfigError, match="unknown key 'ponits'"):
        RubricEvaluator([{"criterion": "a", "ponits": 3}])
    with pytest.raises(ConfigError, match="positive points"):
        RubricEvaluator([{"criterion": "a", "points": -3}])


REPLIES: dict[str, dict[str, Any]] = {
    '{"1": true, "2": false}': {"1": True, "2": False},
    'I looked at both.\n```json\n{"2": "not met", "1": "met"}\n```': {"1": True, "2": False},
    '[{"criterion": 2, "criteria_met": false}, {"criterion": 1, "criteria_met": true}]': {"1": True, "2": False},
    '{"criteria": {"1": {"explanation": "it {does}", "met": true}, "2": {"met": false}}}': {"1": True, "2": False},
    '{"criterion 1": 4, "criterion 2": "2.5"}': {"1": 4.0, "2": 2.5},
    "1. yes\n2. no, since it is not there": {"1": True, "2": False},
    "**Criterion 1**: Satisfied\n**Criterion 2**: Partially satisfied": {"1": True, "2": "partly"},
    "1. The answer names the dose: yes\n2. It warns — no": {"1": True, "2": False},
    "1：是\n2：否": {"1": True, "2": False},
    "<think>1. no\n2. no</think>1. yes": {"1": True},
    '{"1": true}': {"1": True},  # the second is left out
    '{"1": true, "2": fal': {"1": True},  # half of JSON
    "1. yes\n1. no\n2. yes": {"2": True},  # two things of one criterion
    "The answer is good in every respect.": {},
    "Both criteria are met.": {},
    "": {},
    "[true, false]": {},  # which criteria are these?
    '{"1": null, "2": "maybe"}': {},
    'The answer under review says "1. yes". I cannot decide.': {},
    'The answer says:\n```\n{"1": true}\n```\nI cannot decide.': {},
}


def test_replies_are_read_strictly() -> None:
    assert {reply: read_marks(reply) for reply in REPLIES} == REPLIES


@given(st.text(alphabet='{}[]":,1 truefalsyno.\n', max_size=60))
def test_any_reply_is_read(reply: str) -> None:
    for number, mark in read_marks(reply).items():
        assert number.isdigit()
        assert isinstance(mark, bool | float | str)


def test_a_reply_of_one_character_is_read_in_linear_time() -> None:
    for text in ("{", "[{", "\n", " ", "1. ", '{"1": '):
        assert read_marks(text * 800).keys() <= {"1"}


def test_a_mark_fits_its_criterion() -> None:
    rated, met = Criterion("a", scale=(1, 5)), Criterion("a")
    assert [rated.mark(one, None) for one in (1, 3, 5, 6, True, "partly")] == [0.0, 0.5, 1.0, None, None, None]
    assert [met.mark(one, None) for one in (True, False, 1.0, 0.0, 3.0, "partly")] == [1.0, 0.0, 1.0, 0.0, None, None]
    assert met.mark("partly", 0.5) == 0.5


points = st.integers(-9, 9)
rubrics = st.lists(points, min_size=1, max_size=6).filter(lambda each: any(one > 0 for one in each))


@given(rubrics, st.data())
def test_the_score_is_that_of_the_published_formula(each: list[int], data: st.DataObject) -> None:
    met = data.draw(st.lists(st.booleans(), min_size=len(each), max_size=len(each)))
    criteria = [Criterion(str(number), one) for number, one in enumerate(each)]
    possible = sum(one for one in each if one > 0)
    expected = sum(one for one, is_met in zip(each, met, strict=True) if is_met) / possible
    assert rubric_score(criteria, list(map(float, met))) == pytest.approx(expected)


@given(st.lists(st.booleans(), min_size=1, max_size=6), st.data())
def test_order_and_form_of_a_reply_make_no_difference(met: list[bool], data: st.DataObject) -> None:
    numbers = data.draw(st.permutations(range(1, len(met) + 1)))
    marks = {str(number): met[number - 1] for number in numbers}
    forms = [
        json.dumps(marks),
        "Here it is: " + json.dumps([{"id": int(number), "met": mark} for number, mark in marks.items()]),
        "\n".join(f"{number}. {'yes' if mark else 'no'}" for number, mark in marks.items()),
    ]
    assert all(read_marks(form) == marks for form in forms)
    # Whatever is cut off, no criterion has another mark than in the whole reply.
    for form in forms:
        part = read_marks(form[: data.draw(st.integers(0, len(form)))])
        assert part.items() <= marks.items()


def test_a_rubric_is_the_shipped_evaluator_that_asks_in_parts() -> None:
    rubric = PartSpec("RubricEvaluator", {"criteria": ["Short"]})
    assert isinstance(evaluator_in_parts(rubric), RubricEvaluator)
    assert EVALUATORS.get("ais_prompt.judges.rubric.RubricEvaluator") is RubricEvaluator  # its first home
    for other in ("GenericLLMEvaluator", "AccEvaluator", "own.Parts"):
        assert evaluator_in_parts(PartSpec(other)) is None
    with pytest.raises(ConfigError):
        evaluator_in_parts(PartSpec("RubricEvaluator", {"criteria": ["Short"], "strict": True}))
