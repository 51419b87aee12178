"""The fields of a frozen value, as a dict."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def fields_of(value: DataclassInstance) -> dict[str, Any]:
    """Name → value of each field, in order.

    Unlike `dataclasses.asdict` it copies nothing, which takes a tenth of the time; values that lie deeper stay what
    they are.
    """
    return {name: getattr(value, name) for name in _names(type(value))}


@cache
def _names(kind: type[DataclassInstance]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
