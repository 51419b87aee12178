"""Read the predictions and reviews of evalscope.

Source: ``evalscope/api/evaluator/cache.py`` and ``evalscope/api/metric/scorer.py`` of
https://github.com/modelscope/evalscope, version 1. ``predictions/<model>/<dataset>_<subset>.jsonl`` has answers,
``reviews/`` scores under the same name, ``reports/<model>/<dataset>.json`` totals, and ``configs/`` the config. Lines
are in the order of completion, so they are paired by ``index``. Later versions name the templates and metrics that were
in effect; by the template the question is read from the prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from string import Formatter
from typing import Any, Final

import yaml

from ais_prompt.errors import ConfigError, DataError, PartError
from ais_prompt.extensions.logs.log_files import LogFile, first_of, mapping, of_files
from ais_prompt.extensions.logs.record import (
    completion_of,
    decoding_of,
    gold_of,
    messages_of,
    number_of,
    numbers_of,
    text_and_reasoning,
)
from ais_prompt.extensions.logs.rules import apply_pattern
from ais_prompt.types import LoggedAnswer, LoggedTask, LogRule

_LARGEST_CONFIG: Final = 1 << 16
_MOST_CONFIGS: Final = 10
_MOST_ALIASES: Final = 10
"""Most references in a config: each may repeat all that the ones before it hold."""
_ASKED: Final = ("few_shot_num", "few_shot_random", "prompt_template", "system_prompt", "few_shot_prompt_template")
_NUMBER: Final = r"(-?[$0-9.,]{2,})|(-?[0-9]+)"
_ANSWER: Final = r"(?i)(?:ANSWER|答案)\s*[:：]\s*\(?([A-Za-z])"


def _recognizes(file: LogFile) -> bool:
    return file.has("index", "sample_score") or file.has("index", "model_output")


def _read(files: Sequence[LogFile]) -> Iterator[LoggedTask]:
    reviews = {_key(file): file for file in files if file.has("sample_score")}
    predictions = {_key(file): file for file in files if file.has("model_output")}
    configs: dict[Path, Mapping[str, Any]] = {}
    for key in {**reviews, **predictions}:  # in order, each once
        review = reviews.get(key) or _other(predictions[key], "reviews")
        prediction = predictions.get(key) or _other(reviews[key], "predictions")
        if key[0] not in configs:
            configs[key[0]] = _config(key[0])
        yield _task(review, prediction, configs[key[0]])


def _key(file: LogFile) -> tuple[Path, str, str]:
    """Return the folder of a log, the model, and the name of dataset and subset, which the paths have."""
    return file.path.parent.parent.parent, file.path.parent.name, file.path.name


def _other(file: LogFile, kind: str) -> LogFile | None:
    """Return the file of the same name in ``predictions/`` or ``reviews/``; None if there is none."""
    root, model, name = _key(file)
    path = root / kind / model / name
    return next((one for one in file.log.files_at(path) if _recognizes(one)), None) if path.is_file() else None


def _task(review: LogFile | None, prediction: LogFile | None, config: Mapping[str, Any]) -> LoggedTask:
    file = prediction or review
    assert file is not None
    root, model, _ = _key(file)
    folder = root / "reports" / model  # written when the run has finished
    reports = (
        [one for one in file.log.files_at(folder) if one.has("dataset_name", "metrics")] if folder.exists() else []
    )
    name, subset, report = _names(file.path.stem, reports)
    dataset = {**mapping(config, "dataset_args", name), **mapping(config, "resolved_benchmarks", name)}
    question = _question_pattern(dataset)
    return LoggedTask(
        tool="evalscope",
        model=str(mapping(report).get("model_name") or model),
        dataset=file.path.stem,
        answers=partial(_answers, review, prediction, decoding_of(config.get("generation_config")), question),
        where=str(file.path),
        version=str(config.get("evalscope_version") or ""),
        scorer=name,
        rules=[*_rules(dataset, question), *_RULES],
        extracts=True,
        reported=_reported(report, subset),
        asked={key: dataset[key] for key in _ASKED if dataset.get(key) not in (None, "")},
        notes=() if review else ("there are no reviews, so no answer has a score",),
    )


def _rules(dataset: Mapping[str, Any], question: str) -> Iterator[LogRule]:
    """Yield the rules of version 1.14 for numbers and choices."""
    metrics = [one for one in dataset.get("metric_list") or () if isinstance(one, Mapping)]
    if any(mapping(options).get("numeric") for one in metrics for options in one.values()):
        yield LogRule({"type": "logged_math"}, {"type": "MATHVerifyEvaluator"})
    if "(?P<choices>" in question:
        reading = {"type": "logged_marked_letter", **({"chinese": True} if "答案" in question else {})}
        yield LogRule(reading, {"type": "LoggedMatchEvaluator"})


def _question_pattern(dataset: Mapping[str, Any]) -> str:
    """Return what matches a prompt, with a group for question and for choices; empty if no template is known."""
    template = dataset.get("few_shot_prompt_template" if dataset.get("few_shot_num") else "prompt_template")
    pattern, names = "", set[str]()
    try:
        for text, name, _, _ in Formatter().parse(template if isinstance(template, str) else ""):
            pattern += re.escape(text.strip() if not pattern else text)
            if name is not None and name not in names:
                pattern += f"(?P<{name}>.*?)" if name in _ASKED_FOR else ".*?"
                names.add(name)
    except ValueError:  # it is no template
        return ""
    return rf"(?s)\s*{pattern}\s*\Z" if "question" in names else ""


def _question(pattern: str, prompt: str) -> tuple[str, list[str]]:
    """Return question and choices of a prompt; the whole prompt if the template does not match."""
    try:
        match = apply_pattern(pattern, lambda one, limit: one.match(prompt, timeout=limit)) if pattern else None
    except (ConfigError, PartError):
        match = None
    if match is None:
        return prompt, []
    choices = match["choices"] if "choices" in match.re.groupindex else ""
    return match["question"], [one[1].strip() for one in _CHOICE.finditer(choices)]


def _answers(
    review: LogFile | None, prediction: LogFile | None, decoding: Mapping[str, Any], question: str
) -> Iterator[LoggedAnswer]:
    """Yield the answers by index; several answers to a question follow each other."""
    reviews, predictions = _starts(review), _starts(prediction)
    order = sorted({**reviews, **predictions})
    scored = review.lines_at(reviews[index] for index in order if index in reviews) if review else iter(())
    answered = prediction.lines_at(predictions[one] for one in order if one in predictions) if prediction else iter(())
    for index in order:
        one = next(scored) if index in reviews else {}
        other = next(answered) if index in predictions else {}
        yield _answer(index, one, other, decoding, question)


def _starts(file: LogFile | None) -> dict[int, int]:
    """Return index → where its line begins. A line that was written again replaces the one before."""
    found = {}
    for start, line in file.lines() if file else ():
        if not isinstance(index := line.get("index"), int):
            what = f"a line needs its number as 'index', not {index!r:.40}"
            raise DataError(what, where=str(file and file.path), fix="copy the log again")
        found[index] = start
    return found


def _answer(
    index: int, review: Mapping[str, Any], prediction: Mapping[str, Any], decoding: Mapping[str, Any], pattern: str
) -> LoggedAnswer:
    sample = mapping(review, "sample_score")
    score = mapping(sample, "score")
    output = mapping(prediction, "model_output")
    choice = first_of(output.get("choices"))
    text, reasoning = text_and_reasoning(mapping(choice, "message").get("content"))
    messages = messages_of(prediction.get("messages") or review.get("messages"))
    prompt = messages[:-1] if messages and messages[-1].role == "assistant" else messages
    given = text or (str(output.get("completion") or "") if prediction else score.get("prediction"))
    main = score.get("main_score_name")
    values = numbers_of(mapping(score, "value"))
    group = sample.get("group_id")
    asked = review.get("input") or next((one.content for one in prompt[::-1] if one.role == "user"), "")
    question, choices = _question(pattern, str(asked).removeprefix("**User**:"))  # of a single message in version 1.0
    return LoggedAnswer(
        id=str(index if group is None else group),
        completion=completion_of(
            given if isinstance(given, str) else None,
            choice.get("stop_reason"),
            usage=output.get("usage"),
            seconds=output.get("time"),
            reasoning=reasoning,
            error=output.get("error"),
        ),
        gold=gold_of(review.get("target")),
        question=question,
        choices=choices,
        prompt=prompt,
        extracted=score.get("extracted_prediction"),
        values=dict(sorted(values.items(), key=lambda item: item[0] != main)) if main else values,
        decoding=decoding,
    )


def _names(stem: str, reports: Sequence[LogFile]) -> tuple[str, str, Mapping[str, Any]]:
    """Return dataset, subset and report of a file of answers; the name of the file joins both."""
    for file in reports:
        report = mapping(file.value)
        name = str(report.get("dataset_name"))
        if stem.startswith(f"{name}_"):
            return name, stem.removeprefix(f"{name}_"), report
    return stem, "", {}


def _reported(report: Mapping[str, Any], subset: str) -> dict[str, float]:
    """Return the reported scores of a subset. Earlier reports have the aggregation in front of the names of metrics."""
    found = {}
    for metric in report.get("metrics") or ():
        name = str(mapping(metric, "identity").get("name") or mapping(metric).get("name")).removeprefix("mean_")
        for category in mapping(metric).get("categories") or ():
            for one in mapping(category).get("subsets") or ():
                if mapping(one).get("name") == subset and (value := number_of(mapping(one).get("score"))) is not None:
                    found[name] = value
    return found


def _config(root: Path) -> Mapping[str, Any]:
    """Return the config beside a log; empty if there is none that can be read."""
    for path in sorted((root / "configs").glob("*.y*ml"))[:_MOST_CONFIGS]:
        if path.is_symlink() or path.stat().st_size > _LARGEST_CONFIG:
            continue
        try:
            text = path.read_text("utf-8")
            aliases = sum(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, yaml.SafeLoader))
            if aliases <= _MOST_ALIASES:
                return mapping(yaml.safe_load(text))
        except (yaml.YAMLError, UnicodeDecodeError, RecursionError):
            continue
    return {}


_ASKED_FOR: Final = ("question", "choices")
_CHOICE: Final = re.compile(r"(?ms)^[A-Z]\) (.*?)(?=^[A-Z]\) |\Z)")
_RULES: Final = [
    LogRule({"type": "logged_regex", "pattern": _ANSWER, "which": -1}, {"type": "LoggedMatchEvaluator"}),
    LogRule(
        {"type": "logged_regex", "pattern": _NUMBER, "which": -1}, {"type": "LoggedMatchEvaluator", "numeric": True}
    ),
    LogRule(None, {"type": "LoggedMatchEvaluator"}),
]
FORMAT: Final = of_files("evalscope", _recognizes, _read)
