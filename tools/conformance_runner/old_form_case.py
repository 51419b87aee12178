"""Cases of OpenICL's templates, whose items are asked for one by one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ais_prompt.errors import ConfigError
from ais_prompt.plan import build_part
from ais_prompt.prompts import Filled, PromptTemplate
from ais_prompt.registry import TEMPLATES
from ais_prompt.types import PartSpec
from tools.conformance_runner.cases import Case
from tools.conformance_runner.outcome import Outcome, ending_in, stage


def run_old_form_case(case: Case) -> Outcome:
    """The items of all rows."""
    outcome: Outcome = {"items": []}
    args = dict(case.config["prompt_template"])
    with ending_in(outcome):
        with stage("construct"):
            template = build_part(TEMPLATES, PartSpec(args.pop("type"), args, "prompt_template"))
        with stage("prompt"):
            for row in case.data["test"]:
                outcome["items"].append(_item(case.config, template, row))
    return outcome


def _item(config: Mapping[str, Any], template: PromptTemplate, row: Mapping[str, Any]) -> Filled:
    """What OpenICL's method of that name gives."""
    output, examples = config.get("output_field", ""), config.get("ice", "")
    if config["call"] == "generate_item":
        return template.render({**row, output: ""} if output else row, examples=examples)
    label = config["label"] if "label" in config else row.get(output)
    if config["call"] == "generate_ice_item":
        return template.render_example(row, label)
    if config["call"] == "generate_label_prompt_item":
        return template.render(row, examples=examples, label=label)
    raise ConfigError(f"OpenICL has no {config['call']!r}", fix="generate_item, generate_ice_item, ...")
