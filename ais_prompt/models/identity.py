"""The identity of a model: in the keys of answers, in caches across runs, and in ``run.json``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol, runtime_checkable

from ais_prompt.models.base import Model
from ais_prompt.utils.protocols import KeptChecks

GIVEN: Final = "identity"
"""The key under which an identity holds the config's own name of the model, the same wherever it is served."""
_ADDRESS: Final = "base_url"


@runtime_checkable
class ServedModel(Protocol, metaclass=KeptChecks):
    """A model behind a server, or behind replicas of one."""

    @property
    def address(self) -> str:
        """Return the URL of its server, without secrets; several are separated by a comma."""


@runtime_checkable
class HasAccount(Protocol, metaclass=KeptChecks):
    """A served model that logs in."""

    @property
    def account(self) -> str:
        """Return what is equal for models with the same login, without saying it; empty without a login."""


def address_of(model: Model) -> str | None:
    """Return the address of a served model; None for a local one."""
    return model.address if isinstance(model, ServedModel) else None


def endpoint_of(model: Model) -> str:
    """Return what models share limits by: their address and account, or the model itself. It is not for people."""
    address = address_of(model)
    if address is None:
        return f"model {id(model)}"
    return f"{address} {model.account}" if isinstance(model, HasAccount) else address


def full_identity(model: Model) -> Mapping[str, Any]:
    """Return the identity of a model, with its address if it has one."""
    address = address_of(model)
    return model.identity() if address is None else {**model.identity(), _ADDRESS: address}


def cache_identity(model: Model) -> Mapping[str, Any]:
    """Return the identity that separates models in a cache across runs.

    The address is part of it, because two servers may use one name for different models. An ``identity`` in the config
    takes the place of the address.
    """
    identity = model.identity()
    return identity if GIVEN in identity else full_identity(model)


def former_identities(model: Model, addresses: Sequence[str]) -> list[Mapping[str, Any]]:
    """Return the identities that version 1 may have put into keys: with the present address, or a recorded one."""
    full = {name: value for name, value in full_identity(model).items() if name != GIVEN}
    if _ADDRESS not in full:
        return [full]
    return [{**full, _ADDRESS: address} for address in dict.fromkeys([full[_ADDRESS], *addresses])]
