"""The columns of the table of samples."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Any, Final

from ais_prompt.report.html.packing import finite, shown
from ais_prompt.report.html.run_files import Results
from ais_prompt.report.html.sample import prompts_of
from ais_prompt.types import Completion, Prediction, SampleScore

COLUMNS: Final = (
    "id",
    "index",
    "question",
    "state",
    "value",
    "extracted",
    "gold",
    "tokens",
    "characters",
    "seconds",
    "reason",
    "columns",
)
"""The table's columns. The browser shows one of ``tokens`` and ``characters``, the same for the whole task."""
SNIPPET: Final = 120
"""Maximum number of characters of a text in the table."""


def row(prediction: Prediction, detail: SampleScore | None, results: Results) -> dict[str, Any]:
    """Return one line of the table, without its question.

    Args:
        prediction, detail: as in `sample_json`.
        results: of the task; the table shows the value of its main metric.
    """
    value = finite(detail.values.get(results.metric)) if detail and results.metric else None
    failure = next((completion.failure for completion in prediction.completions if completion.failure), None)
    return {
        "id": prediction.sample_id,
        "index": prediction.index,
        "state": _state(prediction, detail.status if detail else None, value if results.fraction else None),
        "value": value,
        "extracted": _snippet(detail.extracted if detail else None),
        "gold": _snippet(detail.gold if detail else prediction.gold),
        "tokens": _tokens(prediction.completions),
        "characters": _characters(prediction.completions),
        "seconds": None if failure else _seconds(prediction),
        "reason": (detail.reason if detail else "") or (failure.kind if failure else ""),
        "columns": dict(prediction.columns),
    }


def questions(predictions: Sequence[Prediction]) -> list[str]:
    """Return the beginning of each question: where the prompt begins to differ from that of its neighbour.

    The text before that is the same for all: instructions, and often the in-context examples.
    """
    asked = [_last_text(prediction) for prediction in predictions]
    neighbours = [asked[number - 1 if number else min(1, len(asked) - 1)] for number in range(len(asked))]
    return [_snippet(_difference(text, other)) or "" for text, other in zip(asked, neighbours, strict=True)]


def _state(prediction: Prediction, status: str | None, value: float | None) -> str:
    """Return the status of a sample; ``right``, ``partial`` or ``wrong`` if it was scored between 0 and 1."""
    if status is None:
        return "failed" if prediction.failed else "truncated" if prediction.truncated else "answered"
    if status != "scored" or value is None or not 0 <= value <= 1:
        return status
    return "right" if value == 1 else "partial" if value > 0 else "wrong"


def _tokens(completions: Sequence[Completion]) -> int | None:
    counts = [completion.usage.completion_tokens for completion in _answers(completions)]
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None


def _characters(completions: Sequence[Completion]) -> int | None:
    answers = _answers(completions)
    return sum(len(completion.text) for completion in answers) if answers else None


def _answers(completions: Sequence[Completion]) -> list[Completion]:
    """Return the completions that are texts; failures and log-likelihoods have no length."""
    return [completion for completion in completions if not (completion.failure or completion.likelihood)]


def _seconds(prediction: Prediction) -> float | None:
    """Return the seconds of a sample: turns are sequential; labels and answers to the same prompt are concurrent."""
    times = [completion.seconds for completion in prediction.completions]
    one_after_the_other = len(times) > 1 and len(prompts_of(prediction)) > 1
    return finite(sum(times) if one_after_the_other else max(times, default=0.0))


def _last_text(prediction: Prediction) -> str:
    """Return the text of the first prompt, or of its last message."""
    prompt = prompts_of(prediction)[0]
    content = prompt[-1]["content"] if isinstance(prompt, list) and prompt else prompt
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if isinstance(part.get("text"), str))


def _difference(text: str, other: str) -> str:
    """The lines between those that both begin with and those that both end with; all of them if none is left."""
    lines, others = text.split("\n"), other.split("\n")
    start = _shared(lines, others)
    end = _shared(lines[start:][::-1], others[start:][::-1])
    return "\n".join(lines[start : len(lines) - end] or lines)


def _shared(lines: Sequence[str], others: Sequence[str]) -> int:
    """Return the number of equal lines at the beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(lines, others, strict=False)))


def _snippet(value: Any) -> str | None:
    """Return a value as one short line; None if there is no value."""
    if value is None:
        return None
    text = " · ".join(map(_item, value)) if isinstance(value, list) else shown(value)
    return " ".join(text[: 4 * SNIPPET].split())[:SNIPPET]


def _item(value: Any) -> str:
    return "–" if value is None else shown(value)
