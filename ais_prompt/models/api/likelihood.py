"""Log-likelihoods of texts from a model behind an OpenAI-compatible server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any, Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.errors import ModelError
from ais_prompt.models.api.asking import Attempt
from ais_prompt.models.api.attempt import ApiClient
from ais_prompt.models.api.chat import CHAT, OpenAIEndpoint
from ais_prompt.models.api.log_probs import (
    EMPTY,
    TOP,
    LogProbsFormat,
    TokenLogProbs,
    continued,
    read_log_probs,
    read_top,
    single_token,
    whole,
)
from ais_prompt.models.api.server_words import read_retry_after
from ais_prompt.models.likelihood_completions import NO_TOKENS, likelihood_completion
from ais_prompt.models.model_options import MaxTokensField
from ais_prompt.models.tokenizer import estimate_tokens
from ais_prompt.models.transport.base import Transport
from ais_prompt.types import Completion, Failure, Likelihood, LikelihoodQuery, Prompt, Usage

T = TypeVar("T")
PROBE: Final = "One and two are three."
"""A text whose log-likelihood is requested, to find out how a server returns log-likelihoods."""

REMEMBERED: Final = 128
"""Number of prompts whose tokens are kept in memory: the labels of a sample often follow one context."""

_UNREACHED: Final = ("unreachable", "connection", "timeout")


class LikelihoodClient:
    """Requests log-likelihoods of texts and messages. It belongs to the event loop in which it is made.

    Args:
        client: posts the bodies.
        endpoint: the endpoint of the server.
        model: name of the model.
        max_tokens_field: the body's field for the number of tokens to generate.
        ways: the ways that the server may support, in the order in which they are tried.
    """

    def __init__(
        self,
        client: ApiClient,
        endpoint: OpenAIEndpoint,
        model: str,
        max_tokens_field: MaxTokensField,
        ways: Sequence[LogProbsFormat],
    ) -> None:
        self._client = client
        self._endpoint = endpoint
        # One token is generated because many servers refuse to generate none; greedily, because some apply the
        # temperature to the prompt as well.
        self._fields = {"model": model, max_tokens_field: 1, "temperature": 0.0}
        self._ways = ways
        self._way: LogProbsFormat | None = None
        self._finding = asyncio.Lock()
        self._alone: dict[str, TokenLogProbs] = {}

    async def complete(self, prompt: Prompt, query: LikelihoodQuery, conversation: str = "") -> Completion:
        """Return the log-likelihood of a prompt, its continuation or choices. Failures are returned, not raised.

        Args:
            prompt: a text or messages.
            query: what is measured.
            conversation: as for `Dispatcher.ask`.

        Raises:
            ModelError: the server returns no log-likelihoods of such texts; found out before the first one.
            PromptError: messages for an endpoint that takes a text.
        """
        if self._endpoint is CHAT and (query.choices or query.continuation is not None):
            raise ModelError(
                "a chat server returns the log-likelihood of a whole prompt only, not of text after it",
                fix="use OpenAICompletionModel, or PPLInferencer without normalizing_str",
            )
        async with self._finding:
            if self._way is None:
                self._way = await self._find_way()
        return await self._by(self._way, prompt, query, conversation)

    async def _find_way(self) -> LogProbsFormat:
        """Find the first way that the server supports, with a short text."""
        refusals: list[str] = []
        for way in self._ways:
            failure = (await self._by(way, PROBE, LikelihoodQuery())).failure
            if failure is None:
                return way
            if failure.fatal or failure.kind in _UNREACHED:
                raise ModelError(
                    f"the server cannot be asked for log-likelihoods: {failure.kind}: {failure.message}",
                    fix="check base_url, model and key, and that the server has this kind of endpoint",
                )
            refusals.append(f"{way.name}: {failure.kind}: {failure.message}")
        raise ModelError(
            f"the server returns no log-likelihoods of prompts ({'; '.join(refusals)})",
            fix="use a server that does, such as vLLM, a local model (HuggingFaceBaseModel), or GenInferencer",
        )

    async def _by(
        self, way: LogProbsFormat, prompt: Prompt, query: LikelihoodQuery, conversation: str = ""
    ) -> Completion:
        started = perf_counter()
        asking = _Asking(way, conversation)
        try:
            completion = await self._likelihood_of(asking, prompt, query)
        except _Unanswered as error:
            completion = Completion(failure=error.failure)
        seconds = perf_counter() - started
        return replace(completion, seconds=seconds, attempts=1 + asking.repeats, replica=asking.replica)

    async def _likelihood_of(self, asking: _Asking, prompt: Prompt, query: LikelihoodQuery) -> Completion:
        if not isinstance(prompt, str):
            contents = [message.content for message in prompt]
            if not all(isinstance(content, str) for content in contents):
                return Completion(failure=Failure("cannot_score", "the prompt has images or other media", fatal=True))
            probs = await self._log_probs(asking, prompt, opens_answer=bool(query.opens_answer))
            # The server puts text around the messages, which only its tokens tell.
            return whole("".join(map(str, contents)) if probs.text is None else probs.text, probs)
        if query.choices:
            return await self._choices(asking, prompt, query.choices)
        if query.continuation is None:
            return whole(prompt, await self._log_probs(asking, prompt)) if prompt else NO_TOKENS
        if not query.continuation:
            return NO_TOKENS
        before = await self._before(asking, prompt)
        return continued(query.continuation, before, await self._log_probs(asking, prompt + query.continuation))

    async def _choices(self, asking: _Asking, prompt: str, choices: Sequence[str]) -> Completion:
        """Ask for all choices in one request if they are among the likeliest next tokens, else for each alone."""
        found = dict(await self._ask(asking, prompt, {"logprobs": TOP}, read_top))
        missing = [choice for choice in choices if choice not in found]
        before = await self._before(asking, prompt) if missing else EMPTY
        for choice in missing:
            value = single_token(choice, before, await self._log_probs(asking, prompt + choice))
            if isinstance(value, Failure):
                return Completion(failure=value)
            found[choice] = value
        log_probs = tuple(found[choice] for choice in choices)
        return likelihood_completion(Likelihood(0.0, 0, 0, 0, log_probs), Usage())

    async def _before(self, asking: _Asking, prompt: str) -> TokenLogProbs:
        """Return the tokens of a prompt without its continuation, as local models compute them."""
        if not prompt:  # servers refuse it
            return EMPTY
        if prompt not in self._alone:
            probs = await self._log_probs(asking, prompt)
            if len(self._alone) >= REMEMBERED:
                del self._alone[next(iter(self._alone))]
            self._alone[prompt] = probs
        return self._alone[prompt]

    async def _log_probs(self, asking: _Asking, prompt: Prompt, *, opens_answer: bool = False) -> TokenLogProbs:
        way = asking.way
        fields = {**way.fields, "add_generation_prompt": True} if opens_answer else way.fields
        return await self._ask(asking, prompt, fields, lambda status, body: read_log_probs(way, prompt, status, body))

    async def _ask(
        self, asking: _Asking, prompt: Prompt, fields: Mapping[str, Any], read: Callable[[int, bytes], T | Failure]
    ) -> T:
        """Read the reply; raise `_Unanswered` if that gives a failure."""
        body = {**self._fields, self._endpoint.prompt_name: self._endpoint.prompt_value(prompt), **fields}
        found: list[T] = []

        async def once(transport: Transport) -> Attempt:
            reply = await self._client.post(transport, body)
            if isinstance(reply, Failure):
                return Attempt(Completion(failure=self._client.shown(reply)))
            outcome = read(reply.status, reply.body)
            if isinstance(outcome, Failure):
                failure = self._client.shown(outcome, reply)
                return Attempt(Completion(failure=failure), read_retry_after(reply.retry_after, reply.date))
            found.append(outcome)
            return Attempt(Completion())

        completion = await self._client.dispatcher.ask(once, estimate_tokens(prompt), asking.conversation)
        asking.repeats += completion.attempts - 1
        asking.replica = completion.replica
        if completion.failure is not None:
            raise _Unanswered(completion.failure)
        return found[0]


class _Asking(Struct):
    """A text whose log-likelihood is being requested.

    Attributes:
        way: how the server returns log-probabilities.
        conversation: as for `Dispatcher.ask`.
        repeats: number of retries so far.
        replica: address that the last reply came from; empty if there is only one.
    """

    way: LogProbsFormat
    conversation: str
    repeats: int = 0
    replica: str = ""


class _Unanswered(Exception):
    """A request failed, and with it the log-likelihood of a text."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure)
        self.failure = failure
