"""Read logs of inspect_ai: ``.eval`` archives and JSON, versions 1 to 3.

Source: ``inspect_ai.log`` (``_log.py``, ``_recorders/eval.py``, ``_recorders/json.py``) of
https://github.com/UKGovernmentBEIS/inspect_ai, 2024 to 2026. Long texts are attachments of a sample, and from version 3
on messages are kept once in a pool.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from statistics import median, mode
from typing import Any, Final

from ais_prompt.extensions.logs.log_files import Archive, LogBudget, LogFile, first_of, grouped, mapping, of_files
from ais_prompt.extensions.logs.record import (
    completion_of,
    decoding_of,
    gold_of,
    messages_of,
    number_of,
    numbers_of,
    text_and_reasoning,
    texts_of,
)
from ais_prompt.metrics import pass_at_k
from ais_prompt.types import LoggedAnswer, LoggedTask, LogRule, Reducer

_GRADES: Final = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Correct, partially correct, incorrect, no answer (``inspect_ai.scorer.value_to_float``)."""
_ATTACHMENT: Final = ("attachment://", "tc://")
"""Prefixes of references to long texts, now and in the first version."""
_VALUE: Final = 100
"""Bytes that a value which is no text takes, about."""
_LONG: Final = ("events", "events_data", "message_pool", "attachments", "transcript", "store")
"""Parts of a sample of which only what is needed is resolved."""
_EPOCH: Final = re.compile(r"samples/(.*)_epoch_(\d+)\.json")
_NOT_MAIN: Final = ("stderr", "var", "std")
_NUMBER: Final = r"(?<![\w.])-?[$£€]?\d[\d,]*(?:\.\d+)?"
_CHOICE: Final = r"(?i)ANSWER\s*:\s*([A-Za-z\d ,]+?)\s*(?:[^\w\s,]|\n|$)"
"""What the scorers ``answer`` and, in earlier versions, ``choice`` read."""


def _recognizes(file: LogFile) -> bool:
    if file.is_archive:
        return file.has("header.json") or file.has("_journal/start.json")
    return file.has("eval", "status")


def _read(files: Sequence[LogFile]) -> Iterator[LoggedTask]:
    for file in files:
        if file.is_archive:
            archive = Archive(file.path, file.log.budget)
            has_header = "header.json" in archive.names
            head = mapping(archive.read("header.json" if has_header else "_journal/start.json"))
            notes = () if has_header else ("the log is not finished: it has no header",)
            yield _task(file, head, partial(_members, archive), notes)
        else:
            head = mapping(file.value)
            yield _task(file, head, partial(_samples, head), ())


def _members(archive: Archive) -> Iterator[Mapping[str, Any]]:
    """Yield the samples of an archive; the epochs of a sample follow each other."""
    found = [match for name in archive.names if (match := _EPOCH.fullmatch(name))]
    for match in grouped(found, lambda match: match[1], lambda match: int(match[2])):
        yield mapping(archive.read(match[0]))


def _samples(head: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the samples of a log in JSON; the epochs of a sample follow each other."""
    samples = [one for one in head.get("samples") or () if isinstance(one, Mapping)]
    yield from grouped(samples, lambda one: str(one.get("id")), lambda one: one.get("epoch") or 1)


def _task(file: LogFile, head: Mapping[str, Any], samples: Any, notes: Sequence[str]) -> LoggedTask:
    spec = mapping(head, "eval")
    model = str(spec.get("model", "unknown"))
    scores = [one for one in mapping(head, "results").get("scores") or () if isinstance(one, Mapping)]
    main = scores[0] if scores else {}
    reported = numbers_of({name: mapping(one).get("value") for name, one in mapping(main, "metrics").items()})
    metric = next((name for name in reported if not name.endswith(_NOT_MAIN)), "")
    scorer = str(main.get("scorer") or main.get("name") or "")
    named = (mapping(one, "options") for one in spec.get("scorers") or () if mapping(one).get("name") == scorer)
    options = next(named, {})
    reducer, unknown = _reducer(mapping(spec, "config"), main)
    notes = (*notes, *unknown)
    error = mapping(head, "error").get("message")
    status = head.get("status", "started")
    if status not in ("success", "started"):
        notes = (*notes, f"the log ended with the status {status}" + (f": {error}" if error else ""))
    return LoggedTask(
        tool="inspect_ai",
        model=model,
        dataset=str(spec.get("task", "unknown")).rpartition("/")[2],
        answers=lambda: (_answer(one, model, scorer, metric, file.log.budget) for one in samples()),
        where=str(file.path),
        version=str(mapping(spec, "packages").get("inspect_ai", "")),
        scorer=scorer,
        rules=_rules(scorer, options),
        extracts=scorer.rpartition("/")[2] in ("choice", "answer", "pattern"),  # others show the whole answer
        reported=reported,
        reducer=reducer,
        asked={
            "solvers": [
                {"solver": one.get("solver"), **mapping(one, "params")}
                for one in mapping(head, "plan").get("steps") or ()
                if isinstance(one, Mapping)
            ],
            **({"arguments": dict(arguments)} if (arguments := mapping(spec, "task_args")) else {}),
        },
        notes=notes,
    )


def _reducer(config: Mapping[str, Any], main: Mapping[str, Any]) -> tuple[Reducer | None, Sequence[str]]:
    """Return what makes one value of the epochs of a sample, None for the mean; and notes on one that is not known.

    Source: ``inspect_ai.scorer._reducer.reducer``.
    """
    epochs = config.get("epochs")
    named = config.get("epochs_reducer") or []
    name = str(main.get("reducer") or next(iter(named if isinstance(named, list) else [named]), "mean"))
    if name == "mean" or not isinstance(epochs, int) or epochs < 2:
        return None, ()
    kind, _, number = name.rpartition("_")
    k = int(number) if number.isdecimal() else 1
    known: dict[str, Callable[[Sequence[float]], float]] = {
        "max": max,
        "median": median,
        "mode": mode,
        "at_least": lambda values: float(sum(value >= 1 for value in values) >= k),
        "pass_at": lambda values: pass_at_k(len(values), sum(value >= 1 for value in values), min(k, len(values))),
    }
    if apply := known.get(name) or known.get(kind):
        return Reducer(name, epochs, apply), ()
    return None, [f"epochs are reduced by {name}, which is not known here: scores are means over the epochs"]


def _answer(sample: Mapping[str, Any], model: str, scorer: str, metric: str, budget: LogBudget) -> LoggedAnswer:
    transcript = mapping(sample, "transcript")  # the first version keeps events and long texts in it
    spend = partial(budget.spend, where=f"sample {sample.get('id')!s:.100}")
    texts = mapping(sample, "attachments") or mapping(transcript, "content")
    resolved = partial(_resolved, texts=texts, spend=spend)
    # The calls of the model that is evaluated, without those of models that grade.
    found = sample.get("events") or transcript.get("events") or ()
    events = [one for one in found if isinstance(one, Mapping) and one.get("event") == "model"]
    events = [one for one in events if one.get("model") == model and one.get("role") in (None, "", "model")]
    event: Mapping[str, Any] = resolved({**events[-1], "output": None}) if events else {}
    messages = resolved(_input_of(event, sample, spend))
    sample = resolved({name: value for name, value in sample.items() if name not in _LONG})
    output = mapping(sample, "output")
    first = first_of(output.get("choices"))
    text, reasoning = text_and_reasoning(mapping(first, "message").get("content"))
    messages = messages or _before_answer(sample.get("messages"))
    asked = sample.get("input")
    users = [one.content for one in messages_of(asked) if one.role == "user"]
    scores = mapping(sample, "scores") or ({scorer or "score": sample["score"]} if sample.get("score") else {})
    body = mapping(event, "call").get("request")
    return LoggedAnswer(
        id=str(sample.get("id")),
        completion=completion_of(
            text or str(output.get("completion") or ""),
            first.get("stop_reason"),
            usage=output.get("usage"),
            seconds=output.get("time"),
            reasoning=reasoning,
            error=sample.get("error") or output.get("error"),
        ),
        gold=gold_of(sample.get("target")),
        question=asked if isinstance(asked, str) else str(users[-1]) if users else "",
        choices=texts_of(sample.get("choices")),
        prompt=messages_of(messages) or (asked if isinstance(asked, str) else messages_of(asked)),
        extracted=mapping(scores, scorer).get("answer"),
        values=_values(scores, scorer, metric),
        decoding=decoding_of(body or event.get("config")),
        is_body=bool(body),
    )


def _values(scores: Mapping[str, Any], main: str, metric: str) -> dict[str, float]:
    """Return metric → value: that of the main scorer has the name of its metric."""
    values: dict[str, float] = {}
    for name in sorted(scores, key=lambda name: name != main):
        value = mapping(scores, name).get("value")
        several = value if isinstance(value, Mapping) else {(metric or name) if name == main else name: value}
        for key, one in several.items():
            if (number := _GRADES.get(one) if isinstance(one, str) else number_of(one)) is not None:
                values.setdefault(str(key), number)
    return values


def _input_of(event: Mapping[str, Any], sample: Mapping[str, Any], spend: Callable[[int], None]) -> list[Any]:
    """Return the messages of a call; from version 3 on they are ranges of a pool, each of which costs its length."""
    given = event.get("input")
    found = list(given) if isinstance(given, list) else []
    pool = mapping(sample, "events_data").get("messages") or sample.get("message_pool") or ()
    for one in event.get("input_refs") or ():
        start, end = (*one, one[0] + 1)[:2] if isinstance(one, list) and one else (one, one + 1)
        part = pool[start:end]
        spend(_VALUE * len(part))
        found += part
    return found


def _before_answer(messages: Any) -> list[Any]:
    """Return the messages in front of the last one of the model."""
    found = list(messages) if isinstance(messages, list) else []
    for number in range(len(found) - 1, -1, -1):
        if mapping(found[number]).get("role") == "assistant":
            return found[:number]
    return found


def _resolved(value: Any, texts: Mapping[str, Any], spend: Callable[[int], None]) -> Any:
    """Return a value with the text in place of each ``attachment://<hash>``. One that is missing stays as it is."""
    if isinstance(value, str):
        text = texts.get(value.partition("://")[2], value) if value.startswith(_ATTACHMENT) else value
        spend(len(text) if isinstance(text, str) else 0)
        return text
    spend(_VALUE)
    if isinstance(value, list):
        return [_resolved(one, texts, spend) for one in value]
    if isinstance(value, dict):
        return {key: _resolved(one, texts, spend) for key, one in value.items()}
    return value


def _rules(scorer: str, options: Mapping[str, Any]) -> list[LogRule]:
    """Return our counterparts of a scorer of ``inspect_ai.scorer``; none for one that is a model or the user's."""
    name = scorer.rpartition("/")[2]
    folded = {"ignore_case": bool(options.get("ignore_case", True))}
    text = {"type": "LoggedMatchEvaluator", **folded}
    pattern = options.get("pattern")
    match name:
        case "match":
            place = str(options.get("location", "end"))
            numeric = bool(options.get("numeric", False))
            whole = LogRule(None, {**text, "match": place, "numeric": numeric, "ignore_punctuation": True})
            if not numeric or place not in ("begin", "end"):
                return [whole]
            reading = {"type": "logged_regex", "pattern": _NUMBER, "which": 0 if place == "begin" else -1}
            return [LogRule(reading, {"type": "LoggedMatchEvaluator", "numeric": True}), whole]
        case "includes":
            return [LogRule(None, {**text, "match": "any"})]
        case "exact":
            return [LogRule(None, {"type": "LoggedMatchEvaluator", "match": "words"})]
        case "f1":
            return [LogRule(None, {"type": "LoggedMatchEvaluator", "match": "f1"})]
        case "choice":
            letters = {"type": "LoggedMatchEvaluator", "match": "letters"}
            return [
                LogRule({"type": "logged_letters"}, letters),
                LogRule({"type": "logged_letters", "several": True}, letters),
                LogRule({"type": "logged_regex", "pattern": _CHOICE}, {"type": "LoggedMatchEvaluator"}),
            ]
        case "answer":
            return [LogRule({"type": "logged_regex", "pattern": _CHOICE}, text)]
        case "pattern" if isinstance(pattern, str):
            return [LogRule({"type": "logged_regex", "pattern": pattern}, text)]
    return []


FORMAT: Final = of_files("inspect_ai", _recognizes, _read)
