"""Text on its way to a terminal."""

from __future__ import annotations

import re

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    r"""The text with escapes in place of what a terminal would obey or cannot show: ``\x1b``, ``\r``, ``\u202e``.

    Newlines and tabs stay. Data and server messages can hold anything; none of it may move the cursor.
    """
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
