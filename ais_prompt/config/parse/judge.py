"""Parse the judge of an evaluator: ``judge_cfg`` and ``prompt_template`` in its dict, or in its ``llm_evaluator``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from ais_prompt.config.parse.model import parse_model
from ais_prompt.config.parse.section import ConfigSection
from ais_prompt.types import JudgeSpec, PartSpec

NESTED = "llm_evaluator"
"""The argument of an evaluator that is the one with the judge."""

JUDGE_KEYS = ("judge_cfg", "prompt_template")
"""Both go together: an evaluator of the user's own may have a ``prompt_template`` of another kind."""


def parse_judge(section: ConfigSection, find: Callable[[str], Path | None]) -> JudgeSpec | None:
    """Parse a judge; None if there is none, or after faults, which are noted.

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
    model_section = section.section("judge_cfg")
    model = parse_model(model_section, find) if model_section else None
    template = section.required_part("prompt_template")
    return JudgeSpec(model, template, section.where) if model and template else None


def without_judge(part: PartSpec) -> PartSpec:
    """Return the evaluator without the keys of its judge."""
    return replace(part, args=_without_judge(part.args))


def _without_judge(args: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in args.items() if key not in JUDGE_KEYS or "judge_cfg" not in args}
    nested = kept.get(NESTED)
    return {**kept, NESTED: _without_judge(nested)} if isinstance(nested, Mapping) else kept
