"""Parse one item of ``datasets`` or ``models``.

A dataset has a ``reader_cfg``, an ``infer_cfg`` and an ``eval_cfg``; a model may have a ``meta_template``. The judges
of an evaluator are models too; their keys (``judge_cfg``, ``prompt_template``, ``baseline``) are in its dict or its
``llm_evaluator``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from ais_prompt.config.keys import MESSAGES_FIX, MODEL_KEYS, DatasetKeys, EvaluatorKeys, MessageKeys, ModelKeys, keys_of
from ais_prompt.config.locate import Find, expand, replace_paths
from ais_prompt.config.section import (
    MISSING,
    ConfigSection,
    Faults,
    Parser,
    name_fault,
    parse_abbr,
    parse_model_keys,
    parse_struct,
    refuse_duplicates,
    shown,
)
from ais_prompt.errors import raise_all
from ais_prompt.types import (
    ROLES_FIX,
    ChatMessage,
    DatasetSpec,
    EvalSpec,
    InferSpec,
    JudgeSpec,
    MetaTemplateSpec,
    ModelSpec,
    PartSpec,
    ReferenceAnswersSpec,
    as_list,
)
from ais_prompt.utils import listed

READERS = ("pred_postprocessor", "dataset_postprocessor")
"""Keys of one of several evaluators that take the place of those of ``eval_cfg``."""
NESTED = "llm_evaluator"
"""The argument of an evaluator that is the one with the judge."""


def parse_dataset(section: ConfigSection, find: Find) -> DatasetSpec | None:
    """Parse a dataset; None after faults, which are noted.

    Args:
        section: keys other than those of `DatasetKeys` are arguments of the reader.
        find: from a path in the config to the file or folder that is meant, if there is one.
    """
    section.refuse_misspelt(("eval_cfg",))
    abbr = abbr_of_dataset(section)
    parsers: Mapping[str, Parser] = {"infer_cfg": parse_infer, "eval_cfg": partial(parse_eval, find=find)}
    keys = section.read(DatasetKeys, parsers)
    if keys is None or not abbr:
        return None
    infer, scoring = keys.infer_cfg, keys.eval_cfg
    if (answers := max(keys.n, default=1)) > 1:
        args = {"n": answers, **infer.inferencer.args}
        infer = replace(infer, inferencer=replace(infer.inferencer, args=args))
    if section.values.get("eval_cfg") is None:
        scoring = replace(scoring, where=section.at("eval_cfg"))
    elif k := scoring.k or keys.k:
        scoring = scoring.for_each(lambda one: replace(one, k=tuple(sorted(set(k)))))
    source = PartSpec(keys.type, replace_paths(keys.args, find), section.where)
    return DatasetSpec(abbr, source, keys.reader_cfg, infer, scoring, section.where, keys.variant)


def abbr_of_dataset(section: ConfigSection) -> str:
    """Return the ``abbr`` of a dataset: its own, or one of its path; empty after a fault."""
    return parse_abbr(section, ("path",))


def parse_infer(value: Any, where: str, faults: Faults) -> InferSpec | Any:
    """Parse ``infer_cfg``. Without a retriever there are no shots."""
    infer = parse_struct(InferSpec, value, where, faults)
    if infer is MISSING:
        return MISSING
    retriever = infer.retriever
    if not retriever.where:
        retriever = replace(retriever, where=f"{where}.retriever")
    if "allow_overlap" not in retriever.args:
        return replace(infer, retriever=retriever)
    # Not an argument of the retriever: it says what the check of any retriever accepts.
    args = dict(retriever.args)
    allow_overlap = args.pop("allow_overlap")
    if not isinstance(allow_overlap, bool):
        what = f"allow_overlap is {allow_overlap!r:.60}, not True or False"
        faults.add(what, retriever.where, "write allow_overlap=True")
    return replace(infer, retriever=replace(retriever, args=args), allow_overlap=allow_overlap is True)


def parse_eval(value: Any, where: str, faults: Faults, find: Find) -> EvalSpec | Any:
    """Parse ``eval_cfg``. Without it, only predictions are made."""
    if value is None:
        return MISSING
    named = _named_evaluators(value, where)
    if named is not None:
        value = {key: part for key, part in value.items() if key != "evaluator"}
    scoring = parse_struct(EvalSpec, value, where, faults)
    if scoring is MISSING:
        return MISSING
    if named is not None:
        return _parse_evaluators(named, scoring, where, faults, find)
    if scoring.primary is not None:
        faults.add("primary chooses one of several evaluators", f"{where}.primary", "take it out, or give a list")
    if scoring.evaluator is None:
        return scoring
    evaluator = ConfigSection(value["evaluator"], f"{where}.evaluator", faults)
    part = replace(scoring.evaluator, args=_without_judge(scoring.evaluator.args))
    return replace(scoring, evaluator=part, judge=parse_judge(evaluator, find))


def _named_evaluators(value: Any, where: str) -> list[tuple[str, str, Any]] | None:
    """Return name, config path and value of each of several evaluators; None if there is at most one.

    In a list they are called after their types, the second of a type ``AccEvaluator2``.
    """
    given = value.get("evaluator") if isinstance(value, Mapping) else None
    if isinstance(given, Mapping):
        if not given or "type" in given or not all(isinstance(part, Mapping) for part in given.values()):
            return None
        return [(str(name), f"{where}.evaluator.{name}", part) for name, part in given.items()]
    if not isinstance(given, list | tuple):
        return None
    named: list[tuple[str, str, Any]] = []
    counts: Counter[str] = Counter()
    for number, part in enumerate(given):
        kind = str(part.get("type", "") if isinstance(part, Mapping) else "").rpartition(".")[2]
        counts[kind] += 1
        name = kind if counts[kind] == 1 else f"{kind}{counts[kind]}"
        named.append((name, f"{where}.evaluator[{number}]", part))
    return named


def _parse_evaluators(
    named: Sequence[tuple[str, str, Any]], shared: EvalSpec, where: str, faults: Faults, find: Find
) -> EvalSpec | Any:
    """Parse several evaluators; each may have postprocessors of its own, beside its arguments.

    Args:
        named: name, config path and value of each.
        shared: the other keys of ``eval_cfg``.
        where: its config path.
        faults, find: as for `parse_eval`.
    """
    if not named:
        faults.add(f"{where}.evaluator is an empty list", f"{where}.evaluator", "give an evaluator, or take it out")
    scorings = []
    for name, place, value in named:
        if name and (fault := name_fault(name)):
            faults.add(f"the name of an evaluator {shown(name)} {fault}", place, "use letters, digits, - _ and .")
        section = ConfigSection.open(value, place, faults)
        keys = section.read(EvaluatorKeys) if section else None
        if section is None or keys is None:
            continue
        own = {key: getattr(keys, key) for key in READERS if key in section.values}
        part = PartSpec(keys.type, _without_judge(keys.args), place)
        scorings.append(replace(shared, evaluator=part, judge=parse_judge(section, find), name=name, **own))
    primary = shared.primary or (scorings[0].name if scorings else "")
    main = next((one for one in scorings if one.name == primary), None)
    if scorings and main is None:
        names = listed(one.name for one in scorings)
        faults.add(f"there is no evaluator {shown(primary)}", f"{where}.primary", f"name one of {names}")
    if main is None:
        return MISSING
    if len(scorings) == 1:
        return replace(main, name="")
    further = tuple(replace(one, repeat_evaluator=None) for one in scorings if one is not main)
    return replace(main, further=further)


def parse_judge(section: ConfigSection, find: Find) -> JudgeSpec | None:
    """Parse the judges; None if there are none, or after faults, which are noted.

    Args:
        section: the evaluator.
        find: as for `parse_dataset`.
    """
    if isinstance(nested := section.values.get(NESTED), Mapping):
        inner = ConfigSection.open(nested, section.at(NESTED), section.faults)
        return parse_judge(inner, find) if inner else None
    if "judge_cfg" not in section.values:
        return None
    parsers = {"models": partial(_parse_judges, find=find), "reference_answers": partial(_parse_baseline, find=find)}
    return section.read(JudgeSpec, parsers, is_open=True)


def _without_judge(args: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of an evaluator without the keys of its judge."""
    # The keys go together: an evaluator of the user's own may have a ``prompt_template`` of another kind.
    kept = {key: value for key, value in args.items() if key not in keys_of(JudgeSpec) or "judge_cfg" not in args}
    nested = kept.get(NESTED)
    return {**kept, NESTED: _without_judge(nested)} if isinstance(nested, Mapping) else kept


def _parse_judges(value: Any, where: str, faults: Faults, find: Find) -> tuple[ModelSpec, ...] | Any:
    """Parse one judge or a list of them."""
    several = isinstance(value, list | tuple)
    places = [(one, f"{where}[{index}]") for index, one in enumerate(value)] if several else [(value, where)]
    if not places:
        faults.add(f"{where} is an empty list", where, "give a model, or a list of models")
    sections = [ConfigSection.open(one, place, faults) for one, place in places]
    models = tuple(model for one in sections if one and (model := parse_model(one, find)))
    refuse_duplicates("judges", [(model.abbr, model.where) for model in models], faults)
    return models if models and len(models) == len(places) else MISSING


def _parse_baseline(value: Any, where: str, faults: Faults, find: Find) -> ReferenceAnswersSpec | Any:
    """Parse what answers are compared with; a name is a model of the run, a list names several."""
    if isinstance(value, str):
        value = {"models": value} if value == "all" else {"model": value}
    elif isinstance(value, list | tuple):
        value = {"models": value}
    section = ConfigSection.open(value, where, faults)
    answers = section.read(ReferenceAnswersSpec, {"path": partial(_parse_path, find=find)}) if section else None
    if answers is None:
        return MISSING
    kinds = [bool(answers.column), bool(answers.model or answers.path), bool(answers.models)]
    if sum(kinds) != 1:
        what = f"{where} names {'answers of more than one kind' if any(kinds) else 'no answers'}"
        fix = "write one of dict(column='...'), dict(model='...'), dict(path='outputs/...'), dict(models='all')"
        faults.add(what, where, fix)
    elif answers.rounds and not answers.models:
        faults.add("rounds needs several models to compare with", f"{where}.rounds", "write models='all' or a list")
    return answers


def with_rivals(dataset: DatasetSpec, models: Sequence[str]) -> DatasetSpec:
    """Return a dataset whose judges know which models answer it.

    Args:
        dataset: of the run.
        models: ``abbr`` of these models, in the order of the config.
    """

    def known(scoring: EvalSpec) -> EvalSpec:
        judge = scoring.judge
        if judge is None or judge.reference_answers is None or not judge.reference_answers.models:
            return scoring
        references = replace(judge.reference_answers, among=tuple(models))
        return replace(scoring, judge=replace(judge, reference_answers=references))

    return replace(dataset, eval=dataset.eval.for_each(known))


def _parse_path(value: Any, where: str, faults: Faults, find: Find) -> Any:
    if isinstance(value, str):
        return (find(value) or expand(value)) if value else MISSING
    faults.add(f"{where} is {shown(value)}, not a path", where, "give a path")
    return MISSING


def parse_model(section: ConfigSection, find: Find) -> ModelSpec | None:
    """Parse a model; None after faults, which are noted.

    Args:
        section: keys other than those of `ModelKeys` are arguments of the model.
        find: from a path in the config to the file or folder that is meant, if there is one.
    """
    section.refuse_misspelt(("meta_template", "prompt_template"))
    keys = section.read(ModelKeys)
    if keys is None:
        return None
    abbr = abbr_of_model(section)
    meta_template = _meta_template(keys.meta_template, section.at("meta_template"), section.faults)
    if keys.meta_template and keys.prompt_template is not None:
        section.fault("prompt_template", f"{section.where} has a meta_template and a prompt_template", "remove one")
    if not abbr:
        return None
    args = {name: value for name, value in keys.args.items() if name not in MODEL_KEYS}
    part = PartSpec(keys.type, replace_paths(args, find), section.where)
    return ModelSpec(
        abbr,
        part,
        meta_template,
        keys.prompt_template,
        section.where,
        keys.num_gpus,
        keys.price,
        keys.pred_postprocessor,
        keys.variant,
        parse_model_keys(section),
    )


def abbr_of_model(section: ConfigSection) -> str:
    """Return the ``abbr`` of a model: its own, or one of its path, name or type; empty after a fault."""
    named = next((text for key in ("function", "type") if isinstance(text := section.values.get(key), str)), "")
    return parse_abbr(section, ("path", "model"), re.split(r"[.:]", named)[-1].strip("<>"))


def parse_meta_template(config: Mapping[str, Any] | Sequence[Any] | None) -> MetaTemplateSpec | None:
    """Parse a meta template; an empty one counts as none.

    Args:
        config: a mapping with ``round``, or for chat models messages in OpenAI form.

    Raises:
        ConfigError: a key or an item has the wrong shape, or a role occurs twice; ``where`` is its path in the model.
        ConfigFaults: it has several faults.
    """
    faults = Faults(str)
    spec = _meta_template(config, "meta_template", faults)
    raise_all(faults.found)
    return spec


def _meta_template(config: Any, where: str, faults: Faults) -> MetaTemplateSpec | None:
    """Parse a meta template; None if it is empty, or after faults."""
    if not config:
        return None
    if not isinstance(config, Mapping):
        places = [(item, f"{where}[{index}]") for index, item in enumerate(config)]
        items = [parse_struct(MessageKeys, item, place, faults, MESSAGES_FIX) for item, place in places]
        messages = tuple(ChatMessage(item.role, item.content) for item in items if item is not MISSING)
        return MetaTemplateSpec(config, messages=messages)
    spec = ConfigSection(config, where, faults).read(MetaTemplateSpec, config=config)
    if config.get("round") in ([], ()):
        faults.add(f"{where}.round is empty, and must be a list of roles", f"{where}.round", ROLES_FIX)
    seen: set[str] = set()
    for key in ("round", "reserved_roles"):
        for index, item in enumerate(as_list(config.get(key))):
            role = item.get("role") if isinstance(item, Mapping) else None
            if isinstance(role, str) and role in seen:
                faults.add(f"the role {role!r} occurs twice in {where}", f"{where}.{key}[{index}]", "keep one")
            seen |= {role} if isinstance(role, str) else set()
    return spec
