"""Programs in answers.

The indentation of the first line is kept in any case: a base model goes on in the middle of a function. (OpenCompass'
``humaneval_postprocess_v2`` strips it, and the function no longer parses.)
"""

from __future__ import annotations

import re
from typing import Final

from ais_prompt.postprocess.source import Source, said
from ais_prompt.registry import POSTPROCESSORS
from ais_prompt.types.extraction import Extraction

# The end may be missing: an answer that was cut, or whose stop word is the fence.
_BLOCK: Final = re.compile(r"^[ \t]*```[^\n`]*\n(.*?)(?:^[ \t]*```|\Z)", re.DOTALL | re.MULTILINE)
_BEFORE_PROGRAM: Final = re.compile(r"\A(?:(?!\[BEGIN\]).)*\[BEGIN\]", re.DOTALL)
_AFTER_PROGRAM: Final = re.compile(r"\[DONE\].*", re.DOTALL)
_ENDS: Final = re.compile(r"\A\s+|(?<!\s)\s+\Z")
_QUOTES: Final = re.compile(r"\A'|'\Z")


@POSTPROCESSORS.register_module()
def humaneval_postprocess_v2(text: str) -> Extraction | None:
    """Return the first block between ``` marks, or the whole text if there is none; None if it is empty.

    >>> humaneval_postprocess_v2("Here it is:\\n```python\\ndef f():\\n    return 1\\n```\\nIt returns 1.")
    'def f():\\n    return 1\\n'
    >>> humaneval_postprocess_v2("    return 1")
    '    return 1'

    Source: OpenCompass, ``humaneval_postprocess_v2``.
    """
    return _code(_after_thinking(text), which=0)


@POSTPROCESSORS.register_module()
def humaneval_postprocess_v3(text: str) -> Extraction | None:
    """Do as `humaneval_postprocess_v2`, but the last block: for models that write drafts first.

    Source: OpenCompass, ``humaneval_postprocess_v3``.
    """
    return _code(_after_thinking(text), which=-1)


@POSTPROCESSORS.register_module()
def mbpp_postprocess(text: str) -> Extraction | None:
    """Return the program between ``[BEGIN]`` and ``[DONE]``, else what `humaneval_postprocess_v2` returns.

    >>> mbpp_postprocess("[BEGIN]\\n'def f():\\n    return 1'\\n[DONE]\\nand more")
    'def f():\\n    return 1'
    >>> mbpp_postprocess("def f():\\n    return 1\\n[DONE]")
    'def f():\\n    return 1'

    Source: OpenCompass, ``MBPPEvaluator`` (there a part of the evaluator); the marks are those of its prompt.
    """
    source = _after_thinking(text).without(_BEFORE_PROGRAM).without(_AFTER_PROGRAM).without(_ENDS)
    if source.text.startswith("'") and not source.text.startswith("'''"):
        source = source.without(_QUOTES)
    return _code(source, which=0)


def _code(source: Source, which: int) -> Extraction | None:
    blocks = list(_BLOCK.finditer(source.text))
    start, end = blocks[which].span(1) if blocks else (0, len(source.text))
    # Empty lines at the beginning go; the indentation of the first line with a program stays.
    empty = re.match(r"(?:[ \t]*\n)*", source.text[start:end])
    start += empty.end() if empty else 0
    rule = "a block between ```" if blocks else "the whole text"
    return source.extraction(rule, start, end) if source.text[start:end].strip() else None


def _after_thinking(text: str) -> Source:
    # Without thoughts the text is left as it is: its first line may be indented. Programs keep every character.
    source = said(text, fold=False)
    return source if source.text == text else source.without(_ENDS)
