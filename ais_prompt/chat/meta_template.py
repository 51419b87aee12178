"""The model's own frame for a dialogue, parsed once into frozen values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeAlias

from msgspec import Struct, field

from ais_prompt.chat.media import MEDIA
from ais_prompt.errors import ConfigError, PromptError
from ais_prompt.prompts.prompt_list import Turn
from ais_prompt.types import Content

MetaTemplateConfig: TypeAlias = "Mapping[str, Any] | Sequence[Any] | None"
"""``meta_template`` as a config has it: a mapping with ``round``, or for chat models messages in OpenAI form."""


SILENT: Final[Turn] = {}
"""The turn of a role that the data gives nothing to say."""


class Slot(NamedTuple):
    """A role's place in a round. The keys of a turn that has this place count before the slot's own.

    Attributes:
        role: the name that templates use.
        begin, end: text before and after what the role says.
        prompt: what it says when the data says nothing; None if there is no default.
        generate: True where the model starts to generate.
        api_role: the name that an API model knows the role by; None if it was not given.
    """

    role: str
    begin: str = ""
    end: str = ""
    prompt: str | None = None
    generate: bool = False
    api_role: str | None = None

    def text(self, turn: Turn = SILENT) -> str:
        """Begin, prompt and end in one."""
        end = _joined(turn["end"]) if "end" in turn else self.end
        return f"{self.opening(turn)}{turn.get('prompt', self.prompt) or ''}{end}"

    def opening(self, turn: Turn = SILENT) -> str:
        """The text before what is said."""
        return _joined(turn["begin"]) if "begin" in turn else self.begin

    def content(self, turn: Turn = SILENT) -> Content:
        """What a message says: the turn's parts, which have no place for begin and end; else the text.

        A default prompt hides the parts, as in AISBench.
        """
        if MEDIA in turn and turn.get("prompt", self.prompt) is None:
            return tuple(turn[MEDIA])
        return self.text(turn)

    def generates(self, turn: Turn = SILENT) -> bool:
        """Whether the model starts to generate here."""
        return bool(turn.get("generate", self.generate))


class MetaTemplate(Struct, frozen=True, dict=True):
    """How a model wants its dialogues.

    Attributes:
        round: the slots of a round in the order in which they are written; texts between them as they are.
        reserved: roles outside of rounds, by name.
        begin, end: around the whole prompt: text for language models; for API models messages (turns).
        eos_token_id: the token that ends an answer; None leaves it to the tokenizer.
    """

    round: tuple[Slot | str, ...]
    reserved: Mapping[str, Slot] = field(default_factory=dict)
    begin: Any = ""
    end: Any = ""
    eos_token_id: int | None = None

    @cached_property
    def slots(self) -> dict[str, int]:
        """Role → its index in the round."""
        return {slot.role: index for index, slot in enumerate(self.round) if isinstance(slot, Slot)}

    def slot(self, role: str) -> Slot | None:
        """The slot of a role, in the round or reserved."""
        index = self.slots.get(role)
        return self.round[index] if index is not None else self.reserved.get(role)  # type: ignore[return-value]

    def resolve(self, turn: Turn) -> Slot:
        """The slot for a turn by its role, else by its fallback role.

        Raises:
            PromptError: the model knows neither.
        """
        slot = self.slot(str(turn.get("role"))) or self.slot(str(turn.get("fallback_role")))
        if slot is None:
            raise unknown_role(turn, [*self.slots, *self.reserved])
        return slot


def unknown_role(turn: Turn, known: Sequence[str]) -> PromptError:
    """The error for a turn whose role and fallback role the model does not have."""
    return PromptError(
        f"the meta template has no role {turn.get('role')!r} (it has {', '.join(known)})",
        fix="give the turn a fallback_role that the model has, or add the role to the meta template",
    )


def parse_meta_template(config: MetaTemplateConfig) -> MetaTemplate | None:
    """Parse ``meta_template`` of a model; an empty one counts as none.

    Raises:
        ConfigError: it has no list ``round``, a role stands twice, or an item has the wrong shape.
    """
    if not config:
        return None
    if not isinstance(config, Mapping):
        raise ConfigError("meta_template must be a mapping with 'round'; only a chat model may have a list of messages")
    rounds, reserved = config.get("round"), config.get("reserved_roles", [])
    if not isinstance(rounds, list | tuple):
        raise ConfigError("meta_template needs a list 'round'", fix="round=[dict(role='HUMAN', ...), ...]")
    if not isinstance(reserved, list | tuple):
        raise ConfigError("reserved_roles of meta_template must be a list of roles")
    slots = [item if isinstance(item, str) else _slot(item) for item in rounds]
    reserved_slots = [_slot(item) for item in reserved]
    roles = [slot.role for slot in [*slots, *reserved_slots] if isinstance(slot, Slot)]
    for role in roles:
        if roles.count(role) > 1:
            raise ConfigError(f"the role {role!r} stands twice in meta_template", fix="each role only once")
    return MetaTemplate(
        round=tuple(slots),
        reserved={slot.role: slot for slot in reserved_slots},
        begin=config.get("begin", ""),
        end=config.get("end", ""),
        eos_token_id=config.get("eos_token_id"),
    )


def _slot(item: Any) -> Slot:
    if not isinstance(item, Mapping) or not isinstance(item.get("role"), str):
        raise ConfigError(f"a role of meta_template must be a mapping with a text 'role', not {item!r}")
    return Slot(
        role=item["role"],
        begin=_joined(item.get("begin", "")),
        end=_joined(item.get("end", "")),
        prompt=item.get("prompt"),
        generate=bool(item.get("generate", False)),
        api_role=item.get("api_role"),
    )


def _joined(text: Any) -> str:
    """A text, or a list of texts that belong together."""
    if isinstance(text, str):
        return text
    if isinstance(text, list | tuple) and all(isinstance(piece, str) for piece in text):
        return "".join(text)
    if isinstance(text, list | tuple) and all(isinstance(piece, str | int) for piece in text):
        raise ConfigError(
            f"begin and end with token ids need a tokenizer, which cannot be used here: {text!r}",
            fix="write the tokens as the text that stands for them",
        )
    raise ConfigError(f"begin and end of a role must be a text or a list of texts, not {text!r}")
