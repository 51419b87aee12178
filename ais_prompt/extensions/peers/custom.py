"""Datasets that are only files: ``dict(path='mine.jsonl')``, ``--custom-dataset-path``, ``chatml_datasets``.

Settings that all ``chatml_datasets`` share are read from the config that OpenCompass itself uses.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from string import ascii_uppercase
from typing import Any, Final

from ais_prompt.config import load_config, resolve_data_path
from ais_prompt.errors import ConfigError
from ais_prompt.extensions.peers.parts import LENGTH, NO_EFFECT, Translation
from ais_prompt.extensions.peers.peer_packages import peer_package
from ais_prompt.utils import parse_text

ENDINGS: Final = (".jsonl", ".csv")
ANSWER: Final = "answer"
"""The column of the gold answer. Source: OpenCompass, "Custom dataset"."""

SIMILAR_OPTION: Final = "opencompass.datasets.custom.OptionSimAccEvaluator"
"""The evaluator of OpenCompass: without a letter in the answer, the option with the most similar text is chosen."""
CIRCULAR: Final = "circular-mcq"
"""The ``data_type`` of questions that are asked once for each turn of their options."""
_CIRCULAR_READER: Final = "opencompass.datasets.custom.CircularCustomDataset"
_CIRCULAR_EVALUATORS: Final = {
    "gen": "opencompass.datasets.custom.CircularOptionSimAccEvaluator",
    "ppl": "opencompass.datasets.circular.CircularEvaluator",
}
"""How labels are asked for → the evaluator of OpenCompass."""
META: Final = (
    *("abbr", "data_type", "infer_method", "options", "input_columns", "output_column", "test_range"),
    *("template", "human_prompt", "bot_prompt", "evaluator", "evaluator_kwargs", "n", "k"),
)
"""Keys of such a dataset. Source: OpenCompass, "Custom dataset"."""
OF_LOAD: Final = {"request_count", "sampling_mode", "output_config"}
"""Keys of ``.meta.json`` of AISBench."""


def is_custom(values: Any) -> bool:
    """Return whether a dict describes a dataset by its file alone."""
    if not isinstance(values, Mapping) or {"type", "reader_cfg", "infer_cfg"} & values.keys():
        return False
    path = values.get("path")
    return isinstance(path, str) and path.endswith(ENDINGS)


def custom_dataset(
    values: Mapping[str, Any], folder: Path | None, *, peer_scores: bool = False, is_aisbench: bool = False
) -> dict[str, Any]:
    """Return the dataset that a file means, with the prompts of OpenCompass or AISBench.

    Columns A, B, … make it multiple choice, asked by generating, or by likelihood with ``infer_method='ppl'``. With
    ``data_type='circular-mcq'`` loader and evaluator are named as those of OpenCompass, whose code turns the options.

    Args:
        values: ``path``, and if wanted ``meta_path`` and the keys of `META`. A file ``<path>.meta.json`` beside the
            data, or at ``meta_path``, has those that are not here; that of AISBench is about a load, and is left to
            `LoadRowsDataset`.
        folder: where relative paths are looked up besides the working directory.
        peer_scores: compare answers to multiple choice as OpenCompass does, which needs its code.
        is_aisbench: whether a model of AISBench is asked: one text is its prompt, with the beginning of the answer.

    Of a file that does not exist, `check` reports where it was looked for.

    Raises:
        ConfigError: a key or the ``data_type`` is unknown.
        OSError, ValueError: a file cannot be read, or its first row is none.
    """
    path = str(values["path"])
    file = resolve_data_path(path, folder)
    beside = _meta(str(values.get("meta_path", f"{path}.meta.json")), folder)
    is_load = is_aisbench or bool(beside.keys() & OF_LOAD)
    values = {**({} if is_load else beside), **values}
    if unknown := values.keys() - {"path", "meta_path", *META}:
        what = f"{min(unknown)!r} is no key of a dataset that is only a file"
        raise ConfigError(what, fix=f"write one of: {', '.join(META)}")
    turned = [*"ABCD"] if values.get("data_type") == CIRCULAR else []
    columns = ["question", *turned, ANSWER] if file is None else _columns(file)
    options = values.get("options") or [letter for letter in ascii_uppercase if letter in columns]
    kind = values.get("data_type", "mcq" if len(options) > 1 else "qa")
    is_circular = kind == CIRCULAR and not is_aisbench
    if kind not in ("mcq", "qa") and not is_circular:
        fix = "data_type='mcq' asks the options in one order, 'qa' asks without options"
        if not is_aisbench:
            fix += f", {CIRCULAR!r} in each turn"
        raise ConfigError(f"the data_type {kind!r} is not known here", fix=fix)
    if is_circular and not options:
        raise ConfigError(f"{path!r} has no options to turn", fix="name their columns A, B, …, or options=[...]")
    is_choice = kind != "qa"
    gold = values.get("output_column", ANSWER if ANSWER in columns else None)
    human = "Question: {question}" + "".join(f"\n{one}. {{{one}}}" for one in options) if is_choice else "{question}"
    labels = options if is_choice and values.get("infer_method") == "ppl" else []
    scoring = _scoring(
        values,
        options if is_choice else [],
        by_likelihood=bool(labels),
        is_circular=is_circular,
        peer_scores=peer_scores,
    )
    bot = values.get("bot_prompt", f"{'Answer: ' if is_choice else ''}{{{gold}}}")
    human = values.get("human_prompt", human)
    template = values.get("template") or (
        _text(human, bot, gold, is_choice=is_choice) if is_aisbench else _template(human, bot, gold, labels)
    )
    source: dict[str, Any] = {"type": "LoadRowsDataset" if is_load else "LocalDataset", "path": path}
    if is_circular:
        source = {"type": _CIRCULAR_READER, "path": path, "option_keys": options, "answer_key": gold}
    if is_load and "meta_path" in values:
        source["meta_path"] = str(resolve_data_path(str(values["meta_path"]), folder) or values["meta_path"])
    inputs = values.get("input_columns", [name for name in columns if name != gold])
    reader = {"input_columns": inputs, "output_column": gold}
    return {
        "abbr": values.get("abbr", Path(path).name.partition(".")[0]),
        **source,
        "reader_cfg": reader | ({"test_range": values["test_range"]} if "test_range" in values else {}),
        "infer_cfg": {
            "prompt_template": {"type": "PromptTemplate", "template": template},
            "inferencer": {
                "type": "PPLInferencer" if labels else "GenInferencer",
                **({"max_out_len": LENGTH} if is_load and not labels else {}),
            },
        },
        **({"eval_cfg": scoring} if gold else {}),
        **{key: values[key] for key in ("n", "k") if key in values},
    }


def _scoring(
    values: Mapping[str, Any], options: Sequence[str], *, by_likelihood: bool, is_circular: bool, peer_scores: bool
) -> dict[str, Any]:
    """Return the ``eval_cfg`` of a file; without options, a question has a free answer."""
    if "evaluator" in values:
        return {"evaluator": {"type": values["evaluator"], **values.get("evaluator_kwargs", {})}}
    if is_circular:
        name = _CIRCULAR_EVALUATORS["ppl" if by_likelihood else "gen"]
        return {"evaluator": {"type": name, **({} if by_likelihood else {"options": options})}}
    if not options or by_likelihood:
        return {"evaluator": {"type": "AccEvaluator"}}
    if peer_scores:
        return {"evaluator": {"type": "PeerEvaluator", "cls": SIMILAR_OPTION, "kwargs": {"options": options}}}
    return {
        "evaluator": {"type": "AccEvaluator"},
        "pred_postprocessor": {"type": "first_option_postprocess", "options": "".join(options)},
    }


def _template(human: str, bot: str, gold: str | None, labels: list[str]) -> dict[str, Any]:
    def turns(said: str | None) -> dict[str, Any]:
        asked = {"role": "HUMAN", "prompt": human}
        return {"round": [asked] if said is None else [asked, {"role": "BOT", "prompt": said}]}

    if labels:
        return {label: turns(bot.replace(f"{{{gold}}}", label)) for label in labels}
    return turns(None if gold is None else bot)


def _text(human: str, bot: str, gold: str | None, *, is_choice: bool) -> str:
    """Return the prompt of AISBench, in which the gold is replaced by nothing."""
    if is_choice:
        return f"{human}\n{bot}"
    return human if gold is None else f"Question: {human}\nAnswer: {bot}"


def _meta(path: str, folder: Path | None) -> dict[str, Any]:
    """Return what the file beside the data says; nothing if there is none."""
    file = resolve_data_path(path, folder)
    if file is None:
        return {}
    found = parse_text(file.read_text("utf-8-sig"))
    if not isinstance(found, dict):
        raise ValueError(f"{file} is no JSON object")
    return found


def _columns(file: Path) -> list[str]:
    with file.open(encoding="utf-8-sig", newline="") as lines:
        if file.suffix == ".csv":
            return next(csv.reader(lines), [])
        row = parse_text(lines.readline() or "null")
    if not isinstance(row, dict):
        raise ValueError("the first line is no JSON object")
    return list(row)


SHARED: Final = "configs/datasets/chatobj_custom/chatobj_custom_gen.py"
"""The config with the prompt and the evaluators, below the package of OpenCompass."""

DATASET: Final = "opencompass.datasets.ChatMLDataset"
PARTS: Final = ("rule_evaluator", "llm_evaluator")
"""Evaluators in a cascade."""

_ITEM: Final = ("abbr", "path", "evaluator", "n", "test_range")
_UNREAD: Final = ("input_columns", "output_column", "input_prompt")
"""Keys that their docstring names and their code does not read."""
_OF_EVALUATOR: Final = ("type", "answer_pattern", "judge_cfg", "prompt", *PARTS)
_OPENICL: Final = "opencompass.openicl.icl_evaluator"
_EVALUATORS: Final = "opencompass.evaluator"


def chatml_dataset(values: Mapping[str, Any], where: str, translation: Translation) -> dict[str, Any]:
    """Return the dataset that an item of ``chatml_datasets`` means to OpenCompass.

    Args:
        values: ``abbr``, ``path`` and ``evaluator``; perhaps ``n`` and ``test_range``.
        where: its config path.
        translation: takes the notes.

    Raises:
        ConfigError: a key is missing, there is no such evaluator, or OpenCompass is not there.
    """
    values = translation.known(values, _ITEM, dict.fromkeys(_UNREAD, NO_EFFECT), where)
    if missing := [key for key in ("abbr", "path", "evaluator") if not values.get(key)]:
        raise ConfigError(f"it has no {missing[0]!r}", fix=f"add {missing[0]}=...")
    package = peer_package("opencompass")
    if package is None:
        fix = "install it: pip install --no-deps opencompass; or name a checkout: --peer-path DIR"
        raise ConfigError("chatml_datasets needs OpenCompass, which has its prompt and evaluators", fix=fix)
    shared = load_config(package / SHARED).values
    source = {"type": DATASET, "abbr": values["abbr"], "path": values["path"]}
    reader = dict(shared["chatobj_custom_reader_cfg"])
    if "test_range" in values:
        reader["test_range"] = values["test_range"]
    return {
        **source,
        **({"n": values["n"]} if "n" in values else {}),
        "reader_cfg": reader,
        "infer_cfg": deepcopy(shared["chatobj_custom_infer_cfg"]),
        "eval_cfg": {
            "evaluator": _evaluator(
                values["evaluator"], shared["optional_evaluator"], f"{where}.evaluator", translation
            )
        },
    }


def with_paths(dataset: Mapping[str, Any]) -> dict[str, Any]:
    """Return a dataset that OpenCompass has made of an item, as its run folder has it, with paths in place of names."""
    evaluation = dataset.get("eval_cfg") or {}
    return {
        **dataset,
        "type": DATASET,
        "eval_cfg": {**evaluation, "evaluator": _with_path(evaluation.get("evaluator") or {})},
    }


def _with_path(evaluator: Mapping[str, Any]) -> dict[str, Any]:
    """Return an evaluator with its path: a bare name that is ours too would mean ours."""
    name = str(evaluator.get("type"))
    parts = {key: _with_path(evaluator[key]) for key in PARTS if key in evaluator}
    return {**evaluator, **parts, "type": f"{_OPENICL if name == 'AccEvaluator' else _EVALUATORS}.{name}"}


def _evaluator(
    values: Mapping[str, Any], known: Mapping[str, Any], where: str, translation: Translation
) -> dict[str, Any]:
    """Return an evaluator by its short name: ``math_evaluator``, ``mcq_rule_evaluator``, ``llm_evaluator``, ..."""
    name = str(values.get("type"))
    if name not in known:
        raise ConfigError(
            f"there is no evaluator {name!r} for chatml_datasets", fix=f"write one of: {', '.join(known)}"
        )
    values = translation.known(values, _OF_EVALUATOR, {}, where)
    evaluator = _with_path(deepcopy(dict(known[name])))
    if "answer_pattern" in values:
        evaluator["pred_postprocessor"] = {
            **evaluator["pred_postprocessor"],
            "answer_pattern": values["answer_pattern"],
        }
    if "judge_cfg" in values:
        evaluator["judge_cfg"] = values["judge_cfg"]
    if "prompt" in values:
        template = evaluator["prompt_template"]
        messages = [
            {**one, "content": values["prompt"]} if one.get("role") == "user" else one for one in template["messages"]
        ]
        evaluator["prompt_template"] = {**template, "messages": messages}
    for part in PARTS:
        if part in values:
            evaluator[part] = _evaluator(values[part], known, f"{where}.{part}", translation)
    return evaluator
