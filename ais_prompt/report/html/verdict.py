"""What was made of the answers of a sample: what was extracted of each one, beside the gold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ais_prompt.report.html.finite import finite
from ais_prompt.report.html.texts import Lines, Text, shown
from ais_prompt.types import Prediction


def verdicts(prediction: Prediction, detail: Mapping[str, Any], lines: Lines) -> list[dict[str, Any]]:
    """One verdict, or one for each turn of a dialogue and for each answer to the same question.

    Each is ``extracted`` and ``gold``, and of several answers also ``status``, ``reason`` and ``value``.
    """
    gold = detail.get("gold", prediction.gold)
    if repeats := detail.get("repeats"):
        return [_repeat(repeat, lines) for repeat in repeats]
    extracted = detail.get("extracted")
    if isinstance(extracted, list) and isinstance(gold, list) and len(prediction.completions) == len(extracted):
        return [_verdict(*pair, lines) for pair in _pairs(extracted, gold)]
    return [_verdict(extracted, gold, lines)]


def _pairs(extracted: list[Any], gold: list[Any]) -> Iterator[tuple[Any, Any]]:
    """Turn by turn; a gold is None where there are fewer of them."""
    return ((item, gold[number] if number < len(gold) else None) for number, item in enumerate(extracted))


def _repeat(repeat: Mapping[str, Any], lines: Lines) -> dict[str, Any]:
    value = next(iter(repeat["values"].values()), None)
    more = {"status": repeat["status"], "reason": repeat.get("reason", ""), "value": finite(value)}
    return _verdict(repeat["extracted"], repeat["gold"], lines) | more


def _verdict(extracted: Any, gold: Any, lines: Lines) -> dict[str, Any]:
    return {"extracted": _text(extracted, lines), "gold": _text(gold, lines)}


def _text(value: Any, lines: Lines) -> Text | None:
    return None if value is None else lines.add(shown(value))
