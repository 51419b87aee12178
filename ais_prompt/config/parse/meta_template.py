"""Parse ``meta_template`` of a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ais_prompt.config.schema import MESSAGE, META_ROLE, META_TEMPLATE
from ais_prompt.errors import ConfigError, raise_all
from ais_prompt.types import ChatMessage, MetaTemplateSpec, RoleSpec

WHERE: Final = "meta_template"
ROLES_FIX: Final = "[dict(role='HUMAN', ...), dict(role='BOT', ..., generate=True)]"
MESSAGE_ROLES: Final = ("system", "user", "assistant")


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
        round=tuple(map(_role, config["round"])) if "round" in config else None,
        reserved=tuple(map(_reserved, config["reserved_roles"])) if "reserved_roles" in config else None,
        begin=config.get("begin", ""),
        end=config.get("end", ""),
        end_tokens=_end_tokens(config.get("eos_token_id")) or (),
    )


def is_token_id(value: Any) -> bool:
    """Return whether a value can be a token id."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _role(item: Any) -> RoleSpec | str:
    return item if isinstance(item, str) else _reserved(item)


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
