"""Check quickly whether a part has the members of a protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from abc import ABCMeta as OfProtocols
else:
    OfProtocols = type(Protocol)


class KeptChecks(OfProtocols):
    """The metaclass of a protocol that keeps the answers of `isinstance`, for the classes of this package.

    Before Python 3.12, `isinstance` takes 30 µs for a protocol, and a task needs a dozen. Parts of users are always
    looked at: their members may differ from one object to the next.
    """

    def __instancecheck__(cls, instance: Any) -> bool:  # noqa: N805  # of a metaclass
        kind = type(instance)
        if not kind.__module__.startswith("ais_prompt."):
            return super().__instancecheck__(instance)
        if (cls, kind) not in _kept:
            _kept[cls, kind] = super().__instancecheck__(instance)
        return _kept[cls, kind]


_kept: dict[tuple[type, type], bool] = {}
"""Protocol and class → the answer; there are as many as this package has classes."""
