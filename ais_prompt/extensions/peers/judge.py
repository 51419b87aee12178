"""Translate the judges of evaluators: the model, its prompt, and how its verdict is read."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, Final

from ais_prompt.extensions.peers.model import translate_model
from ais_prompt.extensions.peers.parts import Translation, is_part
from ais_prompt.extensions.peers.table.evaluators import RIGHT_OR_WRONG

JUDGED: Final = "GenericLLMEvaluator"
"""Our evaluator with a judge; ``judge_cfg`` and ``prompt_template`` are its arguments in a config."""

JUDGE_ARGUMENTS: Final = ("judge_cfg", "prompt_template", "dataset_cfg", "dict_postprocessor")
"""Arguments of an evaluator with a judge that `translate_judged` reads."""

_JUDGES: Final = (JUDGED, "LMEvaluator")
"""Evaluators of the peers with a judge."""

VERDICT: Final = "generic_llmjudge_postprocess"
"""The ``dict_postprocessor`` of the peers that reads A and B as we do."""

_GOLD_COLUMNS: Final = re.compile(r"\{(?:obj_gold|reference)\}")
"""Columns that the peers add to the rows for a judge; here the gold is ``{gold}``."""

GENERIC: Final = "opencompass.evaluator.GenericLLMEvaluator"
_DEFAULT_ROLES: Final = {
    "round": [{"role": "HUMAN", "api_role": "HUMAN"}, {"role": "BOT", "api_role": "BOT", "generate": True}]
}
"""The roles of the judge of the environment. It has no SYSTEM: such a turn falls back to the user, in one message."""
_DEFAULT_URL: Final = "https://api.openai.com/v1"


def as_generic(evaluator: Any) -> Any:
    """Return an ``LMEvaluator`` whose verdicts are A and B as the ``GenericLLMEvaluator`` that does the same."""
    if last_name(evaluator) != "LMEvaluator" or last_name(evaluator.get("dict_postprocessor")) not in RIGHT_OR_WRONG:
        return evaluator
    kept = {key: value for key, value in evaluator.items() if key != "output_path"}
    return {**kept, "judge_cfg": evaluator.get("judge_cfg") or {}, "type": GENERIC}


def last_name(part: Any) -> str:
    """Return the ``type`` of a part without its module; empty for anything else."""
    return str(part["type"]).rpartition(".")[2] if is_part(part) else ""


def translate_judged(args: Mapping[str, Any], where: str, translation: Translation) -> dict[str, Any]:
    """Return the arguments of an evaluator that describe its judge in terms of this program.

    ``dataset_cfg`` names the dataset once more; see `note_unread`.
    """
    judge = translate_judge(args.get("judge_cfg"), f"{where}.judge_cfg", translation)
    template = translation.part("templates", args.get("prompt_template"), f"{where}.prompt_template")
    reading = _verdict(args.get("dict_postprocessor"), f"{where}.dict_postprocessor", translation)
    return {"judge_cfg": judge, "prompt_template": _with_gold_column(template), **reading}


def note_unread(evaluator: Any, dataset: Mapping[str, Any], where: str, translation: Translation) -> None:
    """Note what an evaluator with a judge says of files, or of other rows than those of its dataset.

    The judge is asked about the rows whose answers it sees. There ``dataset_cfg`` loads the dataset once more.
    """
    if not is_part(evaluator):
        return
    translation.drop("output_path", evaluator.get("output_path"), "verdicts are files of the run folder", where)
    rows = evaluator.get("dataset_cfg")
    if last_name(evaluator) in _JUDGES and isinstance(rows, Mapping):
        why = "the judge is asked about the rows of the dataset"
        for key, value in rows.items():
            if dataset.get(key) != value and key not in ("abbr", "infer_cfg", "eval_cfg"):
                translation.drop(key, value, why, f"{where}.dataset_cfg")
    note_unread(evaluator.get("llm_evaluator"), dataset, f"{where}.llm_evaluator", translation)


def translate_judge(values: Any, where: str, translation: Translation) -> Any:
    """Return the model that judges, or a list of several.

    Without ``values`` these are ``judge_models``, or the model of the environment.
    """
    if values:
        return translate_model(values, where, translation)
    if translation.judges:
        found = [
            translate_model(judge, f"judge_models[{number}]", translation)
            for number, judge in enumerate(translation.judges)
        ]
        if len(found) == 1:
            return found[0]
        what = "the judges score together; what each of them says alone is `… by JUDGE`, there a table of its own"
        translation.notes.note(what, "judge_models")
        return found
    model = os.environ.get("OC_JUDGE_MODEL")
    if not model:
        what = "the judge is not named: the config has no judge_models, judge_cfg is empty, OC_JUDGE_MODEL is not set"
        fix = "judge_models=[dict(<a model>)], or export OC_JUDGE_MODEL=… OC_JUDGE_API_BASE=… OC_JUDGE_API_KEY=…"
        translation.faults.add(what, where, fix)
    what = "the judge is that of OC_JUDGE_MODEL, OC_JUDGE_API_BASE and OC_JUDGE_API_KEY"
    translation.notes.note(what, where, "to ask another one: judge_models=[dict(<a model>)]")
    return {
        "type": "OpenAIChatModel",
        "abbr": "judge",
        "model": model or "judge",
        "base_url": os.environ.get("OC_JUDGE_API_BASE") or _DEFAULT_URL,
        "api_key": "OC_JUDGE_API_KEY" if os.environ.get("OC_JUDGE_API_KEY") else None,
        "meta_template": _DEFAULT_ROLES,
        "max_out_len": 16384,
        "generation_kwargs": {"temperature": 0.001},
    }


def _verdict(values: Any, where: str, translation: Translation) -> dict[str, Any]:
    """Return how the verdict is read, with a note where that differs from the peer."""
    name = last_name(values) or VERDICT
    if name != VERDICT:
        translation.notes.note(f"{name!r} is not used: a verdict is A for right or B for wrong", where)
    translation.known(values if is_part(values) else {}, ("type",), {}, where)
    if name != VERDICT:
        return {}
    if translation.peer_scores:
        return {"verdict_postprocessor": {"type": f"{VERDICT}_peer"}}
    translation.differs(f"{VERDICT}: a verdict that is neither A nor B is not scored; there it is wrong", where)
    return {}


def _with_gold_column(value: Any) -> Any:
    if isinstance(value, str):
        return _GOLD_COLUMNS.sub("{gold}", value)
    if isinstance(value, Mapping):
        return {key: _with_gold_column(item) for key, item in value.items()}
    return [_with_gold_column(item) for item in value] if isinstance(value, list | tuple) else value
