"""The format of language models: everything becomes one text."""

from __future__ import annotations

from collections.abc import Collection

from ais_prompt.chat.chat_section import chat_turns, framed_chat
from ais_prompt.chat.formats import Mode
from ais_prompt.chat.media import refuse_media
from ais_prompt.chat.meta_template import SILENT, MetaTemplate
from ais_prompt.chat.rounds import Round, split_rounds
from ais_prompt.chat.sections import Fill, Sections
from ais_prompt.errors import ConfigError
from ais_prompt.prompts.fill import unsealed
from ais_prompt.prompts.prompt_list import PromptList, Section, text_of


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
        self._sections = Sections(self._rounds, self._outside, _blank)

    def render(self, prompt: str | PromptList, mode: Mode) -> str:
        """The text of the prompt; in ``gen`` mode it ends at the first generating slot of the last round.

        Raises:
            PromptError: a role cannot be placed, or the prompt has media or messages, which are no text.
        """
        if isinstance(prompt, str):
            return prompt
        if chat := chat_turns(prompt):
            return framed_chat(chat, self.meta, mode)
        if self.meta is None:
            refuse_media(prompt)
            return join_texts(prompt)
        written, ends = self._sections.write(prompt, mode)
        return "".join([self.meta.begin, *written, "" if ends else self.meta.end])

    def _outside(self, body: PromptList) -> str:
        """A begin or end section: texts and single roles where they stand, examples as rounds."""
        written: list[str] = []
        for piece in body.pieces:
            if isinstance(piece, str):
                written.append(piece)
            elif isinstance(piece, Section):
                written.append(self._sections.inner(piece))
            else:
                refuse_media([piece])
                written.append(self._meta.resolve(piece).text(piece))
        return "".join(written)

    def _rounds(self, body: PromptList, cut: bool) -> tuple[str, bool]:
        """The rounds of a section; True if the prompt ends here."""
        refuse_media(body)
        written: list[str] = []
        pieces = split_rounds(body, self._meta)
        for piece in pieces:
            if isinstance(piece, str):
                written.append(piece)
            elif self._round(piece, written, cut=cut and piece is pieces[-1]):
                return "".join(written), True
        return "".join(written), False

    def _round(self, said: Round, written: list[str], *, cut: bool) -> bool:
        """Write one round in the order of the meta template, slots without data included."""
        for index, slot in enumerate(self._meta.round):
            turn = said.get(index, SILENT)
            if isinstance(slot, str):
                written.append(slot)
            elif cut and slot.generates(turn):
                written.append(slot.opening(turn))
                return True
            else:
                written.append(slot.text(turn))
        return False

    @property
    def _meta(self) -> MetaTemplate:
        assert self.meta is not None
        return self.meta


def _blank(written: str, keys: Collection[str]) -> Fill[str]:
    return unsealed(written, keys).fill
