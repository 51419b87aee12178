"""What was made of the answers of a sample: what was extracted of each one, beside the gold."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

from ais_prompt.report.html.finite import finite
from ais_prompt.report.html.texts import Lines, Text, shown
from ais_prompt.types import Prediction


def verdicts(prediction: Prediction, detail: Mapping[str, Any], lines: Lines) -> list[dict[str, Any]]:
    """One verdict, or one for each turn of a dialogue and for each answer to the same question.

    Each is ``extracted``, ``gold`` (None where a dialogue has fewer of them) and ``reading``, if it is known: which
    rule read which part of the answer. Of several answers each is also ``status``, ``reason`` and ``value``.
    """
    gold = detail.get("gold", prediction.gold)
    if repeats := detail.get("repeats"):
        return [_repeat(repeat, lines) for repeat in repeats]
    extracted = detail.get("extracted")
    readings = detail.get("readings", [])
    if isinstance(extracted, list) and isinstance(gold, list) and len(prediction.completions) == len(extracted):
        each = zip_longest(extracted, gold[: len(extracted)], readings[: len(extracted)])
        return [_verdict(*one, lines) for one in each]
    return [_verdict(extracted, gold, next(iter(readings), None), lines)]


def _repeat(repeat: Mapping[str, Any], lines: Lines) -> dict[str, Any]:
    value = next(iter(repeat["values"].values()), None)
    more = {"status": repeat["status"], "reason": repeat.get("reason", ""), "value": finite(value)}
    reading = next(iter(repeat.get("readings", [])), None)
    return _verdict(repeat["extracted"], repeat["gold"], reading, lines) | more


def _verdict(extracted: Any, gold: Any, reading: Mapping[str, Any] | None, lines: Lines) -> dict[str, Any]:
    found = {"extracted": _text(extracted, lines), "gold": _text(gold, lines)}
    return {**found, "reading": reading} if reading else found


def _text(value: Any, lines: Lines) -> Text | None:
    return None if value is None else lines.add(shown(value))
