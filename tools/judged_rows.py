"""Golds and verdicts for datasets whose judge rates answers, in the forms that the peers' functions look for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from ais_prompt.types import DatasetSpec

RATED: Final = "PeerJudgeEvaluator"
"""The evaluator of such a dataset."""

GOLD: Final[Mapping[str, Any]] = {
    "capability": "writing",
    "category": "writing",
    "difficulty": "easy",
    "domain": "law",
    "domain1": "law",
    "format": "JSON",
    "format_type": "general",
    "judge_prompt_list": ["Rate it: {prediction}", "{prediction}? Rate it again."],
    "level": 1,
    "multi_id": 1,
    "num_checklist": 7,
    "others": {"subcategory": "writing", "round": 2, "question": "a question"},
    "primary_tag": "Coding & Debugging",
    "question": "a question",
    "question_id": "q1",
    "secondary_tag": ["Planning"],
    "subcategory": "travel",
    "task": "CM",
    "turn_id": 1,
}
"""What a gold says of its question."""

VERDICT: Final = """m A [[5]] [[5分]]
Rating: [[5]] [[{0}]] Choice: {1} 选择：{1} 分数=3 \\boxed{{A}} [Correct] <NUMBER>1</NUMBER>
{{"choice": "{2}", "score": 5, "format_correctness": 1, "reason": "so", "Overall Score": 1}}
{{'事实正确性': 5, '满足用户需求': 5, '清晰度': 5, '完备性': 5, '综合得分': 5}}
YES"""
"""What a judge says: a rank, a verdict, ratings, and a comparison in three forms."""
CHECKLIST: Final = json.dumps([{"checklist_id": 0, "reason": "so", "evaluation_score": 1}] * 7)
"""What it says where it has a list to check."""


def verdicts(dataset: DatasetSpec) -> dict[str, Any]:
    """Return the arguments of the scripted judge of a dataset."""
    evaluator = dataset.eval.evaluator
    if evaluator is None or evaluator.type != RATED:
        return {"default": "A"}
    function = str(evaluator.args.get("function"))
    if function.endswith("hellobench_postprocess"):
        return {"default": CHECKLIST}
    return {"default": VERDICT.format("A=B", "C", "A=B"), "answers": {" 1 of test": VERDICT.format("B>A", "B", "B+")}}
