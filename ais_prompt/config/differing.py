"""What differs between two configs, in a few words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ais_prompt.utils import counted, one_line, shortened

_PLACES: Final = ("work_dir", "run_name", "paths_relative_to")
"""Where a run is, which is no difference of what is asked."""
_LONGEST: Final = 40
"""Characters of a value."""
_ABSENT: Final = object()


def differing_values(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return ``temperature: 0.0 → 0.7`` for each value that differs; of other models or datasets, how many they are.

    Args:
        before, after: plain values, as of `literal_values`.
    """
    names = [name for name in {**before, **after} if name not in _PLACES]
    found = (line for name in names for line in _lines(name, before.get(name, _ABSENT), after.get(name, _ABSENT)))
    return list(dict.fromkeys(found))


def _lines(name: str, before: Any, after: Any) -> Iterator[str]:
    if before == after:
        return
    old, new = _options(before, after), _options(after, before)
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in {**old, **new}:
            yield from _lines(str(key), old.get(key, _ABSENT), new.get(key, _ABSENT))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for one, other in zip(before, after, strict=True):
            yield from _lines(name, one, other)
    else:
        yield f"{name}: {_shown(before)} → {_shown(after)}"


def _options(value: Any, other: Any) -> Any:
    """Return a value; no options in place of those that only the other config has, unless they are of a part."""
    return {} if value is _ABSENT and isinstance(other, Mapping) and "type" not in other else value


def _shown(value: Any) -> str:
    if value is _ABSENT:
        return "not set"
    if isinstance(value, Mapping) and "type" in value:
        return _shown(value["type"])
    if isinstance(value, Mapping | list):
        return counted(len(value), "value")
    return shortened(one_line(repr(value) if isinstance(value, str) else str(value)), _LONGEST)
