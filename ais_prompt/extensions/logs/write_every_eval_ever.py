"""Results as records of Every Eval Ever.

Source: ``eval.schema.json`` and ``instance_level_eval.schema.json`` of https://github.com/evaleval/every_eval_ever,
version 0.3.0.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from ais_prompt.extensions.logs.record import texts_of
from ais_prompt.report import StoredResults, StoredSample, StoredTask, text_of_message
from ais_prompt.store import replacing, safe_name
from ais_prompt.types import Completion, Score
from ais_prompt.utils import digest, encode_finite, file_digest

VERSION: Final = "0.3.0"
_CONFIDENCE: Final = 0.95


def write_every_eval_ever(run: StoredResults, folder: Path) -> list[Path]:
    """Write a record and the samples of each task: ``data/<dataset>/<developer>/<model>/<uuid>.json``.

    The names are made from the run, so a second export replaces the files of the first. Failed samples are not among
    the samples, since the format has no state for them: each line must have a score.

    Raises:
        StoreError, DataError: a file cannot be read or written.
    """
    written = []
    for task in run.tasks:
        if not any(score.value is not None for score in task.scores):
            continue
        developer, name = _developer(task), _model(task)
        place = Path("data") / safe_name(task.dataset) / safe_name(developer) / safe_name(name)
        key = digest([run.record["sessions"][0]["started"], run.record.get("config_digest"), task.spec.name])
        uuid = UUID(bytes=bytes.fromhex(key), version=4)
        samples = place / f"{uuid}_samples.jsonl"
        identity = f"{task.dataset}/{developer}/{name}/{int(run.started.timestamp())}"
        with replacing(folder / samples, json=True) as stream:
            rows = 0
            for line in _lines(task, identity):
                stream.write(encode_finite(line))
                rows += 1
        details = {
            "format": "jsonl",
            "file_path": samples.as_posix(),
            "hash_algorithm": "sha256",
            "checksum": file_digest(folder / samples),
            "total_rows": rows,
        }
        record = folder / place / f"{uuid}.json"
        with replacing(record, json=True) as stream:
            stream.write(encode_finite(_record(run, task, identity) | {"detailed_evaluation_results": details}))
        written += [record, folder / samples]
    return written


def _record(run: StoredResults, task: StoredTask, identity: str) -> dict[str, Any]:
    """Return the record of a task without the reference to its samples."""
    local = str(task.facts.model.get("type", "")).startswith("HuggingFace")
    return {
        "schema_version": VERSION,
        "evaluation_id": identity,
        "evaluation_timestamp": str(int(run.started.timestamp())),
        "retrieved_timestamp": str(int(run.ended.timestamp())),
        "source_metadata": {
            "source_name": "ais_prompt",
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
        },
        "eval_library": {
            "name": "ais_prompt",
            "version": run.version,
            "additional_details": {"run": run.folder.root.name, "config_digest": str(run.record.get("config_digest"))},
        },
        "model_info": {
            "name": task.model_name,
            "id": f"{_developer(task)}/{_model(task)}",
            "developer": _developer(task),
            "additional_details": {
                "deployment_type": "self_deployed" if local else "unknown",
                "model_availability": "open_weights" if local else "unknown",
                "abbr": task.model,
                "type": str(task.facts.model.get("type", "unknown")),
            },
        },
        "evaluation_results": [_result(task, score) for score in task.scores if score.value is not None],
    }


def _result(task: StoredTask, score: Score) -> dict[str, Any]:
    uncertainty: dict[str, Any] = {"num_samples": score.n - score.counts["failed"]}
    if score.stderr is not None:
        uncertainty["standard_error"] = {"value": score.stderr}
    if score.interval is not None:
        low, high = score.interval
        uncertainty["confidence_interval"] = {"lower": low, "upper": high, "confidence_level": _CONFIDENCE}
    bounds = {"min_score": 0, "max_score": 1} if score.fraction else {"min_score": "-Infinity", "max_score": "Infinity"}
    states = {state: str(count) for state, count in score.counts.items()}
    return {
        "evaluation_result_id": f"{task.dataset}:{score.metric}",
        "evaluation_name": task.dataset,
        "source_data": {
            "dataset_name": task.dataset,
            "source_type": "other",
            "additional_details": {
                "files": ", ".join(Path(name).name for name in task.facts.data_files),
                "digest": task.facts.data_digest,
            },
        },
        "metric_config": {
            "metric_id": score.metric,
            "metric_name": score.metric,
            "metric_unit": "proportion" if score.fraction else "points",
            "lower_is_better": bool(score.lower_is_better),
            "score_type": "continuous",
            **bounds,
        },
        "score_details": {"score": score.value, "details": states, "uncertainty": uncertainty},
    }


def _lines(task: StoredTask, identity: str) -> Iterator[dict[str, Any]]:
    """Yield one line for each sample that has a score."""
    main = task.scores[0]
    for sample in task.samples():
        if sample.score is None or sample.status == "failed" or main.metric not in sample.score.values:
            continue
        value = sample.score.values[main.metric]
        gold = texts_of(sample.score.gold)
        question = sample.question()
        yield {
            "schema_version": VERSION,
            "evaluation_id": identity,
            "model_id": f"{_developer(task)}/{_model(task)}",
            "evaluation_name": task.dataset,
            "evaluation_result_id": f"{task.dataset}:{main.metric}",
            "sample_id": sample.prediction.sample_id,
            "sample_hash": hashlib.sha256("".join([question, *gold]).encode("utf-8", "surrogatepass")).hexdigest(),
            **_exchange(sample, question, gold),
            "evaluation": {"score": value, "is_correct": main.fraction and value >= 1.0},
            "token_usage": _usage(sample.prediction.completions),
            "performance": {"latency_ms": 1000 * sum(one.seconds for one in sample.prediction.completions)},
            "error": None,
            "metadata": {
                **{name: str(value) for name, value in sample.prediction.columns.items()},
                "status": sample.status,
                "reason": sample.score.reason,
            },
        }


def _exchange(sample: StoredSample, question: str, gold: list[str]) -> dict[str, Any]:
    """Return what was asked and answered: one turn, or all messages of a dialogue."""
    completions = sample.prediction.completions
    prompts = sample.prediction.origin_prompt
    # The prompts of several turns, not one prompt or its messages.
    several = len(completions) > 1 and isinstance(prompts, tuple) and isinstance(next(iter(prompts), None), str | tuple)
    asked = {"raw": question, "formatted": question, "reference": gold}
    extracted = "; ".join(texts_of(sample.score.extracted if sample.score else None))
    source = "messages[turn_idx].content" if several else "output.raw"
    messages = sample.messages()
    last = len(messages) if several else 0
    found = {
        "turn_idx": last,
        "source": source,
        "extracted_value": extracted,
        "extraction_method": "custom",
        "is_terminal": True,
    }
    if not several:
        output = {
            "raw": [one.text for one in completions],
            "reasoning_trace": [one.reasoning for one in completions if one.reasoning] or None,
        }
        return {
            "interaction_type": "single_turn",
            "input": asked,
            "output": output,
            "messages": None,
            "answer_attribution": [found],
        }
    turns = [*messages, {"role": "assistant", "content": completions[-1].text}]
    return {
        "interaction_type": "multi_turn",
        "input": asked,
        "output": None,
        "messages": [
            {"turn_idx": number, "role": turn["role"], "content": text_of_message(turn)}
            for number, turn in enumerate(turns)
        ],
        "answer_attribution": [found],
    }


def _usage(completions: Sequence[Completion]) -> dict[str, Any] | None:
    usages = [one.usage for one in completions]
    if any(usage.prompt_tokens is None or usage.completion_tokens is None for usage in usages):
        return None
    tokens_in = sum(usage.prompt_tokens or 0 for usage in usages)
    tokens_out = sum(usage.completion_tokens or 0 for usage in usages)
    return {
        "input_tokens": tokens_in,
        "output_tokens": tokens_out,
        "total_tokens": tokens_in + tokens_out,
        "input_tokens_cache_write": _known(usage.cache_write_tokens for usage in usages),
        "input_tokens_cache_read": _known(usage.cached_tokens for usage in usages),
        "reasoning_tokens": _known(usage.reasoning_tokens for usage in usages),
    }


def _known(counts: Iterator[int | None]) -> int | None:
    found = [count for count in counts if count is not None]
    return sum(found) if found else None


def _developer(task: StoredTask) -> str:
    """Return the part of the model's name in front of its last slash; ``unknown`` without one."""
    parts = [part for part in task.model_name.split("/") if part not in ("", ".", "..")]
    return parts[-2] if len(parts) > 1 else "unknown"


def _model(task: StoredTask) -> str:
    return task.model_name.rstrip("/").rpartition("/")[2] or task.model
