"""Chats: the section ``chat`` of a prompt, whose turns are formatted one by one. The rules are those of OpenCompass.

The messages of a chat are kept as they are. Unlike the rounds of a dialogue they are not cut, merged or completed, and
``begin`` and ``end`` of the meta template are not added. A role that the meta template lacks gets no text around it.
"""

from __future__ import annotations

from ais_prompt.errors import PromptError
from ais_prompt.prompts.format import Mode
from ais_prompt.prompts.message_media import refuse_media
from ais_prompt.prompts.meta_template import MetaTemplate
from ais_prompt.prompts.prompt_list import PromptList, PromptSection, Turn, text_of

CHAT = "chat"


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
