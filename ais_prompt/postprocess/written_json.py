"""JSON in answers: all of the answer, a code block, or a part of the text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from ais_prompt.postprocess.readable import said
from ais_prompt.registry import POSTPROCESSORS
from ais_prompt.types import Extraction
from ais_prompt.utils import DECODER, late, parse_written

_FENCE: Final = late(r"```(?:json|JSON)?[ \t]*\n(.*?)```", re.DOTALL)
_START: Final = late(r"[{\[]")
_MOST_STARTS: Final = 1000
"""Places at which JSON may begin that are tried."""


@POSTPROCESSORS.register_module()
def json_postprocess(text: str) -> Extraction | None:
    r"""Return the JSON of an answer: all of it, a code block, or the longest object or list in it. None without one.

    >>> json_postprocess('Here it is: {"city": "Rome"}. Is it right?')
    '{"city": "Rome"}'
    >>> json_postprocess("Rome, of course.")
    """
    source = said(text, fold=False)
    if _is_json(source.text):
        return source.stripped("all of it", 0, len(source.text))
    blocks = (found for found in _FENCE.finditer(source.text) if _is_json(found[1]))
    if block := next(blocks, None):
        return source.stripped("a code block", *block.span(1))
    longest = max(_values(source.text), key=lambda span: span[1] - span[0], default=None)
    return source.extraction("JSON in the text", *longest) if longest else None


def _values(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of the objects and lists in a text that are not inside of others."""
    end = 0
    # Each failure reads on to the first fault, so that text of brackets would take time by its length squared.
    for found in islice(_START.finditer(text), _MOST_STARTS):
        if found.start() < end:
            continue
        try:
            _, end = DECODER.raw_decode(text, found.start())
        except RecursionError:
            return
        except ValueError:
            continue
        yield found.start(), end


def _is_json(text: str) -> bool:
    try:
        parse_written(text)
    except ValueError:
        return False
    return True
