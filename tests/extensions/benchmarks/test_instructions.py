"""Instructions that a program can check: official verdicts, shares of all instructions, and data that are missing."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ais_prompt.errors import ConfigError, DataError
from ais_prompt.extensions.benchmarks.card import find_card
from ais_prompt.extensions.benchmarks.cards.catalog_dataset import CatalogDataset
from ais_prompt.types import SampleScore

pytest.importorskip("if_verifiable")

from ais_prompt.extensions.benchmarks.instructions import InstructionEvaluator, _registry
from tests.support.real_data import IFBENCH, needs

pytestmark = pytest.mark.thorough

NEEDS_NLTK_DATA = {"ratio:stop_words", "words:start_verb", "words:words_position", "format:title_case"}
"""Instructions of the sample that cannot be checked without data of NLTK."""


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise AssertionError("something was downloaded")

    monkeypatch.setattr(socket.socket, "connect", refused)


def gold(*instructions: tuple[str, dict[str, Any]], prompt: str = "Write.") -> dict[str, Any]:
    names, arguments = zip(*instructions, strict=True)
    return {"prompt": prompt, "instruction_id_list": list(names), "kwargs": [json.dumps(one) for one in arguments]}


NO_COMMA = ("punctuation:no_comma", {})
CALM = ("keywords:existence", {"keywords": ["calm"]})
STORM = ("keywords:forbidden_words", {"forbidden_words": ["storm"]})


def scored(evaluator: InstructionEvaluator, answer: str | None, wanted: dict[str, Any]) -> SampleScore:
    if answer is None:
        return SampleScore("x", "unparsed", None, wanted, dict.fromkeys(evaluator.metrics, 0.0))
    return SampleScore("x", "scored", answer, wanted, evaluator.score(answer, wanted))


def test_prompts_and_instructions_are_counted_apart() -> None:
    evaluator = InstructionEvaluator("ifeval")
    scores = [
        scored(evaluator, "A calm sea", gold(NO_COMMA, CALM, STORM)),
        scored(evaluator, "A sea, calm", gold(NO_COMMA, CALM)),
        scored(evaluator, None, gold(CALM)),
        SampleScore("y", "failed", None, gold(CALM)),
    ]
    found = {score.metric: score for score in evaluator.aggregate(scores)}
    assert found["prompt_strict"].value == pytest.approx(1 / 3)
    assert found["instruction_strict"].value == pytest.approx(4 / 6)
    assert found["strict keywords"].value == pytest.approx(3 / 4)
    assert found["strict punctuation"].value == pytest.approx(1 / 2)
    assert all(score.fraction and score.interval for score in found.values())


def test_loose_forgives_a_first_line_and_asterisks() -> None:
    evaluator = InstructionEvaluator("ifeval")
    values = evaluator.score("Sure, here it is:\nA calm sea", gold(NO_COMMA))
    assert (values["prompt_strict"], values["prompt_loose"]) == (0.0, 1.0)


def test_language_verdicts_repeat() -> None:
    evaluator = InstructionEvaluator("ifeval")
    wanted = gold(("language:response_language", {"language": "de"}))
    verdicts = {evaluator.score("Das ist ein Test with some English words", wanted)["prompt_strict"] for _ in range(20)}
    assert len(verdicts) == 1


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (gold(("no:such", {})), "has no instruction 'no:such'"),
        (gold(("keywords:existence", {"words": 3})), "does not take"),
        ({"prompt": "x"}, "instruction_id_list"),
        ({"prompt": "x", "instruction_id_list": ["a"], "kwargs": []}, "1 instructions, and arguments for 0"),
    ],
)
def test_golds_that_cannot_be_used(wanted: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        InstructionEvaluator("ifeval").score("text", wanted)


def test_a_wrong_benchmark() -> None:
    with pytest.raises(ConfigError, match="no instructions of 'mmlu'"):
        InstructionEvaluator("mmlu")  # type: ignore[arg-type]


def test_missing_data_of_nltk_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import nltk

    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    evaluator = InstructionEvaluator("ifbench")
    with pytest.raises(DataError, match="format:title_case needs punkt") as caught:
        evaluator.score("A Calm Sea", gold(("format:title_case", {})))
    assert "python -m nltk.downloader punkt" in caught.value.fix


def official() -> Iterator[tuple[str, str, str, dict[str, Any], bool, bool]]:
    """Prompt, response, instruction, arguments, and the strict and the loose verdict.

    The sample has no arguments. They come from the data of IFBench if `aisprompt data get ifbench` brought them; else
    only instructions without arguments are yielded.
    """
    known = {}
    if find_card("ifbench").is_here:
        known = {row["prompt"].strip(): row for row in CatalogDataset("ifbench").read("test")}
    strict, loose = (
        [json.loads(line) for line in (IFBENCH / f"eval_results_{kind}.jsonl").read_text("utf-8").splitlines()]
        for kind in ("strict", "loose")
    )
    for one, other in zip(strict, loose, strict=True):
        row = known.get(one["prompt"].strip())
        verdicts = zip(
            one["instruction_id_list"], one["follow_instruction_list"], other["follow_instruction_list"], strict=True
        )
        for number, (name, is_strict, is_loose) in enumerate(verdicts):
            takes_none = not _registry("ifbench")[name](name).get_instruction_args_keys()
            if row is not None or takes_none:
                arguments = json.loads(row["kwargs"][number]) if row is not None else {}
                yield one["prompt"], one["response"], name, arguments, is_strict, is_loose


@needs(IFBENCH)
def test_official_verdicts_of_ifbench() -> None:
    evaluator = InstructionEvaluator("ifbench")
    checked, unchecked, wrong = 0, set(), []
    for prompt, response, name, arguments, is_strict, is_loose in official():
        try:
            values = evaluator.score(response, gold((name, arguments), prompt=prompt))
        except DataError:
            unchecked.add(name)
            continue
        checked += 1
        if (values["prompt_strict"], values["prompt_loose"]) != (is_strict, is_loose):
            wrong.append((name, prompt[:60]))
    assert wrong == []
    assert unchecked <= NEEDS_NLTK_DATA
    assert checked >= 60


def test_shares_of_instructions_lie_within_0_and_100_percent() -> None:
    evaluator = InstructionEvaluator("ifeval")
    all_right = [scored(evaluator, "A calm sea", gold(NO_COMMA, CALM)) for _ in range(3)]
    hardly = [scored(evaluator, "A, storm", gold(NO_COMMA, CALM, STORM)) for _ in range(3)]
    for scores in (all_right, hardly, all_right + hardly[:1], all_right[:1] + hardly):
        for found in evaluator.aggregate(scores):
            assert found.interval is not None
            assert 0 <= found.interval[0] < found.interval[1] <= 1


@pytest.mark.parametrize("broken", [None, "x", {}, {"instruction_id_list": None}, {"instruction_id_list": 3}])
def test_a_sample_whose_gold_is_broken_has_no_part(broken: Any) -> None:
    evaluator = InstructionEvaluator("ifeval")
    whole = [scored(evaluator, "A calm sea", gold(NO_COMMA, CALM)), scored(evaluator, "A, b", gold(NO_COMMA))]
    with pytest.raises((DataError, TypeError)):
        evaluator.score("A calm sea", broken)
    found = evaluator.aggregate([*whole, SampleScore("y", "failed", None, broken)])
    assert [one.value for one in found] == [one.value for one in evaluator.aggregate(whole)]
