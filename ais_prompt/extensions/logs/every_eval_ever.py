"""Read records of Every Eval Ever: the lines of samples, and the aggregate beside them.

Source: ``eval.schema.json`` and ``instance_level_eval.schema.json`` of https://github.com/evaleval/every_eval_ever,
version 0.3.0. A line has one score, whatever the number of its answers: each of them gets this score.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ais_prompt.errors import DataError
from ais_prompt.extensions.logs.log_files import LogFile, mapping, of_files
from ais_prompt.extensions.logs.record import (
    completion_of,
    decoding_of,
    gold_of,
    messages_of,
    number_of,
    numbers_of,
    texts_of,
)
from ais_prompt.types import LoggedAnswer, LoggedTask, LogRule, Prompts


def _is_aggregate(file: LogFile) -> bool:
    return file.has("schema_version", "evaluation_id", "evaluation_results")


def _read(files: Sequence[LogFile]) -> Iterator[LoggedTask]:
    samples = [file for file in files if file.has("sample_id")]
    if not samples:
        what, fix = "the record comes without samples, so no answer is known", "name the file of its samples"
        raise DataError(what, where=str(files[0].path), fix=fix)
    for file in samples:
        heads = [one for one in (*files, *file.beside()) if _is_aggregate(one)]
        by_id = {str(mapping(one.value).get("evaluation_id")): mapping(one.value) for one in reversed(heads)}
        places: dict[tuple[str, str, str], list[int]] = {}  # evaluation, model, name → where its lines begin
        for start, line in file.lines():
            key = str(line.get("evaluation_id")), str(line.get("model_id")), str(line.get("evaluation_name"))
            places.setdefault(key, []).append(start)
        for key, starts in places.items():
            yield _task(file, key, starts, by_id.get(key[0], {}))


def _task(file: LogFile, key: tuple[str, str, str], starts: Sequence[int], head: Mapping[str, Any]) -> LoggedTask:
    results = [mapping(one) for one in head.get("evaluation_results") or ()]
    results = [one for one in results if one.get("evaluation_name") in (None, key[2])]
    reported: dict[str, float] = {}
    lower: dict[str, bool] = {}
    for one in results:
        config = mapping(one, "metric_config")
        name = str(config.get("metric_name") or config.get("metric_id") or "score")
        if (value := number_of(mapping(one, "score_details").get("score"))) is not None:
            reported.setdefault(name, value)
        if isinstance(direction := config.get("lower_is_better"), bool):
            lower.setdefault(name, direction)
    decoding = mapping(results[0], "generation_config", "generation_args") if results else {}
    metric = next(iter(reported), "score")
    library = mapping(head, "eval_library")
    return LoggedTask(
        tool=str(library.get("name") or "Every Eval Ever"),
        model=key[1],
        dataset=key[2],
        answers=lambda: (one for line in file.lines_at(starts) for one in _of_line(line, metric, decoding)),
        where=str(file.path),
        version=str(library.get("version") or ""),
        scorer=key[2],
        rules=[LogRule(None, {"type": "LoggedMatchEvaluator"})],
        extracts=True,
        reported=reported,
        lower_is_better=lower,
        notes=() if head else ("there is no aggregate beside the samples, so the reported scores are unknown",),
    )


def _of_line(line: Mapping[str, Any], metric: str, decoding: Mapping[str, Any]) -> Iterator[LoggedAnswer]:
    asked, output = mapping(line, "input"), mapping(line, "output")
    messages = messages_of(line.get("messages"))
    texts: list[Any] = list(output.get("raw") or ()) if isinstance(output.get("raw"), list) else [output.get("raw")]
    formatted = asked.get("formatted")
    prompt: Prompts = formatted if isinstance(formatted, str) else messages_of(formatted) or ""
    if messages and messages[-1].role == "assistant":
        texts, prompt = [messages[-1].content], messages[:-1]
    traces = texts_of(output.get("reasoning_trace"))
    terminal = [one for one in line.get("answer_attribution") or () if mapping(one).get("is_terminal")]
    for number, text in enumerate(texts or [None]):
        yield LoggedAnswer(
            id=str(line.get("sample_id")),
            completion=completion_of(
                text if isinstance(text, str) else None,
                usage=line.get("token_usage") if len(texts) == 1 else None,
                seconds=(number_of(mapping(line, "performance").get("latency_ms")) or 0.0) / 1000 / len(texts or [0]),
                reasoning=traces[number] if number < len(traces) else "",
                error=line.get("error"),
            ),
            gold=gold_of(asked.get("reference")),
            question=str(asked.get("raw") or ""),
            choices=texts_of(asked.get("choices")),
            prompt=prompt,
            extracted=mapping(terminal[-1]).get("extracted_value") if terminal else None,
            values=numbers_of({metric: mapping(line, "evaluation").get("score")}),
            decoding=decoding_of(decoding),
        )


FORMAT: Final = of_files(
    "Every Eval Ever",
    lambda file: file.has("schema_version", "evaluation_id", "sample_id") or _is_aggregate(file),
    _read,
)
