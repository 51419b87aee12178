"""Texts of a config that stand for objects of this process."""

from __future__ import annotations

from typing import Any


class Held(str):
    """A text that holds an object: a function that no module names, or rows in memory.

    Whatever checks, shows, compares or stores a config sees the text; the part that it is an argument of takes the
    object. The text alone, read from a file in another process, holds nothing.

    Args:
        text: what the config shows.
        value: the object; None in a text that holds nothing.
    """

    value: Any

    def __new__(cls, text: str, value: Any = None) -> Held:
        held = super().__new__(cls, text)
        held.value = value
        return held

    def __reduce__(self) -> tuple[type[Held], tuple[str]]:
        """Leave the object behind: another process gets the text only."""
        return Held, (str(self),)

    def __deepcopy__(self, memo: dict[int, Any]) -> Held:
        """Return the text itself: neither it nor what it holds is ever changed."""
        return self
