"""Parse one item of ``models``, or the ``judge_cfg`` of an evaluator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from ais_prompt.config.parse.abbr import derived_abbr, parse_abbr
from ais_prompt.config.parse.budget import parse_price
from ais_prompt.config.parse.meta_template import parse_meta_template
from ais_prompt.config.parse.section import ConfigSection, shown
from ais_prompt.config.paths import replace_paths
from ais_prompt.config.schema import MODEL
from ais_prompt.errors import AisPromptError, faults_of
from ais_prompt.types import MetaTemplateSpec, ModelSpec


def parse_model(section: ConfigSection, find: Callable[[str], Path | None]) -> ModelSpec | None:
    """Parse a model; None after faults, which are noted."""
    section.refuse_misspelt(("meta_template", "prompt_template"))
    part = section.as_part(leave_out=MODEL.names)
    if part is None:
        return None
    abbr = parse_abbr(section, derived_abbr(section.values, ("path", "model")) or part.type.rpartition(".")[2])
    meta_template = _meta_template(section)
    role_template = _role_template(section)
    num_gpus = _num_gpus(section)
    price = parse_price(section)
    if abbr is None:
        return None
    part = replace(part, args=replace_paths(part.args, find))
    return ModelSpec(abbr, part, meta_template, role_template, section.where, num_gpus, price)


def _meta_template(section: ConfigSection) -> MetaTemplateSpec | None:
    """Parse the ``meta_template`` of a model; None if there is none, or after faults."""
    found = section.get("meta_template", (Mapping, list, type(None)), "a dict, a list, or None", None)
    try:
        return parse_meta_template(found)
    except AisPromptError as error:
        for fault in faults_of(error):
            section.faults.add(fault.what, section.at(fault.where), fault.fix)
        return None


def _num_gpus(section: ConfigSection) -> int | None:
    """Parse ``run_cfg`` as OpenCompass has it; None if it does not name a number of GPUs, or after a fault."""
    run_cfg = section.get("run_cfg", (Mapping, type(None)), "dict(num_gpus=...)", None)
    number = (run_cfg or {}).get("num_gpus")
    if number is None or (type(number) is int and number >= 0):
        return number
    section.fault("run_cfg", f"{section.at('run_cfg')}.num_gpus is {shown(number)}, not a number of GPUs", "write 1")
    return None


def _role_template(section: ConfigSection) -> Mapping[str, Any] | str | None:
    """Parse the ``prompt_template`` of a model; None if there is none, or after a fault."""
    expected = "a dict of role → (before, after), or a dotted path"
    template: Mapping[str, Any] | str | None = section.get(
        "prompt_template", (Mapping, str, type(None)), expected, None
    )
    if template is not None and section.values.get("meta_template"):
        section.fault("prompt_template", f"{section.where} has a meta_template and a prompt_template", "remove one")
    return template
