"""Results as logs of inspect_ai: one ``.eval`` file for each task, a zip archive of JSON.

Source: ``inspect_ai.log``, version 2 of its logs. ``read_eval_log``, ``inspect view`` and its data frames read them.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final

from msgspec.structs import replace

from ais_prompt.report import StoredResults, StoredSample, StoredTask
from ais_prompt.store import replacing, safe_name
from ais_prompt.types import Completion, SampleScore, requests_of
from ais_prompt.utils import digest, encode_finite

_LOG_VERSION: Final = 2
_STOP_REASONS: Final = {"stop": "stop", "length": "max_tokens", "tool_calls": "tool_calls"}
_ID_LENGTH: Final = 22
_NO_URL: Final = re.compile(r"[^A-Za-z0-9._-]+")


def write_inspect_logs(run: StoredResults, folder: Path) -> list[Path]:
    """Write a log of each task. A question that was asked n times has n epochs.

    Raises:
        StoreError, DataError: a file cannot be read or written.
    """
    paths = []
    for task in run.tasks:
        task_id = digest([run.record["sessions"][0]["started"], task.spec.name], _ID_LENGTH)
        # Inspect's data frames do not find files whose names a URL would write in another way.
        model, dataset = (_NO_URL.sub("-", abbr) for abbr in (task.model, task.dataset))
        paths.append(folder / f"{run.started:%Y-%m-%dT%H-%M-%S+00-00}_{model}_{dataset}_{task_id}.eval")
        with replacing(paths[-1], binary=True) as stream:
            _write_log(run, task, task_id, stream)
    return paths


def _write_log(run: StoredResults, task: StoredTask, task_id: str, stream: BinaryIO) -> None:
    head = {"version": _LOG_VERSION, "eval": _spec(run, task, task_id), "plan": {"name": "plan", "steps": []}}
    summaries, numbers, errors = [], 0, 0
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_journal/start.json", encode_finite(head))
        for sample in task.samples():
            for value in _epochs(task, sample, run.started.isoformat()):
                archive.writestr(f"samples/{safe_name(value['id'])}_epoch_{value['epoch']}.json", encode_finite(value))
                summaries.append(_summary(value))
                numbers += 1
                errors += "error" in value
        archive.writestr("summaries.json", encode_finite(summaries))
        results = {
            "total_samples": numbers,
            "completed_samples": numbers - errors,
            "scores": [_score(task)] if task.scores else [],
        }
        stats = {"started_at": run.started.isoformat(), "completed_at": run.ended.isoformat(), "model_usage": {}}
        archive.writestr("header.json", encode_finite(head | {"status": "success", "results": results, "stats": stats}))


def _spec(run: StoredResults, task: StoredTask, task_id: str) -> dict[str, Any]:
    facts = task.facts
    return {
        "eval_id": task_id,
        "run_id": digest(run.record["sessions"][0]["started"], _ID_LENGTH),
        "created": run.started.isoformat(),
        "task": task.dataset,
        "task_id": task_id,
        "task_version": 0,
        "dataset": {
            "name": task.dataset,
            "location": ", ".join(facts.data_files),
            "samples": facts.of or facts.samples,
            "shuffled": False,
        },
        "model": task.model_name,
        "model_base_url": facts.model.get("base_url"),
        "config": {"epochs": max((score.repeats for score in task.scores), default=1)},
        "packages": {"ais_prompt": run.version},
        "metadata": {
            "run": run.folder.root.name,
            "config_digest": run.record.get("config_digest"),
            "data_digest": facts.data_digest,
            "abbr": task.model,
        },
        "scorers": [{"name": _scorer(task), "metrics": [{"name": score.metric} for score in task.scores]}],
    }


def _score(task: StoredTask) -> dict[str, Any]:
    metrics: dict[str, Any] = {}
    for score in task.scores:
        if score.value is not None:
            metrics[score.metric] = {"name": score.metric, "value": score.value}
        if score.stderr is not None:
            metrics[f"{score.metric}_stderr"] = {"name": f"{score.metric}_stderr", "value": score.stderr}
    main = task.scores[0]
    return {
        "name": _scorer(task),
        "scorer": _scorer(task),
        "scored_samples": main.n - main.counts["failed"],
        "unscored_samples": main.counts["failed"],
        "metrics": metrics,
        "metadata": {"counts": dict(main.counts), "interval": main.interval, "bounds": main.bounds},
    }


def _epochs(task: StoredTask, sample: StoredSample, began: str) -> Iterator[dict[str, Any]]:
    """Yield the answers to one question, each as a sample of its epoch."""
    completions, score = sample.prediction.completions, sample.score
    if score is None or not score.repeats or len(completions) != len(score.repeats):
        yield _sample(task, sample, 1, completions[-1] if completions else None, score, began)
        return
    for epoch, (completion, one) in enumerate(zip(completions, score.repeats, strict=True), 1):
        yield _sample(task, sample, epoch, completion, replace(one, gold=score.gold), began)


def _sample(
    task: StoredTask,
    sample: StoredSample,
    epoch: int,
    completion: Completion | None,
    score: SampleScore | None,
    began: str,
) -> dict[str, Any]:
    """Return an answer as a sample; ``began`` is when the run was started."""
    prediction = sample.prediction
    name = f"{prediction.sample_id}-{epoch}"  # Inspect's frame of messages needs their ids
    asked = [
        {"id": f"{name}-{place}", "role": one["role"], "content": _content(one["content"]), "source": "input"}
        for place, one in enumerate(sample.messages())
    ]
    target = prediction.gold if score is None else score.gold
    value: dict[str, Any] = {
        "id": prediction.sample_id,
        "epoch": epoch,
        "input": asked,
        "target": [str(one) for one in target] if isinstance(target, list) else _text(target),
        "metadata": {
            **prediction.columns,
            "index": prediction.index,
            "status": score.status if score else sample.status,
        },
    }
    failure = completion.failure if completion else None
    if failure is not None:
        message = f"{failure.kind}: {failure.message}"
        return value | {"messages": asked, "error": {"message": message, "traceback": "", "traceback_ansi": ""}}
    if completion is not None:
        value |= _output(task, asked, completion, f"{name}-{len(asked)}")
        value["events"] = _events(task, asked, completion, value["output"], name, began)
    if score is not None and score.values:
        by_scorer = {_scorer(task): score, **score.further}
        value["scores"] = {
            name: _sample_score(one, prediction.prediction) for name, one in by_scorer.items() if one.values
        }
    return value


def _sample_score(score: SampleScore, answer: Any) -> dict[str, Any]:
    several = len(score.values) > 1
    return {
        "value": dict(score.values) if several else next(iter(score.values.values())),
        "answer": None if score.extracted is None else _text(score.extracted),
        "explanation": answer if isinstance(answer, str) else None,
        "metadata": {"status": score.status, "reason": score.reason},
    }


def _output(task: StoredTask, asked: list[dict[str, Any]], completion: Completion, name: str) -> dict[str, Any]:
    """Return the fields of a sample that hold the answer; ``name`` is the id of its message."""
    content: Any = completion.text
    if completion.reasoning:
        content = [{"type": "reasoning", "reasoning": completion.reasoning}, {"type": "text", "text": completion.text}]
    answer = {"id": name, "role": "assistant", "content": content, "source": "generate", "model": task.model_name}
    usage = completion.usage
    counts = {
        "input_tokens": usage.prompt_tokens or 0,
        "output_tokens": usage.completion_tokens or 0,
        "total_tokens": (usage.prompt_tokens or 0) + (usage.completion_tokens or 0),
        "input_tokens_cache_read": usage.cached_tokens,
        "input_tokens_cache_write": usage.cache_write_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
    }
    choice = {"message": answer, "stop_reason": _STOP_REASONS.get(str(completion.finish_reason), "unknown")}
    output = {
        "model": task.model_name,
        "choices": [choice],
        "completion": completion.text,
        "usage": counts,
        "time": completion.seconds,
    }
    return {"messages": [*asked, answer], "output": output, "model_usage": {task.model_name: counts}}


def _events(
    task: StoredTask, asked: list[dict[str, Any]], completion: Completion, output: dict[str, Any], name: str, began: str
) -> list[dict[str, Any]]:
    """Return the request of a sample, or those of its agent."""
    found = []
    for number, (messages, fields) in enumerate(requests_of(completion.trajectory)):
        one, place = completion.trajectory[number].completion, f"{name}-step{number + 1}"
        sent = [
            {"id": f"{place}-{at}", "role": message["role"], "content": _content(message["content"])}
            for at, message in enumerate(messages)
        ]
        said = _output(task, sent, one, f"{place}-answer")["output"]
        event = _event(task, sent, said, place, began)
        found.append({**event, "tools": [tool["function"] for tool in fields.get("tools", ()) if "function" in tool]})
        if one.failure is not None:
            found[-1]["error"] = one.failure.message
    return found or [_event(task, asked, output, name, began)]


def _event(
    task: StoredTask, asked: list[dict[str, Any]], output: dict[str, Any], name: str, began: str
) -> dict[str, Any]:
    """Return the request of a sample: Inspect's frame of messages is made of these.

    The time of a single request is not kept, so it has that of the run.
    """
    return {
        "event": "model",
        "uuid": name,
        "timestamp": began,
        "working_start": 0.0,
        "working_time": output["time"],
        "model": task.model_name,
        "input": asked,
        "tools": [],
        "tool_choice": "none",
        "config": {},
        "output": output,
    }


def _summary(value: dict[str, Any]) -> dict[str, Any]:
    """Return the line of a sample in the list that the viewer shows first."""
    kept = {
        name: value[name]
        for name in ("id", "epoch", "input", "target", "metadata", "scores", "model_usage")
        if name in value
    }
    error = {"error": value["error"]["message"]} if "error" in value else {}
    return kept | error | {"completed": True}


def _scorer(task: StoredTask) -> str:
    evaluator = task.spec.dataset.eval.evaluator
    return "score" if evaluator is None else str(getattr(evaluator.type, "__name__", evaluator.type)).rpartition(".")[2]


def _content(content: Any) -> Any:
    """Return the content of a message; parts that are not text are named only."""
    if isinstance(content, str):
        return content
    return [{"type": "text", "text": str(part.get("text", f"[{part.get('type')}]"))} for part in content]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else encode_finite(value).decode().rstrip("\n")
