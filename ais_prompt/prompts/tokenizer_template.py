"""The chat format of a tokenizer's chat template; messages with media are left to the model's processor."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec.structs import replace

from ais_prompt.errors import PromptError
from ais_prompt.prompts.format import MessagesFormat, Mode
from ais_prompt.prompts.message_media import check_taken, join_contents, note_files
from ais_prompt.prompts.prompt_list import PromptList
from ais_prompt.types import ChatMessage, Prompt
from ais_prompt.utils.roles import role_fix
from ais_prompt.utils.tool_messages import openai_json

MediaKinds: TypeAlias = Callable[[], Collection[str]]
"""Returns the media that a model accepts, of ``image``, ``audio`` and ``video``; called for prompts with media."""


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
        made = TokenizerChatFormat(self.messages, self.tokenizer, self.media_kinds)
        made.tools = tools
        made.continued = continued
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
