"""Meta templates: how a model formats a dialogue, parsed once into frozen values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from ais_prompt.chat.media import MEDIA
from ais_prompt.chat.token_text import is_token_id, text_of_tokens, text_of_turn
from ais_prompt.config.schema import META_ROLE, META_TEMPLATE
from ais_prompt.errors import ConfigError, PromptError, raise_all
from ais_prompt.prompts.fill import column_marks, compile_text
from ais_prompt.prompts.prompt_list import Turn
from ais_prompt.types import Content

MetaTemplateConfig: TypeAlias = "Mapping[str, Any] | Sequence[Any] | None"
"""``meta_template`` of a config: a mapping with ``round``, or for chat models messages in OpenAI form."""

WHERE: Final = "meta_template"
ROLES_FIX: Final = "[dict(role='HUMAN', ...), dict(role='BOT', ..., generate=True)]"

EMPTY_TURN: Final[Turn] = {}
"""The turn of a role without data."""


class Slot(NamedTuple):
    """The place of a role in a round. The keys of a turn override those of its slot.

    Attributes:
        role: the name of the role in templates.
        begin, end: text before and after the prompt of the role.
        prompt: the default prompt for a role without data; None if there is none.
        generate: True if the model starts to generate here.
        api_role: the name of the role for an API model; None if it has none.
    """

    role: str
    begin: str = ""
    end: str = ""
    prompt: str | None = None
    generate: bool = False
    api_role: str | None = None

    def text(self, turn: Turn = EMPTY_TURN) -> str:
        """Return begin, prompt and end of a turn."""
        end = text_of_turn(turn, "end") if "end" in turn else self.end
        return f"{self.opening(turn)}{turn.get('prompt', self.prompt) or ''}{end}"

    def opening(self, turn: Turn = EMPTY_TURN) -> str:
        """Return the text before the prompt of a turn."""
        return text_of_turn(turn, "begin") if "begin" in turn else self.begin

    def content(self, turn: Turn = EMPTY_TURN) -> Content:
        """Return the content of a turn's message: its parts, without begin and end; else its text.

        A default prompt replaces the parts, as in AISBench.
        """
        if MEDIA in turn and turn.get("prompt", self.prompt) is None:
            return tuple(turn[MEDIA])
        return self.text(turn)

    def generates(self, turn: Turn = EMPTY_TURN) -> bool:
        """Return whether the model starts to generate at a turn in this slot."""
        return bool(turn.get("generate", self.generate))


class MetaTemplate(Struct, frozen=True, dict=True):
    """How a model formats dialogues.

    Attributes:
        round: the slots of a round in order, and texts between them. Empty to keep the turns of the dataset.
        reserved: slots of the roles outside of rounds, by role.
        begin, end: text before and after the prompt, as in the config: text or token ids for language models, turns for
            API models.
        end_tokens: ids of tokens that end an answer, in addition to those of the tokenizer.
    """

    round: tuple[Slot | str, ...]
    reserved: Mapping[str, Slot] = field(default_factory=dict)
    begin: Any = ""
    end: Any = ""
    end_tokens: tuple[int, ...] = ()

    @cached_property
    def has_columns(self) -> bool:
        """Whether a default prompt contains a ``{column}``."""
        return any("{" in (slot.prompt or "") for slot in self.all_slots)

    def filled(self, values: Mapping[str, object]) -> MetaTemplate:
        """Return the meta template with the columns of a row filled in its default prompts."""
        marks = column_marks(values)

        def fill(slot: Slot | str) -> Any:
            if isinstance(slot, str) or slot.prompt is None:
                return slot
            return slot._replace(prompt=compile_text(slot.prompt, tuple(marks)).fill(marks))

        reserved = {role: fill(slot) for role, slot in self.reserved.items()}
        return replace(self, round=tuple(map(fill, self.round)), reserved=reserved)

    @cached_property
    def generates(self) -> bool:
        """Whether a role has ``generate=True``."""
        return any(slot.generate for slot in self.all_slots)

    @cached_property
    def all_slots(self) -> list[Slot]:
        """The slots of the round and of the reserved roles."""
        return [*(slot for slot in self.round if isinstance(slot, Slot)), *self.reserved.values()]

    @cached_property
    def slots(self) -> dict[str, int]:
        """Role → index of its slot in the round."""
        return {slot.role: index for index, slot in enumerate(self.round) if isinstance(slot, Slot)}

    def slot(self, role: str) -> Slot | None:
        """Return the slot of a role, in the round or reserved; None if the role is unknown."""
        index = self.slots.get(role)
        return self.round[index] if index is not None else self.reserved.get(role)  # type: ignore[return-value]

    def resolve(self, turn: Turn) -> Slot:
        """Return the slot of a turn's role, else of its fallback role.

        Raises:
            PromptError: both are unknown.
        """
        slot = self.slot(str(turn.get("role"))) or self.slot(str(turn.get("fallback_role")))
        if slot is None:
            raise unknown_role(turn, [*self.slots, *self.reserved])
        return slot


def unknown_role(turn: Turn, known: Sequence[str]) -> PromptError:
    """Return the error for a turn whose role and fallback role are unknown."""
    return PromptError(
        f"the meta template has no role {turn.get('role')!r} (it has {', '.join(known)})",
        fix="give the turn a fallback_role that the model has, or add the role to the meta template",
    )


def parse_meta_template(config: MetaTemplateConfig, tokenizer: Callable[[], Any] = lambda: None) -> MetaTemplate | None:
    """Parse ``meta_template`` of a model; an empty one counts as none.

    Args:
        config: the value in the config.
        tokenizer: returns the model's tokenizer, which converts token ids to text; None if the model has none.

    Raises:
        ConfigError: a key or an item has the wrong shape, or a role occurs twice; ``where`` is its config path.
        ConfigFaults: it has several faults.
        ModelError: a token id needs the tokenizer, which cannot be loaded.
    """
    if not config:
        return None
    if not isinstance(config, Mapping):
        what = "meta_template must be a mapping with 'round'; only a chat model may have a list of messages"
        raise ConfigError(what, where=WHERE)
    raise_all(meta_template_faults(config))

    def text(value: Any, where: str) -> str:
        return text_of_tokens(value, tokenizer, where)

    slots = [
        item if isinstance(item, str) else _slot(item, text, f"{WHERE}.round[{number}]")
        for number, item in enumerate(config.get("round", ()))
    ]
    reserved = config.get("reserved_roles", ())
    reserved_slots = [_slot(item, text, f"{WHERE}.reserved_roles[{number}]") for number, item in enumerate(reserved)]
    return MetaTemplate(
        round=tuple(slots),
        reserved={slot.role: slot for slot in reserved_slots},
        begin=config.get("begin", ""),
        end=config.get("end", ""),
        end_tokens=end_tokens(config),
    )


def meta_template_faults(config: Mapping[str, Any]) -> Iterator[ConfigError]:
    """Yield every fault in the keys and items of a meta template."""
    for key, fix in META_TEMPLATE.unknown(config):
        yield ConfigError(f"meta_template has no key {key!r}", where=f"{WHERE}.{key}", fix=fix)
    places: dict[str, Any] = {}
    for key in ("round", "reserved_roles"):
        items = config.get(key, [])
        if not isinstance(items, list | tuple) or (key == "round" and "round" in config and not items):
            what = f"{key!r} of meta_template must be a list of roles, not {items!r:.80}"
            yield ConfigError(what, where=f"{WHERE}.{key}", fix=ROLES_FIX)
            continue
        for number, item in enumerate(items):
            where = f"{WHERE}.{key}[{number}]"
            if isinstance(item, str) and key == "round":
                continue
            yield from _role_faults(item, where)
            if isinstance(item, Mapping) and (role := str(item.get("role"))) in places:
                yield ConfigError(f"the role {role!r} occurs twice in meta_template", where=where, fix="keep one")
            elif isinstance(item, Mapping):
                places[role] = where
    if _end_tokens(config.get("eos_token_id")) is None:
        what = f"eos_token_id must be a token id or a list of them, not {config['eos_token_id']!r:.80}"
        fix = "give numbers; texts that end an answer are the stop_words of the model"
        yield ConfigError(what, where=f"{WHERE}.eos_token_id", fix=fix)


def end_tokens(config: MetaTemplateConfig) -> tuple[int, ...]:
    """Return ``eos_token_id`` of a meta template, the tokens that end an answer; empty if there are none."""
    return (_end_tokens(config.get("eos_token_id")) or ()) if isinstance(config, Mapping) else ()


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
            yield ConfigError(f"{key!r} of a role must be a text, not {item[key]!r:.80}", where=f"{where}.{key}")


def _slot(item: Mapping[str, Any], text: Callable[[Any, str], str], where: str) -> Slot:
    return Slot(
        role=item["role"],
        begin=text(item.get("begin", ""), f"{where}.begin"),
        end=text(item.get("end", ""), f"{where}.end"),
        prompt=item.get("prompt"),
        generate=bool(item.get("generate", False)),
        api_role=item.get("api_role"),
    )
