"""What the program expects of a model. Any object with these methods will do; there is nothing to inherit.

A model is cheap to make: weights, tokenizers and connections are opened when they are first needed, so prompts can be
viewed and configs checked without them. What a model can do is asked of the object, never of its name: it answers
batches (`BatchModel`) or single requests side by side (`AsyncModel`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from ais_prompt.types import Activity, Completion, Decoding, Prompt, Request

PromptStyle: TypeAlias = Literal["text", "messages", "chat_template"]
"""What a model wants to be given:

- ``text``: one string, shaped by the rules for language models;
- ``messages``: messages in OpenAI form;
- ``chat_template``: messages, rendered to one string with the chat template of the model's own tokenizer.
"""


@runtime_checkable
class Model(Protocol):
    """What every model has.

    Attributes:
        prompt_style: what kind of prompt it wants.
        max_out_len: most tokens to generate where the dataset does not say.
        max_seq_len: most tokens of a prompt, as in OpenCompass: in-context examples are left out until it has no more,
            and a prompt that is still longer is answered with the failure ``too_long``. None if there is no limit.
    """

    prompt_style: PromptStyle
    max_out_len: int
    max_seq_len: int | None

    def identity(self) -> Mapping[str, Any]:
        """All that decides its answers, as plain JSON values without secrets; part of the key of every answer.

        The way to it (address, client, timeouts, devices) does not belong here.
        """

    def decoding(self, max_out_len: int | None, stop: Sequence[str]) -> Decoding:
        """How it will generate: its own settings, with the dataset's ``max_out_len`` and ``stop`` put in."""

    def tokenizer(self) -> Any | None:
        """A Hugging Face tokenizer without loading weights; None if the model has none at hand.

        Raises:
            ModelError: there should be one and it cannot be loaded.
        """

    def count_tokens(self, prompt: Prompt) -> int | None:
        """Tokens of a prompt as it is sent, special tokens included; None if no tokenizer is known."""

    def preflight(self) -> None:
        """See, before any work is done, whether it surely cannot be used. Nothing is loaded and nobody is asked.

        Raises:
            ModelError: its files, its packages or its key are not there.
        """

    def close(self) -> None:
        """Free memory and connections. May be called more than once."""


@runtime_checkable
class TokenizingModel(Protocol):
    """A model that can tell the tokens of a prompt."""

    def tokenizer(self) -> Any | None:
        """As `Model.tokenizer`."""

    def encode(self, prompt: Prompt) -> Sequence[int] | None:
        """Ids of the tokens of a prompt as it is sent, special tokens included; None if no tokenizer is known.

        Raises:
            ModelError: its tokenizer cannot be loaded.
            PromptError: its chat template refuses the prompt.
        """


@runtime_checkable
class MediaModel(Protocol):
    """A model in this process's memory that may take images, sound or film besides text."""

    def media_kinds(self, *, offline: bool = False) -> frozenset[str]:
        """What it takes, of ``image``, ``audio`` and ``video``; empty if it takes text only.

        Args:
            offline: download nothing: a model that is not on this machine is taken to take everything.

        Raises:
            ModelError: what is needed to read media cannot be loaded.
            MissingExtra: a package for it is not installed.
        """


@runtime_checkable
class BatchModel(Model, Protocol):
    """A model that answers many requests in one call, such as one in this process's memory.

    Attributes:
        batch_size: requests in one call at most.
    """

    batch_size: int

    def load(self) -> None:
        """Open whatever is heavy (weights). Called once before the first batch.

        Raises:
            ModelError: it cannot be loaded.
        """

    def generate(self, requests: Sequence[Request]) -> list[Completion]:
        """One completion for each request, in the same order; all requests share one `Decoding`."""


@runtime_checkable
class LikelihoodModel(Protocol):
    """A batch model that can also tell how likely a text is. An async model does so in `AsyncModel.complete`."""

    def log_likelihoods(self, requests: Sequence[Request]) -> Iterator[tuple[int, Completion]]:
        """The likelihood of each request; every ``decoding`` is a `LikelihoodQuery`.

        There may be any number of requests: the model makes batches of them as it likes, and what their prompts have
        in common is to be computed once. Failures are returned, not raised.

        Yields:
            Numbers of requests and their completions, each as soon as it is found, in any order.
        """


@runtime_checkable
class AsyncModel(Model, Protocol):
    """A model behind an API, that is asked many things at the same time.

    Attributes:
        max_concurrency: requests in flight at most.
    """

    max_concurrency: int

    async def open(self) -> None:
        """Make connections ready in the running event loop.

        Raises:
            ModelError: the model cannot be used at all (no key in the environment, for example).
        """

    async def complete(self, request: Request) -> Completion:
        """The answer to one request, retries included. Failures are returned, not raised.

        A request whose ``decoding`` is a `LikelihoodQuery` is answered with a likelihood.

        Raises:
            ModelError: it cannot be used for such requests, such as a server that cannot score texts.
        """

    def activity(self) -> Activity:
        """What is going on in this moment, for whoever watches."""

    async def aclose(self) -> None:
        """Close the connections of this event loop."""
