"""What becomes of each key of OpenCompass and AISBench: translated, refused, or named in a note.

The table `KEYS` is ``tests/data/peers/keys.json``: kind of part → class or function → argument → outcome. With both
programs there, ``python -m tests.extensions.peer_loaders.signatures`` writes it again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from ais_prompt.config import Note
from ais_prompt.errors import AisPromptError, ConfigFaults
from ais_prompt.extensions.peers.parts import REGISTRIES
from ais_prompt.extensions.peers.translate import translate
from ais_prompt.plan import argument_faults

Outcome: TypeAlias = Literal["translated", "refused", "note", "lost"]

TABLE: Final = Path(__file__).parents[1] / "data" / "peers" / "keys.json"
KEYS: Final[dict[str, dict[str, dict[str, Outcome]]]] = json.loads(TABLE.read_text("utf-8")) if TABLE.exists() else {}

OPENICL: Final = "opencompass.openicl"
TEMPLATE: Final = {"type": f"{OPENICL}.icl_prompt_template.PromptTemplate", "template": "Q: {question}"}
META: Final = {
    "round": [{"role": "HUMAN", "api_role": "HUMAN"}, {"role": "BOT", "api_role": "BOT", "generate": True}],
    "begin": [{"role": "HUMAN", "prompt": "Hello."}],
}
VALUES: Final[Mapping[str, Any]] = {
    "backend": "pytorch",
    "base_url": "http://127.0.0.1:9/v1",
    "api_base": "http://127.0.0.1:9/v1",
    "openai_api_base": "http://127.0.0.1:9/v1",
    "url": "http://127.0.0.1:9/v1",
    "chat_template_kwargs": {"enable_thinking": False},
    "dataset_cfg": {"path": "elsewhere"},
    "dict_postprocessor": {"type": "opencompass.datasets.supergpqa.supergpqa_llmjudge_postprocess"},
    "enable_ssl": True,
    "engine_config": {"session_len": 7},
    "extra_body": {"top_k": 7},
    "extra_headers": {"X-Team": "a"},
    "file_name": "other.jsonl",
    "fix_id_list": [1, 2],
    "gen_config": {"do_sample": True, "top_k": 7},
    "generation_kwargs": {"top_k": 7},
    "headers": {"X-Team": "a"},
    "ice_template": TEMPLATE,
    "infer_mode": "every",
    "judge_cfg": {"type": "ScriptedModel", "answers": {}},
    "key": "OTHER_KEY",
    "labels": ["A", "B"],
    "local_mode": "elsewhere",
    "language": "zh",
    "llm_evaluator": {"type": f"{OPENICL}.icl_evaluator.AccEvaluator"},
    "meta_template": META,
    "model_kwargs": {"revision": "v2"},
    "mode": "mid",
    "multiround": True,
    "openai_extra_kwargs": {"top_k": 7},
    "parallel": False,
    "peft_kwargs": {"revision": "v2"},
    "pred_postprocessor": {"type": "opencompass.utils.text_postprocessors.general_cn_postprocess"},
    "prompt_template": {**TEMPLATE, "template": "Judge {prediction}"},
    "rule_evaluator": {"type": "opencompass.datasets.lambada.LambadaEvaluator"},
    "run_cfg": {"num_gpus": 3},
    "stop_words": ["###"],
    "stream": True,
    "stopping_criteria": ["###"],
    "tokenizer_kwargs": {"use_fast": False},
    "trust_remote_code": True,
    "finish_reason_confirm": False,
    "path": "others/model",
    "model": "another",
    "category": "irrelevance",
    "cushion": False,
    "false_tag": "F",
    "format_variables": False,
    "gen_field_replace_token": "[GEN]",
    "ice_eos_token": "\n\n",
    "ice_separator": "\n\n",
    "ice_token": "{examples}",
    "lang": "de",
    "messages": [{"role": "user", "content": "{question}"}],
    "name": "single_choice_cn",
    "options": "ABCD",
    "org": "team",
    "sample_kwargs": {"top_k": 7},
    "meta_path": "other.json",
    "sep_token": "</S>",
    "tag": "answer",
    "think_end_token": "</t>",
    "think_start_token": "<t>",
    "tokenizer_path": "others/tokenizer",
    "true_tag": "T",
    "answer_pattern": r"Answer: (\w)",
    "template": {"round": [{"role": "HUMAN", "prompt": "Other: {question}"}]},
}
"""Key → a value that is not its default, where a number will not do."""


def value_of(key: str) -> Any:
    """Return a value for a key that is not its default."""
    return deepcopy(VALUES.get(key, 17))


def dataset(**changes: Any) -> dict[str, Any]:
    """Return a dataset of OpenCompass."""
    return {
        "type": "opencompass.datasets.OwnDataset",
        "abbr": "own",
        "path": "data/own",
        "reader_cfg": {"input_columns": ["question"], "output_column": "answer"},
        "infer_cfg": {
            "prompt_template": TEMPLATE,
            "retriever": {"type": f"{OPENICL}.icl_retriever.ZeroRetriever"},
            "inferencer": {"type": f"{OPENICL}.icl_inferencer.GenInferencer"},
        },
        "eval_cfg": {"evaluator": {"type": f"{OPENICL}.icl_evaluator.AccEvaluator"}},
        **changes,
    }


def config_with(kind: str, part: dict[str, Any]) -> tuple[dict[str, Any], tuple[Any, ...]]:
    """Return a config with a part, and the keys that lead to the part."""
    if kind == "models":
        part = {"abbr": "m", "path": "a/b", **part}
        return {"models": [part], "datasets": []}, ("models", 0)
    if kind == "readers":
        return {"datasets": [dataset(**part)]}, ("datasets", 0)
    section, key = {
        "inferencers": ("infer_cfg", "inferencer"),
        "retrievers": ("infer_cfg", "retriever"),
        "templates": ("infer_cfg", "prompt_template"),
        "evaluators": ("eval_cfg", "evaluator"),
        "postprocessors": ("eval_cfg", "pred_postprocessor"),
    }[kind]
    name = part["type"].rpartition(".")[2]
    if name in ("GenericLLMEvaluator", "CascadeEvaluator"):
        judge = {"type": "ScriptedModel", "answers": {"": "A"}}
        judged = {"type": "opencompass.evaluator.GenericLLMEvaluator", "judge_cfg": judge, "prompt_template": TEMPLATE}
        nested = {"rule_evaluator": {"type": "opencompass.datasets.GPQAEvaluator"}, "llm_evaluator": judged}
        part = {**(nested if name == "CascadeEvaluator" else judged), **part}
    values = dataset()
    values[section] = {**values[section], key: {**values[section].get(key, {}), **part}}
    if kind != "templates" and values[section][key]["type"] != part["type"]:
        values[section][key] = part
    return {"datasets": [values]}, ("datasets", 0, section, key)


def outcome(values: Mapping[str, Any], place: tuple[Any, ...], key: Any, value: Any, kind: str = "") -> Outcome:
    """Return what becomes of a key in the dict at a place of a config.

    Args:
        values: the config without the key, or with another value.
        place: the keys that lead to the dict.
        key: the key.
        value: its value.
        kind: of a part: the kind, so that arguments that our part does not have are found.
    """
    changed = deepcopy(dict(values))
    dict_at(changed, place)[key] = value
    before, notes_before = translate(values)
    try:
        after, notes = translate(changed)
    except ConfigFaults as faults:
        return "refused" if any(str(key) in f"{one.what} {one.where}" for one in faults.faults) else "lost"
    if any(names(note, place, key) if note not in notes_before else leaves_out(note, place, key) for note in notes):
        return "note"
    if after == before:
        return outcome(values, place, key, False, kind) if value is True else "lost"
    part = dict_at(after, place) if kind else {}
    return "refused" if any(repr(key) in fault for fault in _faults(kind, part)) else "translated"


def dict_at(values: Any, place: tuple[Any, ...]) -> Any:
    """Return the dict at a place of a config."""
    for key in place:
        values = values[key]
    return values


def names(note: Note, place: tuple[Any, ...], key: Any) -> bool:
    """Return whether a note is about a key, or says that the dict with the key is not used."""
    inside = f"{note.where}.".startswith(f"{_path((*place, key))}.")
    return inside or _has_word(note.what, key) or leaves_out(note, place, key)


def leaves_out(note: Note, place: tuple[Any, ...], key: Any) -> bool:
    """Return whether a note says that a dict around a key, or the key among others, is not used."""
    path = _path((*place, key))
    is_named = note.where != _path(place) or any(_has_word(note.what, one) for one in (key, *place[-1:]))
    return "not used" in note.what and f"{path}.".startswith(f"{note.where}.") and is_named


def _path(place: tuple[Any, ...]) -> str:
    return "".join(f"[{one}]" if isinstance(one, int) else f".{one}" for one in place).lstrip(".")


def _has_word(text: str, key: Any) -> bool:
    return re.search(rf"(?<!\w){re.escape(str(key))}(?!\w)", text) is not None


_OF_CONFIG: Final[Mapping[str, tuple[str, ...]]] = {
    "models": ("type", "abbr", "meta_template", "run_cfg"),
    "readers": ("type", "abbr", "reader_cfg", "infer_cfg", "eval_cfg", "n", "k"),
    "evaluators": ("type", "judge_cfg", "prompt_template"),
}
"""Kind of part → keys that the config parses itself."""


def _faults(kind: str, part: Mapping[str, Any]) -> list[str]:
    if kind not in REGISTRIES:
        return []
    ours = REGISTRIES[kind].get(part["type"])
    of_config = _OF_CONFIG.get(kind, ("type",))
    args = {name: value for name, value in part.items() if name not in of_config}
    given = int(kind == "postprocessors")
    found = [fault.what for fault in argument_faults(ours, args, "", given=given)]
    if not found and kind == "readers":
        try:
            ours(**args)
        except AisPromptError as error:
            found.append(error.what)
    return found
