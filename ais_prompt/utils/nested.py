"""Values within values: mappings and lists, down to any depth, as JSON and configs hold them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any


def leaves(value: Any) -> Iterator[Any]:
    """Yield what a value holds that is neither a mapping nor a list or tuple, in order; such a value yields itself."""
    if isinstance(value, Mapping | list | tuple):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from leaves(inner)
    else:
        yield value


def texts(value: Any) -> Iterator[str]:
    """Yield the texts among the `leaves` of a value."""
    return (leaf for leaf in leaves(value) if isinstance(leaf, str))


def part_types(value: Any) -> Iterator[Any]:
    """Yield the ``type`` of every mapping in a value that has one, outer mappings first."""
    if isinstance(value, Mapping) and "type" in value:
        yield value["type"]
    if isinstance(value, Mapping | list | tuple):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from part_types(inner)


def with_leaves(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return a copy of a value with every one of its `leaves` changed; tuples become lists."""
    if isinstance(value, Mapping):
        return {key: with_leaves(inner, change) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [with_leaves(inner, change) for inner in value]
    return change(value)


def with_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Return a copy of a value with every one of its `texts` changed; tuples become lists."""
    return with_leaves(value, lambda leaf: change(leaf) if isinstance(leaf, str) else leaf)
