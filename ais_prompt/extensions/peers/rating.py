"""Translate evaluators whose judge rates answers, or compares them with those of other models.

What is compared is described by keys of the dataset: ``mode``, ``infer_order``, ``base_models``, ``given_pred``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ais_prompt.extensions.peers.judge import GENERIC, as_generic, last_name, translate_judge
from ais_prompt.extensions.peers.parts import Translation
from ais_prompt.extensions.peers.table.evaluators import RIGHT_OR_WRONG, SUMMARIZERS

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


def is_rated(evaluator: Any) -> bool:
    """Return whether an evaluator has a judge that says more than right or wrong."""
    name = last_name(as_generic(evaluator))
    reading = last_name(evaluator.get("dict_postprocessor")) if name else ""
    return name == "LMEvaluator" or (name == "GenericLLMEvaluator" and reading not in {"", *RIGHT_OR_WRONG})


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
        **_reading(evaluator, dataset.get("summarizer"), where, translation),
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
        "prompt_template": _renamed(judging.get("prompt_template")),
    }
    others = [key for key in judging if key not in ("judge_model", "prompt_template")]
    if others:
        what = f"not used: {', '.join(others)}. The judge is asked once about each answer, without examples"
        translation.notes.note(what, place)
    reading = scoring.get("pred_postprocessor")
    translation.known(scoring["evaluator"], ("type",), {}, f"{where}.eval_cfg.evaluator")
    if (reads := last_name(reading)) not in ("", _VERDICT):
        what = f"{reads!r} is not used: a verdict is A for right or B for wrong"
        translation.notes.note(what, f"{where}.eval_cfg.pred_postprocessor")
    elif reads:
        translation.known(scoring["pred_postprocessor"], ("type",), {}, f"{where}.eval_cfg.pred_postprocessor")
    kept = {key: value for key, value in scoring.items() if key != "pred_postprocessor"}
    return {**values, "eval_cfg": {**kept, "evaluator": evaluator}}


def _renamed(value: Any) -> Any:
    """Return a judge's template with our name for the answer."""
    if isinstance(value, str):
        return value.replace("{model_answer}", "{prediction}")
    if isinstance(value, Mapping):
        return {key: _renamed(item) for key, item in value.items()}
    return [_renamed(item) for item in value] if isinstance(value, list | tuple) else value


def _reading(evaluator: Mapping[str, Any], summarizer: Any, where: str, translation: Translation) -> dict[str, Any]:
    """Return the function that reads the judge; that of the dataset's summarizer if the evaluator names none."""
    place = where.partition(".")[0]
    named = evaluator.get("dict_postprocessor")
    found = translation.peer_part("postprocessors", named)
    if found is not None and isinstance(named, Mapping):
        translation.drop("summarizer", summarizer, "the summary is that of every run", place)
        args = {key: value for key, value in named.items() if key != "type"}
        return {"function": found.path, **({"kwargs": args} if args else {})}
    if row := SUMMARIZERS.get(last_name(summarizer)):
        args = translation.known(summarizer, ("type", *row.args), {}, f"{place}.summarizer")
        del args["type"]
        return {"function": row.function, **({"kwargs": args} if args else {})}
    what = "nothing in the config reads what the judge says: it is kept, and not scored"
    translation.notes.note(what, where, "give the evaluator a dict_postprocessor")
    return {}


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
    given = {one.get("abbr"): one.get("path") for one in dataset.get("given_pred") or () if isinstance(one, Mapping)}
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
