"""Local language models, with Hugging Face transformers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar, Final, Unpack

from ais_prompt.errors import PromptError
from ais_prompt.models.base import PromptStyle
from ais_prompt.models.flat_options import (
    EXTRA,
    BatchingOption,
    LoadingOption,
    LocalNames,
    SamplingOption,
    read_option,
    refuse_taken,
    refuse_unknown,
)
from ais_prompt.models.huggingface.generation import TAKEN_OPTIONS, Generator, is_sampling, without_sampling
from ais_prompt.models.huggingface.library import (
    bisect_on_failure,
    check_generation_options,
    fingerprint,
    free_accelerator,
    load_network,
    local_path,
    pretrained_source,
)
from ais_prompt.models.huggingface.local_likelihood import LikelihoodComputer, TokenRow, query_row
from ais_prompt.models.huggingface.processor import MediaProcessor, load_processor, media_in
from ais_prompt.models.model_options import TEMPLATE_VARIABLES, Batching, Loading, Sampling, join_stops
from ais_prompt.models.thoughts import THINK_TAGS, ThinkTags, check_think_tags, split_reasoning
from ais_prompt.models.tokenizer import encode, load_tokenizer, refuse_too_long
from ais_prompt.registry import MODELS
from ais_prompt.types import Completion, Decoding, Failure, LikelihoodQuery, Prompt, Request
from ais_prompt.utils import KINDS, counted, digest, require_installed

_SECRETS: Final = {"token", "use_auth_token"}


@MODELS.register_module()
class HuggingFaceBaseModel:
    """A causal language model that continues a text. Answers are greedy unless ``sampling`` says otherwise.

    Making one costs nothing: the tokenizer is opened when it is first needed, the weights by `load`::

        HuggingFaceBaseModel("./my-model", sampling=Sampling(max_out_len=512), batching=Batching(batch_size=16))

    In a config the values are dicts, ``batching=dict(batch_size=16)``, or their fields have flat names, as in
    OpenCompass and AISBench: ``batch_size=16`` (`ais_prompt.models.flat_options`).

    Args:
        path: the model's folder, its GGUF file, or else a hub id, which is downloaded. ``package:name/x.gguf`` is a
            file of an installed Python package.
        sampling: how answers are generated. Options of ``generate`` that have no name here are ``extra``.
        loading: what is loaded, and how.
        batching: how much is computed at a time, and how much is kept.
        max_seq_len: most tokens of a prompt; in-context examples are left out until it has no more. None leaves all
            in. Prompt and answer together never have more than the model's ``max_position_embeddings``.
        think_tags: the tags that open and close the reasoning at the beginning of an answer, which is separated from
            the answer. By default all forms of `ais_prompt.models.thoughts` are known; None leaves it in.
        flat: fields of the values under their flat names.

    Raises:
        ConfigError: a value is wrong or given in both forms, ``sampling.extra`` holds what has an option of its own,
            or ``think_tags`` are not two texts.
    """

    prompt_style: PromptStyle = "text"
    adds_special_tokens: ClassVar[bool] = True
    takes_media: ClassVar[bool] = False

    def __init__(
        self,
        path: str,
        *,
        sampling: SamplingOption = None,
        loading: LoadingOption = None,
        batching: BatchingOption = None,
        max_seq_len: int | None = None,
        think_tags: ThinkTags = THINK_TAGS,
        **flat: Unpack[LocalNames],
    ) -> None:
        refuse_unknown(type(self).__name__, flat, LocalNames)
        # Where no flat name gives a temperature, another option may ask to sample, at the model's own temperature.
        self.sampling = read_option("sampling", Sampling, sampling, flat, temperature=None)
        self.loading = read_option("loading", Loading, loading, flat)
        self.batching = read_option("batching", Batching, batching, flat)
        self._gguf_file = self.loading.gguf_file
        if self._gguf_file and Path(path).expanduser().is_dir():
            path, self._gguf_file = f"{path}/{self._gguf_file}", None
        self.path = path
        self.tokenizer_path = self.loading.tokenizer_path or path
        self.max_seq_len = max_seq_len
        self.max_out_len = self.sampling.max_out_len
        self.batch_size = self.batching.batch_size
        self.think_tags = check_think_tags(think_tags)
        self._tokenizer: Any = None
        self._network: Any = None
        self._generator: Generator | None = None
        self._likelihoods: LikelihoodComputer | None = None
        refuse_taken(EXTRA, self.sampling.extra, path, TAKEN_OPTIONS)

    def identity(self) -> Mapping[str, Any]:
        """Return the options that decide the answers, as plain JSON values; decoding is part of each request.

        Raises:
            ModelError: the model's folder does not exist or cannot be read.
        """
        places = {path: local_path(path) for path in (self.path, self.tokenizer_path)}
        identity = {
            "type": type(self).__name__,
            "path": self.path,
            "tokenizer_path": self.tokenizer_path,
            "model_kwargs": _without_secrets(self.loading.model_kwargs),
            "tokenizer_kwargs": _without_secrets(self.loading.tokenizer_kwargs),
            "think_tags": self.think_tags,
            **({TEMPLATE_VARIABLES: variables} if (variables := self.sampling.template_variables) else {}),
            **({"gguf_file": self._gguf_file} if self._gguf_file else {}),
            "files": {path: fingerprint(place) for path, place in places.items() if place},
        }
        plain: dict[str, Any] = json.loads(json.dumps(identity, default=str))
        return plain

    def decoding(self, max_out_len: int | None, stop: Sequence[str]) -> Decoding:
        """Return the model's ``sampling``, with the dataset's ``max_out_len`` and ``stop`` put in.

        Greedy decoding has temperature 0, and neither a seed nor options that only sampling uses.
        """
        own = self.sampling
        options = {"temperature": own.temperature, "top_p": own.top_p, **own.extra}
        options.pop(TEMPLATE_VARIABLES, None)  # it is in the prompt
        sampling = is_sampling(options)
        extra = {**options, "do_sample": True} if sampling else without_sampling(options)
        return Decoding(
            max_out_len=self.max_out_len if max_out_len is None else max_out_len,
            temperature=extra.pop("temperature", None) if sampling else 0.0,
            top_p=extra.pop("top_p", None),
            stop=join_stops(own.stop, stop),
            seed=own.seed if sampling else None,
            extra=extra,
        )

    def tokenizer(self) -> Any:
        """Return the tokenizer, loaded once and without weights, padding on the left.

        Raises:
            ModelError: the tokenizer cannot be loaded, or has no token to pad with.
        """
        if self._tokenizer is None:
            self._tokenizer = load_tokenizer(
                self.tokenizer_path,
                self.loading.tokenizer_kwargs,
                self.sampling.template_variables,
                trust_remote_code=self.loading.trust_remote_code,
                gguf_file=None if self.loading.tokenizer_path else self._gguf_file,
            )
        return self._tokenizer

    def encode(self, prompt: Prompt) -> list[int]:
        """Return the token ids of a prompt, exactly as the network gets them.

        Raises:
            PromptError: the prompt is not a text.
            ModelError: the tokenizer cannot be loaded.
        """
        if not isinstance(prompt, str):
            raise PromptError(
                f"{type(self).__name__} takes text, not messages",
                where=self.path,
                fix="render the messages to a text first",
            )
        return encode(self.tokenizer(), prompt, add_special_tokens=self.adds_special_tokens)

    def count_tokens(self, prompt: Prompt) -> int:
        """Count the tokens of a prompt as sent, special tokens included.

        Raises:
            PromptError, ModelError: as `encode`.
        """
        return len(self.encode(prompt))

    def preflight(self) -> None:
        """Check that folders and packages exist. A hub id is not looked up.

        Raises:
            ModelError: a folder or file does not exist, or the file is no GGUF file.
            MissingExtra: torch is not installed, or gguf for a GGUF file.
        """
        for path in (self.path, self.tokenizer_path):
            pretrained_source(path, self._gguf_file)
        require_installed("torch", extra="local", why=type(self).__name__)

    def load(self) -> None:
        """Load tokenizer and weights. A second call does nothing.

        Raises:
            ModelError: they cannot be loaded, or transformers refuses an option of ``sampling.extra``.
            MissingExtra: torch is not installed.
        """
        if self._network is None:
            self.tokenizer()
            network = self._load_network()
            check_generation_options(self.path, self.decoding(None, ()).extra)
            self._network = network

    def generate(self, requests: Sequence[Request]) -> list[Completion]:
        """Answer requests, any number, in order; requests that cannot be answered have failures."""
        return [completion for _, completion in sorted(self.generate_each(requests), key=itemgetter(0))]

    def generate_each(self, requests: Sequence[Request]) -> Iterator[tuple[int, Completion]]:
        """Yield numbers of requests and their answers, each as soon as it has ended.

        ``batch_size`` requests and more are computed side by side. A request that cannot be answered has a failure.
        """
        self.load()
        rows = [self.encode(request.prompt) for request in requests]
        decoding = _shared_decoding(requests)
        fit: list[int] = []
        for number, row in enumerate(rows):
            if failure := self._refusal(row, decoding.max_out_len):
                yield number, Completion(failure=failure)
            else:
                fit.append(number)
        if not fit:
            return
        seed = _batch_seed([requests[number] for number in fit])
        for place, completion in self._open_generator().answers([rows[number] for number in fit], decoding, seed):
            number = fit[place]
            yield number, split_reasoning(completion, requests[number].prompt, self.think_tags)

    def log_likelihoods(self, requests: Sequence[Request]) -> Iterator[tuple[int, Completion]]:
        """Yield numbers of requests and the log-likelihoods of their texts, in the order of computation.

        Common beginnings of texts are computed once. Values in float32 do not depend on the other texts. A text without
        a log-likelihood has a failure.
        """
        self.load()
        started = perf_counter()
        if self._likelihoods is None:
            pad = self.tokenizer().pad_token_id
            self._likelihoods = LikelihoodComputer(
                self._network, pad, batch_size=self.batch_size, cache_tokens=self.batching.prefix_cache_tokens
            )
        fit: list[tuple[int, TokenRow]] = []
        for number, request in enumerate(requests):
            row = self._query_row(request)
            if isinstance(row, Failure):
                yield number, Completion(failure=row)
            else:
                fit.append((number, row))
        for place, values in self._likelihoods.log_probs([row for _, row in fit]):
            number, row = fit[place]
            seconds = perf_counter() - started
            yield number, Completion(failure=values) if isinstance(values, Failure) else row.completion(values, seconds)

    def close(self) -> None:
        """Free the network's memory. May be called more than once."""
        if self._network is not None:
            self._network = self._generator = self._likelihoods = None
            free_accelerator()

    def _load_network(self) -> Any:
        return load_network(
            self.path,
            self.loading.model_kwargs,
            trust_remote_code=self.loading.trust_remote_code,
            gguf_file=self._gguf_file,
            with_media=self.takes_media,
        )

    def _open_generator(self) -> Generator:
        if self._generator is None:
            options, kept = self.decoding(None, ()).extra, self.batching.prefix_cache_tokens
            self._generator = Generator(
                self._network,
                self.tokenizer(),
                options,
                think_tags=self.think_tags,
                batch_size=self.batch_size,
                cache_tokens=kept,
            )
        return self._generator

    def _query_row(self, request: Request) -> TokenRow | Failure:
        if not isinstance(request.prompt, str):
            return Failure("cannot_score", "the prompt has images or other media", fatal=True)
        assert isinstance(request.decoding, LikelihoodQuery)
        row = query_row(request.prompt, request.decoding, self.tokenizer(), self.encode)
        return row if isinstance(row, Failure) else self._refusal(row.tokens, 0 if row.is_choice else 1) or row

    def _refusal(self, row: Sequence[int], more: int) -> Failure | None:
        """Return the failure of a prompt that is too long with ``more`` tokens after it; None if it fits."""
        if not row:
            return Failure("empty_prompt", "the prompt has no tokens")
        context = getattr(self._network.config.get_text_config(), "max_position_embeddings", None)
        if context is not None and len(row) + more > context:
            return Failure(
                "too_long",
                f"the prompt has {counted(len(row), 'token')}, with {more} for the answer that is more than the "
                f"{context} of the model; with max_seq_len in-context examples are left out",
            )
        return refuse_too_long(len(row), self.max_seq_len)


@MODELS.register_module()
class HuggingFaceChatModel(HuggingFaceBaseModel):
    """A chat model. Messages are rendered to text with its tokenizer's chat template before they reach the model.

    Prompts with images, audio or video stay messages. The model's processor renders them, if the model has one.

    Args and errors are those of `HuggingFaceBaseModel`.
    """

    prompt_style: PromptStyle = "chat_template"
    # The rendered text holds BOS and all other special tokens already.
    adds_special_tokens: ClassVar[bool] = False
    takes_media: ClassVar[bool] = True

    def media_kinds(self, *, offline: bool = False) -> frozenset[str]:
        """Return the media that the processor takes, as `MediaModel.media_kinds`."""
        if offline and local_path(self.path) is None:
            return frozenset(KINDS.values())
        return self._processor.kinds if self._processor else frozenset()

    def encode(self, prompt: Prompt) -> list[int]:
        """Return the token ids of a prompt, exactly as the network gets them; places in an image are tokens too.

        Raises:
            PromptError: the processor refuses the prompt, or the prompt has media and the model has no processor.
            ModelError: as `HuggingFaceBaseModel.encode`.
        """
        if isinstance(prompt, str) or self._processor is None:
            return super().encode(prompt)
        try:
            return self._processor.rows(self._processor.inputs([prompt]))[0]
        except ValueError as error:
            raise PromptError(str(error), where=self.path, fix="check the file, and the chat template") from error

    def generate_each(self, requests: Sequence[Request]) -> Iterator[tuple[int, Completion]]:
        """Yield answers as in the base class; requests with the same kinds of media are asked in batches."""
        groups: dict[frozenset[str] | None, list[int]] = {}
        for number, request in enumerate(requests):
            groups.setdefault(media_in(request.prompt), []).append(number)
        for kinds, numbers in groups.items():
            answer = super().generate_each if kinds is None else self._generate_with_media
            for place, completion in answer([requests[number] for number in numbers]):
                yield numbers[place], completion

    def _generate_with_media(self, requests: Sequence[Request]) -> Iterator[tuple[int, Completion]]:
        self.load()
        for start in range(0, len(requests), self.batch_size):
            batch = requests[start : start + self.batch_size]
            outcomes = bisect_on_failure(batch, self._answer_with_media, kind="generation")
            for number, outcome in enumerate(outcomes, start):
                if isinstance(outcome, Failure):
                    yield number, Completion(failure=outcome)
                else:
                    yield number, split_reasoning(outcome, requests[number].prompt, self.think_tags)

    def _answer_with_media(self, requests: Sequence[Request]) -> list[Completion | Failure]:
        processor, decoding = self._processor, _shared_decoding(requests)
        assert processor is not None  # the chat format refuses media otherwise
        prompts = [request.prompt for request in requests if not isinstance(request.prompt, str)]
        inputs = processor.inputs(prompts)
        rows = processor.rows(inputs)
        refused = {number: why for number, row in enumerate(rows) if (why := self._refusal(row, decoding.max_out_len))}
        fit = [number for number in range(len(rows)) if number not in refused]
        if refused and fit:
            inputs = processor.inputs([prompts[number] for number in fit])
        answers: dict[int, Completion | Failure] = dict(refused)
        if fit:
            seed = _batch_seed([requests[number] for number in fit])
            generator, fit_rows = self._open_generator(), [rows[number] for number in fit]
            answers |= zip(fit, generator.answer_media(fit_rows, inputs, decoding, seed), strict=True)
        return [answers[number] for number in range(len(rows))]

    @cached_property
    def _processor(self) -> MediaProcessor | None:
        if self._gguf_file:
            return None
        return load_processor(
            self.path,
            self.tokenizer,
            self.loading.model_kwargs,
            self.sampling.template_variables,
            trust_remote_code=self.loading.trust_remote_code,
        )


def _shared_decoding(requests: Sequence[Request]) -> Decoding:
    decoding = requests[0].decoding
    assert isinstance(decoding, Decoding)
    return decoding


def _batch_seed(requests: Sequence[Request]) -> int | None:
    """Return the seed of a batch. It depends on the requests, so that repeats of a prompt differ between batches."""
    if _shared_decoding(requests).seed is None:
        return None
    return int(digest([request.content() for request in requests], length=16), 16) >> 1


def _without_secrets(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name not in _SECRETS}
