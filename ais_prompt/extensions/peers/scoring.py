"""Translate ``eval_cfg``: the evaluator with its judge and nested evaluators, and the postprocessors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ais_prompt.config import EVAL
from ais_prompt.extensions.peers.judge import (
    JUDGE_ARGUMENTS,
    JUDGED,
    as_generic,
    is_rated,
    last_name,
    note_unread,
    read_as_cascade,
    translate_judged,
    translate_rated,
)
from ais_prompt.extensions.peers.parts import NO_EFFECT, Translation, is_part

DROPPED: Final = {
    "analyze_contamination": "contaminated samples are not told apart",
    "ds_column": NO_EFFECT,
    "ds_split": NO_EFFECT,
    "model_postprocessor": NO_EFFECT,
    "num_gpus": "scoring uses the processors of this machine",
    "pred_role": "it cuts nothing there either",  # its guard `re.match(r'\s*', begin) is None` is never true
    "sc_size": "the inferencer says how often a question is asked",
}
"""Keys of ``eval_cfg`` that mean nothing here → why."""

SCORES_NOTHING: Final = ("MooncakeTraceEvaluator",)
"""Evaluators of the peers without a score, of datasets that are loads only."""
OWN_POSTPROCESSOR: Final = "pred_postprocessor"
"""An argument of every evaluator of the peers, and a key of ``eval_cfg``, which comes first."""


def translate_eval(
    section: Mapping[str, Any], where: str, translation: Translation, dataset: Mapping[str, Any]
) -> dict[str, Any]:
    """Return an ``eval_cfg`` in terms of this program.

    Args:
        section: the dict.
        where: its config path.
        translation: the translation of the config.
        dataset: whose it is; a judge that compares models is described there.
    """
    kept = translation.known(section, EVAL.names, DROPPED, where)
    if isinstance(several := kept.get("evaluator"), list | tuple):  # the peers have one, this program may have more
        rest = {key: value for key, value in kept.items() if key != "evaluator"}
        each = [translate_eval({"evaluator": one}, where, translation, dataset) for one in several]
        scorers = [{**one.pop("evaluator"), **one} for one in each if one]
        return {**translate_eval(rest, where, translation, dataset), "evaluator": scorers}
    note_unread(kept.get("evaluator"), dataset, f"{where}.evaluator", translation)
    evaluator: Any = as_generic(kept.get("evaluator"))
    if last_name(evaluator) in SCORES_NOTHING:
        return {}
    if is_part(evaluator):
        rated = is_rated(evaluator, peer_scores=translation.peer_scores)
        if rated or translation.is_native("evaluators", evaluator):
            evaluator, own = _taken_out(evaluator)
            if own and kept.get(OWN_POSTPROCESSOR):
                what = "the pred_postprocessor of the evaluator is not used: eval_cfg has one"
                translation.notes.note(what, f"{where}.evaluator.{OWN_POSTPROCESSOR}")
            elif own:
                kept[OWN_POSTPROCESSOR] = own
        place = f"{where}.evaluator"
        if rated:
            kept["evaluator"] = translate_rated(evaluator, dataset, place, translation)
        else:
            kept["evaluator"] = translate_evaluator(evaluator, place, translation)
    for key in (OWN_POSTPROCESSOR, "dataset_postprocessor"):
        if key in kept:
            kept[key] = translation.part("postprocessors", kept[key], f"{where}.{key}")
    return kept


def translate_evaluator(values: Any, where: str, translation: Translation) -> Any:
    """Return an evaluator in terms of this program, with the judge or the evaluators in it."""
    if not translation.is_native("evaluators", values):
        return translation.part("evaluators", values, where)
    args = dict(values)
    if is_part(args.get("rule_evaluator")):
        rule, own = _taken_out(args["rule_evaluator"])
        args["rule_evaluator"] = translate_evaluator(rule, f"{where}.rule_evaluator", translation)
        if own:
            place = f"{where}.rule_evaluator.{OWN_POSTPROCESSOR}"
            args["rule_postprocessor"] = translation.part("postprocessors", own, place)
    if is_part(judge := as_generic(args.get("llm_evaluator"))):
        args["llm_evaluator"] = read_as_cascade(translate_evaluator(judge, f"{where}.llm_evaluator", translation))
    asked = JUDGE_ARGUMENTS if last_name(args) == JUDGED else ()
    judging = {key: args.pop(key) for key in asked if key in args}
    translated = translation.part("evaluators", args, where)
    rule = translated.get("rule_evaluator")
    if translated["type"] == "CascadeEvaluator" and is_part(rule) and rule["type"] == "PeerEvaluator":
        translated["type"] = "PeerCascadeEvaluator"  # it scores all answers together
    if translated["type"] == JUDGED:
        translated |= translate_judged(judging, where, translation)
    return translated


def _taken_out(evaluator: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
    """Return an evaluator without the postprocessor of its own, and that postprocessor."""
    rest = {key: value for key, value in evaluator.items() if key != OWN_POSTPROCESSOR}
    return rest, evaluator.get(OWN_POSTPROCESSOR)
