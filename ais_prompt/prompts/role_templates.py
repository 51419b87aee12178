"""Role templates: the text that a model was trained to see before and after each role's messages.

They are the prompt templates of torchtune. Here a `PromptTemplate` is the template of a dataset, so
``PromptTemplateInterface`` is named `RoleTemplateInterface` and ``PromptTemplate`` is named `RoleTemplate`; the
ready-made ones keep their names. Tags and messages are plain text; nothing is filled in. A `Message` is in torchtune's
form: its content is a list of parts, to which templates add text. The messages of a prompt are
`ais_prompt.types.ChatMessage`.

Source: torchtune at commit bd2a0fc (torchtune/data/_prompt_templates.py and ``_prompt_template.py`` of its models
llama2 and mistral).

Two chat formats apply them: `RoleTemplateFormat` makes one text, `RoleTemplateMessages` messages for a chat server.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final, Protocol, TypeAlias

from ais_prompt.errors import PartError, PromptError
from ais_prompt.parts import defined_at, guarded_call
from ais_prompt.prompts.api_format import ApiFormat
from ais_prompt.prompts.base import Mode
from ais_prompt.prompts.meta_template import EXAMPLES_KEPT, MetaTemplate, Slot
from ais_prompt.prompts.prompt_list import Item, PromptList, PromptSection
from ais_prompt.terminal import SILENCE
from ais_prompt.types import ChatMessage, Content

log = logging.getLogger(__name__)
log.addFilter(SILENCE)
ROLES: Final = ("system", "user", "assistant", "ipython", "tool")
"""The roles of messages; ``ipython`` and ``tool`` are answers of a tool."""
INST: Final = ("[INST] ", " [/INST] ")
"""The tags of the user's messages for Llama 2 and Mistral, spaces included."""
Part: TypeAlias = dict[str, Any]
"""``{"type": "text", "content": "..."}``, or ``{"type": "image", "content": ...}``."""


@dataclass(init=False, slots=True)
class Message:
    """One message of a conversation, in torchtune's form.

    Attributes:
        role: ``system``, ``user``, ``assistant``, ``ipython`` (the answer of a tool) or ``tool``.
        content: its parts in order; a text becomes one text part.
        masked: excluded from a training loss. Kept for templates that read it; unused here.
        ipython: the message is the assistant's call of a tool.
        eot: the message ends the turn.

    Raises:
        PromptError: a call of a tool has another role than ``assistant``, or an image.
    """

    role: str
    content: list[Part]
    masked: bool
    ipython: bool
    eot: bool

    def __init__(
        self,
        role: str,
        content: str | Sequence[Part],
        masked: bool = False,
        ipython: bool = False,
        eot: bool = True,
    ) -> None:
        self.role = role
        self.content = [text_part(content)] if isinstance(content, str) else list(content)
        self.masked = masked
        self.ipython = ipython
        self.eot = eot
        if ipython and role != "assistant":
            raise PromptError(
                f"only the assistant calls tools, not {role!r}: {self.text_content!r:.80}",
                fix="set ipython=True on messages of the assistant only",
            )
        if ipython and self.contains_media:
            raise PromptError(
                f"a call of a tool cannot hold an image: {self.text_content!r:.80}",
                fix="put the image into a message of its own",
            )

    @property
    def text_content(self) -> str:
        """The text of all parts, without a separator."""
        return "".join(part["content"] for part in self.content if part["type"] == "text")

    @property
    def contains_media(self) -> bool:
        """Whether a part is an image."""
        return any(part["type"] == "image" for part in self.content)


def text_part(text: str) -> Part:
    """Return a text as a part of a message."""
    return {"type": "text", "content": text}


class RoleTemplateInterface(Protocol):
    """The interface of a role template; inherit from it for a template that is more than a table of tags.

    Attributes:
        unknown_roles: roles that the model was not trained on; a turn with such a role takes its ``fallback_role`` if
            it has one.
    """

    unknown_roles: Collection[str] = ()

    def __call__(self, messages: list[Message], inference: bool = False) -> list[Message]:
        """Format a conversation.

        Args:
            messages: the whole conversation. For a generation prompt the last message is the assistant's, without an
                answer yet.
            inference: True for a prompt that the model continues.

        Returns:
            The messages as the model sees them; their texts are joined without a separator.

        Raises:
            PromptError: the conversation does not fit the template.
        """


class RoleTemplate(RoleTemplateInterface):
    r"""A table: role → (before, after).

    A role that is not in the table stays unchanged, and a tag that is empty or None adds nothing. As in torchtune,
    ``inference`` has no effect.

    >>> template = RoleTemplate({"user": ("Q: ", "\nA: ")})
    >>> [message.text_content for message in template([Message("user", "1+1=?"), Message("assistant", "2")])]
    ['Q: 1+1=?\nA: ', '2']

    Args:
        template: the table.

    Raises:
        PromptError: it is not a table of pairs.
    """

    def __init__(self, template: Mapping[str, Sequence[str | None]]) -> None:
        if not isinstance(template, Mapping):
            raise PromptError(
                f"a role template is a table of role → (before, after), not {template!r:.80}",
                fix="e.g. dict(user=('Question: ', '\\n'), assistant=('Answer: ', '\\n'))",
            )
        for role, tags in template.items():
            if isinstance(tags, str) or not isinstance(tags, Sequence) or len(tags) != 2:
                raise PromptError(
                    f"the tags of role {role!r} must be a pair (before, after), not {tags!r:.80}",
                    fix=f"{role!r}: ('text before', 'text after'); '' where there is none",
                )
        self.template = dict(template)
        self.unknown_roles = [role for role in ROLES if role not in template]

    def __call__(self, messages: list[Message], inference: bool = False) -> list[Message]:  # noqa: ARG002
        """Put the tags of their roles around the messages."""
        return [_tagged(message, *self.template.get(message.role, ())) for message in messages]


class ChatMLTemplate(RoleTemplateInterface):
    """OpenAI's Chat Markup Language; answers of tools have no tags.

    An empty answer at the end gets no end tag: there the model starts to write.
    """

    def __call__(self, messages: list[Message], inference: bool = False) -> list[Message]:  # noqa: ARG002
        """Put the messages between ``<|im_start|>`` and ``<|im_end|>``."""
        last = len(messages) - 1
        return [self._formatted(message, is_last=index == last) for index, message in enumerate(messages)]

    def _formatted(self, message: Message, *, is_last: bool) -> Message:
        _require_role(message, ROLES, "ChatML")
        if message.role in ("ipython", "tool"):
            return message
        unanswered = is_last and message.role == "assistant" and not message.text_content
        return _tagged(message, f"<|im_start|>{message.role}\n", None if unanswered else "<|im_end|>\n")


class MistralChatTemplate(RoleTemplateInterface):
    """Mistral Instruct v0.1 and v0.2: no system role, and tags around the user's messages only."""

    unknown_roles: Collection[str] = ("system",)

    def __call__(self, messages: list[Message], inference: bool = False) -> list[Message]:  # noqa: ARG002
        """Put the user's messages between ``[INST]`` and ``[/INST]``."""
        formatted = []
        for message in messages:
            _require_role(message, [role for role in ROLES if role not in self.unknown_roles], "Mistral")
            before, after = INST if message.role == "user" else ("", "")
            # Empty tags are parts too, as in torchtune.
            formatted.append(replace(message, content=[text_part(before), *message.content, text_part(after)]))
        return formatted


class Llama2ChatTemplate(RoleTemplateInterface):
    """Llama 2 Chat: a system message is put inside the user's next message; other roles have no tags."""

    def __call__(self, messages: list[Message], inference: bool = False) -> list[Message]:  # noqa: ARG002
        """Put the tags around the user's messages, and each system message into the user's message after it."""
        formatted: list[Message] = []
        system: list[Part] = []
        for message in messages:
            if message.role == "system":
                _warn_lost(system)
                system = [text_part("<<SYS>>\n"), *message.content, text_part("\n<</SYS>>\n\n")]
            elif message.role == "user":
                formatted.append(_tagged(replace(message, content=[*system, *message.content]), *INST))
                system = []
            else:
                formatted.append(message)
        _warn_lost(system)
        return formatted


class GrammarErrorCorrectionTemplate(RoleTemplate):
    """Instruction to correct a sentence."""

    def __init__(self) -> None:
        super().__init__({"user": ("Correct this to standard English: ", "\n---\nCorrected: ")})


class SummarizeTemplate(RoleTemplate):
    """Instruction to summarize a dialogue."""

    def __init__(self) -> None:
        super().__init__({"user": ("Summarize this dialogue:\n", "\n---\nSummary:\n")})


class QuestionAnswerTemplate(RoleTemplate):
    """Instruction to answer a question."""

    def __init__(self) -> None:
        super().__init__({"user": ("Question: ", "\n\nAnswer: ")})


def _tagged(message: Message, before: object = None, after: object = None) -> Message:
    """Return the message with text parts before and after it; a tag that is empty or not a text adds none."""
    front, back = ([text_part(tag)] if isinstance(tag, str) and tag else [] for tag in (before, after))
    return replace(message, content=[*front, *message.content, *back])


def _require_role(message: Message, known: Collection[str], name: str) -> None:
    if message.role not in known:
        raise PromptError(
            f"{name} has no role {message.role!r} (it has {', '.join(known)})",
            fix="give the turn a fallback_role that the model has, e.g. fallback_role='HUMAN'",
        )


def _warn_lost(system: Sequence[Part]) -> None:
    if system:
        log.warning(
            "Llama 2 shows a system message only inside the user's message after it; this one is lost: %r",
            "".join(str(part["content"]) for part in system[1:-1])[:80],
        )


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
