"""A dataset that is only a file: ``dict(path='mine.jsonl')`` in a config, or ``--custom-dataset-path``."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from string import ascii_uppercase
from typing import Any, Final

from ais_prompt.config.paths import resolve_data_path

ENDINGS: Final = (".jsonl", ".csv")
ANSWER: Final = "answer"
"""The column of the gold answer. Source: OpenCompass, "Custom dataset"."""


def is_custom(values: Any) -> bool:
    """Return whether a dict describes a dataset by its file alone."""
    if not isinstance(values, Mapping) or {"type", "reader_cfg", "infer_cfg"} & values.keys():
        return False
    path = values.get("path")
    return isinstance(path, str) and path.endswith(ENDINGS)


def custom_dataset(values: Mapping[str, Any], folder: Path | None) -> dict[str, Any]:
    """Return the dataset that a file means, with the prompts of OpenCompass.

    Columns A, B, … make it multiple choice, asked by generating, or by likelihood with ``infer_method='ppl'``.

    Args:
        values: ``path``, and if wanted ``abbr``, ``data_type`` (``mcq`` or ``qa``), ``infer_method`` (``gen`` or
            ``ppl``).
        folder: where relative paths are looked up besides the working directory.

    Of a file that does not exist, `check` reports where it was looked for.

    Raises:
        OSError, ValueError: the file cannot be read, or its first row is none.
    """
    path = str(values["path"])
    file = resolve_data_path(path, folder)
    columns = ["question", ANSWER] if file is None else _columns(file)
    options = [letter for letter in ascii_uppercase if letter in columns]
    is_choice = values.get("data_type", "mcq" if len(options) > 1 else "qa") == "mcq"
    gold = ANSWER if ANSWER in columns else None
    human = "Question: {question}" + "".join(f"\n{one}. {{{one}}}" for one in options) if is_choice else "{question}"
    labels = options if is_choice and values.get("infer_method") == "ppl" else []
    scoring: dict[str, Any] = {"evaluator": {"type": "AccEvaluator"}}
    if is_choice and not labels:
        letters = "".join(options)
        scoring["pred_postprocessor"] = {"type": "first_option_postprocess", "options": letters}
    prefix = "Answer: " if is_choice else ""
    return {
        "abbr": values.get("abbr", Path(path).name.partition(".")[0]),
        "type": "LocalDataset",
        "path": path,
        "reader_cfg": {"input_columns": [name for name in columns if name != ANSWER], "output_column": gold},
        "infer_cfg": {
            "prompt_template": {"type": "PromptTemplate", "template": _template(human, prefix, gold, labels)},
            "inferencer": {"type": "PPLInferencer" if labels else "GenInferencer"},
        },
        **({"eval_cfg": scoring} if gold else {}),
    }


def _template(human: str, prefix: str, gold: str | None, labels: list[str]) -> dict[str, Any]:
    def turns(said: str | None) -> dict[str, Any]:
        asked = {"role": "HUMAN", "prompt": human}
        return {"round": [asked] if said is None else [asked, {"role": "BOT", "prompt": said}]}

    if labels:
        return {label: turns(f"{prefix}{label}") for label in labels}
    return turns(None if gold is None else f"{prefix}{{{gold}}}")


def _columns(file: Path) -> list[str]:
    with file.open(encoding="utf-8-sig", newline="") as lines:
        if file.suffix == ".csv":
            return next(csv.reader(lines), [])
        row = json.loads(lines.readline() or "null")
    if not isinstance(row, dict):
        raise ValueError("the first line is no JSON object")
    return list(row)
