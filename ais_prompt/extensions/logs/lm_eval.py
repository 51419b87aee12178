"""Read results and samples of lm-evaluation-harness.

Source: ``lm_eval/evaluator.py`` and ``lm_eval/loggers/evaluation_tracker.py`` of
https://github.com/EleutherAI/lm-evaluation-harness, version 0.4. ``samples_<task>_<time>.jsonl`` has a line for each
document and filter, ``results_<time>.json`` beside it the configs and scores. Neither tells why an answer ended.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from ais_prompt.errors import DataError
from ais_prompt.extensions.logs.log_files import LogFile, mapping, of_files
from ais_prompt.extensions.logs.record import (
    completion_of,
    decoding_of,
    messages_of,
    number_of,
    numbers_of,
)
from ais_prompt.types import ChatMessage, LoggedAnswer, LoggedTask, LogRule, PartConfig
from ais_prompt.utils import decode

_NAME: Final = re.compile(r"samples_(.*?)(?:_(\d{4}-\d\d-\d\dT[\d.-]+))?")
_QUESTIONS: Final = ("question", "problem", "query", "prompt", "input", "text", "ctx")
"""Columns of documents that hold the question, where the template of the task names none."""
_FIELD: Final = re.compile(r"\{\{\s*(\w+)")
_ASKED: Final = ("num_fewshot", "description", "doc_to_text", "fewshot_delimiter", "target_delimiter", "fewshot_split")


def _recognizes(file: LogFile) -> bool:
    return _is_samples(file) or file.has("results", "configs", "n-shot")


def _is_samples(file: LogFile) -> bool:
    return file.has("doc_id", "filtered_resps")


def _read(files: Sequence[LogFile]) -> Iterator[LoggedTask]:
    samples = [file for file in files if _is_samples(file)]
    results = [file for file in files if not _is_samples(file)]
    if not samples:
        raise DataError(
            "these results come without samples, so no answer is known",
            where=str(results[0].path),
            fix="run lm_eval with --log_samples, and name the folder that it writes",
        )
    named = [(file, *_name_of(file)) for file in samples]
    without = {name for file in results for name in mapping(file.value, "configs")} - {name for _, name, _ in named}
    notes = [f"{name} has scores but no samples, and is left out" for name in sorted(without)]
    for file, name, time in named:
        head = _results_of(name, time, results or [one for one in file.beside() if _recognizes(one)])
        filters: dict[str, list[int]] = {}  # filter → where its lines begin
        for start, line in file.lines():
            filters.setdefault(str(line.get("filter", "none")), []).append(start)
        for one, starts in filters.items():
            task = _task(file, name, one, starts, head, several=len(filters) > 1)
            yield replace(task, notes=(*task.notes, *notes))
            notes = []


def _name_of(file: LogFile) -> tuple[str, str]:
    """Return task and time of samples, which only the name of their file has; the time is empty if it has none."""
    match = _NAME.fullmatch(file.path.stem)
    return (match[1], match[2] or "") if match else (file.path.stem, "")


def _results_of(task: str, time: str, files: Sequence[LogFile]) -> Mapping[str, Any]:
    """Return the results of a task; of several runs in a folder those of the same time, else the last."""
    having = [file for file in files if not _is_samples(file) and task in mapping(file.value, "configs")]
    having.sort(key=lambda file: (bool(time) and time in file.path.name, file.path.name))
    return mapping(having[-1].value) if having else {}


def _task(
    file: LogFile, name: str, chosen: str, starts: Sequence[int], head: Mapping[str, Any], *, several: bool
) -> LoggedTask:
    config = mapping(head, "configs", name)
    reported = {}
    for key, value in mapping(head, "results", name).items():
        metric, _, of = key.partition(",")
        if of == chosen and not metric.endswith("_stderr") and (number := number_of(value)) is not None:
            reported[metric] = number
    asked = {key: config[key] for key in _ASKED if config.get(key) not in (None, "")}
    for key in ("system_instruction", "chat_template_sha", "fewshot_as_multiturn"):
        if head.get(key):
            asked[key] = head[key]
    model = head.get("model_name") or mapping(head, "config").get("model") or file.path.parent.name
    return LoggedTask(
        tool="lm-evaluation-harness",
        model=str(model),
        dataset=f"{name}-{chosen}" if several else name,
        answers=lambda: (answer for line in file.lines_at(starts) for answer in _of_line(line, config)),
        where=str(file.path),
        version=str(head.get("lm_eval_version") or ""),
        scorer=chosen,
        rules=_rules(config, chosen),
        extracts=chosen != "none",
        reported=reported,
        lower_is_better={
            metric: not is_higher
            for metric, is_higher in mapping(head, "higher_is_better", name).items()
            if isinstance(is_higher, bool)
        },
        asked=asked,
        notes=() if head else ("there are no results beside the samples, so the reported scores are unknown",),
    )


def _of_line(line: Mapping[str, Any], config: Mapping[str, Any]) -> Iterator[LoggedAnswer]:
    requests = _requests(line.get("arguments"))
    doc = mapping(line, "doc")
    values = numbers_of({name: line.get(name) for name in line.get("metrics") or ()})
    first, options = requests[0] if requests else ("", None)
    choices = given if isinstance(given := doc.get("choices"), list) else []
    asked = LoggedAnswer(
        str(line.get("doc_id")),
        completion_of(None),
        gold=line.get("target"),
        question=_question(doc, config),
        choices=choices if all(isinstance(one, str) for one in choices) else (),
        prompt=_prompt(first),
        values=values,
    )
    responses = [one for one in line.get("resps") or () if isinstance(one, list)]
    if responses and all(one and isinstance(one[0], list) for one in responses):  # log-likelihoods of continuations
        choices = [str(continuation).strip() for _, continuation in requests]
        measured = {
            choice: {"log_likelihood": float(one[0][0])} for choice, one in zip(choices, responses, strict=False)
        }
        best = max(measured, key=lambda choice: measured[choice]["log_likelihood"], default=None)
        target = str(asked.gold)
        is_number = len(choices) > 1 and target.isdecimal() and int(target) < len(choices)
        yield replace(
            asked,
            completion=completion_of(best),
            gold=choices[int(target)] if is_number else asked.gold,
            choices=choices if len(choices) > 1 else (),
            labels=measured,
            extracted=best,
        )
        return
    texts = responses[0] if responses else [None]
    filtered = line.get("filtered_resps") or [None]
    for number, text in enumerate(texts):
        extracted = filtered[number] if number < len(filtered) else filtered[0]
        yield replace(
            asked,
            completion=completion_of(text if isinstance(text, str) else None),
            extracted=extracted if extracted != _INVALID else None,
            decoding=decoding_of(options) or decoding_of(config.get("generation_kwargs")),
        )


def _requests(arguments: Any) -> list[tuple[Any, Any]]:
    """Return prompt and second argument of each request; earlier versions wrote lists of lists."""
    if isinstance(arguments, Mapping):
        return [(one.get("arg_0"), one.get("arg_1")) for one in arguments.values() if isinstance(one, Mapping)]
    found = arguments if isinstance(arguments, list) else []
    return [(one[0], one[1] if len(one) > 1 else None) for one in found if isinstance(one, list) and one]


def _prompt(text: Any) -> str | tuple[ChatMessage, ...]:
    """Return a prompt: messages are written as JSON."""
    if isinstance(text, list):  # earlier versions
        text = text[0] if text else ""
    written = str(text or "")
    if not written.startswith("[{"):
        return written
    try:
        return messages_of(decode(written)) or written
    except ValueError:
        return written


def _question(doc: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    template = config.get("doc_to_text")
    named = [template, *_FIELD.findall(template)] if isinstance(template, str) else []
    for name in (*named, *_QUESTIONS):
        if isinstance(value := doc.get(name), str) and value.strip():
            return value
    return ""


_INVALID: Final = "[invalid]"


def _rules(config: Mapping[str, Any], chosen: str) -> list[LogRule]:
    """Return our counterparts of the filter and the metric of a task."""
    metrics = [one for one in config.get("metric_list") or () if isinstance(one, Mapping)]
    options = next((one for one in metrics if one.get("metric") == "exact_match"), {})
    evaluator = {
        "type": "LoggedMatchEvaluator",
        "strip": any(mapping(one).get("function") == "remove_whitespace" for one in _steps(config, chosen)),
        **_comparison(options),
    }
    reading: PartConfig | None = None
    for step in _steps(config, chosen):
        function = step.get("function")
        if function in ("regex", "multi_choice_regex"):
            reading = {
                "type": "logged_regex" if function == "regex" else "logged_choice",
                "pattern": str(step.get("regex_pattern", r"#### (\-?[0-9\.\,]+)")),
                **({"which": number} if isinstance(number := step.get("group_select"), int) and number else {}),
                **(_comparison(step) if function == "multi_choice_regex" else {}),
            }
        elif function not in ("take_first", "remove_whitespace", "none"):
            return []  # majority votes and functions of the task
    return [LogRule(reading, evaluator)]


def _comparison(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is left out of texts before they are compared."""
    return {
        **{key: True for key in ("ignore_case", "ignore_punctuation", "ignore_numbers") if options.get(key)},
        **({"ignore": list(texts)} if isinstance(texts := options.get("regexes_to_ignore"), list) else {}),
    }


def _steps(config: Mapping[str, Any], chosen: str) -> list[Mapping[str, Any]]:
    """Return the functions of a filter, in order."""
    for one in config.get("filter_list") or ():
        if mapping(one).get("name") == chosen:
            return [mapping(step) for step in one.get("filter") or ()]
    return []


FORMAT: Final = of_files("lm-evaluation-harness", _recognizes, _read)
