"""Read ``results.jsonl`` of NeMo Evaluator, a line for each problem and repeat.

Source: the documentation of https://github.com/NVIDIA-NeMo/Evaluator, page on the format of results, 2026. No log of a
real run was at hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ais_prompt.extensions.logs.log_files import LogFile, grouped, mapping, of_files
from ais_prompt.extensions.logs.record import completion_of, gold_of, numbers_of
from ais_prompt.types import LoggedAnswer, LoggedTask, LogRule


def _task(file: LogFile) -> LoggedTask:
    return LoggedTask(
        tool="NeMo Evaluator",
        model="unknown",
        dataset=file.path.parent.name,
        answers=lambda: _answers(file),
        where=str(file.path),
        scorer="reward",
        rules=[LogRule(None, {"type": "LoggedMatchEvaluator"})],
        extracts=True,
        notes=("the log does not name the model, the prompts and the decoding",),
    )


def _answers(file: LogFile) -> Iterator[LoggedAnswer]:
    """Yield the answers in the order of the problems; the repeats of a problem follow each other."""
    places = [(line.get("problem_idx"), line.get("repeat") or 0, start) for start, line in file.lines()]
    ordered = grouped(places, lambda place: place[0], lambda place: place[1])
    yield from map(_answer, file.lines_at(start for _, _, start in ordered))


def _answer(line: Mapping[str, Any]) -> LoggedAnswer:
    text = line.get("model_response")
    return LoggedAnswer(
        id=str(line.get("problem_idx")),
        completion=completion_of(text if isinstance(text, str) else None),
        gold=gold_of(line.get("expected_answer")),
        question=str(mapping(line, "metadata").get("question") or ""),
        extracted=line.get("extracted_answer"),
        values=numbers_of({"reward": line.get("reward")}),
    )


FORMAT: Final = of_files(
    "NeMo Evaluator", lambda file: file.has("problem_idx", "reward"), lambda files: map(_task, files)
)
