"""Programs in answers, between the fences of CommonMark (section 4.5).

Fences may be of backticks or tildes, and longer than three; the lines of a block lose the indentation of its fence, as
in a list; three backticks in a docstring, which is indented, end no program. Models also write fences that CommonMark
does not know: indented by four blanks and more, or after a text in the same line. They count where others are missing.

The indentation of the first line is kept in any case: a base model goes on in the middle of a function. (OpenCompass'
``humaneval_postprocess_v2`` strips it, and the function no longer parses.)
"""

from __future__ import annotations

import re
from itertools import accumulate
from typing import Final, NamedTuple

from ais_prompt.postprocess import AnswerText, said
from ais_prompt.registry import POSTPROCESSORS
from ais_prompt.types import Extraction
from ais_prompt.utils import late

_FENCE_AFTER_TEXT: Final = late(
    # > and the marks of lists may stand before a fence
    r"^(?![ \t>*+-]*(?:\d{1,9}[.)][ \t]+)?(?:`{3}|~{3}))[^\n`]*[^\s`](?=[ \t]*```[\w+-]*[ \t]*$)",
    re.MULTILINE,
)
_CLOSED: Final = late(r"^[ \t>]*(?:`{3,}|~{3,})[ \t]*\Z", re.MULTILINE)
_END_AFTER_TEXT: Final = late(r"(?<=[^\s`])[ \t]*```[ \t]*(?:\n.*)?\Z", re.DOTALL)
_BEFORE_PROGRAM: Final = late(r"\A(?:(?!\[BEGIN\]).)*\[BEGIN\]", re.DOTALL)
_AFTER_PROGRAM: Final = late(r"\[DONE\].*", re.DOTALL)
_ENDS: Final = late(r"\A\s+|(?<!\s)\s+\Z")
_QUOTES: Final = late(r"\A'|'\Z")


@POSTPROCESSORS.register_module()
def humaneval_postprocess_v2(text: str) -> Extraction | None:
    """Return the first block of code between fences, or the whole text if there is none; None if it is empty.

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


class _Block(NamedTuple):
    """A block of code: where its lines are, and what they are without the indentation of its fence."""

    start: int
    end: int
    text: str


def _code(source: AnswerText, which: int) -> Extraction | None:
    text = source.text
    blocks = _blocks(text)
    block = blocks[which] if blocks else _Block(0, len(text), text)
    # Empty lines at the beginning go; the indentation of the first line with a program stays.
    program = re.sub(r"\A(?:[ \t]*\n)+", "", block.text)
    rule = "a block of code" if blocks else "the whole text"
    return source.extraction(rule, block.start, block.end, program) if program.strip() else None


def _blocks(text: str) -> list[_Block]:
    """Return the fenced blocks of a text. The last one may have no end: an answer that was cut."""
    if "```" not in text and "~~~" not in text:
        return []
    # A fence after a text in its line is none of CommonMark, which would take the end of its block for a beginning.
    late = _FENCE_AFTER_TEXT.search(text)
    if late and not _fenced(text[: late.end()]):
        begin = late.end()
        return [
            block._replace(start=begin + block.start - 1, end=begin + block.end - 1)
            for block in _fenced("\n" + text[begin:].lstrip(" \t"))
        ]
    return _fenced(text) or _fenced(text, indented=True)


def _fenced(text: str, *, indented: bool = False) -> list[_Block]:
    """Return the fenced blocks, also those that are indented like a block of code if ``indented``."""
    from markdown_it import MarkdownIt

    # A tag alone in a line, <answer>, begins no block of HTML that would hide a fence.
    reader = MarkdownIt("commonmark").disable(["html_block", "code"] if indented else ["html_block"])
    ends = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    return [
        _block(text, ends[token.map[0] + 1], min(ends[token.map[1]], len(text)), token.content)
        for token in reader.parse(text)
        if token.type == "fence" and token.map
    ]


def _block(text: str, start: int, end: int, content: str) -> _Block:
    """Return a block, without the fence at the end of a line of code if that is the only one that ends it."""
    is_closed = _CLOSED.search(text[start:end].rstrip("\n"))
    return _Block(start, end, content if is_closed else _END_AFTER_TEXT.sub("\n", content))


def _after_thinking(text: str) -> AnswerText:
    # Without thoughts the text is left as it is: its first line may be indented. Programs keep every character.
    source = said(text, fold=False)
    return source if source.text == text else source.without(_ENDS)
