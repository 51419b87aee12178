"""Parse one item of ``models`` or the ``judge_cfg`` of an evaluator, with its ``meta_template`` and ``price``.

The ``budget`` of a run limits how much may be asked and, through the prices, what answers may cost.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from ais_prompt.config.parse.section import ConfigSection, Faults, derived_abbr, parse_abbr, shown
from ais_prompt.config.paths import replace_paths
from ais_prompt.config.schema import BUDGET, MESSAGE, META_ROLE, META_TEMPLATE, MODEL, PRICE
from ais_prompt.errors import AisPromptError, ConfigError, faults_of, raise_all
from ais_prompt.types import Budget, ChatMessage, MetaTemplateSpec, ModelSpec, Price, RoleSpec

WHERE: Final = "meta_template"
ROLES_FIX: Final = "[dict(role='HUMAN', ...), dict(role='BOT', ..., generate=True)]"
MESSAGE_ROLES: Final = ("system", "user", "assistant")


def parse_model(section: ConfigSection, find: Callable[[str], Path | None]) -> ModelSpec | None:
    """Parse a model; None after faults, which are noted."""
    section.refuse_misspelt(("meta_template", "prompt_template"))
    part = section.as_part(leave_out=MODEL.names)
    if part is None:
        return None
    function = section.values.get("function")
    last = re.split(r"[.:]", function if isinstance(function, str) else part.type)[-1].strip("<>")
    abbr = parse_abbr(section, derived_abbr(section.values, ("path", "model")) or last)
    meta_template = _meta_template(section)
    role_template = _role_template(section)
    num_gpus = _num_gpus(section)
    price = parse_price(section)
    postprocessor = section.part("pred_postprocessor")
    if abbr is None:
        return None
    part = replace(part, args=replace_paths(part.args, find))
    return ModelSpec(abbr, part, meta_template, role_template, section.where, num_gpus, price, postprocessor)


def parse_meta_template(config: Mapping[str, Any] | Sequence[Any] | None) -> MetaTemplateSpec | None:
    """Parse a meta template; an empty one counts as none.

    Args:
        config: a mapping with ``round``, or for chat models messages in OpenAI form.

    Raises:
        ConfigError: a key or an item has the wrong shape, or a role occurs twice; ``where`` is its path in the model.
        ConfigFaults: it has several faults.
    """
    if not config:
        return None
    if not isinstance(config, Mapping):
        raise_all(_message_faults(config))
        messages = tuple(ChatMessage(item["role"], item["content"]) for item in config)
        return MetaTemplateSpec(config, messages=messages)
    raise_all(_faults(config))
    return MetaTemplateSpec(
        config,
        round=tuple(item if isinstance(item, str) else _reserved(item) for item in config["round"])
        if "round" in config
        else None,
        reserved=tuple(map(_reserved, config["reserved_roles"])) if "reserved_roles" in config else None,
        begin=config.get("begin", ""),
        end=config.get("end", ""),
        end_tokens=_end_tokens(config.get("eos_token_id")) or (),
    )


def is_token_id(value: Any) -> bool:
    """Return whether a value can be a token id."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def parse_price(model: ConfigSection) -> Price | None:
    """Parse the ``price`` of a model; None if it has none, or after a fault."""
    section = _section(model, "price")
    if section is None:
        return None
    section.refuse_unknown(PRICE)
    sent, received = (_number(section, key, needed=True) for key in ("input", "output"))
    currency = section.get("currency", (str,), "a name such as 'USD'", "USD")
    per = section.get("per", (int,), "a number of tokens", 1_000_000)
    if per is not None and per < 1:
        section.fault("per", f"{section.at('per')} is {per}, not a number of tokens", "write 1_000_000")
    if sent is None or received is None or currency is None or per is None:
        return None
    return Price(sent, received, currency, per)


def parse_budget(top: ConfigSection) -> Budget:
    """Parse the ``budget`` of a config, which may be missing; note faults."""
    section = _section(top, "budget")
    if section is None:
        return Budget()
    section.refuse_unknown(BUDGET)
    counts = [section.get(key, (int, type(None)), "a number", None) for key in ("max_requests", "max_tokens_total")]
    for key, count in zip(("max_requests", "max_tokens_total"), counts, strict=True):
        if count is not None and count < 1:
            section.fault(key, f"{section.at(key)} is {count}, so nothing could be asked", "give a larger number")
    return Budget(counts[0], counts[1], _number(section, "max_cost"))


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


def _reserved(item: Mapping[str, Any]) -> RoleSpec:
    return RoleSpec(
        role=item["role"],
        begin=item.get("begin", ""),
        end=item.get("end", ""),
        prompt=item.get("prompt"),
        generate=bool(item.get("generate", False)),
        api_role=item.get("api_role"),
    )


def _message_faults(config: Sequence[Any]) -> Iterator[ConfigError]:
    for number, item in enumerate(config):
        where = f"{WHERE}[{number}]"
        is_message = isinstance(item, Mapping) and item.get("role") in MESSAGE_ROLES
        if not (is_message and isinstance(item.get("content"), str)):
            yield ConfigError(
                f"a meta_template that is a list must hold messages, not {item!r}",
                where=where,
                fix="dict(role='system', content='...'), or dict(round=[...]) for dialogues",
            )
            continue
        for key, fix in MESSAGE.unknown(item):
            yield ConfigError(f"a message of meta_template has no key {key!r}", where=f"{where}.{key}", fix=fix)


def _faults(config: Mapping[str, Any]) -> Iterator[ConfigError]:
    """Yield every fault in the keys and items of a meta template."""
    for key, fix in META_TEMPLATE.unknown(config):
        yield ConfigError(f"meta_template has no key {key!r}", where=f"{WHERE}.{key}", fix=fix)
    roles: set[str] = set()
    for key in ("round", "reserved_roles"):
        yield from _list_faults(config, key, roles)
    if _end_tokens(config.get("eos_token_id")) is None:
        what = f"eos_token_id must be a token id or a list of them, not {config['eos_token_id']!r:.80}"
        fix = "give numbers; texts that end an answer are the stop_words of the model"
        yield ConfigError(what, where=f"{WHERE}.eos_token_id", fix=fix)


def _list_faults(config: Mapping[str, Any], key: str, seen: set[str]) -> Iterator[ConfigError]:
    """Yield the faults of one list of roles, and add its roles to those seen in either list."""
    items = config.get(key, [])
    is_round = key == "round"  # which must not be empty, and may hold texts
    if not isinstance(items, list | tuple) or (is_round and key in config and not items):
        what = f"{key!r} of meta_template must be a list of roles, not {items!r:.80}"
        yield ConfigError(what, where=f"{WHERE}.{key}", fix=ROLES_FIX)
        return
    for number, item in enumerate(items):
        if isinstance(item, str) and is_round:
            continue
        where = f"{WHERE}.{key}[{number}]"
        yield from _role_faults(item, where)
        if isinstance(item, Mapping):
            role = str(item.get("role"))
            if role in seen:
                yield ConfigError(f"the role {role!r} occurs twice in meta_template", where=where, fix="keep one")
            seen.add(role)


def _end_tokens(value: Any) -> tuple[int, ...] | None:
    """Return the ids as a tuple; None if a value is not a token id."""
    ids = () if value is None else tuple(value) if isinstance(value, list | tuple) else (value,)
    return ids if all(map(is_token_id, ids)) else None


def _role_faults(item: Any, where: str) -> Iterator[ConfigError]:
    if not isinstance(item, Mapping):
        what = f"a role of meta_template must be a mapping with a text 'role', not {item!r:.80}"
        yield ConfigError(what, where=where, fix=ROLES_FIX)
        return
    for key, fix in META_ROLE.unknown(item):
        yield ConfigError(f"a role of meta_template has no key {key!r}", where=f"{where}.{key}", fix=fix)
    if not isinstance(item.get("role"), str):
        what = f"a role of meta_template must be a mapping with a text 'role', not {item!r:.80}"
        yield ConfigError(what, where=where, fix=ROLES_FIX)
    for key in ("prompt", "api_role"):
        if not isinstance(item.get(key), str | None):
            what = f"{key!r} of a role must be a text, not {item[key]!r:.80}"
            yield ConfigError(what, where=f"{where}.{key}", fix=f"write a text, or leave {key!r} out")


def _section(owner: ConfigSection, key: str) -> ConfigSection | None:
    values = owner.get(key, (Mapping, type(None)), "dict(...)", None)
    return None if values is None else ConfigSection.open(values, owner.at(key), owner.faults)


def _number(section: ConfigSection, key: str, *, needed: bool = False) -> float | None:
    """Return an amount; None if it is missing, or after a fault."""
    if key not in section.values and not needed:
        return None
    value: float | None = section.get(key, (int, float), "an amount")
    if value is not None and not 0 <= value < float("inf"):
        section.fault(key, f"{section.at(key)} is {shown(value)}, not an amount", "give a number from 0 on")
        return None
    return value
