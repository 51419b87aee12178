"""Record what rules of the peers say, with their own code: ``ENV/bin/python tools/real/record.py FILE``.

ENV is an environment with both wheels, such as the one of ``python -m tools.real``. The tests compare our rules with
the file, so that they need no peer. Its keys: ``verdicts`` (judge → reply → whether the answer is right), ``thoughts``
(text → text without thoughts), ``repeats`` (peer → the numbers of each table of right and wrong repeats).
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ais_bench.benchmark.datasets.utils.llm_judge import LLMJudgeCorrectEvaluator, get_a_or_b
from ais_bench.benchmark.openicl.icl_evaluator.icl_base_evaluator import BaseEvaluator as AISBenchEvaluator
from datasets import Dataset
from opencompass.datasets.generic import generic_llmjudge_academic_postprocess, generic_llmjudge_postprocess
from opencompass.datasets.Medbullets import medbullets_llmjudge_postprocess
from opencompass.datasets.medmcqa import medmcqa_llmjudge_postprocess
from opencompass.datasets.MedXpertQA import MedXpertQA_llmjudge_postprocess
from opencompass.datasets.supergpqa.supergpqa import supergpqa_llmjudge_postprocess
from opencompass.evaluator import CascadeEvaluator
from opencompass.openicl.icl_evaluator.icl_base_evaluator import BaseEvaluator as OpenCompassEvaluator
from opencompass.utils.text_postprocessors import extract_non_reasoning_content

REPLIES = (
    *("A", "B", "A.", "B.", " A\n", "a", "b", "C", "", "AB", "A B", "(A)", "[[A]]", "[[B]]", "\\boxed{A}", "**B**"),
    *("CORRECT", "CORRECT.", "Correct, I think.", "INCORRECT", "NOT CORRECT", "A: CORRECT", "B: INCORRECT"),
    *("The answer is A", "The answer is B", "The answer is B.", "Based on the gold: A", "Answer: A", "ANSWER: B"),
    *("I say A and not B", "It is wrong", "It is right", "结论：A", "结论：B。", "Grade\n\nA", "Grade\n\nB\n"),
    *("<think>Maybe B</think>A", "<think>Maybe A</think>\nB", "<think>A or", "no thought</think>A", "<think></think>"),
)
TEXTS = (
    *(
        "18",
        "<think>x</think>18",
        "<think>x</think>\n 18 \n",
        "x</think>18",
        "<think>never ends 18",
        "<think>",
        "</think>",
    ),
    *("a<think>b</think>c<think>d</think>e", "a<think>b</think>c<think>d", "<think>a<think>b</think>c</think>d", ""),
    "<think>a</think>b</think>c",
)
ROWS = {
    "subject_name": "s", "choice_type": "c", "topic_name": "t", "question": "q", "options": "o", "discipline": "d",
    "field": "f", "subfield": "u", "medical_task": "m", "body_system": "b", "question_type": "q", "label": "A",
}  # fmt: skip
REPEATS = (
    ((1, 1), (1, 0), (0, 1), (0, 0)),
    ((1, 0, 1, 0), (1, 1, 1, 0), (0, 0, 0, 1)),
    ((1, 1, 1, 1, 1), (0, 0, 0, 0, 0), (1, 0, 0, 0, 0), (1, 1, 1, 0, 1)),
    ((0, 0, 0),),
)
"""Tables of right and wrong: question → repeat → whether it is right."""


class _Loaded:
    """A dataset as functions of OpenCompass get it."""

    def __init__(self) -> None:
        self.reader = self
        self.dataset = {"test": Dataset.from_list([ROWS])}


def verdicts() -> dict[str, dict[str, bool]]:
    """Return judge → reply → whether the answer is right."""
    counted = {
        function.__name__: {reply: _accuracy(function, reply) > 0 for reply in REPLIES}
        for function in (
            generic_llmjudge_postprocess,
            generic_llmjudge_academic_postprocess,
            medbullets_llmjudge_postprocess,
            medmcqa_llmjudge_postprocess,
            MedXpertQA_llmjudge_postprocess,
            supergpqa_llmjudge_postprocess,
        )
    }
    cascade = {reply: CascadeEvaluator._get_llm_correctness(None, {"prediction": reply}) for reply in REPLIES}
    evaluator = LLMJudgeCorrectEvaluator()
    read = {reply: evaluator.score([get_a_or_b(reply)], [""])["accuracy"] > 0 for reply in REPLIES}
    whole = {reply: evaluator.score([reply], [""])["accuracy"] > 0 for reply in REPLIES}
    return {**counted, "CascadeEvaluator": cascade, "get_a_or_b": read, "LLMJudgeCorrectEvaluator": whole}


def _accuracy(function: Any, reply: str) -> float:
    output = {"0": {"origin_prompt": "", "prediction": reply, "gold": "A"}}
    needs_rows = "dataset" in function.__code__.co_varnames[: function.__code__.co_argcount]
    found: Mapping[str, Any] = function(output, "", **({"dataset": _Loaded()} if needs_rows else {}))
    return float(found["accuracy"])


def repeats() -> dict[str, list[dict[str, Any]]]:
    """Return peer → each table with the numbers for it, for one k and for several."""
    found: dict[str, list[dict[str, Any]]] = {"opencompass": [], "ais_bench": []}
    for table in REPEATS:
        n = len(table[0])
        for k in (1, n, *((list(range(1, n + 1)),) if n > 2 else ())):
            for peer, base in (("opencompass", OpenCompassEvaluator), ("ais_bench", AISBenchEvaluator)):
                found[peer].append({"right": table, "k": k, "numbers": _repeated(base, table, k)})
    return found


def _repeated(base: Any, table: Any, k: Any) -> dict[str, float]:
    class Evaluator(base):  # type: ignore[misc]
        def score(self, predictions: Any) -> dict[str, Any]:
            details = [{"correct": bool(right)} for right in predictions]
            return {"accuracy": 100 * sum(predictions) / len(predictions), "details": details}

    n = len(table[0])
    in_turn = base is AISBenchEvaluator
    right = [one for row in table for one in row] if in_turn else [row[i] for i in range(n) for row in table]
    places = [row for row in range(len(table)) for _ in range(n)] if in_turn else [*range(len(table))] * n
    rows = Dataset.from_list([{"subdivision": "gsm8k_test", "idx": place} for place in places])
    numbers = Evaluator().evaluate(k, n, rows, predictions=right)
    return {key: float(value) for key, value in numbers.items() if key != "details"}


if __name__ == "__main__":
    table = {
        "verdicts": verdicts(),
        "thoughts": {text: extract_non_reasoning_content(text) for text in TEXTS},
        "repeats": repeats(),
    }
    Path(sys.argv[1]).write_text(json.dumps(table, indent=1, ensure_ascii=False) + "\n", "utf-8")
