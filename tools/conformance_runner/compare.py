"""What differs between the target of a case and what came out."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tools.conformance_runner.cases import Case
from tools.conformance_runner.outcome import Outcome

NOT_COMPARED = frozenset({"error", "error_types"})
PEERS_RECORD = frozenset({"in-context examples", "testing input", "BPB"})
"""Keys of ``saved`` that only say how the peers write their files (BPB: nats, and not the bytes of what was scored)."""
DECIMALS = 6
"""Numbers are compared to so many places: the peers compute probabilities in float32."""

STAGES = {"retriever": "retrieve", "retrieval": "retrieve", "inference": "infer"}
"""Stages that the cases know by more than one name."""


def differences(case: Case, outcome: Outcome) -> Iterator[str]:
    """A readable text for everything that is not as it should be; nothing if the case passes.

    Values on the way to a wanted error are only compared as far as there are any: here a config that cannot work is
    refused before the first prompt.
    """
    wanted_error = case.target.get("error")
    yield from _error_differences(wanted_error, outcome.get("error"))
    for key, wanted in case.target.items():
        if key in NOT_COMPARED or (wanted_error and not outcome.get(key)):
            continue
        if key not in outcome:
            yield f"{key}: nothing came out"
            continue
        got = outcome[key]
        if key == "saved":
            wanted, got = _saved_lines(_saved(wanted), got)
        wanted, got = _comparable(wanted, case), _comparable(got, case)
        if wanted != got:
            yield f"{key}:\n{_diff(wanted, got)}"


def _saved(rows: Mapping[str, Any]) -> dict[str, Any]:
    """What the peers saved, without what is only theirs."""
    return {row: _without_peers_record(values) for row, values in rows.items()}


def _without_peers_record(values: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in values.items() if key not in PEERS_RECORD}
    labels = {key: _without_peers_record(value) for key, value in kept.items() if key.startswith("label: ")}
    if labels:
        kept.pop("origin_prompt", None)  # of the first label, sometimes without the examples
    if "Loglikelihood" in kept:
        kept.pop("prompt", None)
    return {**kept, **labels}


def _error_differences(wanted: Any, got: Mapping[str, str] | None) -> Iterator[str]:
    if wanted and not got:
        yield f"no error, but one was expected: {json.dumps(wanted, ensure_ascii=False)}"
    if got and not wanted:
        yield f"unexpected error at stage {got['stage']}: {got['message']}"
    if isinstance(wanted, Mapping) and got and _stage(wanted["stage"]) != _stage(got["stage"]):
        yield f"the error comes at stage {got['stage']}, not {wanted['stage']}: {got['message']}"


def _saved_lines(
    wanted: Mapping[str, Mapping[str, Any]], got: Mapping[str, Mapping[str, Any]]
) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    """The lines of a result file, without the gold where OpenCompass has put its own answers in its place (FIX-31)."""
    overwritten = {
        number for number, line in wanted.items() if "gold" in line and line["gold"] == line.get("prediction")
    }
    without_gold = [
        {
            number: {key: value for key, value in line.items() if not (key == "gold" and number in overwritten)}
            for number, line in lines.items()
        }
        for lines in (wanted, got)
    ]
    return without_gold[0], without_gold[1]


def _stage(name: str) -> str:
    return STAGES.get(name, name)


def _comparable(value: Any, case: Case) -> Any:
    """The value as plain JSON, without what does not count."""
    plain = json.loads(json.dumps(value), parse_float=lambda digits: round(float(digits), DECIMALS))
    value = _without_markers(plain, no_empty_items=case.from_document)
    return _of_texts(value, _stripped) if case.stripped else value


def _without_markers(value: Any, *, no_empty_items: bool) -> Any:
    """Without the section markers of the peers; documents also leave out the empty item of an empty ``ice_token``."""
    if isinstance(value, dict):
        return {key: _without_markers(item, no_empty_items=no_empty_items) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    is_dialogue = any(isinstance(item, dict) for item in value)
    return [
        _without_markers(item, no_empty_items=no_empty_items)
        for item in value
        if not _is_marker(item) and not (no_empty_items and is_dialogue and item == "")
    ]


def _is_marker(item: Any) -> bool:
    return isinstance(item, dict) and item.keys() == {"section", "pos"}


def _of_texts(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_of_texts(item, change) for item in value]
    return {key: _of_texts(item, change) for key, item in value.items()} if isinstance(value, dict) else value


def _stripped(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.split("\n")).rstrip()


def _diff(wanted: Any, got: Any) -> str:
    """Both as JSON lines: - is wanted, + is what came out, ? points at the characters."""
    lines = difflib.ndiff(_json_lines(wanted), _json_lines(got))
    return "\n".join("  " + line.rstrip("\n") for line in lines if not line.startswith(" "))


def _json_lines(value: Any) -> list[str]:
    return json.dumps(value, ensure_ascii=False, indent=1).split("\n")
