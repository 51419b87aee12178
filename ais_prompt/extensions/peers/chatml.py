"""``chatml_datasets`` of OpenCompass: datasets that are only files of conversations.

What they have in common is read from the config that OpenCompass itself uses.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Final

from ais_prompt.config.load import load_config
from ais_prompt.errors import ConfigError
from ais_prompt.extensions.peers.parts import NO_EFFECT, Translation
from ais_prompt.utils.peers import peer_package

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
