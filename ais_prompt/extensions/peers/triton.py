"""Models behind Triton's generate endpoint.

Source: the protocol documents of NVIDIA Triton Inference Server, "Generate Extension".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any
from urllib.parse import quote

from msgspec import Struct

from ais_prompt.errors import PromptError
from ais_prompt.models import (
    ApiModel,
    BadBody,
    PromptStyle,
    StreamReader,
    Wire,
    only_model,
    resolve_address,
    resolve_headers,
)
from ais_prompt.registry import MODELS
from ais_prompt.types import Completion, Decoding, Prompt, Request


class Generate(Struct, frozen=True):
    """The endpoint ``v2/models/MODEL/generate``.

    Attributes:
        model: name of the model, a part of the path.
        title, stream_fields: as in `WireFormat`.
    """

    model: str
    title: str = "Triton's generate (TritonModel)"
    stream_fields: Mapping[str, Any] = {}

    @property
    def path(self) -> str:
        """As `WireFormat.path`."""
        return f"v2/models/{quote(self.model, safe='')}/generate"

    @property
    def prompt_value(self) -> Callable[[Prompt], str | list[dict[str, Any]]]:
        """As `WireFormat.prompt_value`."""
        return _only_text

    def body(self, model: str, request: Request, wire: Wire) -> dict[str, Any]:  # noqa: ARG002
        """As `WireFormat.body`. Options of sampling are the request's ``parameters``, as vLLM's backend has them."""
        decoding = request.decoding
        assert isinstance(decoding, Decoding)
        options = {
            "temperature": decoding.temperature,
            "top_p": decoding.top_p,
            "seed": None if decoding.seed is None else decoding.seed + request.repeat,
        }
        parameters = {
            wire.max_tokens_field: decoding.max_out_len,
            **{name: value for name, value in options.items() if value is not None},
            **decoding.extra,
        }
        return {"text_input": _only_text(request.prompt), "parameters": parameters}

    def answer(self, reply: Any) -> Completion:
        """As `WireFormat.answer`. Triton does not tell why an answer ended."""
        text = reply.get("text_output") if isinstance(reply, dict) else None
        if not isinstance(text, str):
            raise BadBody("the reply has no text_output")
        return Completion(text, "unknown")

    def reader(self, clock: Callable[[], float] = perf_counter) -> StreamReader:
        """As `WireFormat.reader`: nothing is streamed, see `TritonModel`."""
        raise NotImplementedError


def _only_text(prompt: Prompt) -> str:
    if not isinstance(prompt, str):
        raise PromptError("TritonModel takes text, not messages", fix="give the model a meta_template")
    return prompt


@MODELS.register_module()
class TritonModel(ApiModel):
    """A model that continues a text: prompts are posted to ``{base_url}/v2/models/{model}/generate``.

    Servers that speak this protocol are NVIDIA Triton with a backend such as vLLM's, and MindIE. ``base_url`` has no
    version. Nothing is streamed. The server does not say whether an answer was cut at ``max_out_len``, so none counts
    as truncated. Answers are cut at stop texts here.
    ``max_tokens_field`` is the parameter for ``max_out_len``: MindIE wants ``max_new_tokens``. Further parameters of a
    backend are ``generation_kwargs``: that of vLLM repeats the prompt unless ``exclude_input_in_output=True`` is there.
    """

    prompt_style: PromptStyle = "text"
    wire_options = ("max_tokens_field",)
    has_seed = True

    @property
    def endpoint(self) -> Generate:  # type: ignore[override]
        """The path has the name of the model."""
        return Generate(self.model)

    def _addresses(self, base_url: str | Sequence[str] | None) -> tuple[str, ...]:
        return tuple(address.rstrip("/").removesuffix("/v1") for address in super()._addresses(base_url))

    def only_model(self) -> str:
        address = f"{resolve_address(self.base_urls[0])}/v1"  # as MindIE lists its models
        return only_model(address, self.api_key, resolve_headers(self.headers), self.api)
