"""Language models in this process's memory, through Hugging Face transformers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, ClassVar, Final

from ais_prompt.errors import ConfigError, PromptError
from ais_prompt.models.base import PromptStyle
from ais_prompt.models.hf_files import fingerprint, local_folder
from ais_prompt.models.hf_generation import generate_batch, is_sampling, without_sampling
from ais_prompt.models.hf_library import first_line
from ais_prompt.models.hf_tokenizer import encode, load_tokenizer
from ais_prompt.models.hf_weights import check_generation_options, load_network
from ais_prompt.registry import MODELS
from ais_prompt.types import Completion, Decoding, Failure, Prompt, Request
from ais_prompt.utils.digest import digest
from ais_prompt.utils.imports import require_installed

_SECRETS: Final = {"token", "use_auth_token"}
_TAKEN_OPTIONS: Final = {
    "max_new_tokens": "use max_out_len",
    "max_length": "use max_out_len and max_seq_len",
    "stop_strings": "use stop_words",
    "num_return_sequences": "one request has one answer; leave it out",
    "return_dict_in_generate": "leave it out",
}
"""Generation options that this class sets itself, and what to write in their place."""


@MODELS.register_module()
class HuggingFaceBaseModel:
    """A causal language model that continues a text. Answers are greedy unless ``generation_kwargs`` ask to sample.

    Making one costs nothing: the tokenizer is opened when it is first needed, the weights by `load`.

    Args:
        path: the model's folder, or else a hub id, which is downloaded.
        tokenizer_path: folder or hub id of the tokenizer; ``path`` if None.
        model_kwargs: further arguments of ``AutoModelForCausalLM.from_pretrained``: ``dtype``, ``device_map``, ...
        tokenizer_kwargs: further arguments of ``AutoTokenizer.from_pretrained``.
        generation_kwargs: options of ``generate``: ``temperature``, ``top_p``, ``seed``, ``eos_token_id``, ...
        max_seq_len: most tokens of prompt and answer together; the model's ``max_position_embeddings`` if None.
        max_out_len: most tokens of an answer, where the data set does not say.
        batch_size: prompts in one batch.
        stop_words: texts that end an answer and are not part of it, besides those of the data set.
        trust_remote_code: may code that comes with the model be run?
        seed: seed of the sampling; one in ``generation_kwargs`` wins.

    Raises:
        ConfigError: ``generation_kwargs`` hold an option that has an argument of its own.
    """

    prompt_style: PromptStyle = "text"
    adds_special_tokens: ClassVar[bool] = True

    def __init__(
        self,
        path: str,
        tokenizer_path: str | None = None,
        model_kwargs: Mapping[str, Any] | None = None,
        tokenizer_kwargs: Mapping[str, Any] | None = None,
        generation_kwargs: Mapping[str, Any] | None = None,
        max_seq_len: int | None = None,
        max_out_len: int = 256,
        batch_size: int = 8,
        stop_words: Sequence[str] = (),
        trust_remote_code: bool = False,
        seed: int | None = None,
    ) -> None:
        self.path = path
        self.tokenizer_path = tokenizer_path or path
        self.model_kwargs = dict(model_kwargs or {})
        self.tokenizer_kwargs = dict(tokenizer_kwargs or {})
        self.generation_kwargs = dict(generation_kwargs or {})
        self.max_seq_len = max_seq_len
        self.max_out_len = max_out_len
        self.batch_size = batch_size
        self.stop_words = tuple(stop_words)
        self.trust_remote_code = trust_remote_code
        self.seed = seed
        self._tokenizer: Any = None
        self._network: Any = None
        for name in self.generation_kwargs:
            if name in _TAKEN_OPTIONS:
                raise ConfigError(f"generation_kwargs must not hold {name!r}", where=path, mend=_TAKEN_OPTIONS[name])

    def identity(self) -> Mapping[str, Any]:
        """What decides the answers, as plain JSON values; how they are generated stands in each request.

        Raises:
            ModelError: the model's folder is not there or cannot be read.
        """
        folders = {path: local_folder(path) for path in (self.path, self.tokenizer_path)}
        identity = {
            "type": type(self).__name__,
            "path": self.path,
            "tokenizer_path": self.tokenizer_path,
            "model_kwargs": _without_secrets(self.model_kwargs),
            "tokenizer_kwargs": _without_secrets(self.tokenizer_kwargs),
            "files": {path: fingerprint(folder) for path, folder in folders.items() if folder},
        }
        plain: dict[str, Any] = json.loads(json.dumps(identity, default=str))
        return plain

    def decoding(self, max_out_len: int | None, stop: Sequence[str]) -> Decoding:
        """The options of ``generation_kwargs``, with the data set's ``max_out_len`` and ``stop`` put in.

        Greedy decoding says so with temperature 0, and carries no option or seed that means something to sampling only.
        """
        options = {"seed": self.seed, **self.generation_kwargs}
        sampling = is_sampling(options)
        seed = options.pop("seed")
        extra = {**options, "do_sample": True} if sampling else without_sampling(options)
        return Decoding(
            max_out_len=self.max_out_len if max_out_len is None else max_out_len,
            temperature=extra.pop("temperature", None) if sampling else 0.0,
            top_p=extra.pop("top_p", None),
            stop=tuple(dict.fromkeys(word for word in (*self.stop_words, *stop) if word)),
            seed=seed if sampling else None,
            extra=extra,
        )

    def tokenizer(self) -> Any:
        """The model's tokenizer, loaded once and without weights; padding on the left.

        Raises:
            ModelError: it cannot be loaded, or it has no token to pad with.
        """
        if self._tokenizer is None:
            self._tokenizer = load_tokenizer(
                self.tokenizer_path, self.tokenizer_kwargs, trust_remote_code=self.trust_remote_code
            )
        return self._tokenizer

    def encode(self, prompt: Prompt) -> list[int]:
        """Token ids of a prompt, exactly as the network is given them.

        Raises:
            PromptError: the prompt is not a text.
            ModelError: the tokenizer cannot be loaded.
        """
        if not isinstance(prompt, str):
            raise PromptError(
                f"{type(self).__name__} is given text, not messages",
                where=self.path,
                mend="render the messages to a text first",
            )
        return encode(self.tokenizer(), prompt, add_special_tokens=self.adds_special_tokens)

    def count_tokens(self, prompt: Prompt) -> int:
        """Tokens of a prompt as it is sent, special tokens included.

        Raises:
            PromptError, ModelError: as `encode`.
        """
        return len(self.encode(prompt))

    def preflight(self) -> None:
        """See whether the folders and packages are there. A hub id is not looked up.

        Raises:
            ModelError: a folder that does not exist.
            MissingExtra: torch is not installed.
        """
        for path in (self.path, self.tokenizer_path):
            local_folder(path)
        require_installed("torch", extra="local", why=type(self).__name__)

    def load(self) -> None:
        """Open tokenizer and weights. A second call does nothing.

        Raises:
            ModelError: they cannot be loaded, or ``generation_kwargs`` are wrong.
            MissingExtra: torch is not installed.
        """
        if self._network is None:
            self.tokenizer()
            network = load_network(self.path, self.model_kwargs, trust_remote_code=self.trust_remote_code)
            check_generation_options(self.path, self.decoding(None, ()).extra)
            self._network = network

    def generate(self, requests: Sequence[Request]) -> list[Completion]:
        """Answer requests in one batch, in order; a request that cannot be answered has a failure in its place."""
        self.load()
        started = perf_counter()
        rows = [self.encode(request.prompt) for request in requests]
        failures = [self._refusal(row, request.decoding) for row, request in zip(rows, requests, strict=True)]
        fit = [number for number, failure in enumerate(failures) if failure is None]
        answers = iter(self._answer([requests[number] for number in fit], [rows[number] for number in fit]))
        seconds = perf_counter() - started
        return [
            Completion(failure=failure) if failure else replace(next(answers), seconds=seconds) for failure in failures
        ]

    def close(self) -> None:
        """Free the network's memory. May be called more than once."""
        if self._network is not None:
            self._network = None
            _free_accelerator()

    def _refusal(self, row: Sequence[int], decoding: Decoding) -> Failure | None:
        """Why a prompt is not sent; None if it can be. Others cut such a prompt silently."""
        if not row:
            return Failure("empty_prompt", "the prompt has no tokens")
        limit = self.max_seq_len
        if limit is None:
            limit = getattr(self._network.config.get_text_config(), "max_position_embeddings", None)
        if limit is None or len(row) + decoding.max_out_len <= limit:
            return None
        return Failure(
            "too_long",
            f"prompt has {len(row)} tokens, with {decoding.max_out_len} for the answer that is more than the "
            f"{limit} of the model",
        )

    def _answer(self, requests: Sequence[Request], rows: Sequence[Sequence[int]]) -> list[Completion]:
        """Answer a batch; one that fails is asked again in halves, so that a bad row fails alone."""
        import torch

        if not requests:
            return []
        decoding = requests[0].decoding
        try:
            return generate_batch(self._network, self.tokenizer(), rows, decoding, _batch_seed(requests))
        except torch.OutOfMemoryError as error:
            failure = Failure("out_of_memory", first_line(error))
        except (IndexError, RuntimeError, ValueError) as error:
            failure = Failure("generation", first_line(error))
        # Outside of `except`, so that the traceback no longer holds the failed batch's memory.
        _free_accelerator()
        if len(requests) == 1:
            return [Completion(failure=failure)]
        half = len(requests) // 2
        return self._answer(requests[:half], rows[:half]) + self._answer(requests[half:], rows[half:])


@MODELS.register_module()
class HuggingFaceChatModel(HuggingFaceBaseModel):
    """A chat model. Its prompts are messages, rendered to text with its tokenizer's chat template before they arrive.

    Args and errors are those of `HuggingFaceBaseModel`.
    """

    prompt_style: PromptStyle = "chat_template"
    # The rendered text holds BOS and all other special tokens already.
    adds_special_tokens: ClassVar[bool] = False


def _batch_seed(requests: Sequence[Request]) -> int | None:
    """The seed of a batch. Requests are mixed in, so that repeats of a prompt in two batches draw different answers."""
    if requests[0].decoding.seed is None:
        return None
    return int(digest([request.content() for request in requests], length=16), 16) >> 1


def _without_secrets(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name not in _SECRETS}


def _free_accelerator() -> None:
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()
