"""Parse one item of ``models`` or the ``judge_cfg`` of an evaluator, with its ``meta_template``.

The ``budget`` of a run limits how much may be asked and, through the prices of models, what answers may cost.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ais_prompt.config.keys import MESSAGES_FIX, MODEL_KEYS, MessageKeys, ModelKeys
from ais_prompt.config.parse.section import MISSING, ConfigSection, Faults, parse_abbr, parse_struct
from ais_prompt.config.paths import Find, replace_paths
from ais_prompt.config.sections import parse_model_keys
from ais_prompt.errors import raise_all
from ais_prompt.types import ROLES_FIX, Budget, ChatMessage, MetaTemplateSpec, ModelSpec, PartSpec, as_list

WHERE: Final = "meta_template"


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
    spec = _meta_template(config, WHERE, faults)
    raise_all(faults.found)
    return spec


def check_cost(budget: Budget, models: Sequence[ModelSpec], faults: Faults) -> None:
    """Note why the cost of a run cannot be known, if it is limited.

    Args:
        budget: of the run.
        models: all that are asked, judges too.
        faults: of the config.
    """
    currencies = {model.price.currency for model in models if model.price}
    if len(currencies) > 1:
        what = f"there are prices in {' and '.join(sorted(currencies))}, which cannot be added up"
        faults.add(what, "models", "give all prices in one currency")
    if budget.max_cost is None:
        return
    for model in models:
        if model.price is None:
            what = f"max_cost needs the price of every model, and {model.abbr} has none"
            faults.add(what, model.where, "add price=dict(input=..., output=...); 0 if it costs nothing")


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
