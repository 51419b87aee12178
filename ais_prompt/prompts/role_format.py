"""Chat formats that apply a role template."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final

from ais_prompt.errors import PartError, PromptError
from ais_prompt.parts import defined_at, guarded_call
from ais_prompt.prompts.api_format import ApiFormat
from ais_prompt.prompts.base import Mode
from ais_prompt.prompts.dialogue_sections import EXAMPLES_KEPT
from ais_prompt.prompts.meta_template import MetaTemplate, Slot
from ais_prompt.prompts.prompt_list import Item, PromptList, PromptSection
from ais_prompt.prompts.role_templates import Message, RoleTemplateInterface
from ais_prompt.types import ChatMessage, Content

ROLE_NAMES: Final[dict[str, str]] = {"SYSTEM": "system", "HUMAN": "user", "TOOL": "ipython", "BOT": "assistant"}
"""Role of a dataset's turn → role of a message, in the order of a round."""

META_TEMPLATE: Final = MetaTemplate(
    tuple(Slot(role, api_role=name, generate=role == "BOT") for role, name in ROLE_NAMES.items())
)

ANSWER_MARK: Final = "\ue000\uf8ff\ue000"
"""Marks where the model will write. Characters of private use: not in data, and without upper or lower case."""


class RoleTemplateFormat:
    """Converts dialogues to messages, formats them with a role template, and joins their texts.

    A prompt that is one text, and a text between turns, get the role of the user. A turn whose role is unknown to the
    template takes its ``fallback_role``. Neighbours of one role become one message, joined by a newline.

    Args:
        template: the role template.
        bos: returns the text that every prompt must start with; called when it is first needed.
    """

    def __init__(self, template: RoleTemplateInterface, bos: Callable[[], str] = str) -> None:
        self.template = template
        self.bos = bos
        # Templates of other packages may lack the attribute.
        self._unknown_roles = getattr(template, "unknown_roles", ())
        self._messages = ApiFormat(META_TEMPLATE)
        # `ApiFormat` caches messages by section, so the same section must be converted to the same section.
        self._section = lru_cache(EXAMPLES_KEPT)(
            lambda section: PromptSection(section.name, self._with_roles(section.body))
        )

    def render(self, prompt: str | PromptList, mode: Mode) -> str:
        """Return the text that the model sees; in ``gen`` mode it ends where the answer begins.

        Raises:
            PromptError: a role is unknown, the template rejects the messages, or the prompt is empty.
        """
        dialogue = self._with_roles(prompt) if isinstance(prompt, PromptList) else prompt
        messages = [Message(one.role, _text(one.content)) for one in self._messages.render(dialogue, mode)]
        text = self._opened(messages) if mode == "gen" else _joined(apply_template(self.template, messages))
        bos = self.bos()
        return bos + text.removeprefix(bos)

    def _with_roles(self, prompt: PromptList) -> PromptList:
        """Return the dialogue with a role of the template for every item."""
        return PromptList(
            self._section(piece) if isinstance(piece, PromptSection) else self._turn(piece) for piece in prompt.pieces
        )

    def _turn(self, item: Item) -> Item:
        if isinstance(item, str):
            # Without a role it would be lost. Blank texts only separate examples.
            return {"role": "HUMAN", "prompt": item} if item.strip() else item
        if ROLE_NAMES.get(str(item.get("role"))) in self._unknown_roles and "fallback_role" in item:
            return {**item, "role": item["fallback_role"]}
        return item

    def _opened(self, messages: list[Message]) -> str:
        """Return the text up to the answer. Most templates also close an empty answer, so a mark is put in its place.

        If a template replaces the assistant's text, the mark is lost, and the prompt ends before that text.
        """
        formatted = apply_template(self.template, [*messages, Message("assistant", ANSWER_MARK)], inference=True)
        before, mark, _ = _joined(formatted).rpartition(ANSWER_MARK)
        if mark:
            return before
        return _joined(formatted[:-1] if formatted and formatted[-1].role == "assistant" else formatted)


class RoleTemplateMessages:
    """Applies a role template to messages for a chat server; the messages keep their roles.

    So the instruction of a task template (`GrammarErrorCorrectionTemplate`) becomes part of the user's message, and the
    server applies the format of its model.

    Args:
        template: the role template.
        messages: the format of the messages.
    """

    def __init__(self, template: RoleTemplateInterface, messages: ApiFormat) -> None:
        self.template = template
        self._messages = messages

    def render(self, prompt: str | PromptList, mode: Mode) -> tuple[ChatMessage, ...]:
        """Return the messages with the texts of the template.

        Raises:
            PromptError: as `ApiFormat.render`, or the template rejects the messages.
        """
        messages = [
            Message("ipython" if one.role == "tool" else one.role, _text(one.content))
            for one in self._messages.render(prompt, mode)
        ]
        return tuple(
            ChatMessage("tool" if one.role == "ipython" else one.role, one.text_content)
            for one in apply_template(self.template, messages, inference=mode == "gen")
        )


def apply_template(
    template: RoleTemplateInterface, messages: list[Message], *, inference: bool = False
) -> list[Message]:
    """Call a role template.

    Raises:
        PromptError: a ready-made template rejects the messages.
        PartError: the template fails, or does not return messages.
    """
    name = f"the role template {getattr(template, '__name__', type(template).__name__)}"
    formatted: list[Message] = guarded_call(template, list[Any], name)(messages, inference=inference)
    for message in formatted:
        if not (hasattr(message, "role") and isinstance(getattr(message, "text_content", None), str)):
            raise PartError(
                f"{name} returns {message!r:.80}, which is not a message",
                where=defined_at(template),
                fix="return a list of Message",
            )
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
    """Return the BOS token as text if the tokenizer adds it to prompts; for models that add no special tokens."""
    first: Sequence[int] = tokenizer("")["input_ids"][:1]
    return tokenizer.bos_token if list(first) == [tokenizer.bos_token_id] else ""


def _text(content: Content) -> str:
    if not isinstance(content, str):
        raise PromptError(
            "a role template formats text, but the prompt has images, audio or video",
            fix="remove prompt_template of the model; OpenAIChatModel and HuggingFaceChatModel take media without it",
        )
    return content
