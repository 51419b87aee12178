"""The chat formats that make one text: by a meta template, or by the tokenizer's chat template.

Messages with media are left to the model's processor.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from typing import Any, TypeAlias

from msgspec.structs import replace

from ais_prompt.errors import PromptError
from ais_prompt.prompts.base import MessagesFormat, Mode
from ais_prompt.prompts.message_media import check_taken, join_contents, note_files, refuse_media
from ais_prompt.prompts.meta_template import (
    EMPTY_TURN,
    WHERE,
    MetaTemplate,
    Round,
    Sections,
    Slot,
    chat_turns,
    format_chat,
    last_round,
    split_rounds,
    text_of_tokens,
)
from ais_prompt.prompts.prompt_list import Item, PromptList, PromptSection, split_at_sentinels, text_of
from ais_prompt.types import ChatMessage, Prompt
from ais_prompt.utils import openai_json, role_fix

MediaKinds: TypeAlias = Callable[[], Collection[str]]
"""Returns the media that a model accepts, of ``image``, ``audio`` and ``video``; called for prompts with media."""


def join_texts(prompt: PromptList) -> str:
    """Format a PromptList without a meta template: its texts joined by newlines, without roles.

    An empty first item adds no text, but the next item still starts with a newline.
    """
    written, separator = "", ""
    for item in prompt:
        if text := text_of(item):
            written += separator + text
        separator = "\n"
    return written


class LanguageModelFormat:
    """Formats dialogues with a meta template, for a model that continues text.

    Args:
        meta: the meta template; None joins the texts by newlines. Strings stay as they are.
        tokenizer: returns the model's tokenizer, or None; called if ``begin`` or ``end`` of the meta template has token
            ids.

    Raises:
        ConfigError: ``begin`` or ``end`` of the meta template is neither text nor token ids.
    """

    def __init__(self, meta: MetaTemplate | None, tokenizer: Callable[[], Any] = lambda: None) -> None:
        self.meta = meta
        self._begin = text_of_tokens(meta.begin, tokenizer, f"{WHERE}.begin") if meta else ""
        self._end = text_of_tokens(meta.end, tokenizer, f"{WHERE}.end") if meta else ""
        self._sections = Sections(
            meta, self._rounds, self._outside, lambda written, keys: split_at_sentinels(written, keys).fill
        )

    def render(self, prompt: str | PromptList, mode: Mode) -> str:
        """Return the text of the prompt; in ``gen`` mode it ends at the first generating slot of the last round.

        Raises:
            PromptError: a role is not in the meta template, or the prompt contains media or messages.
        """
        if isinstance(prompt, str):
            return prompt
        if chat := chat_turns(prompt):
            return format_chat(chat, self.meta, mode)
        if self.meta is None:
            refuse_media(prompt)
            return join_texts(prompt)
        if not self.meta.round:
            return self._without_rounds(prompt, mode)
        written, ends = self._sections.write(prompt, mode)
        return "".join([self._begin, *written, "" if ends else self._end])

    def _without_rounds(self, prompt: PromptList, mode: Mode) -> str:
        """Format the turns for a meta template without ``round``: joined by newlines.

        The model starts to write at the last turn of the rounds if it is BOT's or has ``generate``.
        """
        refuse_media(prompt)
        parts = prompt.parts()
        cut = last_round(parts) if mode == "gen" else None
        texts: list[str] = []
        for part in parts:
            items = list(part.body)
            last = items[-1] if part is cut else ""
            if not isinstance(last, str) and last.get("generate", last.get("role") == "BOT"):
                texts += [*map(_whole_text, items[:-1]), Slot("").opening(last)]
                return self._begin + "\n".join(filter(None, texts))
            texts += map(_whole_text, items)
        return self._begin + "\n".join(filter(None, texts)) + ("" if mode == "gen" else self._end)

    def _outside(self, body: PromptList, meta: MetaTemplate) -> str:
        """Format a begin or end section: texts and single turns in order, examples as rounds."""
        written: list[str] = []
        for piece in body.pieces:
            if isinstance(piece, str):
                written.append(piece)
            elif isinstance(piece, PromptSection):
                written.append(self._sections.inner(piece))
            else:
                refuse_media([piece])
                written.append(meta.resolve(piece).text(piece))
        return "".join(written)

    def _rounds(self, body: PromptList, cut: bool, meta: MetaTemplate) -> tuple[str, bool]:
        """Format the rounds of a section; True if the prompt ends here."""
        refuse_media(body)
        written: list[str] = []
        pieces = split_rounds(body, meta)
        for piece in pieces:
            if isinstance(piece, str):
                written.append(piece)
            elif _write_round(piece, meta, written, cut=cut and piece is pieces[-1]):
                return "".join(written), True
        return "".join(written), False


def _write_round(turns: Round, meta: MetaTemplate, written: list[str], *, cut: bool) -> bool:
    """Write one round in the order of the meta template, slots without data included; True if the prompt ends here."""
    for index, slot in enumerate(meta.round):
        turn = turns.get(index, EMPTY_TURN)
        if isinstance(slot, str):
            written.append(slot)
        elif cut and slot.generates(turn):
            written.append(slot.opening(turn))
            return True
        else:
            written.append(slot.text(turn))
    return False


def _whole_text(item: Item) -> str:
    """Return a text, or the begin, prompt and end of a turn."""
    return item if isinstance(item, str) else Slot("").text(item)


class TokenizerChatFormat:
    """Renders messages to one text with the tokenizer's chat template, special tokens included.

    Messages with media stay messages: the model's processor renders them together with the media.

    Args:
        messages: the format of the messages.
        tokenizer: returns the Hugging Face tokenizer; called when it is first needed.
        media_kinds: returns the media that the model accepts besides text.
    """

    def __init__(
        self, messages: MessagesFormat, tokenizer: Callable[[], Any], media_kinds: MediaKinds = frozenset
    ) -> None:
        self.messages = messages
        self.tokenizer = tokenizer
        self.media_kinds = media_kinds
        self.tools: Sequence[Mapping[str, Any]] = ()
        self.continued: Sequence[ChatMessage] = ()

    def with_tools(
        self, tools: Sequence[Mapping[str, Any]], continued: Sequence[ChatMessage] = ()
    ) -> TokenizerChatFormat:
        """Return a format whose chat template is given tools.

        Args:
            tools: in the form of the OpenAI API.
            continued: messages after those of the prompt: earlier calls and their results.
        """
        made = copy(self)
        made.tools, made.continued = tools, continued
        return made

    def render(self, prompt: str | PromptList, mode: Mode) -> Prompt:
        """Return the text that the model sees; in ``gen`` mode it ends with the opening of the assistant's turn.

        Prompts with media are messages, with a note beside each local file.

        Raises:
            PromptError: as `conversation`; the tokenizer has no chat template, or its template rejects the messages.
            DataError: a local file cannot be read, or is of another kind than its part.
        """
        messages = self.conversation(prompt, mode)
        if _has_parts(messages):
            return note_files(messages)
        tokenizer = self.tokenizer()
        if not getattr(tokenizer, "chat_template", None):
            raise PromptError(
                "the tokenizer has no chat template",
                fix="use HuggingFaceBaseModel for a model that is not a chat model",
            )
        text = _applied(tokenizer, (*messages, *self.continued), mode, self.tools)
        if not _shows_questions(text, messages):
            # Templates of multimodal models may render lists of parts only, and drop a content that is a text.
            in_parts = tuple(replace(one, content=join_contents(one.content, ())) for one in messages)
            as_parts = _applied(tokenizer, (*in_parts, *self.continued), mode, self.tools)
            if _shows_questions(as_parts, messages):
                return as_parts
        return text

    def conversation(self, prompt: str | PromptList, mode: Mode) -> tuple[ChatMessage, ...]:
        """Return the messages for the chat template: without empty ones, and with alternating roles.

        Raises:
            PromptError: the prompt does not fit the meta template, has media that the model does not accept, or is
                empty.
        """
        messages = self.messages.render(prompt, mode)
        if _has_parts(messages):
            kinds = self.media_kinds()
            for message in messages:
                for part in () if isinstance(message.content, str) else message.content:
                    check_taken(part, kinds)
            if mode == "ppl":
                raise PromptError(
                    "log-likelihoods are not computed for prompts with images or other media", fix="use GenInferencer"
                )
        return merge_neighbours(messages)


def merge_neighbours(messages: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
    """Drop empty messages and join neighbours of one role by newlines, because roles must alternate.

    Raises:
        PromptError: no message is left.
    """
    merged: list[ChatMessage] = []
    for message in messages:
        if not (message.content or message.extra):
            continue
        last = merged[-1] if merged else None
        if last and last.role == message.role and not (last.extra or message.extra):
            merged[-1] = replace(last, content=join_contents(last.content, message.content))
        else:
            merged.append(message)
    if not merged:
        raise PromptError("the prompt is empty", fix="look at it with `aisprompt view-prompt`")
    return tuple(merged)


def _applied(tokenizer: Any, messages: Sequence[ChatMessage], mode: Mode, tools: Sequence[Mapping[str, Any]]) -> str:
    given = {"tools": list(tools)} if tools else {}
    try:
        text: str = tokenizer.apply_chat_template(
            [openai_json(message, parsed=True) for message in messages],
            tokenize=False,
            add_generation_prompt=mode == "gen",
            **given,
        )
    except Exception as error:  # Jinja templates can raise anything
        what = f"the tokenizer's chat template rejects the messages: {error}"
        raise PromptError(what, fix=role_fix(str(error))) from error
    return text


def _shows_questions(text: str, messages: Sequence[ChatMessage]) -> bool:
    """Return whether the text contains all messages of the user; templates may trim them."""
    contents = (message.content for message in messages if message.role == "user")
    return all(content.strip() in text for content in contents if isinstance(content, str))


def _has_parts(messages: Sequence[ChatMessage]) -> bool:
    return not all(isinstance(message.content, str) for message in messages)
