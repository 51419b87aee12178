"""Parse the judges of an evaluator: ``judge_cfg``, ``prompt_template`` and ``baseline`` in its dict.

They may also be in its ``llm_evaluator``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from ais_prompt.config.parse.abbr import refuse_duplicates
from ais_prompt.config.parse.model import parse_model
from ais_prompt.config.parse.section import ConfigSection
from ais_prompt.config.paths import expand
from ais_prompt.config.schema import BASELINE
from ais_prompt.types import BaselineSpec, JudgeSpec, ModelSpec, PartSpec

NESTED = "llm_evaluator"
"""The argument of an evaluator that is the one with the judge."""

JUDGE_KEYS = ("judge_cfg", "prompt_template", "baseline")
"""They go together: an evaluator of the user's own may have a ``prompt_template`` of another kind."""


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
    baseline = _parse_baseline(section, find)
    if models is None or template is None or ("baseline" in section.values and baseline is None):
        return None
    return JudgeSpec(models, template, section.where, baseline)


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


def _parse_baseline(section: ConfigSection, find: Callable[[str], Path | None]) -> BaselineSpec | None:
    """Parse what answers are compared with; None if there is nothing, or after a fault."""
    if "baseline" not in section.values or (inner := section.section("baseline")) is None:
        return None
    inner.refuse_unknown(BASELINE)
    names = {key: inner.get(key, (str,), "a name", "") for key in BASELINE.names}
    if None in names.values():
        return None
    if bool(names["column"]) == bool(names["model"] or names["path"]):
        what = f"{inner.where} names {'both a column and a model' if names['column'] else 'no answers'}"
        section.fault("baseline", what, "write one of dict(column='...'), dict(model='...'), dict(path='outputs/...')")
        return None
    path = names["path"] and (find(names["path"]) or expand(names["path"]))
    return BaselineSpec(names["column"], names["model"], path or None, inner.where)


def without_judge(part: PartSpec) -> PartSpec:
    """Return the evaluator without the keys of its judge."""
    return replace(part, args=_without_judge(part.args))


def _without_judge(args: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in args.items() if key not in JUDGE_KEYS or "judge_cfg" not in args}
    nested = kept.get(NESTED)
    return {**kept, NESTED: _without_judge(nested)} if isinstance(nested, Mapping) else kept
