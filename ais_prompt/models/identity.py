"""Which model answered, and where: for keys of answers, for caches that many runs share, and for the record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol, runtime_checkable

from ais_prompt.models.base import Model

GIVEN: Final = "identity"
"""Key of an identity that the config gives: it names one model wherever that is served."""
_ADDRESS: Final = "base_url"


@runtime_checkable
class ServedModel(Protocol):
    """A model behind an address."""

    @property
    def address(self) -> str:
        """The URL of its server, without secrets."""


def address_of(model: Model) -> str | None:
    """The address of a served model; None for one in this process."""
    return model.address if isinstance(model, ServedModel) else None


def full_identity(model: Model) -> Mapping[str, Any]:
    """The identity of a model, with its address if it has one."""
    address = address_of(model)
    return model.identity() if address is None else {**model.identity(), _ADDRESS: address}


def cache_identity(model: Model) -> Mapping[str, Any]:
    """What keeps caches apart. The address is part of it, because two servers may call their models the same.

    An identity that the config gives takes the place of the address.
    """
    identity = model.identity()
    return identity if GIVEN in identity else full_identity(model)


def former_identities(model: Model, addresses: Sequence[str]) -> list[Mapping[str, Any]]:
    """The identities that version 1 may have put into keys: with the present address, or one of those noted."""
    full = {name: value for name, value in full_identity(model).items() if name != GIVEN}
    if _ADDRESS not in full:
        return [full]
    return [{**full, _ADDRESS: address} for address in dict.fromkeys([full[_ADDRESS], *addresses])]
