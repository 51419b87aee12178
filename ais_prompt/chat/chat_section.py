"""Chats: the section ``chat`` of a prompt, whose turns are framed one by one. The rules are those of OpenCompass.

A chat keeps its messages as they are: nothing is cut, merged or filled up as in the rounds of a dialogue, and ``begin``
and ``end`` of the meta template stay out of it. A role that the meta template does not know is not framed.
"""

from __future__ import annotations

from ais_prompt.chat.formats import Mode
from ais_prompt.chat.media import refuse_media
from ais_prompt.chat.meta_template import MetaTemplate
from ais_prompt.errors import PromptError
from ais_prompt.prompts.prompt_list import PromptList, PromptSection, Turn, text_of

CHAT = "chat"


def chat_turns(prompt: PromptList) -> list[Turn]:
    """The turns of a prompt that is a chat; none if it is anything else."""
    turns: list[Turn] = []
    for piece in prompt.pieces:
        if isinstance(piece, PromptSection) and piece.name == CHAT:
            turns += [item for item in piece.body if not isinstance(item, str)]
    return turns


def framed_chat(turns: list[Turn], meta: MetaTemplate | None, mode: Mode) -> str:
    """A chat for a language model; in ``gen`` mode the model's turn is opened.

    Without a meta template the contents stand on lines of their own, and roles do not show.

    Raises:
        PromptError: the meta template has no role BOT to be opened, or there are media.
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
                "the meta template has no role 'BOT', which the model has in a chat",
                fix="add dict(role='BOT', begin='...', generate=True) to its round",
            )
        written.append(assistant.begin)
    return "".join(written)
