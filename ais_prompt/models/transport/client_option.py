"""The option ``client`` of a model: a transport and its arguments."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from typing import Annotated, Any, Final, TypeAlias

from msgspec import Struct
from pydantic import AfterValidator

from ais_prompt.errors import AisPromptError, ConfigError, ModelError
from ais_prompt.models.transport.base import Server, Transport
from ais_prompt.models.transport.credentials import DEFAULT_VARIABLE
from ais_prompt.models.transport.network import public_address
from ais_prompt.parts import GuardedPart
from ais_prompt.registry import TRANSPORTS, ChecksArguments, is_shipped
from ais_prompt.secrets import SECRETS

_OPENAI: Final = "openai."
_AZURE_VARIABLE: Final = "AZURE_OPENAI_API_KEY"
_AZURE_TOKEN: Final = "AZURE_OPENAI_AD_TOKEN"


class TransportSpec(Struct, frozen=True):
    """A transport that is not open yet.

    Attributes:
        type: a registered name or a dotted path.
        args: its arguments besides the `Server`.
    """

    type: str
    args: Mapping[str, Any]

    @property
    def address(self) -> str | None:
        """The address in the arguments or the environment; None if that of the model counts."""
        return self.args.get("azure_endpoint") or (os.environ.get("AZURE_OPENAI_ENDPOINT") if self._is_azure else None)

    def key_variable(self, variable: str | None) -> str | None:
        """Return the variable that holds the key, given the one of the model; None if the transport needs no key."""
        if any(name.endswith("token_provider") for name in self.args):
            return None
        if not self._is_azure or variable != DEFAULT_VARIABLE:
            return variable
        return None if os.environ.get(_AZURE_TOKEN) else _AZURE_VARIABLE

    def check(self) -> None:
        """Check the arguments without making the transport.

        Raises:
            ConfigError: the transport does not accept them.
        """
        part = TRANSPORTS.get(self.type)
        try:
            inspect.signature(part).bind(None, **self.args)
        except TypeError as error:
            what = f"the transport {self.type!r} does not accept these arguments: {error}"
            raise ConfigError(what, fix="check the dict of `client`") from None
        if isinstance(part, ChecksArguments):
            part.check_arguments(**self.args)

    def open(self, server: Server) -> Transport:
        """Make the transport in the running event loop.

        Raises:
            ConfigError: there is no such transport, or it has no such argument.
            ModelError: the transport cannot be used.
        """
        part = TRANSPORTS.get(self.type)
        if self._is_azure and (token := os.environ.get(_AZURE_TOKEN)):
            SECRETS.add(token)
        try:
            transport: Any = part(server, **self.args)
        except AisPromptError:
            raise
        except Exception as error:  # a transport of the user can raise anything
            raise ModelError(
                f"the transport {self.type} cannot be used: {type(error).__name__}: {error}",
                where=public_address(server.base_url),
                fix="check the arguments of `client`",
            ) from error
        if not is_shipped(type(transport)):
            transport = GuardedPart(transport, TRANSPORTS.protocols(), self.type)
        return transport  # type: ignore[no-any-return]

    @property
    def _is_azure(self) -> bool:
        return "Azure" in str(self.args.get("client", ""))


def read_client(value: str | Mapping[str, Any]) -> TransportSpec:
    """Read ``client`` of a model: a name, a dotted path, or a dict with ``type`` and further arguments.

    Raises:
        ConfigError: it names no transport.
    """
    args = {"type": value} if isinstance(value, str) else dict(value)
    kind = args.pop("type", None)
    if not isinstance(kind, str) or not kind:
        raise ConfigError(f"client needs a type, such as 'aiohttp' or 'openai', not {kind!r}", fix="add type=...")
    if kind.startswith(_OPENAI):
        return TransportSpec("openai", {"client": kind, **args})
    TRANSPORTS.get(kind)
    return TransportSpec(kind, args)


def _check_client(value: str | Mapping[str, Any]) -> str | Mapping[str, Any]:
    read_client(value)
    return value


ClientOption: TypeAlias = Annotated[str | Mapping[str, Any], AfterValidator(_check_client)]
"""The option ``client`` of a config, checked with the config."""
