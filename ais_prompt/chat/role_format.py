"""Role templates as the format of a local model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final

from ais_prompt.chat.api import ApiFormat
from ais_prompt.chat.formats import Mode
from ais_prompt.chat.messages import Message
from ais_prompt.chat.meta_template import parse_meta_template
from ais_prompt.chat.role_templates import RoleTemplateInterface
from ais_prompt.chat.sections import EXAMPLES_KEPT
from ais_prompt.errors import PartError, PromptError
from ais_prompt.prompts.prompt_list import Item, PromptList, PromptSection
from ais_prompt.types import ChatMessage, Content
from ais_prompt.utils.guard import guarded_call
from ais_prompt.utils.places import defined_at

ROLE_NAMES: Final = {"SYSTEM": "system", "HUMAN": "user", "TOOL": "ipython", "BOT": "assistant"}
"""Role of a dataset's turn → role of a message, in the order of a round."""

META_TEMPLATE: Final = parse_meta_template(
    {"round": [{"role": role, "api_role": name, "generate": role == "BOT"} for role, name in ROLE_NAMES.items()]}
)

ANSWER_MARK: Final = "\ue000\uf8ff\ue000"
"""Stands where the model will write. Private characters: no data holds them, and no change of case touches them."""


class RoleTemplateFormat:
    """Turns dialogues into messages, has a role template format them, and joins their texts.

    A prompt that is one text, and a text between the turns, are said by the user. A turn whose role the template does
    not know takes its ``fallback_role``. Neighbours of one role become one message, a newline between them.

    Args:
        template: the role template.
        bos: gives the text that every prompt must start with, when it is first needed.
    """

    def __init__(self, template: RoleTemplateInterface, bos: Callable[[], str] = str) -> None:
        self.template = template
        self.bos = bos
        # Templates of other packages need not know the attribute.
        self._unknown_roles = getattr(template, "unknown_roles", ())
        self._messages = ApiFormat(META_TEMPLATE)
        # The same section becomes the same section, by which the messages in it are known again.
        self._section = lru_cache(EXAMPLES_KEPT)(self._spoken_section)

    def render(self, prompt: str | PromptList, mode: Mode) -> str:
        """The text that the model sees; in ``gen`` mode it ends where the answer begins.

        Raises:
            PromptError: a role cannot be placed, the template refuses the messages, or the prompt says nothing.
        """
        spoken = self._spoken(prompt) if isinstance(prompt, PromptList) else prompt
        messages = [Message(said.role, _text(said.content)) for said in self._messages.render(spoken, mode)]
        text = self._opened(messages) if mode == "gen" else self._formatted(messages)
        bos = self.bos()
        return bos + text.removeprefix(bos)

    def _spoken(self, prompt: PromptList) -> PromptList:
        """The same dialogue, everything in it said by somebody whom the template knows."""
        return PromptList(
            self._section(piece) if isinstance(piece, PromptSection) else self._turn(piece) for piece in prompt.pieces
        )

    def _spoken_section(self, section: PromptSection) -> PromptSection:
        return PromptSection(section.name, self._spoken(section.body))

    def _turn(self, item: Item) -> Item:
        if isinstance(item, str):
            # Without a speaker it would be lost. Blank texts only separate examples.
            return {"role": "HUMAN", "prompt": item} if item.strip() else item
        if ROLE_NAMES.get(str(item.get("role"))) in self._unknown_roles and "fallback_role" in item:
            return {**item, "role": item["fallback_role"]}
        return item

    def _opened(self, messages: list[Message]) -> str:
        """The text up to the answer. Most templates close an empty answer too, so a mark takes its place.

        A template that writes a text of its own for the assistant leaves no mark: the prompt ends before that text.
        """
        formatted = apply_template(self.template, [*messages, Message("assistant", ANSWER_MARK)], inference=True)
        before, mark, _ = _joined(formatted).rpartition(ANSWER_MARK)
        if mark:
            return before
        return _joined(formatted[:-1] if formatted and formatted[-1].role == "assistant" else formatted)

    def _formatted(self, messages: list[Message]) -> str:
        return _joined(apply_template(self.template, messages))


class RoleTemplateMessages:
    """Has a role template write its texts into the messages that a chat server is sent, each under its own role.

    So the instruction of a task template (`GrammarErrorCorrectionTemplate`) goes into the user's message, and the
    server applies the format of its model.

    Args:
        template: the role template.
        messages: makes the messages.
    """

    def __init__(self, template: RoleTemplateInterface, messages: ApiFormat) -> None:
        self.template = template
        self._messages = messages

    def render(self, prompt: str | PromptList, mode: Mode) -> tuple[ChatMessage, ...]:
        """The messages with the template's texts in them.

        Raises:
            PromptError: as `ApiFormat.render`, or the template refuses the messages.
        """
        said = [
            Message("ipython" if one.role == "tool" else one.role, _text(one.content))
            for one in self._messages.render(prompt, mode)
        ]
        return tuple(
            ChatMessage("tool" if one.role == "ipython" else one.role, one.text_content)
            for one in apply_template(self.template, said, inference=mode == "gen")
        )


def apply_template(
    template: RoleTemplateInterface, messages: list[Message], *, inference: bool = False
) -> list[Message]:
    """Call a role template.

    Raises:
        PromptError: one of ours refuses the messages.
        PartError: it fails, or returns something else than messages.
    """
    name = f"the role template {getattr(template, '__name__', type(template).__name__)}"
    formatted: list[Message] = guarded_call(template, list[Any], name)(messages, inference=inference)
    for message in formatted:
        if not (hasattr(message, "role") and isinstance(getattr(message, "text_content", None), str)):
            raise PartError(f"{name} returns {message!r:.80}, which is no message", where=defined_at(template))
    return formatted


def hides_answers(template: RoleTemplateInterface) -> bool:
    """Return whether a template leaves out what the assistant says, as torchtune's ``EurekaTemplate`` does."""
    asked = [Message("user", "?"), Message("assistant", ANSWER_MARK)]
    try:
        return ANSWER_MARK not in _joined(apply_template(template, asked))
    except (PartError, PromptError):  # it needs another conversation than this one
        return False


def _joined(messages: Sequence[Message]) -> str:
    return "".join(message.text_content for message in messages)


def bos_text(tokenizer: Any) -> str:
    """The BOS token as text, if the tokenizer puts it in front of prompts; for models that add no special tokens."""
    first: Sequence[int] = tokenizer("")["input_ids"][:1]
    return tokenizer.bos_token if list(first) == [tokenizer.bos_token_id] else ""


def _text(content: Content) -> str:
    if not isinstance(content, str):
        raise PromptError(
            "a role template formats text, but the prompt has images, audio or video",
            fix="remove prompt_template of the model; OpenAIChatModel and HuggingFaceChatModel take media without it",
        )
    return content
