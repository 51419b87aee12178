"""Translate ``eval_cfg``: the evaluator with its judge and nested evaluators, and the postprocessors.

Of a judge these are the model, its prompt, and how its verdict is read. A judge may rate answers, or compare them with
those of other models. Keys of the dataset describe the comparison: ``mode``, ``infer_order``, ``base_models``,
``given_pred``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, Final

from ais_prompt.config import EVAL
from ais_prompt.extensions.peers.model import translate_model
from ais_prompt.extensions.peers.parts import NO_EFFECT, Translation, is_part
from ais_prompt.extensions.peers.table.evaluators import COUNTS_BY_CATEGORY, RIGHT_OR_WRONG, SUMMARIZERS
from ais_prompt.extensions.peers.tables import RATES, SUMMARIES, RatingOptions
from ais_prompt.utils import with_texts

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


JUDGED: Final = "GenericLLMEvaluator"
"""Our evaluator with a judge; ``judge_cfg`` and ``prompt_template`` are its arguments in a config."""

READING: Final = "verdict_postprocessor"
"""The argument of our evaluator that reads the verdict."""

JUDGE_ARGUMENTS: Final = ("judge_cfg", "prompt_template", "dataset_cfg", "dict_postprocessor", READING)
"""Arguments of an evaluator with a judge that `translate_judged` reads."""

_JUDGES: Final = (JUDGED, "LMEvaluator")
"""Evaluators of the peers with a judge."""

VERDICT: Final = "generic_llmjudge_postprocess"
"""The ``dict_postprocessor`` of the peers that reads A and B."""

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
    reading = args.get(READING)
    if reading is None:
        verdict = _verdict(args.get("dict_postprocessor"), f"{where}.dict_postprocessor", translation)
    else:
        verdict = {READING: reading}
    template = translation.part("templates", args.get("prompt_template"), f"{where}.prompt_template")
    return {
        "judge_cfg": judge,
        "prompt_template": with_texts(template, lambda text: _GOLD_COLUMNS.sub("{gold}", text)),
        **verdict,
    }


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


def read_as_cascade(judge: Any) -> Any:
    """Return a translated judge of a ``CascadeEvaluator``, which reads its replies by a rule of its own."""
    if isinstance(judge, Mapping) and judge.get("type") == JUDGED:
        return {**judge, READING: {"type": "cascade_verdict_peer"}}
    return judge


def _verdict(values: Any, where: str, translation: Translation) -> dict[str, Any]:
    """Return how the verdict is read: as there, where one that is neither A nor B is wrong."""
    name = last_name(values)
    if name in COUNTS_BY_CATEGORY:
        translation.differs(f"{name}: only the accuracy is shown; there the accuracy of each category too", where)
    named = values if is_part(values) else {}
    tags = translation.known(named, ("type", *_TAGS), {"metric_name": "the metric is the accuracy"}, where)
    tags = {key: value for key, value in tags.items() if key != "type"}
    return {**tags, READING: {"type": f"{VERDICT}_peer", **tags}}


_TAGS: Final = ("true_tag", "false_tag")
"""Arguments of `VERDICT`, which `JUDGED` has too."""

_COMPARISON: Final = frozenset({"base_models", "given_pred", "infer_order", "mode", "summarizer"})
"""Keys of a dataset that say what a judge does; no loader reads them."""

JUDGE_KEY: Final = "judge_infer_cfg"
"""The key of a dataset of AISBench that names a judge and its prompt."""
_CORRECT: Final = "LLMJudgeCorrectEvaluator"
_VERDICT: Final = "get_a_or_b"
"""Their function that reads what the judge of `_CORRECT` says."""

_RENAMED: Final = {"pack_all_predictions": "pack", "keep_predictions": "keep_predictions", "multi_eval": "prompt_list"}
"""Option of ``LMEvaluator`` → argument of `PeerJudgeEvaluator`."""
_READ: Final = ("type", "prompt_template", "judge_cfg", "dict_postprocessor", "dataset_cfg", "output_path")


def is_rated(evaluator: Any, *, peer_scores: bool = False) -> bool:
    """Return whether a function of the peer reads the judge: it says more than right or wrong.

    Args:
        evaluator: its dict.
        peer_scores: whether verdicts of right and wrong are counted by their function too.
    """
    name = last_name(as_generic(evaluator))
    reading = last_name(evaluator.get("dict_postprocessor")) if name else ""
    ours = {"", *(() if peer_scores else RIGHT_OR_WRONG)}
    return name == "LMEvaluator" or (name == JUDGED and reading not in ours)


def keys_of_judge(dataset: Mapping[str, Any], evaluator: Any) -> frozenset[str]:
    """Return the keys of a dataset that say what its judge does; none if they may belong to the loader."""
    rates_each = last_name(evaluator) == "LMEvaluator" and dataset.get("mode") == "singlescore"
    return _COMPARISON if rates_each or is_rated(evaluator) else frozenset()


def translate_rated(
    evaluator: Mapping[str, Any], dataset: Mapping[str, Any], where: str, translation: Translation
) -> dict[str, Any]:
    """Return an evaluator that `is_rated` as our `PeerJudgeEvaluator`.

    Args:
        evaluator: its dict.
        dataset: whose it is.
        where: its config path.
        translation: the translation of the config.
    """
    translation.known(evaluator, (*_READ, *_RENAMED), {}, where)
    options = {ours: True for name, ours in _RENAMED.items() if evaluator.get(name)}
    return {
        "type": "PeerJudgeEvaluator",
        "judge_cfg": translate_judge(evaluator.get("judge_cfg"), f"{where}.judge_cfg", translation),
        "prompt_template": translation.part("templates", evaluator.get("prompt_template"), f"{where}.prompt_template"),
        **_reading(evaluator, _summarizer(dataset, translation), where, translation),
        **_comparison(dataset, where, translation),
        **options,
    }


def with_judge(values: Mapping[str, Any], where: str, translation: Translation) -> Mapping[str, Any]:
    """Return a dataset of AISBench whose ``judge_infer_cfg`` is the judge of its evaluator.

    Only a judge of right and wrong has a counterpart; for any other it is a fault.
    """
    judging = values.get(JUDGE_KEY)
    scoring = values.get("eval_cfg")
    if not isinstance(judging, Mapping) or not isinstance(scoring, Mapping):
        return values
    place = f"{where}.{JUDGE_KEY}"
    if (name := last_name(scoring.get("evaluator"))) != _CORRECT:
        what = f"{JUDGE_KEY} goes with {_CORRECT} here, not with {name or 'no evaluator'}"
        translation.faults.add(what, place, "use GenericLLMEvaluator with judge_cfg and prompt_template")
        return values
    evaluator = {
        "type": GENERIC,
        "judge_cfg": judging.get("judge_model"),
        "prompt_template": with_texts(
            judging.get("prompt_template"), lambda text: text.replace("{model_answer}", "{prediction}")
        ),
    }
    others = [key for key in judging if key not in ("judge_model", "prompt_template")]
    if others:
        what = f"not used: {', '.join(others)}. The judge is asked once about each answer, without examples"
        translation.notes.note(what, place)
    translation.known(scoring["evaluator"], ("type",), {}, f"{where}.eval_cfg.evaluator")
    reading = scoring.get("pred_postprocessor")
    if isinstance(reading, Mapping) and last_name(reading) == _VERDICT:
        translation.known(reading, ("type",), {}, f"{where}.eval_cfg.pred_postprocessor")
        reading = {"type": "last_letter_verdict_peer"}
    else:
        reading = translation.part("postprocessors", reading, f"{where}.eval_cfg.pred_postprocessor")
    evaluator[READING] = reading or {"type": "whole_verdict_peer"}
    kept = {key: value for key, value in scoring.items() if key != "pred_postprocessor"}
    return {**values, "eval_cfg": {**kept, "evaluator": evaluator}}


def _summarizer(dataset: Mapping[str, Any], translation: Translation) -> Any:
    """Return the summarizer of a dataset, or of the config, that reads what the judge says; None if neither does."""
    named = (dataset.get("summarizer"), translation.summarizer)
    known = (*SUMMARIES, *SUMMARIZERS, RATES)
    return next((one for one in named if last_name(one) in known), dataset.get("summarizer"))


def _reading(evaluator: Mapping[str, Any], summarizer: Any, where: str, translation: Translation) -> dict[str, Any]:
    """Return the function that reads the judge, that of the summarizer if the evaluator names none; and the summarizer.

    The summarizer is kept if it computes numbers of its own.
    """
    place = where.partition(".")[0]
    name = last_name(summarizer)
    found = {"summarizer": name} if name in SUMMARIES else {}
    named = evaluator.get("dict_postprocessor")
    if (
        isinstance(named, Mapping) and named.get("type") in RIGHT_OR_WRONG
    ):  # a bare name that is ours too would mean ours
        named = {**named, "type": f"opencompass.datasets.{named['type']}"}
    function = translation.peer_part("postprocessors", named)
    if function is not None and isinstance(named, Mapping):
        rated = {}
        if name == RATES:
            fields = RatingOptions.__struct_fields__
            rated = {"ratings": {key: value for key, value in summarizer.items() if key in fields}}
        elif not found:
            translation.drop("summarizer", summarizer, "the summary is that of every run", place)
        args = {key: value for key, value in named.items() if key != "type"}
        return {**found, **rated, "function": function.path, **({"kwargs": args} if args else {})}
    if row := SUMMARIZERS.get(name):
        args = translation.known(summarizer, ("type", *row.args), {}, f"{place}.summarizer")
        del args["type"]
        return {**found, "function": row.function, **({"kwargs": args} if args else {})}
    if not found:
        what = "nothing in the config reads what the judge says: it is kept, and not scored"
        translation.notes.note(what, where, "give the evaluator a dict_postprocessor")
    return found


def _comparison(dataset: Mapping[str, Any], where: str, translation: Translation) -> dict[str, Any]:
    """Return the models that answers are compared with, and in which order the judge sees two answers."""
    mode = dataset.get("mode", "singlescore")
    place = where.partition(".")[0]
    if mode == "singlescore":
        for key in ("base_models", "given_pred", "infer_order"):
            translation.drop(key, dataset.get(key), "mode='singlescore' rates each answer alone", place)
        return {}
    if mode != "m2n":
        what = f"mode={mode!r} compares the models of a run with each other, which is not done here"
        fix = "mode='m2n', with the answers of one of them as base_models and given_pred"
        translation.faults.add(what, f"{place}.mode", fix)
        return {}
    named = dataset.get("base_models") or ()
    named = [named] if isinstance(named, Mapping) else named
    # The name of the file is what follows the last slash of the name of the dataset.
    file = str(dataset.get("abbr", "")).rpartition("/")
    end = f"/{file[2]}.json" if file[1] else ""
    given = {
        one.get("abbr"): f"{one['path']}{end}"
        for one in dataset.get("given_pred") or ()
        if isinstance(one, Mapping) and one.get("path") is not None
    }
    baselines = []
    for model in named:
        abbr = model.get("abbr") if isinstance(model, Mapping) else model
        if given.get(abbr) is None:
            what = f"there are no answers of the base model {abbr!r} to compare with"
            fix = f"given_pred=[dict(abbr={abbr!r}, path='<a folder with its predictions>')]"
            translation.faults.add(what, f"{place}.base_models", fix)
        else:
            baselines.append({"abbr": abbr, "path": given[abbr]})
    return {"baselines": baselines, "order": dataset.get("infer_order") or "first"}
