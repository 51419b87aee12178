"""Language models behind servers: the base of all of them, whatever their wire format."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, Unpack

from msgspec.structs import replace

from ais_prompt.catalog import Api
from ais_prompt.errors import ConfigError, ModelError
from ais_prompt.models.api.addresses import Defaults, ProviderName, find_provider, only_model, read_addresses
from ais_prompt.models.api.asking import Dispatcher, Replica, traffic_at
from ais_prompt.models.api.attempt import ApiClient, WireFormat, opened
from ais_prompt.models.api.stream import StreamReader
from ais_prompt.models.base import GIVEN, PromptStyle
from ais_prompt.models.flat_options import (
    LimitsOption,
    RetryOption,
    SamplingOption,
    ServedNames,
    WireOption,
    check_body,
    check_options,
    read_option,
    read_retry,
    refuse_unknown,
)
from ais_prompt.models.model_options import (
    TEMPLATE_VARIABLES,
    Limits,
    Sampling,
    Wire,
    check_at_least,
    first_stop,
    join_stops,
)
from ais_prompt.models.server.server_options import HOST, ServerOption, read_server
from ais_prompt.models.thoughts import THINK_TAGS, ThinkTags, check_think_tags, split_reasoning
from ais_prompt.models.tokenizer import estimate_tokens, load_tokenizer, prompt_token_ids, refuse_too_long
from ais_prompt.models.transport.base import ClientOption, Moments, Server, WatchedTransport, read_client
from ais_prompt.models.transport.credentials import (
    DEFAULT_VARIABLE,
    VariableName,
    account_of,
    check_variable_name,
    key_words,
    read_key,
    request_headers,
    resolve_address,
    resolve_fields,
    resolve_headers,
)
from ais_prompt.models.transport.network import (
    allow_connections,
    check_address,
    check_environment,
    forget_connections,
    public_address,
    without_login,
)
from ais_prompt.types import Activity, Completion, Decoding, Failure, LikelihoodQuery, Prompt, Request

if TYPE_CHECKING:
    from ais_prompt.models.server.instance import ServerInstance
    from ais_prompt.models.server.started import SharedServers, StartedServers

_KEEP_STOP: Final = ("include_stop_str_in_output", "no_stop_trim")
"""Fields with which vLLM and SGLang are asked to keep the stop text that ended an answer."""


class ApiModel:
    """The base of models behind an API. A subclass names its endpoint, which knows the wire format.

    Args:
        model: name of the model, as the server knows it. An empty name means the only model that the server lists; the
            server is asked before the first request.
        base_url: address of the server up to its version, ``http://127.0.0.1:8000/v1``; if None the environment's
            ``OPENAI_BASE_URL``, or else that of OpenAI. A list names replicas, servers of the same model: the least
            loaded one gets the next request.
        api_key: NAME of the environment variable that holds the key; None for a server that wants none. A server on
            this machine is sent none if ``OPENAI_API_KEY`` is meant and not set.
        sampling: how answers are generated. Fields of the body that have no name here are ``extra``.
        limits: how fast each server is asked, and how long a request may take.
        retry: how often a request that failed temporarily is sent again: no connection, timeout, broken reply, HTTP
            408, 409, 425, 429 and 5xx. A number is that of the retries.
        wire: what differs between servers: streaming, names of fields.
        client: what sends the requests: ``aiohttp``, ``openai``, a class of the openai package, or the dotted path of a
            `Transport`; with arguments as a dict with ``type``.
        headers: sent with every request; their values are kept as secret as the key, and may name environment
            variables: ``{'X-Tenant': '$TENANT'}``.
        body_fields: fields of every request that change no answer, such as ``{'user': '$TEAM'}`` for the bill; texts
            may name variables, whose values are kept secret. They do not count for the key of an answer.
        max_seq_len: most tokens of a prompt; in-context examples are left out until it has no more. None leaves all in.
        tokenizer_path: folder or hub id of the model's tokenizer, to count tokens; without it they are not counted.
        think_tags: the tags that open and close the reasoning at the beginning of an answer, which is separated from
            the answer. By default all forms of `ais_prompt.models.thoughts` are known; None leaves it in. A server
            may still return reasoning in a field of its own.
        identity: a name of your own for exactly this model, wherever it is served: the cache across runs then takes
            answers from any address. It is part of the key of every answer.
        provider: a name in `ais_prompt.catalog.PROVIDERS`, such as ``deepseek``: its address and the variable of its
            key are the defaults of ``base_url`` and ``api_key``.
        server: the server that is started for this model, in place of ``base_url``: the name of a preset (``vllm``,
            ``sglang``, ``transformers``) or a dict of `ais_prompt.models.server.server_options.ServerOptions`.
        num_gpus: GPUs of that server; in a config ``run_cfg=dict(num_gpus=...)``.
        flat: fields of the values under their flat names.

    Raises:
        ConfigError: ``base_url`` is an empty list or names a server twice, ``api_key`` is the key itself, there is an
            address beside ``server``, a value is wrong or given in both forms, the API has no such option,
            ``sampling.extra`` or ``body_fields`` hold what has an option of its own or cannot be sent as JSON, or
            ``think_tags`` are not two texts.
    """

    prompt_style: PromptStyle = "messages"
    endpoint: ClassVar[WireFormat]
    api: ClassVar[Api] = "openai"
    defaults: ClassVar[Defaults] = Defaults("openai", "OPENAI_BASE_URL", DEFAULT_VARIABLE)
    wire_options: ClassVar[tuple[str, ...]] = ("stream",)
    has_seed: ClassVar[bool] = False
    has_likelihoods: ClassVar[bool] = False
    knows_stop_tokens: bool = False
    most_stops: int | None = None

    def __init__(
        self,
        model: str,
        base_url: str | Sequence[str] | None = None,
        api_key: VariableName = DEFAULT_VARIABLE,
        *,
        sampling: SamplingOption = None,
        limits: LimitsOption = None,
        retry: RetryOption = 3,
        wire: WireOption = None,
        client: ClientOption = "aiohttp",
        headers: Mapping[str, str] | None = None,
        body_fields: Mapping[str, Any] | None = None,
        max_seq_len: int | None = None,
        tokenizer_path: str | None = None,
        think_tags: ThinkTags = THINK_TAGS,
        identity: str | None = None,
        provider: ProviderName = None,
        server: ServerOption = None,
        num_gpus: int | None = None,
        **flat: Unpack[ServedNames],
    ) -> None:
        refuse_unknown(type(self).__name__, flat, ServedNames)
        check_at_least(1, max_seq_len=max_seq_len)
        self.model = model
        self.client = read_client(client)
        if api_key == DEFAULT_VARIABLE:
            api_key = self.defaults.key_variable if provider is None else find_provider(provider, self.api).key
        if provider is not None:
            base_url = base_url or find_provider(provider, self.api).base_url
        self.server = None if server is None else read_server(server, model, num_gpus)
        if self.server is not None:
            if base_url is not None:
                what = "base_url or provider cannot be given beside server, which has an address of its own"
                raise ConfigError(what, where="server", fix="remove one of them")
            base_url, api_key = f"http://{HOST}/v1", None if api_key == self.defaults.key_variable else api_key
        self.base_urls = self._addresses(base_url)
        self.api_key = self.client.key_variable(check_variable_name(api_key))
        self.sampling = self._read_sampling(sampling, flat)
        self.limits = read_option("limits", Limits, limits, flat)
        self.retry = read_retry(retry)
        self.wire = read_option("wire", Wire, wire, flat)
        self.max_out_len = self.sampling.max_out_len
        self.max_concurrency = self.limits.max_concurrency * len(self.base_urls)
        self.max_seq_len = max_seq_len
        self.tokenizer_path = tokenizer_path
        self.headers = dict(headers or {})
        self.body_fields = dict(body_fields or {})
        self.think_tags = check_think_tags(think_tags)
        self.given_identity = identity
        check_body(self.sampling, self.body_fields, model)
        self._check_options()
        self._tokenizer: Any = None
        self._tokenizer_fault: ModelError | None = None
        self._client: ApiClient | None = None
        self._servers: StartedServers | None = None
        self._shared: SharedServers | None = None
        self._following: asyncio.Task[None] | None = None
        self._server_name = model
        self._connections = 0
        self._starting: asyncio.Lock | None = None

    def identity(self) -> Mapping[str, Any]:
        """Return which model it is. How it generates is part of each request; how it is reached does not count."""
        given = {} if self.given_identity is None else {GIVEN: self.given_identity}
        return {"type": type(self).__name__, "model": self.model, "think_tags": self.think_tags, **given}

    @property
    def address(self) -> str:
        """The base URL, without secrets; those of replicas in alphabetical order, separated by a comma.

        Of servers that are started it is the command, since their ports are random.
        """
        return ", ".join(sorted(map(public_address, self.base_urls))) if self.server is None else self.server.shown

    @property
    def account(self) -> str:
        """Who asks there, as a digest; empty without a login.

        Raises:
            ModelError: there is no key, or a header cannot be sent.
        """
        servers = () if self.server is not None else map(self._server, self.base_urls)
        return ", ".join(sorted(filter(None, {account_of(server.headers) for server in servers})))

    def decoding(self, max_out_len: int | None, stop: Sequence[str]) -> Decoding:
        """Return the model's ``sampling``, with the dataset's ``max_out_len`` and ``stop`` put in."""
        sampling = self.sampling
        variables = sampling.template_variables
        return Decoding(
            max_out_len=sampling.max_out_len if max_out_len is None else max_out_len,
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            stop=join_stops(sampling.stop, stop),
            seed=sampling.seed,
            extra={**sampling.extra, **({TEMPLATE_VARIABLES: variables} if variables else {})},
        )

    def preflight(self) -> None:
        """Check all that can be checked without sending anything.

        Raises:
            ConfigError: the transport does not accept the arguments of ``client``.
            ModelError: there is no key, ``base_url`` is not an address, a variable is not set, or a header, a proxy or
                a file of certificates cannot be used; or there is no folder of the tokenizer.
        """
        if self.tokenizer_path:  # a hub id is not looked up
            from ais_prompt.models.huggingface.library import local_path

            local_path(self.tokenizer_path, "tokenizer")
        if self.server is not None and not self.server.options.shared:
            self.server.preflight()
        for base_url in self.base_urls:
            check_address(base_url)
        self.client.check()
        resolve_fields(self.body_fields)
        for base_url in self.base_urls:
            self._server(base_url)
            check_environment(base_url)

    def only_model(self) -> str:
        """Ask the first server for the name of its only model.

        Raises:
            ConfigError: it has several.
            ModelError: it does not answer or lists none, or the key or the address cannot be used.
        """
        return only_model(resolve_address(self.base_urls[0]), self.api_key, resolve_headers(self.headers), self.api)

    def start_with(self, servers: StartedServers, name: str) -> None:
        """Let the servers of a run start the server of this model when it is opened."""
        self._servers, self._server_name = servers, name

    def close(self) -> None:
        """Do nothing: no connection outlives the event loop, see `aclose`."""

    async def open(self) -> None:
        """Open the transports. Nothing is sent yet, and servers are started with the first request only.

        Raises:
            ModelError: as `preflight`, or no run starts the server.
        """
        self.preflight()
        self._starting = asyncio.Lock()
        # It runs somewhere already.
        if self.server is None:
            self._connect([self._replica(base_url) for base_url in self.base_urls])
        elif self._servers is None:
            raise ModelError("only a run starts the server of a model", fix="start it yourself, and write base_url")
        # Other machines start it, and announce where it is.
        elif self._servers.announced is not None and self.server.options.shared:
            from ais_prompt.models.server.started import SharedServers

            self._shared = SharedServers(self._servers.announced, self.server, self._server_name)
            await asyncio.to_thread(self._shared.look)
            self._count_places(len(self._shared.addresses))
        # This run starts it with the first request, when a GPU is free.
        else:
            self._count_places(self._servers.replicas(self.server))
        allow_connections(self.max_concurrency)
        self._connections = self.max_concurrency

    def check_request(self, request: Request) -> None:
        """Check a request as far as possible without sending it.

        Raises:
            ModelError: it asks for log-likelihoods, and the API returns none.
            PromptError: the API does not take such a prompt.
            DataError: a local file in the prompt cannot be read.
        """
        if not isinstance(request.decoding, LikelihoodQuery):
            self.endpoint.body(self.model, request, self.wire)
        elif not self.has_likelihoods:
            raise self._no_likelihoods()

    def sent(self, request: Request) -> tuple[str, Mapping[str, Any]]:
        """Return the URL of a request for a text, without secrets, and its body as plain JSON values.

        Variables in ``body_fields`` stay as they are written.

        Raises:
            PromptError, DataError: as `WireFormat.body`.
        """
        first = self.address.partition(", ")[0]
        body = self.endpoint.body(self.model, request, self.wire)
        return f"{first}/{self.endpoint.path}", {**body, **self.body_fields}

    async def complete(self, request: Request) -> Completion:
        """Answer one request, retries included. Failures are returned, not raised.

        Raises:
            ModelError: `open` was not called, the server cannot be started, or it returns no log-likelihoods and one is
                requested.
            PromptError: the endpoint does not take such a prompt.
        """
        # Too long: known here already, so it costs no request.
        if failure := self.refusal(request.prompt):
            return Completion(failure=failure)
        if self._client is None:  # the first request starts the server of this model; others wait for it
            await self.start()
        if isinstance(request.decoding, LikelihoodQuery):
            return await self._log_likelihood(request, request.decoding)
        assert isinstance(request.decoding, Decoding)  # the engine runs programs itself
        body = self.endpoint.body(self.model, request, self.wire)
        counts = self.limits.tokens_per_minute is not None
        tokens = estimate_tokens(request.prompt) + request.decoding.max_out_len if counts else 0
        # Asked, by `Dispatcher`: the sample is the conversation, whose turns stay on one replica.
        client = opened(self._client)
        completion = await client.dispatcher.ask(partial(client.once, body), tokens, request.sample_id)
        return self.finish(completion, request)

    async def start(self) -> None:
        """Start the server of this model, if a run starts it and it does not run yet; later requests wait for that.

        Raises:
            ModelError: it cannot be started.
        """
        if self.server is None or self._client is not None:
            return
        async with opened(self._starting):
            if self._client is None and self._shared is not None:
                await self._shared.wait()
                self._connect([self._replica(address) for address in self._shared.addresses])
                self._following = asyncio.create_task(self._shared.follow(self._change_servers))
            elif self._client is None:
                instances = await opened(self._servers).use(self.server, self._server_name)
                self._connect([self._replica(instance.base_url, instance) for instance in instances])

    async def complete_once(self, request: Request, moments: Moments) -> tuple[Completion, StreamReader | None]:
        """Answer one request in one attempt, past all limits and without retries; `start` was called before.

        Args:
            request: a text to be continued, or messages.
            moments: notes the steps.

        Returns:
            The answer or failure, and the reader that has the events of a streamed answer.

        Raises:
            PromptError: the endpoint does not take such a prompt.
        """
        if failure := self.refusal(request.prompt):
            return Completion(failure=failure), None
        body = self.endpoint.body(self.model, request, self.wire)
        completion, reader = await opened(self._client).generate_once(body, moments)
        return self.finish(completion, request), reader

    def finish(self, completion: Completion, request: Request) -> Completion:
        """Finish an answer where the server did not: separate its reasoning, cut what follows at stop texts."""
        assert isinstance(request.decoding, Decoding)
        answered = split_reasoning(completion, request.prompt, self.think_tags)
        if not request.decoding.stop or any(request.decoding.extra.get(name) for name in _KEEP_STOP):
            return answered
        # Some APIs have no stop texts or only a few, and some servers keep the stop text that ended an answer.
        end = first_stop(answered.text, request.decoding.stop)
        return answered if end is None else replace(answered, text=answered.text[:end], finish_reason="stop")

    async def aclose(self) -> None:
        """Close the connections of this event loop."""
        forget_connections(self._connections)
        self._connections = 0
        if self._following is not None:
            self._following.cancel()
        if self._client is not None:
            client, self._client = self._client, None
            await client.dispatcher.close()
            if self._shared is not None:
                self._shared = None
            elif self.server is not None and self._servers is not None:
                await self._servers.leave(self.server)

    def activity(self) -> Activity:
        """Return the requests in flight, and why the others wait."""
        return Activity() if self._client is None else self._client.dispatcher.activity()

    def tokenizer(self) -> Any | None:
        """Return the tokenizer of ``tokenizer_path``, loaded once, if it can be; None without one.

        Raises:
            ModelError: the tokenizer cannot be loaded.
        """
        if self._tokenizer_fault is not None:  # without a network, each attempt would take a minute
            raise self._tokenizer_fault
        if self._tokenizer is None and self.tokenizer_path:
            variables = self.sampling.template_variables
            try:
                self._tokenizer = load_tokenizer(self.tokenizer_path, {}, variables, trust_remote_code=False)
            except ModelError as fault:
                self._tokenizer_fault = fault
                raise
        return self._tokenizer

    def count_tokens(self, prompt: Prompt) -> int | None:
        """Count the tokens of a prompt as the server will see it; None if that is unknown here.

        Raises:
            ModelError: the tokenizer cannot be loaded.
            PromptError: the chat template refuses the messages, or a completion model was given messages.
        """
        ids = self.encode(prompt)
        return None if ids is None else len(ids)

    def encode(self, prompt: Prompt) -> list[int] | None:
        """Return the token ids of a prompt as the server will see it; None if they are unknown here.

        Raises:
            ModelError, PromptError: as `count_tokens`.
        """
        tokenizer = self.tokenizer()
        return None if tokenizer is None else prompt_token_ids(tokenizer, self.endpoint.prompt_value(prompt))

    def refusal(self, prompt: Prompt) -> Failure | None:
        """Return the failure of a prompt that is too long; None if it fits, or if only the server can know."""
        tokens = self.count_tokens(prompt) if self.max_seq_len is not None else None
        return None if tokens is None else refuse_too_long(tokens, self.max_seq_len)

    def _connect(self, replicas: Sequence[Replica]) -> None:
        dispatcher = Dispatcher(replicas, self.retry, self.limits.deadline)
        fields = resolve_fields(self.body_fields)
        login = key_words(self.api_key, replicas[0].address) if replicas and not self.headers else ""
        self._client = ApiClient(self.endpoint, dispatcher, stream=self.wire.stream, fields=fields, login=login)

    async def _log_likelihood(self, request: Request, query: LikelihoodQuery) -> Completion:  # noqa: ARG002
        """Answer a request for a log-likelihood, if the API has them.

        Raises:
            ModelError: it has none.
        """
        raise self._no_likelihoods()

    def _no_likelihoods(self) -> ModelError:
        what = f"{type(self).__name__} returns no log-likelihoods, which this inferencer asks for"
        return ModelError(what, fix="use GenInferencer, or OpenAICompletionModel with a server such as vLLM")

    def _addresses(self, base_url: str | Sequence[str] | None) -> tuple[str, ...]:
        """Return the addresses of the servers, up to their version."""
        return read_addresses(base_url, self.client, self.model, self.defaults)

    def _read_sampling(self, sampling: SamplingOption, flat: Mapping[str, Any]) -> Sampling:
        """Return the value of ``sampling``, or of its flat names."""
        return read_option("sampling", Sampling, sampling, flat)

    def _check_options(self) -> None:
        """Refuse options that the API does not have.

        Raises:
            ConfigError: names the option.
        """
        check_options(type(self).__name__, self.wire, self.sampling, self.wire_options, has_seed=self.has_seed)

    def _change_servers(self) -> None:
        """Ask the shared servers that are announced now."""
        assert self._shared is not None
        dispatcher = opened(self._client).dispatcher
        known = {replica.address: replica for replica in dispatcher.replicas}
        addresses = self._shared.addresses
        self._count_places(len(addresses))
        dispatcher.change([known.get(public_address(one)) or self._replica(one) for one in addresses])

    def _count_places(self, servers: int) -> None:
        """Let every one of so many servers have ``max_concurrency`` requests."""
        self.max_concurrency = self.limits.max_concurrency * max(1, servers)

    def _replica(self, base_url: str, instance: ServerInstance | None = None) -> Replica:
        """Open the transport of one server; ``instance`` is its process, if it was started."""
        server = self._server(base_url)
        transport = self.client.open(server)
        if watcher := instance or self._shared:
            transport = WatchedTransport(transport, watcher.watched)
        address = public_address(base_url)
        traffic = traffic_at(address, self.limits, account_of(server.headers))
        if self._shared is not None:
            traffic.outage.answered()  # it was ready when it was announced: that it is away is no fault of the config
        return Replica(address, transport, traffic)

    def _server(self, base_url: str) -> Server:
        """Return the server at an address, as transports take it.

        Raises:
            ModelError: there is no key, or a header cannot be sent.
        """
        key = read_key(self.api_key, base_url)
        address = resolve_address(base_url)
        headers = request_headers(address, key, resolve_headers(self.headers), self.api)
        return Server(
            without_login(address), headers, key, self.model, self.limits.timeout, self.limits.max_reply_bytes
        )
