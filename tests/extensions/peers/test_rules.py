"""Rules of the peers that we wrote again say what theirs say; ``tools/real/record.py`` recorded it with their code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from ais_prompt.evaluators import GenericLLMEvaluator
from ais_prompt.extensions.peers.repeats import PeerRepeatEvaluator
from ais_prompt.extensions.peers.table.parts import POSTPROCESSORS as FUNCTIONS
from ais_prompt.extensions.peers.tables import SUMMARIES, Judgements
from ais_prompt.extensions.peers.translate import translate
from ais_prompt.metrics import mean_scores
from ais_prompt.plan import build_postprocessor
from ais_prompt.registry import POSTPROCESSORS
from ais_prompt.types import PartSpec, SampleScore
from tests.extensions.peers.test_translate import judged, peer_dataset

RECORDED: Final[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "data/peers/rules.json").read_text(encoding="utf-8")
)
JUDGE: Final = {"type": "opencompass.models.OpenAISDK", "path": "judge", "key": "ENV"}


def judge_of(name: str) -> dict[str, Any]:
    """Our evaluator for a config of theirs whose judge is read by the function or evaluator ``name``."""
    evaluator: dict[str, Any] = judged(judge_cfg=JUDGE)
    if name == "CascadeEvaluator":
        rule = {"type": "opencompass.openicl.icl_evaluator.AccEvaluator"}
        evaluator = {
            "type": "opencompass.evaluator.CascadeEvaluator",
            "rule_evaluator": rule,
            "llm_evaluator": evaluator,
        }
    elif name in ("get_a_or_b", "LLMJudgeCorrectEvaluator"):
        return judge_of_aisbench(name)
    else:
        evaluator["dict_postprocessor"] = {"type": f"opencompass.datasets.{name}"}
    values, _ = translate({"datasets": [peer_dataset(eval_cfg={"evaluator": evaluator})]})
    found: dict[str, Any] = values["datasets"][0]["eval_cfg"]["evaluator"]
    return found.get("llm_evaluator", found)


def judge_of_aisbench(name: str) -> dict[str, Any]:
    """The same for AISBench: without a function, the reply itself is compared with A."""
    place = "ais_bench.benchmark.datasets.utils.llm_judge"
    scoring: dict[str, Any] = {"evaluator": {"type": f"{place}.LLMJudgeCorrectEvaluator"}}
    if name == "get_a_or_b":
        scoring["pred_postprocessor"] = {"type": f"{place}.get_a_or_b"}
    model = {"type": "ais_bench.benchmark.models.VLLMCustomAPIChat", "abbr": "judge", "model": "judge"}
    template = {"type": "ais_bench.benchmark.openicl.icl_prompt_template.PromptTemplate", "template": "{model_answer}"}
    dataset = peer_dataset(eval_cfg=scoring, judge_infer_cfg={"judge_model": model, "prompt_template": template})
    values, _ = translate({"datasets": [dataset]})
    found: dict[str, Any] = values["datasets"][0]["eval_cfg"]["evaluator"]
    return found


@pytest.mark.parametrize("name", RECORDED["verdicts"])
def test_each_judge_is_read_as_there(name: str) -> None:
    config = judge_of(name)
    judging = ("type", "judge_cfg", "prompt_template")
    evaluator = GenericLLMEvaluator(**{key: value for key, value in config.items() if key not in judging})
    found = {
        reply: evaluator.score(evaluator.verdict(reply), None)["accuracy"] > 0 for reply in RECORDED["verdicts"][name]
    }
    assert found == RECORDED["verdicts"][name]


def test_judges_of_native_configs_are_read_by_our_own_rule() -> None:
    evaluator = GenericLLMEvaluator()
    found = {reply: evaluator.verdict(reply) for reply in ("The answer is B", "A: CORRECT", "Grade\n\nB\n", "C")}
    assert found == {"The answer is B": None, "A: CORRECT": "A", "Grade\n\nB\n": "B", "C": None}


def test_thoughts_are_cut_as_there() -> None:
    cut = build_postprocessor(PartSpec("extract_non_reasoning_content_peer", {}, ""))
    assert {text: cut(text) for text in RECORDED["thoughts"]} == RECORDED["thoughts"]


def test_every_rule_is_registered() -> None:
    for name in ("cascade_verdict_peer", "last_letter_verdict_peer", "whole_verdict_peer"):
        assert callable(POSTPROCESSORS.get(name))


@pytest.mark.parametrize("peer", RECORDED["repeats"])
def test_repeats_are_counted_as_there(peer: str) -> None:
    for case in RECORDED["repeats"][peer]:
        evaluator = PeerRepeatEvaluator(peer, k=case["k"], name="gsm8k")
        grouped = as_grouped_there(case["right"]) if peer == "ais_bench" else case["right"]
        assert numbers(evaluator, grouped) == pytest.approx(case["numbers"]), case


def test_repeats_belong_to_their_question() -> None:
    """AISBench takes the first n answers of the first round as those of one question; see docs/peer-results.md."""
    table = [[1, 1, 1, 1, 1], [0, 0, 0, 0, 0], [1, 0, 0, 0, 0], [1, 1, 1, 0, 1]]
    evaluator = PeerRepeatEvaluator("ais_bench", k=5)
    assert numbers(evaluator, table) == {"accuracy (5 runs average)": 50, "avg@5": 50, "pass@5": 75, "cons@5": 50}
    there = numbers(evaluator, as_grouped_there(table))
    assert there == {"accuracy (5 runs average)": 50, "avg@5": 50, "pass@5": 100, "cons@5": 25}


def as_grouped_there(table: list[list[int]]) -> list[list[int]]:
    """The answers of all rounds in turn, cut into groups of n: the groups that AISBench counts as questions."""
    n = len(table[0])
    rounds = [row[number] for number in range(n) for row in table]
    return [rounds[start : start + n] for start in range(0, len(rounds), n)]


def numbers(evaluator: PeerRepeatEvaluator, table: list[list[int]]) -> dict[str, float]:
    """Metric → number in percent."""
    samples = [question(str(number), row) for number, row in enumerate(table)]
    scores = evaluator.repeated(mean_scores(("accuracy",), samples), samples)
    return {one.metric: 100 * (one.value or 0) for one in scores}


def question(name: str, row: list[int]) -> SampleScore:
    """A question with right and wrong answers."""
    each = tuple(SampleScore(name, "scored", str(one), "1", {"accuracy": float(one)}) for one in row)
    return SampleScore(name, "scored", list(row), "1", {"accuracy": sum(row) / len(row)}, repeats=each)


def test_functions_without_a_difference_read_answers_that_end_inside_of_a_thought() -> None:
    """There such an answer is kept; ours find nothing in it, which their row says."""
    equal = [row for row in FUNCTIONS if not row.differs and not row.name.endswith("_dataset_postprocess")]
    assert equal
    for row in equal:
        read = build_postprocessor(PartSpec(row.ours, dict(row.add)))
        assert read("<think>So the answer is: 7. ANSWER: C") is not None, row.name


@pytest.mark.parametrize("name", RECORDED["tables"])
def test_summaries_of_judged_answers_are_computed_as_there(name: str) -> None:
    for case in RECORDED["tables"][name]:
        found = SUMMARIES[name](
            Judgements([tuple(pair) for pair in case["output"]], case["base"], case.get("args", {}))
        )
        assert found == pytest.approx(case["numbers"], abs=0.011), case["base"]
