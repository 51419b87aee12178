"""Read runs of HELM: ``scenario_state.json``, and beside it the specification and the statistics of each instance.

Source: ``helm/benchmark/adaptation/scenario_state.py``, ``request_state.py`` and ``metrics/statistic.py`` of
https://github.com/stanford-crfm/helm, version 0.5.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from ais_prompt.extensions.logs.log_files import MOST_METRICS, LogFile, first_of, mapping, of_files
from ais_prompt.extensions.logs.record import (
    completion_of,
    decoding_of,
    gold_of,
    number_of,
)
from ais_prompt.types import LoggedAnswer, LoggedTask, LogRule
from ais_prompt.utils import counted

_METRICS: Final = ("exact_match", "quasi_exact_match", "f1_score")
"""Names of metrics, where the specification of the run is missing."""
_ASKED: Final = ("method", "instructions", "input_prefix", "output_prefix", "max_train_instances", "num_train_trials")
Key = tuple[str, int]
"""Id of an instance, with its perturbation, and the number of the trial."""


def _read(files: Sequence[LogFile]) -> Iterator[LoggedTask]:
    for file in files:
        beside = file.beside()
        spec = _value(beside, "scenario_spec", "metric_specs")
        names = (
            str(name)
            for one in mapping(spec).get("metric_specs") or ()
            for name in mapping(one, "args").get("names") or ()
        )
        metrics = list(islice(dict.fromkeys(names), MOST_METRICS))
        yield _task(file, mapping(spec), metrics or list(_METRICS), beside)


def _task(file: LogFile, spec: Mapping[str, Any], metrics: Sequence[str], beside: Sequence[LogFile]) -> LoggedTask:
    adapter = mapping(file.value, "adapter_spec")
    states = [one for one in mapping(file.value).get("request_states") or () if isinstance(one, Mapping)]
    splits = Counter(str(mapping(one, "instance").get("split")) for one in states).most_common()
    split = splits[0][0] if splits else ""
    states = [one for one in states if str(mapping(one, "instance").get("split")) == split]
    statistics = _value(beside, "instance_id", "stats") or []
    totals = [mapping(one) for one in _value(beside, "name", "count", "sum") or [] if isinstance(one, Mapping)]
    shortened = sum(bool(one.get("prompt_truncated")) for one in states)
    name, _, arguments = str(spec.get("name") or file.path.parent.name).partition(":")
    arguments = ",".join(one for one in arguments.split(",") if one and not one.startswith("model="))
    return LoggedTask(
        tool="HELM",
        model=str(adapter.get("model") or "unknown"),
        dataset=f"{name}_{arguments}" if arguments else name,
        answers=lambda: _answers(states, _by_instance(statistics, metrics)),
        where=str(file.path),
        scorer=metrics[0],
        rules=_RULES,
        reported={
            str(mapping(one, "name").get("name")): value
            for one in totals
            if mapping(one, "name").get("split") == split
            and "perturbation" not in mapping(one, "name")
            and mapping(one, "name").get("name") in metrics
            and (value := number_of(one.get("mean"))) is not None
        },
        asked={key: adapter[key] for key in _ASKED if adapter.get(key) not in (None, "")},
        notes=[
            *(f"{counted(number, 'request')} of the split {other} is left out" for other, number in splits[1:]),
            *([f"{shortened} prompts lost examples because they were too long"] if shortened else []),
            *(["there are no statistics beside it, so no answer has a score"] if not statistics else []),
        ],
    )


def _answers(states: Sequence[Mapping[str, Any]], values: Mapping[Key, Mapping[str, float]]) -> Iterator[LoggedAnswer]:
    """Yield the answers; the trials of an instance follow each other, and requests of its options are one answer."""
    groups: defaultdict[str, defaultdict[int, list[Mapping[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for state in states:
        groups[_instance(mapping(state, "instance"))][int(state.get("train_trial_index") or 0)].append(state)
    for name, trials in groups.items():
        for trial in sorted(trials):
            yield _answer(name, trials[trial], values.get((name, trial), {}))


def _answer(name: str, states: Sequence[Mapping[str, Any]], values: Mapping[str, float]) -> LoggedAnswer:
    state = states[0]
    instance = mapping(state, "instance")
    references = [mapping(one) for one in instance.get("references") or ()]
    texts = [str(mapping(one, "output").get("text", "")) for one in references]
    right = dict.fromkeys(
        text for text, one in zip(texts, references, strict=True) if "correct" in (one.get("tags") or ())
    )
    options = mapping(state, "output_mapping")
    letters = [letter for letter, text in options.items() if text in right]
    result = mapping(state, "result")
    labels = {}
    if len(states) > 1:  # each option was measured by a request of its own
        for one in states:
            number, found = one.get("reference_index"), first_of(mapping(one, "result").get("completions"))
            if isinstance(number, int) and number < len(texts):
                labels[texts[number]] = {"log_likelihood": number_of(found.get("logprob")) or 0.0}
    found = first_of(result.get("completions"))
    text = max(labels, key=lambda label: labels[label]["log_likelihood"]) if labels else found.get("text")
    reason = found.get("finish_reason")
    return LoggedAnswer(
        id=name,
        completion=completion_of(
            text if isinstance(text, str) else None,
            mapping(reason).get("reason") if isinstance(reason, Mapping) else reason,
            seconds=result.get("request_time"),
            error=None if result.get("success", True) else result.get("error") or "the request failed",
        ),
        gold=gold_of(letters or list(right)),
        question=str(mapping(instance, "input").get("text", "")),
        choices=list(map(str, options.values())) or (texts if len(texts) > 1 else ()),
        prompt=str(mapping(state, "request").get("prompt") or ""),
        values=values,
        decoding=decoding_of(state.get("request")),
        is_body=True,
        labels=labels,
    )


def _by_instance(statistics: Any, metrics: Sequence[str]) -> dict[Key, dict[str, float]]:
    """Return the values of the metrics of each instance and trial, the main metric first."""
    found = {}
    for one in statistics if isinstance(statistics, list) else ():
        means = {
            str(mapping(stat, "name").get("name")): number_of(mapping(stat).get("mean"))
            for stat in mapping(one).get("stats") or ()
        }
        key = _instance({**mapping(one), "id": mapping(one).get("instance_id")}), int(one.get("train_trial_index") or 0)
        found[key] = {name: value for name in metrics if (value := means.get(name)) is not None}
    return found


def _instance(instance: Mapping[str, Any]) -> str:
    """Return the id of an instance; a perturbed one has the name of its perturbation behind it."""
    perturbation = mapping(instance, "perturbation").get("name")
    return f"{instance.get('id')}/{perturbation}" if perturbation else str(instance.get("id"))


def _value(files: Sequence[LogFile], *keys: str) -> Any:
    return next((file.value for file in files if file.has(*keys)), None)


_RULES: Final = [
    LogRule(None, {"type": "LoggedMatchEvaluator"}),
    LogRule(None, {"type": "LoggedMatchEvaluator", "match": "words"}),
    LogRule(None, {"type": "LoggedMatchEvaluator", "match": "f1"}),
]
FORMAT: Final = of_files("HELM", lambda file: file.has("adapter_spec", "request_states"), _read)
