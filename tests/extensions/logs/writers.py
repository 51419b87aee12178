"""Small logs in the forms of other tools, written by hand: three questions, the second answer wrong, the third cut."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct


class Asked(Struct, frozen=True):
    """One question with its answer, as every log tells it.

    Attributes:
        question, gold, answer, extracted: the texts.
        value: 1 for a right answer.
        is_cut: whether a limit on the length cut the answer.
    """

    question: str
    gold: str
    answer: str
    extracted: str
    value: float
    is_cut: bool = False


ASKED = (
    Asked("1 + 1 = ?", "2", "One and one.\nANSWER: 2", "2", 1.0),
    Asked("2 + 2 = ?", "4", "Two and two.\nANSWER: 5", "5", 0.0),
    Asked("3 + 3 = ?", "6", "Three and three.\nANSWER: 6", "6", 1.0, is_cut=True),
)
PROMPT = "Add up. Write ANSWER: and the sum.\n\n{}"
PATTERN = r"ANSWER: (\d+)"


def inspect_samples(asked: Sequence[Asked] = ASKED, prompt: str = PROMPT, **body: Any) -> list[dict[str, Any]]:
    return [_inspect_sample(number, one, prompt, body) for number, one in enumerate(asked, 1)]


def _inspect_sample(number: int, one: Asked, prompt: str, body: Mapping[str, Any]) -> dict[str, Any]:
    user = {"role": "user", "content": "attachment://a1"}
    said = {"role": "assistant", "content": one.answer}
    choice = {"message": said, "stop_reason": "max_tokens" if one.is_cut else "stop"}
    usage = {"input_tokens": 20, "output_tokens": 9, "total_tokens": 29}
    return {
        "id": number,
        "epoch": 1,
        "input": one.question,
        "target": one.gold,
        "messages": [user, said],
        "output": {"model": "m", "choices": [choice], "usage": usage, "time": 0.5},
        "scores": {"pattern": {"value": "C" if one.value else "I", "answer": one.extracted}},
        "events": [
            {
                "event": "model",
                "model": "openai/m",
                "input": [user],
                "config": {},
                "call": {"request": {"model": "m", "messages": [user], "temperature": 0.0, **body}},
            },
            {"event": "model", "model": "openai/grader", "input": [{"role": "user", "content": "Grade."}]},
        ],
        "attachments": {"a1": prompt.format(one.question)},
    }


def inspect_header(asked: Sequence[Asked] = ASKED, version: int = 2) -> dict[str, Any]:
    accuracy = sum(one.value for one in asked) / max(len(asked), 1)
    return {
        "version": version,
        "status": "success",
        "eval": {
            "task": "pkg/sums",
            "model": "openai/m",
            "packages": {"inspect_ai": "0.3.1"},
            "scorers": [{"name": "pattern", "options": {"pattern": PATTERN}}],
        },
        "plan": {"steps": [{"solver": "generate", "params": {}}]},
        "results": {"scores": [{"name": "pattern", "scorer": "pattern", "metrics": {"accuracy": {"value": accuracy}}}]},
    }


def write_inspect(
    folder: Path,
    asked: Sequence[Asked] = ASKED,
    compression: int = zipfile.ZIP_DEFLATED,
    prompt: str = PROMPT,
    **body: Any,
) -> Path:
    from ais_prompt.extensions.logs.log_files import zip_file

    path = folder / "log.eval"
    with zip_file()(path, "w", compression) as archive:
        archive.writestr("_journal/start.json", "{}")
        for sample in inspect_samples(asked, prompt, **body):
            archive.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))
        archive.writestr("header.json", json.dumps(inspect_header(asked)))
    return path


def write_inspect_json(folder: Path, asked: Sequence[Asked] = ASKED) -> Path:
    return write_json(folder / "log.json", {**inspect_header(asked), "samples": inspect_samples(asked)})


def write_lm_eval(folder: Path, asked: Sequence[Asked] = ASKED, pattern: str = PATTERN, **options: Any) -> Path:
    """The log of one task with the filters ``strict`` and ``flexible``."""
    lines = [
        {
            "doc_id": number,
            "doc": {"question": one.question, "answer": one.gold},
            "target": one.gold,
            "arguments": {
                "gen_args_0": {"arg_0": PROMPT.format(one.question), "arg_1": {"temperature": 0.0, "until": ["Q:"]}}
            },
            "resps": [[one.answer]],
            "filtered_resps": [one.extracted],
            "filter": name,
            "metrics": ["exact_match"],
            "exact_match": one.value,
        }
        for number, one in enumerate(asked)
        for name in ("strict", "flexible")
    ]
    accuracy = sum(one.value for one in asked) / max(len(asked), 1)
    regex = [{"function": "regex", "regex_pattern": pattern}, {"function": "take_first"}]
    results = {
        "results": {"sums": {"exact_match,strict": accuracy, "exact_match,flexible": accuracy}},
        "configs": {
            "sums": {
                "doc_to_text": "Add up. {{question}}",
                "num_fewshot": 0,
                "metric_list": [{"metric": "exact_match", "ignore_case": True, **options}],
                "filter_list": [{"name": name, "filter": regex} for name in ("strict", "flexible")],
            }
        },
        "n-shot": {"sums": 0},
        "model_name": "m",
        "lm_eval_version": "0.4.9",
    }
    write_json(folder / "results_2026-01-01T00-00-00.json", results)
    write_lines(folder / "samples_sums_2026-01-01T00-00-00.jsonl", lines)
    return folder


def write_evalscope(folder: Path) -> Path:
    """The lines are in another order than the questions."""
    order = [2, 0, 1]
    predictions = [
        {
            "index": number,
            "model": "m",
            "model_output": {
                "choices": [
                    {
                        "message": {"role": "assistant", "content": ASKED[number].answer},
                        "stop_reason": "max_tokens" if ASKED[number].is_cut else "stop",
                    }
                ],
                "usage": {"input_tokens": 20, "output_tokens": 9, "total_tokens": 29},
            },
            "messages": [{"role": "user", "content": PROMPT.format(ASKED[number].question)}],
        }
        for number in order
    ]
    reviews = [
        {
            "index": number,
            "input": ASKED[number].question,
            "target": ASKED[number].gold,
            "sample_score": {
                "score": {"value": {"acc": ASKED[number].value}, "extracted_prediction": ASKED[number].extracted},
                "group_id": number,
            },
        }
        for number in reversed(order)
    ]
    write_lines(folder / "predictions/m/sums_main.jsonl", predictions)
    write_lines(folder / "reviews/m/sums_main.jsonl", reviews)
    (folder / "configs").mkdir()
    (folder / "configs/task.yaml").write_text("evalscope_version: '1.0'\ngeneration_config:\n  temperature: 0.0\n")
    subsets = [{"name": "main", "score": 0.6667, "num": 3}]
    metrics = [{"name": "mean_acc", "categories": [{"name": ["default"], "subsets": subsets}]}]
    write_json(folder / "reports/m/sums.json", {"dataset_name": "sums", "model_name": "m", "metrics": metrics})
    return folder


def write_helm(folder: Path) -> Path:
    states = [
        {
            "instance": {
                "input": {"text": one.question},
                "references": [{"output": {"text": one.gold}, "tags": ["correct"]}],
                "split": "test",
                "id": f"id{number}",
            },
            "train_trial_index": 0,
            "request": {"model": "org/m", "prompt": PROMPT.format(one.question), "temperature": 0.0},
            "result": {
                "success": True,
                "completions": [
                    {"text": one.answer, "finish_reason": {"reason": "length" if one.is_cut else "endoftext"}}
                ],
            },
        }
        for number, one in enumerate(ASKED)
    ]
    statistics = [
        {
            "instance_id": f"id{number}",
            "train_trial_index": 0,
            "stats": [{"name": {"name": "exact_match", "split": "test"}, "mean": one.value}],
        }
        for number, one in enumerate(ASKED)
    ]
    spec = {
        "name": "sums:model=org_m",
        "scenario_spec": {},
        "metric_specs": [{"args": {"names": ["exact_match"]}}],
    }
    write_json(folder / "scenario_state.json", {"adapter_spec": {"model": "org/m"}, "request_states": states})
    write_json(folder / "per_instance_stats.json", statistics)
    write_json(folder / "run_spec.json", spec)
    return folder


def write_every_eval_ever(folder: Path) -> Path:
    lines = [
        {
            "schema_version": "0.3.0",
            "evaluation_id": "e",
            "model_id": "org/m",
            "evaluation_name": "sums",
            "sample_id": str(number),
            "interaction_type": "single_turn",
            "input": {"raw": one.question, "formatted": PROMPT.format(one.question), "reference": [one.gold]},
            "output": {"raw": [one.answer]},
            "answer_attribution": [{"extracted_value": one.extracted, "is_terminal": True}],
            "evaluation": {"score": one.value, "is_correct": bool(one.value)},
        }
        for number, one in enumerate(ASKED)
    ]
    write_lines(folder / "samples.jsonl", lines)
    result = {
        "evaluation_name": "sums",
        "metric_config": {"metric_name": "accuracy"},
        "score_details": {"score": 2 / 3},
    }
    record = {
        "schema_version": "0.3.0",
        "evaluation_id": "e",
        "eval_library": {"name": "other", "version": "1"},
        "evaluation_results": [result],
    }
    write_json(folder / "record.json", record)
    return folder


def write_nemo(folder: Path) -> Path:
    lines = [
        {
            "problem_idx": number,
            "repeat": 0,
            "reward": one.value,
            "expected_answer": one.gold,
            "model_response": one.answer,
            "extracted_answer": one.extracted,
        }
        for number, one in enumerate(ASKED)
    ]
    write_lines(folder / "results.jsonl", lines)
    return folder


WRITERS: Mapping[str, Callable[[Path], Path]] = {
    "inspect_ai": write_inspect,
    "inspect_ai in JSON": write_inspect_json,
    "lm-evaluation-harness": write_lm_eval,
    "evalscope": write_evalscope,
    "HELM": write_helm,
    "Every Eval Ever": write_every_eval_ever,
    "NeMo Evaluator": write_nemo,
}


def write_json(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
    return path


def write_lines(path: Path, lines: Sequence[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path
