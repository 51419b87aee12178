"""Programs in answers.

The indentation of the first line is kept in any case: a base model goes on in the middle of a function. (OpenCompass'
``humaneval_postprocess_v2`` strips it, and the function no longer parses.)
"""

from __future__ import annotations

import re
from typing import Final

from ais_prompt.postprocess.reasoning import extract_non_reasoning_content
from ais_prompt.registry import POSTPROCESSORS

# The end may be missing: an answer that was cut, or whose stop word is the fence.
_BLOCK: Final = re.compile(r"^[ \t]*```[^\n`]*\n(.*?)(?:^[ \t]*```|\Z)", re.DOTALL | re.MULTILINE)


@POSTPROCESSORS.register_module()  # type: ignore[untyped-decorator]  # mmengine has no types
def humaneval_postprocess_v2(text: str) -> str | None:
    """The first block between ``` marks, or the whole text if there is none; None if it is empty.

    >>> humaneval_postprocess_v2("Here it is:\\n```python\\ndef f():\\n    return 1\\n```\\nIt returns 1.")
    'def f():\\n    return 1\\n'
    >>> humaneval_postprocess_v2("    return 1")
    '    return 1'

    Source: OpenCompass, ``humaneval_postprocess_v2``.
    """
    return _code(text, which=0)


@POSTPROCESSORS.register_module()  # type: ignore[untyped-decorator]  # mmengine has no types
def humaneval_postprocess_v3(text: str) -> str | None:
    """As `humaneval_postprocess_v2`, but the last block: for models that write drafts first.

    Source: OpenCompass, ``humaneval_postprocess_v3``.
    """
    return _code(text, which=-1)


@POSTPROCESSORS.register_module()  # type: ignore[untyped-decorator]  # mmengine has no types
def mbpp_postprocess(text: str) -> str | None:
    """The program between ``[BEGIN]`` and ``[DONE]``, else the first block between ``` marks, else the whole text.

    >>> mbpp_postprocess("[BEGIN]\\n'def f():\\n    return 1'\\n[DONE]\\nand more")
    'def f():\\n    return 1'
    >>> mbpp_postprocess("def f():\\n    return 1\\n[DONE]")
    'def f():\\n    return 1'

    Source: OpenCompass, ``MBPPEvaluator`` (there a part of the evaluator); the marks are those of its prompt.
    """
    before, mark, after = _after_thinking(text).partition("[BEGIN]")
    program = (after if mark else before).partition("[DONE]")[0].strip()
    if program.startswith("'") and not program.startswith("'''"):
        program = program.removeprefix("'").removesuffix("'")
    return _code(program, which=0)


def _code(text: str, which: int) -> str | None:
    said = _after_thinking(text)
    blocks = _BLOCK.findall(said)
    code: str = blocks[which] if blocks else said
    return re.sub(r"\A(?:[ \t]*\n)+", "", code) if code.strip() else None


def _after_thinking(text: str) -> str:
    # Without thoughts the text is left as it is: its first line may be indented.
    return (extract_non_reasoning_content(text) or "") if "</think>" in text or "<think>" in text else text
