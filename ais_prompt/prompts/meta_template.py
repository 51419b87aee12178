"""Meta templates: how a model formats a dialogue, and its sections, which are cached as far as prompts share them.

A prompt is a text until the model's tokenizer encodes it. So a token id in a meta template is converted to the text
that the tokenizer encodes as exactly that id. Special tokens such as ``<|im_end|>`` have such a text.

A chat is the section ``chat``, whose turns are formatted one by one. Its messages are kept as they are: unlike the
rounds of a dialogue they are not cut, merged or completed, and ``begin`` and ``end`` of the meta template are not
added. A role that the meta template lacks gets no text around it. The rules are those of OpenCompass.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from ais_prompt.errors import ConfigError, PromptError
from ais_prompt.parts import ROLES
from ais_prompt.prompts.base import Mode
from ais_prompt.prompts.compiled import CompiledSection, FilledSection
from ais_prompt.prompts.message_media import MEDIA, refuse_media
from ais_prompt.prompts.prompt_list import PromptList, PromptSection, Turn, column_marks, compile_text, text_of
from ais_prompt.types import Content, MetaTemplateSpec, RoleSpec

WHERE: Final = "meta_template"

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
    meant = ROLES.get(str(turn.get("role")))
    fix = "give the turn a fallback_role that the model has, or add the role to the meta template"
    if meant is not None and meant in known:
        fix = f"write role={meant!r}"
    elif meant == "SYSTEM" and "HUMAN" in known:
        fix = "write role='SYSTEM', fallback_role='HUMAN'"
    return PromptError(
        f"the meta template has no role {turn.get('role')!r} (it has {', '.join(known)})",
        fix=fix,
    )


def resolve_tokens(spec: MetaTemplateSpec, tokenizer: Callable[[], Any] = lambda: None) -> MetaTemplate:
    """Convert the token ids of a parsed meta template to text.

    Args:
        spec: what the config says.
        tokenizer: returns the model's tokenizer; None if the model has none.

    Raises:
        ConfigError: ``begin`` or ``end`` of a role has the wrong type, or a token has no text; ``where`` is its path.
        ModelError: a token id needs the tokenizer, which cannot be loaded.
    """

    def slot(role: RoleSpec, where: str) -> Slot:
        begin, end = (text_of_tokens(getattr(role, key), tokenizer, f"{where}.{key}") for key in ("begin", "end"))
        return Slot(role.role, begin, end, role.prompt, role.generate, role.api_role)

    slots = [
        item if isinstance(item, str) else slot(item, f"{WHERE}.round[{number}]")
        for number, item in enumerate(spec.round or ())
    ]
    reserved = [slot(item, f"{WHERE}.reserved_roles[{number}]") for number, item in enumerate(spec.reserved or ())]
    return MetaTemplate(tuple(slots), {one.role: one for one in reserved}, spec.begin, spec.end, spec.end_tokens)


def text_of_tokens(value: Any, tokenizer: Callable[[], Any], where: str) -> str:
    """Return ``begin`` or ``end`` of a meta template as text.

    Args:
        value: a text, a token id, or a list of both, whose texts are joined.
        tokenizer: returns the model's tokenizer, or None; called only for ids.
        where: config path.

    Raises:
        ConfigError: the value has another type, there is no tokenizer, or a token has no text of its own.
    """
    pieces = list(value) if isinstance(value, list | tuple) else [value]
    ids = [piece for piece in pieces if not isinstance(piece, str)]
    if any(not isinstance(number, int) or isinstance(number, bool) or number < 0 for number in ids):
        raise ConfigError(
            f"begin and end must be a text, a token id, or a list of them, not {value!r:.80}",
            where=where,
            fix="e.g. begin='<s>' or begin=[1]",
        )
    known = tokenizer() if ids else None
    if ids and known is None:
        raise ConfigError(
            f"the token ids {ids} need the tokenizer of the model, which is not available",
            where=where,
            fix="give the model a tokenizer_path, or write the text of the tokens",
        )
    return "".join(piece if isinstance(piece, str) else _token_text(piece, known, where) for piece in pieces)


def text_of_turn(turn: Turn, key: str) -> str:
    """Return ``begin`` or ``end`` of a dataset's turn as text: a text or a list of texts.

    Raises:
        PromptError: it has another type. A dataset is for all models, so it cannot contain token ids of one.
    """
    pieces = turn[key] if isinstance(turn[key], list | tuple) else [turn[key]]
    if not all(isinstance(piece, str) for piece in pieces):
        what = f"{key!r} of a turn must be a text or a list of texts, not {turn[key]!r:.80}"
        raise PromptError(what, fix="token ids belong in the meta_template of their model")
    return "".join(pieces)


def _token_text(token: int, tokenizer: Any, where: str) -> str:
    """Return the text that the tokenizer encodes as exactly this token.

    Raises:
        ConfigError: there is none.
    """
    try:
        text: str = tokenizer.decode([token], skip_special_tokens=False, clean_up_tokenization_spaces=False)
        read = list(tokenizer(text, add_special_tokens=False)["input_ids"]) if text else []
    except (IndexError, KeyError, OverflowError, TypeError, ValueError):  # tokenizers differ in what they raise
        text, read = "", []
    if read == [token]:
        return text
    found = f"its text {text!r} is encoded as {read}" if text else "the tokenizer does not have it"
    raise ConfigError(
        f"the token {token} cannot be written as text: {found}",
        where=where,
        fix="write the text that the model was trained with",
    )


Round: TypeAlias = dict[int, Turn]
"""Index of a slot in the meta template's round → the turn in that slot."""
Written = TypeVar("Written")
Fill: TypeAlias = Callable[[Mapping[str, object]], Written]
"""From the values of a row to its formatted section."""
CHAT = "chat"
OUTSIDE: Final = ("begin", "end")
"""The sections of single texts and turns. Everything else is formatted in rounds, also items outside of sections."""
EXAMPLES_KEPT: Final = 2048
"""Maximum number of formatted in-context examples in the cache."""
SECTIONS_KEPT: Final = 256
"""Maximum number of formatted begin and end sections in the cache; a label table has one for each label."""


class Sections(Generic[Written]):
    """Formats the sections of prompts, and caches them.

    A section of a template is formatted once, with sentinels in place of the values (`ais_prompt.prompts.compiled`).
    For each row only the values are filled in.

    Args:
        meta: the meta template; None for a format without sections.
        rounds: formats a body as rounds of the meta template. Its second argument says whether to cut the last round;
            its second result, whether the prompt ends there.
        outside: formats the body of a begin or end section.
        compile_written: compiles a section that was formatted with sentinels; None if the values can change more than
            the text.
    """

    def __init__(
        self,
        meta: MetaTemplate | None,
        rounds: Callable[[PromptList, bool, MetaTemplate], tuple[Written, bool]],
        outside: Callable[[PromptList, MetaTemplate], Written],
        compile_written: Callable[[Written, Collection[str]], Fill[Written] | None],
    ) -> None:
        self._meta = meta
        self._rounds = rounds
        self._write_outside = outside
        self._compile_written = compile_written
        self.inner = lru_cache(EXAMPLES_KEPT)(self._uncut)
        self._outside = lru_cache(SECTIONS_KEPT)(self._uncut)
        self._compiled = lru_cache(SECTIONS_KEPT)(self._write_compiled)

    def write(self, prompt: PromptList, mode: Mode) -> tuple[list[Written], bool]:
        """Format each part of a dialogue; True if the prompt ends where the model starts to write."""
        parts = prompt.parts()
        cut = last_round(parts) if mode == "gen" else None
        written: list[Written] = []
        for part in parts:
            formatted, ends = (self._outside(part), False) if part.name in OUTSIDE else self._section(part, part is cut)
            written.append(formatted)
            if ends:
                return written, True
        return written, False

    def _uncut(self, section: PromptSection) -> Written:
        return self._section(section, False)[0]

    def _section(self, section: PromptSection, cut: bool) -> tuple[Written, bool]:
        if isinstance(section, FilledSection):
            if self._meta and self._meta.has_columns:  # the default prompts differ from row to row
                return self._body(section.name, section.body, cut, self._meta.filled(section.values))
            fill, ends = self._compiled(section.compiled, cut)
            if fill is not None:
                return fill(section.values), ends
        return self._body(section.name, section.body, cut, self._meta)

    def _write_compiled(self, compiled: CompiledSection, cut: bool) -> tuple[Fill[Written] | None, bool]:
        written, ends = self._body(compiled.name, compiled.with_sentinels, cut, self._meta)
        return self._compile_written(written, compiled.keys), ends

    def _body(self, name: str | None, body: PromptList, cut: bool, meta: MetaTemplate | None) -> tuple[Written, bool]:
        assert meta is not None
        return (self._write_outside(body, meta), False) if name in OUTSIDE else self._rounds(body, cut, meta)


def last_round(parts: Sequence[PromptSection]) -> PromptSection | None:
    """Return the part in whose last round a generation prompt is cut; None if no part has rounds."""
    return next((part for part in reversed(parts) if part.name not in OUTSIDE), None)


def split_rounds(section: PromptList, meta: MetaTemplate) -> list[str | Round]:
    """Split a section into texts and rounds, in order. If there are rounds, the last piece is one.

    A new round starts when a turn's slot in the meta template's round is not after the slot of the previous turn. A
    text inside a round comes before it, because a round is formatted as a whole.

    Raises:
        PromptError: a turn's role has no slot in a round, or the section contains in-context examples.
    """
    pieces: list[str | Round] = []
    current: Round = {}
    last = -1
    if any(isinstance(piece, PromptSection) and piece.name == "ice" for piece in section.pieces):
        raise PromptError(
            "in-context examples cannot be inside the round of a dialogue", fix="move the ice_token into begin"
        )
    for item in section:
        if isinstance(item, str):
            pieces.append(item)
            continue
        index = _index(item, meta)
        if index <= last:
            pieces.append(current)
            current = {}
        current[index] = item
        last = index
    return [*pieces, current] if current else pieces


def _index(turn: Turn, meta: MetaTemplate) -> int:
    role, slots = str(turn.get("role")), meta.slots
    if role in slots:
        return slots[role]
    if role in meta.reserved:
        raise PromptError(
            f"the meta template reserves the role {role!r} for begin and end, but the template has it in a round",
            fix="move the turn into begin, or give the role a place in the meta template's round",
        )
    if (fallback := str(turn.get("fallback_role"))) in slots:
        return slots[fallback]
    raise unknown_role(turn, list(slots))


def chat_turns(prompt: PromptList) -> list[Turn]:
    """Return the turns of a prompt that is a chat; empty for other prompts."""
    turns: list[Turn] = []
    for piece in prompt.pieces:
        if isinstance(piece, PromptSection) and piece.name == CHAT:
            turns += [item for item in piece.body if not isinstance(item, str)]
    return turns


def format_chat(turns: list[Turn], meta: MetaTemplate | None, mode: Mode) -> str:
    """Format a chat for a language model; in ``gen`` mode it ends with the ``begin`` of the model's turn.

    Without a meta template the contents are joined by newlines, without roles.

    Raises:
        PromptError: the meta template has no role BOT, or the chat contains media.
    """
    refuse_media(turns)
    if meta is None:
        return "\n".join(map(text_of, turns))
    written = []
    for turn in turns:
        slot = meta.slot(str(turn["role"]))
        written.append(f"{slot.begin}{text_of(turn)}{slot.end}" if slot else text_of(turn))
    if mode == "gen":
        assistant = meta.slot("BOT")
        if assistant is None:
            raise PromptError(
                "the meta template has no role 'BOT', which is the model's role in a chat",
                fix="add dict(role='BOT', begin='...', generate=True) to its round",
            )
        written.append(assistant.begin)
    return "".join(written)
