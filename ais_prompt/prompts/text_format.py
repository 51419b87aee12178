"""The chat format of language models: everything becomes one text."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from ais_prompt.prompts.chat_section import chat_turns, format_chat
from ais_prompt.prompts.fill import split_at_sentinels
from ais_prompt.prompts.format import Mode
from ais_prompt.prompts.message_media import refuse_media
from ais_prompt.prompts.meta_template import EMPTY_TURN, WHERE, MetaTemplate, Slot
from ais_prompt.prompts.prompt_list import Item, PromptList, PromptSection, text_of
from ais_prompt.prompts.sections import Fill, Round, Sections, last_round, split_rounds
from ais_prompt.prompts.token_text import text_of_tokens


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
        self._sections = Sections(meta, self._rounds, self._outside, _compile_text)

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
            if part is cut and (opening := _opening_of_answer(items[-1])) is not None:
                texts += [*map(_whole_text, items[:-1]), opening]
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


def _opening_of_answer(item: Item) -> str | None:
    """Return the text before the model's answer if this item is the model's turn, else None."""
    if isinstance(item, str) or not item.get("generate", item.get("role") == "BOT"):
        return None
    return Slot("").opening(item)


def _compile_text(written: str, keys: Collection[str]) -> Fill[str]:
    return split_at_sentinels(written, keys).fill
