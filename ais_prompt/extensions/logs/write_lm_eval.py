"""Results as lm-evaluation-harness writes them with ``--log_samples``.

Source: ``lm_eval.loggers.evaluation_tracker`` and ``lm_eval.evaluator`` of
https://github.com/EleutherAI/lm-evaluation-harness, version 0.4.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from ais_prompt.report import StoredResults, StoredSample, StoredTask
from ais_prompt.store import replacing, safe_name
from ais_prompt.types import prompts_to_json
from ais_prompt.utils import encode, encode_finite, text_digest

FILTER: Final = "none"
_HASH_LENGTH: Final = 64
_UNSAFE: Final = re.compile(r"[\"<>:/|\\?*\[\]]+")
"""What `lm_eval.utils.sanitize_model_name` replaces."""


def write_lm_eval(run: StoredResults, folder: Path) -> list[Path]:
    """Write ``<model>/results_<time>.json`` and ``<model>/samples_<task>_<time>.jsonl`` of each model.

    Failed samples are not among the samples, as lm-evaluation-harness has no failed samples.

    Raises:
        StoreError, DataError: a file cannot be read or written.
    """
    time = f"{run.ended:%Y-%m-%dT%H-%M-%S.%f}"
    written = []
    for abbr in dict.fromkeys(task.model for task in run.tasks):
        tasks = [task for task in run.tasks if task.model == abbr]
        place = folder / _UNSAFE.sub("__", abbr)
        hashes = {}
        for task in tasks:
            path = place / f"samples_{safe_name(task.dataset)}_{time}.jsonl"
            seen = []
            with replacing(path, json=True) as stream:
                for line in (_line(sample) for sample in task.samples() if sample.status != "failed"):
                    seen.append(line["doc_hash"] + line["prompt_hash"] + line["target_hash"])
                    stream.write(encode_finite(line))
            hashes[task.dataset] = text_digest("".join(seen), _HASH_LENGTH)
            written.append(path)
        path = place / f"results_{time}.json"
        with replacing(path, json=True) as stream:
            stream.write(encode(_results(run, tasks) | {"task_hashes": hashes}, indent=2))
        written.append(path)
    return written


def _results(run: StoredResults, tasks: Sequence[StoredTask]) -> dict[str, Any]:
    """Return the file of results of one model."""
    name = tasks[0].model_name
    return {
        "results": {task.dataset: _metrics(task) for task in tasks},
        "group_subtasks": {task.dataset: [] for task in tasks},
        "configs": {task.dataset: {"task": task.dataset, "metadata": {"version": 0}} for task in tasks},
        "versions": {task.dataset: 0 for task in tasks},
        "n-shot": {task.dataset: _shots(task) for task in tasks},
        "higher_is_better": {
            task.dataset: {score.metric: not score.lower_is_better for score in task.scores} for task in tasks
        },
        "n-samples": {
            task.dataset: {"original": task.facts.of or task.facts.samples, "effective": task.facts.samples}
            for task in tasks
        },
        "config": {"model": str(tasks[0].facts.model.get("type", "")), "model_args": f"model={name}"},
        "git_hash": None,
        "date": run.started.timestamp(),
        "model_source": "ais_prompt",
        "model_name": name,
        "model_name_sanitized": _UNSAFE.sub("__", name),
        "start_time": run.started.timestamp(),
        "end_time": run.ended.timestamp(),
        "total_evaluation_time_seconds": str((run.ended - run.started).total_seconds()),
    }


def _metrics(task: StoredTask) -> dict[str, Any]:
    values: dict[str, Any] = {"alias": task.dataset}
    for score in task.scores:
        values[f"{score.metric},{FILTER}"] = score.value
        values[f"{score.metric}_stderr,{FILTER}"] = "N/A" if score.stderr is None else score.stderr
    return values


def _shots(task: StoredTask) -> int:
    """Return the number of shots of the first question."""
    first = next(task.samples(), None)
    return first.prediction.shots_used if first else 0


def _line(sample: StoredSample) -> dict[str, Any]:
    prediction, score = sample.prediction, sample.score
    prompt = prompts_to_json(prediction.origin_prompt)
    shown = prompt if isinstance(prompt, str) else encode(prompt).decode().rstrip("\n")
    target = str(prediction.gold if score is None else score.gold)
    extracted = None if score is None else score.extracted
    answers = [completion.text for completion in prediction.completions]
    values = score.all_values if score else {}
    doc = {**prediction.columns, "id": prediction.sample_id, "question": sample.question(), "answer": target}
    return {
        "doc_id": prediction.index,
        "doc": doc,
        "target": target,
        "arguments": {"gen_args_0": {"arg_0": shown, "arg_1": {}}},
        "resps": [answers],
        "filtered_resps": extracted if isinstance(extracted, list) else [extracted],
        "filter": FILTER,
        "metrics": list(values),
        "doc_hash": text_digest(encode(doc, indent=2).decode(), _HASH_LENGTH),
        "prompt_hash": text_digest(shown, _HASH_LENGTH),
        "target_hash": text_digest(target, _HASH_LENGTH),
        **values,
    }
