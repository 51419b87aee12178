"""Values of one column → Arrow arrays, batch by batch, as if all of its values were converted at once.

Arrow finds the type of a column by looking at all values. Here one value represents all that came before, the
*pattern*: it has the type that was found so far, and goes in front of the next batch. So a column widens as it would at
once: nothing to anything, whole numbers to fractions, objects by new keys, and lists of these. Unlike Arrow it never
takes true and false for numbers: Arrow does in some orders of the rows and not in others.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

if TYPE_CHECKING:
    import pyarrow as pa


class Misfit(Struct, frozen=True):
    """A value that a column cannot hold.

    Attributes:
        place: its place among the values that were to be converted.
        why: in Arrow's words.
        alone: whether no column could hold it, whatever else is there.
    """

    place: int
    why: str
    alone: bool


class Column:
    """A column that grows.

    Attributes:
        first_whole: number of the row with the first whole number; None as long as there is none.
        is_floating: whether the values so far are fractions, or whole numbers beside fractions.
    """

    def __init__(self) -> None:
        self.first_whole: int | None = None
        self.is_floating = False
        self._before: tuple[Any, ...] = ()  # the pattern, once there was anything but None

    def convert(self, values: Sequence[Any], numbers: Sequence[int]) -> pa.Array | None:
        """The array of the next values; None if they do not go together, or not with those before.

        Args:
            values: plain Python values as JSON has them.
            numbers: the numbers of their rows.
        """
        import pyarrow as pa

        found = _array([*self._before, *values])
        if isinstance(found, str):
            return None
        pattern = _pattern(found)
        self._before = () if pattern is None else (pattern,)
        self.is_floating = pa.types.is_floating(found.type)
        if self.first_whole is None and isinstance(pattern, int | float):
            whole = (number for number, value in zip(numbers, values, strict=True) if isinstance(value, int))
            self.first_whole = next(whole, None)
        return found[-len(values) :] if len(found) > len(values) else found

    def misfit(self, values: Sequence[Any]) -> Misfit:
        """The first of these values that does not go with those before; `convert` gave None."""
        place = bisect_left(
            range(len(values)), True, key=lambda last: isinstance(_array([*self._before, *values[: last + 1]]), str)
        )
        before = _array([*self._before, *values[:place]])
        why = str(_array([_pattern(before), values[place]]))
        return Misfit(place, why, alone=isinstance(_array([values[place]]), str))


def _array(values: Sequence[Any]) -> pa.Array | str:
    """The array of values, or why they are none."""
    import pyarrow as pa

    kinds = set(map(type, values))
    make = _ARRAYS.get(kinds.pop(), pa.array) if len(kinds) == 1 else pa.array
    try:
        made = make(values)
    except (pa.ArrowException, OverflowError, UnicodeError) as error:
        return str(error).rpartition(": ")[2]
    return "true and false are no numbers" if make is pa.array and _hides_truth(values, made.type) else made


def _hides_truth(values: Iterable[Any], kind: pa.DataType) -> bool:
    """Return whether some true or false became a fraction: for Arrow, `[False]` beside `[0.5]` is `[0.0]`."""
    import pyarrow as pa

    if pa.types.is_floating(kind):
        return bool in map(type, values)
    there = (value for value in values if value is not None)
    if pa.types.is_list(kind):
        return _hides_truth(chain.from_iterable(there), kind.value_type)
    if pa.types.is_struct(kind):
        objects = list(there)
        return any(_hides_truth((value.get(field.name) for value in objects), field.type) for field in kind)
    return False


def _texts(values: Sequence[str]) -> pa.Array:
    import pyarrow as pa

    texts = [value.encode() for value in values]
    ends = array("i", accumulate(map(len, texts), initial=0))
    return pa.StringArray.from_buffers(len(texts), pa.py_buffer(ends), pa.py_buffer(b"".join(texts)))


def _whole_numbers(values: Sequence[int]) -> pa.Array:
    import pyarrow as pa

    return pa.Array.from_buffers(pa.int64(), len(values), [None, pa.py_buffer(array("q", values))])


def _fractions(values: Sequence[float]) -> pa.Array:
    import pyarrow as pa

    return pa.Array.from_buffers(pa.float64(), len(values), [None, pa.py_buffer(array("d", values))])


# `pyarrow.array` would make the same, but imports pandas for whatever Python values it is given, which takes longer
# than reading most datasets and a quarter of a small run's memory.
_ARRAYS: Final[Mapping[type, Callable[[Sequence[Any]], pa.Array]]] = {
    str: _texts,
    int: _whole_numbers,
    float: _fractions,
}


def _pattern(values: pa.Array) -> Any:
    """A value of the array's type. Of whole numbers the one furthest from 0: not all of them can become fractions."""
    import pyarrow as pa

    kind = values.type
    if pa.types.is_string(kind):  # most columns
        return ""
    if pa.types.is_list(kind):
        return [_pattern(values.flatten())]
    if pa.types.is_struct(kind):
        return {field.name: _pattern(part) for field, part in zip(kind, values.flatten(), strict=True)}
    if pa.types.is_integer(kind):
        # Not `pyarrow.compute`: to import it takes as long as to read a small dataset.
        return max((number for number in values.to_pylist() if number is not None), key=abs)
    return {pa.null(): None, pa.bool_(): True, pa.float64(): 0.0}[kind]
