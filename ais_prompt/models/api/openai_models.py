"""Models behind servers that speak one of OpenAI's formats: chat, completions or Responses.

`LikelihoodClient` requests log-likelihoods of texts from the servers of the two older formats.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from time import perf_counter
from typing import Any, ClassVar, Final, TypeVar
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.errors import ModelError
from ais_prompt.models.api.asking import Attempt, Replica
from ais_prompt.models.api.attempt import ApiClient, opened
from ais_prompt.models.api.chat import CHAT, COMPLETIONS, MOST_STOPS, TOP_LOGPROBS, OpenAIEndpoint
from ais_prompt.models.api.log_probs import (
    EMPTY,
    TOP,
    LogProbsFormat,
    TokenLogProbs,
    continued,
    read_log_probs,
    read_top,
    single_token,
    ways_of,
    whole,
)
from ais_prompt.models.api.model import ApiModel
from ais_prompt.models.api.responses import RESPONSES
from ais_prompt.models.api.server_words import read_retry_after
from ais_prompt.models.base import PromptStyle
from ais_prompt.models.likelihood_completions import NO_TOKENS, likelihood_completion
from ais_prompt.models.model_options import MaxTokensField
from ais_prompt.models.tokenizer import estimate_tokens
from ais_prompt.models.transport.base import Transport
from ais_prompt.models.transport.network import public_address
from ais_prompt.registry import MODELS
from ais_prompt.types import Completion, Failure, Likelihood, LikelihoodQuery, Prompt, Request, Usage

T = TypeVar("T")
PROBE: Final = "One and two are three."
"""A text whose log-likelihood is requested, to find out how a server returns log-likelihoods."""

REMEMBERED: Final = 128
"""Number of prompts whose tokens are kept in memory: the labels of a sample often follow one context."""

_UNREACHED: Final = ("unreachable", "connection", "timeout")


class OpenAIModel(ApiModel):
    """The base of chat and completion models. Answers are greedy unless ``sampling`` says otherwise.

    Making one costs nothing and sends nothing::

        OpenAIChatModel("my-model", sampling=Sampling(temperature=0.6), limits=Limits(timeout=90), retry=5)

    In a config the values are dicts, ``sampling=dict(temperature=0.6)``, or their fields have flat names, as in
    OpenCompass and AISBench: ``max_out_len=512``, ``max_concurrency=64`` (`ais_prompt.models.flat_options`).

    Raises:
        ConfigError: ``base_url`` is an empty list or names a server twice, ``api_key`` is the key itself, there is an
            address beside ``server``, a value is wrong or given in both forms, ``sampling.extra`` holds what has an
            option of its own or cannot be sent as JSON, or ``think_tags`` are not two texts.
    """

    sends_fields = frozenset({"response_format", "tools", "tool_choice", TOP_LOGPROBS})
    endpoint: ClassVar[OpenAIEndpoint]
    wire_options = ("stream", "max_tokens_field", "logprobs_via")
    has_seed = True
    has_likelihoods = True
    most_stops = MOST_STOPS

    _likelihoods: LikelihoodClient | None = None

    @cached_property
    def knows_stop_tokens(self) -> bool:  # type: ignore[override]
        """Whether the server accepts ``stop_token_ids``, as vLLM and SGLang do; OpenAI and Azure refuse the field."""
        hosts = (urlsplit(public_address(url)).hostname or "" for url in self.base_urls)
        return not any(host.endswith(("openai.com", "azure.com")) for host in hosts)

    def _check_options(self) -> None:
        super()._check_options()
        self._ways = ways_of(self.endpoint, self.wire.logprobs_via)

    def _connect(self, replicas: Sequence[Replica]) -> None:
        super()._connect(replicas)
        self._likelihoods = LikelihoodClient(
            opened(self._client), self.endpoint, self.model, self.wire.max_tokens_field, self._ways
        )

    async def _log_likelihood(self, request: Request, query: LikelihoodQuery) -> Completion:
        return await opened(self._likelihoods).complete(request.prompt, query, request.sample_id)

    async def aclose(self) -> None:
        """Close the connections of this event loop."""
        self._likelihoods = None
        await super().aclose()


@MODELS.register_module()
class OpenAIChatModel(OpenAIModel):
    """A chat model: messages are posted to ``{base_url}/chat/completions``."""

    endpoint = CHAT


@MODELS.register_module()
class OpenAICompletionModel(OpenAIModel):
    """A model that continues a text: prompts are posted to ``{base_url}/completions``."""

    prompt_style: PromptStyle = "text"
    endpoint = COMPLETIONS


@MODELS.register_module()
class OpenAIResponsesModel(ApiModel):
    """A chat model behind OpenAI's Responses API: messages are posted to ``{base_url}/responses``.

    The API has no ``max_tokens_field``, ``logprobs_via`` and ``seed``. Answers are not stored on the server, unless
    ``generation_kwargs`` says ``store=True``.
    ``generation_kwargs=dict(reasoning_effort='high')`` means ``reasoning=dict(effort='high')``. The API has no stop
    texts: answers are cut at them here.
    """

    sends_fields = frozenset({"tools", "tool_choice"})
    endpoint = RESPONSES


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
