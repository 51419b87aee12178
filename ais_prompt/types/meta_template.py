"""Meta templates as the config gives them: checked, but token ids are not converted to text yet."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ais_prompt.types.request import ChatMessage


class RoleSpec(Struct, frozen=True):
    """A role of a meta template.

    Attributes:
        role: the name of the role in templates.
        begin, end: text before and after the prompt of the role: a text, a token id, or a list of both.
        prompt: the default prompt for a role without data; None if there is none.
        generate: True if the model starts to generate here.
        api_role: the name of the role for an API model; None if it has none.
    """

    role: str
    begin: Any = ""
    end: Any = ""
    prompt: str | None = None
    generate: bool = False
    api_role: str | None = None


class MetaTemplateSpec(Struct, frozen=True):
    """How a model formats dialogues.

    Attributes:
        config: what the config says, for digests and comparisons only.
        round: the roles of a round in order, and texts between them; None if the config has no round.
        reserved: the roles outside of rounds; None if the config does not say.
        begin, end: text before and after the prompt: text or token ids for language models, turns for API models.
        end_tokens: ids of tokens that end an answer, in addition to those of the tokenizer.
        messages: messages in OpenAI form, for a meta template that is a list of them; it has nothing else.
    """

    config: Any
    round: tuple[RoleSpec | str, ...] | None = None
    reserved: tuple[RoleSpec, ...] | None = None
    begin: Any = ""
    end: Any = ""
    end_tokens: tuple[int, ...] = ()
    messages: tuple[ChatMessage, ...] = ()
