"""The format of language models: everything becomes one text."""

from __future__ import annotations

from ais_prompt.chat.chat_section import chat_turns, framed_chat
from ais_prompt.chat.formats import Mode
from ais_prompt.chat.media import refuse_media
from ais_prompt.chat.meta_template import MetaTemplate
from ais_prompt.chat.rounds import Round, split_rounds
from ais_prompt.errors import ConfigError
from ais_prompt.prompts.prompt_list import PromptList, text_of


def join_texts(prompt: PromptList) -> str:
    """A PromptList without any meta template: its texts, a newline between them; roles do not show.

    An empty item writes nothing, but what follows it is then no longer the first: the newline comes all the same.
    """
    written, separator = "", ""
    for item in prompt:
        if text := text_of(item):
            written += separator + text
        separator = "\n"
    return written


class LanguageModelFormat:
    """Frames dialogues with a meta template for a model that continues text.

    Args:
        meta: the meta template; None joins the texts by newline. Strings are never framed.

    Raises:
        ConfigError: begin or end of the meta template is no text.
    """

    def __init__(self, meta: MetaTemplate | None) -> None:
        for name in ("begin", "end"):
            if meta is not None and not isinstance(getattr(meta, name), str):
                raise ConfigError(f"{name!r} of a language model's meta_template must be a text")
        self.meta = meta

    def render(self, prompt: str | PromptList, mode: Mode) -> str:
        """The text of the prompt; in ``gen`` mode it ends at the first generating slot of the last round.

        Raises:
            PromptError: a role cannot be placed, or the prompt has media or messages, which are no text.
        """
        if isinstance(prompt, str):
            return prompt
        refuse_media(prompt)
        if chat := chat_turns(prompt):
            return framed_chat(chat, self.meta, mode)
        if self.meta is None:
            return join_texts(prompt)
        written: list[str] = [self.meta.begin]
        parts = list(prompt.parts())
        last_round = max((index for index, (name, _) in enumerate(parts) if _is_round(name)), default=-1)
        for index, (name, section) in enumerate(parts):
            if not _is_round(name):
                written += self._outside(section)
            elif self._rounds(section, written, cut=mode == "gen" and index == last_round):
                return "".join(written)
        return "".join([*written, self.meta.end])

    def _outside(self, section: PromptList) -> list[str]:
        """A begin or end section: texts and single roles where they stand, examples as rounds."""
        written: list[str] = []
        for name, items in section.parts():
            if name == "ice":
                self._rounds(items, written, cut=False)
            else:
                written += [item if isinstance(item, str) else self._meta.resolve(item).text for item in items]
        return written

    def _rounds(self, section: PromptList, written: list[str], *, cut: bool) -> bool:
        """Write the rounds of a section; True if the prompt ends here."""
        pieces = list(split_rounds(section, self._meta))
        rounds = [index for index, piece in enumerate(pieces) if not isinstance(piece, str)]
        for index, piece in enumerate(pieces):
            if isinstance(piece, str):
                written.append(piece)
            elif self._round(piece, written, cut=cut and index == rounds[-1]):
                return True
        return False

    def _round(self, said: Round, written: list[str], *, cut: bool) -> bool:
        """Write one round in the order of the meta template, slots without data included."""
        for index, item in enumerate(self._meta.round):
            slot = said.get(index, item)
            if isinstance(slot, str):
                written.append(slot)
            elif cut and slot.generate:
                written.append(slot.begin)
                return True
            else:
                written.append(slot.text)
        return False

    @property
    def _meta(self) -> MetaTemplate:
        assert self.meta is not None
        return self.meta


def _is_round(name: str | None) -> bool:
    return name in ("round", None)
