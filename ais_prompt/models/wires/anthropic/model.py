"""Claude models, and others behind Anthropic's Messages API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from ais_prompt.errors import ConfigError
from ais_prompt.models.api.addresses import Defaults
from ais_prompt.models.api.model import ApiModel
from ais_prompt.models.flat_options import SamplingOption
from ais_prompt.models.options import Sampling
from ais_prompt.models.wires.anthropic.wire import MESSAGES
from ais_prompt.registry import MODELS


@MODELS.register_module()
class AnthropicModel(ApiModel):
    """A chat model behind Anthropic's Messages API: messages are posted to ``{base_url}/messages``.

    The API has no ``max_tokens_field``, ``logprobs_via``, ``seed``, and no client of the openai package. The address
    may leave out ``/v1``, as in Anthropic's own clients. It comes from ``ANTHROPIC_BASE_URL`` if the config has none,
    the key from ``ANTHROPIC_API_KEY``.

    The newest models take no sampling options. So no temperature is sent unless the config sets one. Thinking is an
    option of the body: ``generation_kwargs=dict(thinking=dict(type='adaptive'), output_config=dict(effort='high'))``.
    """

    sends_fields = frozenset({"tools", "tool_choice"})
    endpoint = MESSAGES
    api = "anthropic"
    defaults = Defaults("anthropic", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY")

    def _addresses(self, base_url: str | Sequence[str] | None) -> tuple[str, ...]:
        return tuple(map(_with_version, super()._addresses(base_url)))

    def _read_sampling(self, sampling: SamplingOption, flat: Mapping[str, Any]) -> Sampling:
        if sampling is None:
            options = flat.get("generation_kwargs") or {}
            return super()._read_sampling(None, {**flat, "generation_kwargs": {"temperature": None, **options}})
        return super()._read_sampling(
            {"temperature": None, **sampling} if isinstance(sampling, Mapping) else sampling, flat
        )

    def _check_options(self) -> None:
        super()._check_options()
        if self.client.type == "openai":
            what = "the client of the openai package cannot log in to the Messages API"
            raise ConfigError(what, where="client", fix="leave client out, or use OpenAIChatModel")


def _with_version(base_url: str) -> str:
    """Return the address with ``/v1`` at the end of its path."""
    parts = urlsplit(base_url)
    path = parts.path.rstrip("/")
    return base_url if path.endswith("/v1") else urlunsplit(parts._replace(path=f"{path}/v1"))
