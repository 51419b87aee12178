"""Parse one item of ``datasets``: its ``reader_cfg``, ``infer_cfg`` and ``eval_cfg``.

The judges of an evaluator (``judge_cfg``, ``prompt_template``, ``baseline``) are in its dict or its ``llm_evaluator``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec import ValidationError, convert
from msgspec.structs import replace

from ais_prompt.config.parse.model import parse_model
from ais_prompt.config.parse.sample_draw import EXAMPLES, parse_draw
from ais_prompt.config.parse.section import REQUIRED, ConfigSection, derived_abbr, parse_abbr, refuse_duplicates, shown
from ais_prompt.config.paths import expand, replace_paths
from ais_prompt.config.schema import DATASET, EVAL, INFER, READER, REFERENCE_ANSWERS
from ais_prompt.types import (
    ControlSpec,
    DatasetSpec,
    DrawSpec,
    EvalSpec,
    InferSpec,
    JudgeSpec,
    ModelSpec,
    PartSpec,
    ReaderSpec,
    ReferenceAnswersSpec,
)

EVAL_PARTS = ("evaluator", "pred_postprocessor", "dataset_postprocessor")

NESTED = "llm_evaluator"
"""The argument of an evaluator that is the one with the judge."""

JUDGE_KEYS = ("judge_cfg", "prompt_template", "baseline")
"""They go together: an evaluator of the user's own may have a ``prompt_template`` of another kind."""


def parse_dataset(section: ConfigSection, find: Callable[[str], Path | None]) -> DatasetSpec | None:
    """Parse a dataset; None after faults, which are noted.

    Args:
        section: keys other than those of `DATASET` (default ``LocalDataset``) are arguments of the reader.
        find: from a path in the config to the file or folder that is meant, if there is one.
    """
    section.refuse_misspelt(("eval_cfg",))
    source = section.as_part(leave_out=DATASET.names, default_type="LocalDataset")
    abbr = parse_abbr(section, "" if "abbr" in section.values else derived_abbr(section.values, ("path",)))
    reader_section = section.section("reader_cfg")
    reader = parse_reader(reader_section) if reader_section else None
    infer_section = section.section("infer_cfg")
    infer = parse_infer(infer_section) if infer_section else None
    scoring = _parse_eval(section, find)
    answers = _parse_counts(section, "n")
    if source is None or abbr is None or reader is None or infer is None or scoring is None:
        return None
    infer = _asked(infer, max(answers, default=1))
    source = replace(source, args=replace_paths(source.args, find))
    return DatasetSpec(abbr, source, reader, infer, scoring, section.where)


def parse_reader(section: ConfigSection) -> ReaderSpec | None:
    """Parse ``reader_cfg``; None after a fault."""
    section.refuse_unknown(READER)
    columns, gold_columns = _parse_columns(section, "input_columns"), _parse_columns(section, "gold_columns", ())
    output_column = section.get("output_column", (str, type(None)), "the name of a column, or None")
    train_split = section.get("train_split", (str,), "the name of a split", "train")
    test_split = section.get("test_split", (str,), "the name of a split", "test")
    train_range, test_range = _parse_range(section, "train_range"), _parse_range(section, "test_range")
    allow_missing = section.get("allow_missing", (bool,), "True or False", False)
    if columns is None or gold_columns is None or train_split is None or test_split is None:
        return None
    return ReaderSpec(
        input_columns=columns,
        output_column=output_column,
        train_split=train_split,
        test_split=test_split,
        train_range=train_range,
        test_range=test_range,
        gold_columns=gold_columns,
        input_template=_parse_input_template(section),
        where=section.where,
        allow_missing=allow_missing is True,
        media_roots=_parse_media_roots(section),
        control=_parse_control(section),
        sample=_parse_sample(section),
    )


def parse_infer(section: ConfigSection) -> InferSpec | None:
    """Parse ``infer_cfg``; None after a fault. Without a retriever there are no shots (``ZeroRetriever``)."""
    section.refuse_unknown(INFER)
    ice_template, prompt_template = section.part("ice_template"), section.part("prompt_template")
    retriever: PartSpec | None = PartSpec("ZeroRetriever", {}, section.at("retriever"))
    if section.values.get("retriever") is not None:
        retriever = section.part("retriever")
    inferencer = section.required_part("inferencer")
    if retriever is None or inferencer is None:
        return None
    # Not an argument of the retriever: it says what the check of any retriever accepts.
    allow_overlap = retriever.args.get("allow_overlap", False)
    if not isinstance(allow_overlap, bool):
        section.fault(
            "retriever", f"allow_overlap is {allow_overlap!r:.60}, not True or False", "write allow_overlap=True"
        )
    args = {name: value for name, value in retriever.args.items() if name != "allow_overlap"}
    retriever = replace(retriever, args=args)
    return InferSpec(ice_template, prompt_template, retriever, inferencer, section.where, allow_overlap is True)


def parse_judge(section: ConfigSection, find: Callable[[str], Path | None]) -> JudgeSpec | None:
    """Parse the judges; None if there are none, or after faults, which are noted.

    Args:
        section: the evaluator.
        find: as for `parse_model`.
    """
    nested = section.values.get(NESTED)
    if isinstance(nested, Mapping):
        inner = section.section(NESTED)
        return parse_judge(inner, find) if inner else None
    if "judge_cfg" not in section.values:
        return None
    models = _parse_models(section, find)
    template = section.required_part("prompt_template")
    reference_answers = _parse_reference_answers(section, find)
    if models is None or template is None or ("baseline" in section.values and reference_answers is None):
        return None
    return JudgeSpec(models, template, section.where, reference_answers)


def without_judge(part: PartSpec) -> PartSpec:
    """Return the evaluator without the keys of its judge."""
    return replace(part, args=_without_judge(part.args))


def _parse_control(section: ConfigSection) -> ControlSpec | None:
    """Parse ``control`` of ``reader_cfg``; None without it, or after a fault."""
    if (values := section.values.get("control")) is None:
        return None
    try:
        control = convert(values, ControlSpec)
    except ValidationError as error:
        what = f"{section.at('control')} cannot be {shown(values)}: {error}"
        section.fault("control", what, "write dict(type='blank', columns=['question'])")
        return None
    if not control.columns:
        section.fault("control", f"{section.at('control')} names no columns", "name the columns that it spoils")
    return control


def _parse_sample(section: ConfigSection) -> DrawSpec | None:
    """Parse ``sample`` of ``reader_cfg``; None without it, or after a fault."""
    if (value := section.values.get("sample")) is None:
        return None
    try:
        return parse_draw(value)
    except ValueError as error:
        section.fault("sample", f"{section.at('sample')} cannot be {shown(value)}: {error}", f"write {EXAMPLES}")
        return None


def _parse_media_roots(section: ConfigSection) -> tuple[str, ...]:
    expected = "a list of folders and URLs"
    roots = section.get("media_roots", (list, tuple), expected, ()) or ()
    for root in roots:
        if not isinstance(root, str) or not root:
            section.fault("media_roots", f"{section.at('media_roots')} contains {shown(root)}", f"give {expected}")
            return ()
    return tuple(roots)


def _parse_input_template(section: ConfigSection) -> str | None:
    """Parse the text by which retrievers compare rows: a text, or a `PromptTemplate` as in OpenCompass."""
    value: Any = section.values.get("input_template")
    if isinstance(value, Mapping):
        value = value.get("template")
    if isinstance(value, str | None):
        return value
    what = f"{section.at('input_template')} is {shown(value)}, not a text with {{column}}"
    section.fault("input_template", what, "write the text that retrievers compare: '{question}'")
    return None


def _parse_eval(dataset: ConfigSection, find: Callable[[str], Path | None]) -> EvalSpec | None:
    """Parse ``eval_cfg``. Without it, only predictions are made."""
    if dataset.values.get("eval_cfg") is None:
        return EvalSpec(where=dataset.at("eval_cfg"))
    section = dataset.section("eval_cfg")
    if section is None:
        return None
    section.refuse_unknown(EVAL)
    evaluator, pred, gold = (section.part(key) for key in EVAL_PARTS)
    k = _parse_counts(section, "k") or _parse_counts(dataset, "k")
    evaluator_section = section.section("evaluator") if evaluator else None
    judge = parse_judge(evaluator_section, find) if evaluator_section else None
    cluster = section.get("cluster", (str, type(None)), "the name of a column, or None", None)
    return EvalSpec(
        evaluator=evaluator and without_judge(evaluator),
        pred_postprocessor=pred,
        dataset_postprocessor=gold,
        k=k,
        judge=judge,
        where=section.where,
        cluster=cluster,
        repeat_evaluator=section.part("repeat_evaluator"),
    )


def _asked(infer: InferSpec, answers: int) -> InferSpec:
    """Set the number of answers to each question, unless the inferencer says how many."""
    if answers == 1:
        return infer
    part = infer.inferencer
    return replace(infer, inferencer=replace(part, args={"n": answers, **part.args}))


def _parse_counts(section: ConfigSection, key: str) -> tuple[int, ...]:
    """Parse a number above 0 or a list of them, sorted and each once; empty if there is none."""
    value: Any = section.get(key, (int, list, tuple), "a number, or a list of numbers", ())
    numbers = [value] if isinstance(value, int) else list(value or ())
    for number in numbers:
        if not isinstance(number, int) or isinstance(number, bool) or number < 1:
            section.fault(key, f"{section.at(key)} has {shown(number)}", "give whole numbers from 1")
            return ()
    return tuple(sorted(set(numbers)))


def _parse_columns(section: ConfigSection, key: str, default: Any = REQUIRED) -> tuple[str, ...] | None:
    """Parse columns as a list, or as a text that is split at blanks as in OpenCompass: ``'question context'``."""
    columns: Any = section.get(key, (str, list, tuple), "a list of column names", default)
    if isinstance(columns, str):
        return tuple(columns.split())
    for column in columns or ():
        if not isinstance(column, str):
            fix = "give a list of column names"
            section.fault(key, f"{section.at(key)} contains {shown(column)}", fix)
            return None
    return None if columns is None else tuple(columns)


def _parse_range(section: ConfigSection, key: str) -> int | float | str | None:
    kinds = (int, float, str, type(None))
    rows: int | float | str | None = section.get(key, kinds, "a number of rows, a slice such as '[:10]', or None", None)
    return rows


def _parse_models(section: ConfigSection, find: Callable[[str], Path | None]) -> tuple[ModelSpec, ...] | None:
    """Parse one judge or a list of them; None after a fault."""
    values = section.values["judge_cfg"]
    where = section.at("judge_cfg")
    several = isinstance(values, list | tuple)
    places = [(one, f"{where}[{index}]") for index, one in enumerate(values)] if several else [(values, where)]
    if not places:
        section.fault("judge_cfg", f"{where} is an empty list", "give a model, or a list of models")
        return None
    sections = [ConfigSection.open(one, place, section.faults) for one, place in places]
    models = tuple(model for one in sections if one and (model := parse_model(one, find)))
    refuse_duplicates("judges", [(model.abbr, model.where) for model in models], section.faults)
    return models if len(models) == len(places) else None


def _parse_reference_answers(section: ConfigSection, find: Callable[[str], Path | None]) -> ReferenceAnswersSpec | None:
    """Parse what answers are compared with; None if there is nothing, or after a fault."""
    if "baseline" not in section.values or (inner := section.section("baseline")) is None:
        return None
    inner.refuse_unknown(REFERENCE_ANSWERS)
    names = {key: inner.get(key, (str,), "a name", "") for key in REFERENCE_ANSWERS.names}
    if None in names.values():
        return None
    if bool(names["column"]) == bool(names["model"] or names["path"]):
        what = f"{inner.where} names {'both a column and a model' if names['column'] else 'no answers'}"
        section.fault("baseline", what, "write one of dict(column='...'), dict(model='...'), dict(path='outputs/...')")
        return None
    path = names["path"] and (find(names["path"]) or expand(names["path"]))
    return ReferenceAnswersSpec(names["column"], names["model"], path or None, inner.where)


def _without_judge(args: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in args.items() if key not in JUDGE_KEYS or "judge_cfg" not in args}
    nested = kept.get(NESTED)
    return {**kept, NESTED: _without_judge(nested)} if isinstance(nested, Mapping) else kept
