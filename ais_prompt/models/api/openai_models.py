"""Models behind servers that speak one of OpenAI's formats: chat, completions or Responses."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar
from urllib.parse import urlsplit

from ais_prompt.models.api.asking import Replica
from ais_prompt.models.api.attempt import opened
from ais_prompt.models.api.chat import CHAT, COMPLETIONS, MOST_STOPS, TOP_LOGPROBS, OpenAIEndpoint
from ais_prompt.models.api.likelihood import LikelihoodClient
from ais_prompt.models.api.log_probs import ways_of
from ais_prompt.models.api.model import ApiModel
from ais_prompt.models.api.responses import RESPONSES
from ais_prompt.models.base import PromptStyle
from ais_prompt.models.transport.network import public_address
from ais_prompt.registry import MODELS
from ais_prompt.types import Completion, LikelihoodQuery, Request


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
