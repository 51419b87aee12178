"""Models behind Triton's generate endpoint."""

from __future__ import annotations

from collections.abc import Sequence

from ais_prompt.models.api.model import ApiModel
from ais_prompt.models.api.served import only_model
from ais_prompt.models.base import PromptStyle
from ais_prompt.models.transport.credentials import resolve_address, resolve_headers
from ais_prompt.models.wires.triton.wire import Generate
from ais_prompt.registry import MODELS


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
