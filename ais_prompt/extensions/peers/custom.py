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

SIMILAR_OPTION: Final = "opencompass.datasets.custom.OptionSimAccEvaluator"
"""The evaluator of OpenCompass: without a letter in the answer, the option with the most similar text is chosen."""
META: Final = (
    *("abbr", "data_type", "infer_method", "options", "input_columns", "output_column", "test_range"),
    *("template", "human_prompt", "bot_prompt", "evaluator", "evaluator_kwargs", "n", "k"),
)
"""Keys of such a dataset. Source: OpenCompass, "Custom dataset"."""


def is_custom(values: Any) -> bool:
    """Return whether a dict describes a dataset by its file alone."""
    if not isinstance(values, Mapping) or {"type", "reader_cfg", "infer_cfg"} & values.keys():
        return False
    path = values.get("path")
    return isinstance(path, str) and path.endswith(ENDINGS)


def custom_dataset(values: Mapping[str, Any], folder: Path | None, *, peer_scores: bool = False) -> dict[str, Any]:
    """Return the dataset that a file means, with the prompts of OpenCompass.

    Columns A, B, … make it multiple choice, asked by generating, or by likelihood with ``infer_method='ppl'``.

    Args:
        values: ``path``, and if wanted ``meta_path`` and the keys of `META`. A file ``<path>.meta.json`` beside the
            data, or at ``meta_path``, has those that are not here.
        folder: where relative paths are looked up besides the working directory.
        peer_scores: compare answers to multiple choice as OpenCompass does, which needs its code.

    Of a file that does not exist, `check` reports where it was looked for.

    Raises:
        OSError, ValueError: a file cannot be read, its first row is none, or a key is unknown.
    """
    path = str(values["path"])
    file = resolve_data_path(path, folder)
    values = {**_meta(str(values.get("meta_path", f"{path}.meta.json")), folder), **values}
    if unknown := values.keys() - {"path", "meta_path", *META}:
        raise ValueError(f"{min(unknown)!r} is no key of a dataset that is only a file: {', '.join(META)}")
    columns = ["question", ANSWER] if file is None else _columns(file)
    options = values.get("options") or [letter for letter in ascii_uppercase if letter in columns]
    kind = values.get("data_type", "mcq" if len(options) > 1 else "qa")
    if kind not in ("mcq", "qa"):
        raise ValueError(f"the data_type {kind!r} is not known here: mcq or qa")
    is_choice = kind == "mcq"
    gold = values.get("output_column", ANSWER if ANSWER in columns else None)
    human = "Question: {question}" + "".join(f"\n{one}. {{{one}}}" for one in options) if is_choice else "{question}"
    labels = options if is_choice and values.get("infer_method") == "ppl" else []
    scoring: dict[str, Any] = {"evaluator": {"type": "AccEvaluator"}}
    if "evaluator" in values:
        scoring = {"evaluator": {"type": values["evaluator"], **values.get("evaluator_kwargs", {})}}
    elif is_choice and not labels and peer_scores:
        scoring = {"evaluator": {"type": "PeerEvaluator", "cls": SIMILAR_OPTION, "kwargs": {"options": options}}}
    elif is_choice and not labels:
        letters = "".join(options)
        scoring["pred_postprocessor"] = {"type": "first_option_postprocess", "options": letters}
    bot = values.get("bot_prompt", f"{'Answer: ' if is_choice else ''}{{{gold}}}")
    template = values.get("template") or _template(values.get("human_prompt", human), bot, gold, labels)
    inputs = values.get("input_columns", [name for name in columns if name != gold])
    reader = {"input_columns": inputs, "output_column": gold}
    return {
        "abbr": values.get("abbr", Path(path).name.partition(".")[0]),
        "type": "LocalDataset",
        "path": path,
        "reader_cfg": reader | ({"test_range": values["test_range"]} if "test_range" in values else {}),
        "infer_cfg": {
            "prompt_template": {"type": "PromptTemplate", "template": template},
            "inferencer": {"type": "PPLInferencer" if labels else "GenInferencer"},
        },
        **({"eval_cfg": scoring} if gold else {}),
        **{key: values[key] for key in ("n", "k") if key in values},
    }


def _template(human: str, bot: str, gold: str | None, labels: list[str]) -> dict[str, Any]:
    def turns(said: str | None) -> dict[str, Any]:
        asked = {"role": "HUMAN", "prompt": human}
        return {"round": [asked] if said is None else [asked, {"role": "BOT", "prompt": said}]}

    if labels:
        return {label: turns(bot.replace(f"{{{gold}}}", label)) for label in labels}
    return turns(None if gold is None else bot)


def _meta(path: str, folder: Path | None) -> dict[str, Any]:
    """Return what the file beside the data says; nothing if there is none."""
    file = resolve_data_path(path, folder)
    if file is None:
        return {}
    found = json.loads(file.read_text("utf-8-sig"))
    if not isinstance(found, dict):
        raise ValueError(f"{file} is no JSON object")
    return found


def _columns(file: Path) -> list[str]:
    with file.open(encoding="utf-8-sig", newline="") as lines:
        if file.suffix == ".csv":
            return next(csv.reader(lines), [])
        row = json.loads(lines.readline() or "null")
    if not isinstance(row, dict):
        raise ValueError("the first line is no JSON object")
    return list(row)
