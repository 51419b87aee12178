"""Options of models as values: how answers are sampled, how fast a server is asked, when a request is retried."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, get_args

from msgspec import Struct, field

from ais_prompt.errors import ConfigError


def check_at_least(least: int, **values: float | None) -> None:
    """Refuse arguments that are too small; None is not checked.

    Raises:
        ConfigError: names the argument and its value.
    """
    for name, value in values.items():
        if value is not None and value < least:
            raise ConfigError(
                f"{name} must be at least {least}, not {value}", fix=f"write {least} or more, or leave {name} out"
            )


def check_more_than_0(**values: float | None) -> None:
    """Refuse arguments that are 0 or less; None is not checked.

    Raises:
        ConfigError: names the argument and its value.
    """
    for name, value in values.items():
        if value is not None and not value > 0:
            raise ConfigError(f"{name} must be more than 0, not {value}", fix=f"write more than 0, or leave {name} out")


def join_stops(own: Sequence[str], asked: Iterable[str]) -> tuple[str, ...]:
    """The stop texts of a model and of a dataset, each once; empty ones would end every answer and are left out."""
    return tuple(dict.fromkeys(word for word in (*own, *asked) if word))


def first_stop(text: str, stops: Sequence[str], start: int = 0) -> int | None:
    """Return the position of the earliest stop text from ``start`` on; None if there is none."""
    return min((place for stop in stops if (place := text.find(stop, start)) >= 0), default=None)


MAX_REPLY_BYTES: Final = 64 * 2**20
"""Largest reply of a server in bytes, as it is sent and decompressed, where the config does not say."""

RampUp: TypeAlias = Literal["linear", "exponential"]
MaxTokensField: TypeAlias = Literal["max_tokens", "max_completion_tokens", "max_new_tokens"]
LogprobsVia: TypeAlias = Literal["echo", "prompt_logprobs"]

TEMPLATE_VARIABLES: Final = "chat_template_kwargs"
"""The field of a body, and the option, with variables of the chat template."""

_OWN_FIELDS: Final = ("temperature", "top_p", "seed")


class Sampling(Struct, frozen=True, kw_only=True):
    """How answers are generated. It is part of the key of every answer.

    Attributes:
        temperature: 0 answers greedily. None leaves the server's or the model's own default.
        top_p: nucleus sampling, 0 < top_p <= 1. None leaves the default. It has no effect at temperature 0.
        seed: seed of the sampling. Each repeat of a prompt has a seed of its own. None sends none.
        stop: texts that end an answer and are not part of it, besides those of the dataset.
        max_out_len: most tokens of an answer, where the dataset does not say.
        chat_template_kwargs: variables of the model's chat template, such as ``{'enable_thinking': False}`` of Qwen3. A
            server is sent them in the field of this name, which vLLM and SGLang have.
        extra: further options under the names of the server (fields of the body) or of ``generate`` in transformers.

    Raises:
        ConfigError: ``max_out_len`` is too small, ``stop`` is one text, or ``extra`` holds what has a field of its own.
    """

    temperature: float | None = 0.0
    top_p: float | None = None
    seed: int | None = None
    stop: Sequence[str] = ()
    max_out_len: int = 256
    chat_template_kwargs: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_at_least(1, max_out_len=self.max_out_len)
        if isinstance(self.stop, str):
            raise ConfigError(f"stop must be a list of texts, not {self.stop!r}", fix=f"write stop=[{self.stop!r}]")
        for name in _OWN_FIELDS:
            if name in self.extra:
                raise ConfigError(f"extra must not hold {name!r}", fix=f"write {name}=... beside extra")

    @property
    def template_variables(self) -> Mapping[str, Any]:
        """The variables of the chat template, those in ``extra`` included."""
        return {**(self.extra.get(TEMPLATE_VARIABLES) or {}), **self.chat_template_kwargs}


class Limits(Struct, frozen=True, kw_only=True):
    """How fast a server is asked, and how long a request may take. No answer depends on it.

    The names are those of AISBench and of vLLM's serving benchmark where they have them.

    Attributes:
        max_concurrency: requests in flight at most.
        timeout: seconds of one attempt, from the connection to the last byte.
        deadline: seconds of a request with all its attempts and waits. None for no limit.
        request_rate: requests that start each second. None starts each as soon as there is a place.
        burstiness: how the intervals between requests vary at a ``request_rate``: 1 as in a Poisson process, less in
            bursts, more evenly, 0 not at all. None makes them equal; in a load that is measured it means 1.
        ramp_up_strategy: ``linear`` or ``exponential``: the rate grows to ``request_rate`` in ``ramp_up_seconds``.
        ramp_up_start_rps: requests a second at the beginning of the ramp.
        ramp_up_seconds: length of the ramp in seconds.
        ramp_up_end_rps: in a load that is measured: requests a second at its end. The ramp then goes over all requests.
        interval_seed: seed of the intervals.
        use_timestamp: in a load that is measured: send each request at the ``timestamp`` of its row, in milliseconds.
        tokens_per_minute: tokens of prompts and answers together, estimated first, then corrected by what the server
            counts. None for no limit.
        max_reply_bytes: largest reply, as it is sent and decompressed, headers and all events of a stream included. A
            larger one is a failure.
        adaptive: find out how many requests at a time are good for the server, up to ``max_concurrency``.

    Raises:
        ConfigError: a number is too small, or there is no such strategy.
    """

    max_concurrency: int = 16
    timeout: float = 60.0
    deadline: float | None = None
    request_rate: float | None = None
    burstiness: float | None = None
    ramp_up_strategy: RampUp | None = None
    ramp_up_start_rps: float = 1.0
    ramp_up_seconds: float = 60.0
    ramp_up_end_rps: float | None = None
    interval_seed: int = 0
    use_timestamp: bool = False
    tokens_per_minute: float | None = None
    max_reply_bytes: int = MAX_REPLY_BYTES
    adaptive: bool = False

    def __post_init__(self) -> None:
        check_at_least(1, max_concurrency=self.max_concurrency, max_reply_bytes=self.max_reply_bytes)
        check_more_than_0(timeout=self.timeout, deadline=self.deadline, request_rate=self.request_rate)
        check_at_least(0, burstiness=self.burstiness)
        check_more_than_0(tokens_per_minute=self.tokens_per_minute, ramp_up_end_rps=self.ramp_up_end_rps)
        check_more_than_0(ramp_up_start_rps=self.ramp_up_start_rps, ramp_up_seconds=self.ramp_up_seconds)
        if self.ramp_up_strategy not in (None, *get_args(RampUp)):
            raise ConfigError(
                f"there is no ramp_up_strategy {self.ramp_up_strategy!r}", fix="write 'linear' or 'exponential'"
            )


class Retry(Struct, frozen=True):
    """How often a request that failed temporarily is sent again, and after which wait. No answer depends on it.

    The wait before retry n is random, up to ``first_wait * 2**(n-1)`` seconds, and not shorter than ``Retry-After``.

    Attributes:
        retries: retries of a request at most.
        first_wait: upper bound of the first wait in seconds.
        longest_wait: upper bound of every random wait in seconds.

    Raises:
        ConfigError: a number is below 0.
    """

    retries: int = 3
    first_wait: float = 0.5
    longest_wait: float = 30.0

    def __post_init__(self) -> None:
        check_at_least(0, retries=self.retries, first_wait=self.first_wait, longest_wait=self.longest_wait)


class Wire(Struct, frozen=True, kw_only=True):
    """Differences between servers that speak OpenAI's wire format. No answer depends on them.

    Attributes:
        stream: let answers come piece by piece, and record when the first token came and how fast the others followed.
        max_tokens_field: the body's field for ``max_out_len``; newer models of OpenAI want ``max_completion_tokens``,
            MindIE behind Triton's protocol ``max_new_tokens``.
        logprobs_via: how the server returns the log-likelihood of a text: ``prompt_logprobs`` (vLLM) or ``echo``
            (completions only). None tries both on a short text, before the first log-likelihood.
    """

    stream: bool = False
    max_tokens_field: MaxTokensField = "max_tokens"
    logprobs_via: LogprobsVia | None = None


class Loading(Struct, frozen=True, kw_only=True):
    """How transformers loads a model.

    Attributes:
        tokenizer_path: folder, GGUF file or hub id of the tokenizer; the model's own path if None.
        gguf_file: the GGUF file in the folder or repository that ``path`` names. Its weights are unpacked to ``dtype``.
        model_kwargs: further arguments of ``AutoModelForCausalLM.from_pretrained``, such as ``dtype`` (the precision:
            ``'bfloat16'``, ``'float16'``, ``'float32'``; without it that of the weights on an accelerator, and float32
            on a CPU), ``device_map`` (``'auto'`` spreads the layers over all GPUs, ``'cuda:1'`` takes one; without it
            the first of cuda, mps and cpu), ``attn_implementation`` and ``revision``. ``torch_dtype`` means ``dtype``.
        tokenizer_kwargs: further arguments of ``AutoTokenizer.from_pretrained``.
        trust_remote_code: run code that comes with the model.
    """

    tokenizer_path: str | None = None
    gguf_file: str | None = None
    model_kwargs: Mapping[str, Any] = field(default_factory=dict)
    tokenizer_kwargs: Mapping[str, Any] = field(default_factory=dict)
    trust_remote_code: bool = False


class Batching(Struct, frozen=True, kw_only=True):
    """How much a local model computes at a time, and how much it keeps.

    Attributes:
        batch_size: prompts that are read at a time. Up to twice as many answers are computed at a time,
            in the memory of so many answers of full length.
        prefix_cache_tokens: most tokens whose keys and values are kept for other texts that begin like them: the common
            beginning in log-likelihoods, earlier prompts and answers in generation. 0 computes every text on its own.

    Raises:
        ConfigError: a number is too small.
    """

    batch_size: int = 8
    prefix_cache_tokens: int = 8192

    def __post_init__(self) -> None:
        check_at_least(1, batch_size=self.batch_size)
        check_at_least(0, prefix_cache_tokens=self.prefix_cache_tokens)
