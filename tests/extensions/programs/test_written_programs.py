from __future__ import annotations

import pytest

from ais_prompt.extensions.programs.written_programs import (
    humaneval_postprocess_v2,
    humaneval_postprocess_v3,
    mbpp_postprocess,
)
from ais_prompt.types import Extraction

TWO = "Draft:\n```python\na = 1\n```\nBetter:\n```\na = 2\n```\n"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("    return 1\n", "    return 1\n"),
        ("\n\n    return 1", "    return 1"),
        ("```py\n    return 1\n```", "    return 1\n"),
        ("```python\ndef f():\n    return 1", "def f():\n    return 1"),
        ("Like so:\n\n  ```python\n  a = 1\n  ```", "a = 1\n"),
        ("def f():\n    '''```inline```'''\n", "def f():\n    '''```inline```'''\n"),
        ("<think>```\nwrong\n```</think>\n```\nright\n```", "right\n"),
        (TWO, "a = 1\n"),
        ("```python\n```", None),
        ("<think>```\nwrong\n```", None),
        ("  \n", None),
    ],
)
def test_the_first_block_or_everything(text: str, code: str | None) -> None:
    assert humaneval_postprocess_v2(text) == code


def test_the_last_block() -> None:
    assert humaneval_postprocess_v3(TWO) == "a = 2\n"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[BEGIN]\n a = 1\n[DONE]\n[BEGIN] b", "a = 1"),
        (" 'a = 1' [DONE] more", "a = 1"),
        ("a = 'b'\n[DONE]", "a = 'b'"),
        ("[BEGIN]\n'''Doc.'''\n[DONE]", "'''Doc.'''"),
        ("[BEGIN]", None),
        ("[BEGIN]\n```python\na = 1\n```\n[DONE]", "a = 1\n"),
        ("Sure!\n```python\na = 1\n```\nThat is it.", "a = 1\n"),
        ("a = 1", "a = 1"),
        ("[BEGIN][DONE]", None),
    ],
)
def test_the_program_of_mbpp(text: str, code: str | None) -> None:
    assert mbpp_postprocess(text) == code


PROGRAM = "def f(x):\n    if x:\n        return 1\n\n    return 2\n"
DOCSTRING = 'def f():\n    """Do.\n\n    ```python\n    f()\n    ```\n    """\n    return 1\n'


def indented(text: str, blanks: int) -> str:
    return "".join(" " * blanks + line if line.strip() else line for line in text.splitlines(keepends=True))


def test_fences_of_all_kinds() -> None:
    cases = [
        ("", 0, "```python", "```"),
        ("", 0, "~~~python", "~~~"),
        ("", 0, "````", "````"),
        ("", 0, "``` python title=x", "``````"),
        ("", 3, "```", "```"),
        ("1. Do this:\n\n", 3, "```python", "```"),
        ("1. Do this:\n", 4, "```python", "```"),
        ("- Do this:\n", 2, "~~~", "~~~"),
        ("* a\n  * b\n\n", 4, "```", "```"),
        ("<answer>\n", 0, "```python", "```"),
        ("Here it is: ", 0, "```python", "```"),
        ("代码如下：", 0, "```python", "```"),
        ("So:\n", 0, "```python", ""),
        ("Some `code` and text\n", 0, "```python", "```\nIt returns `1`."),
        ("1. ", 3, "```python", "```"),
        ("- ", 2, "~~~", "~~~"),
    ]
    for before, blanks, opening, closing in cases:
        for program in [PROGRAM, DOCSTRING, "    return 1\n", "# ``` is no fence\nx = '~~~'\n"]:
            lead = "" if before.endswith((" ", "：")) else " " * blanks
            text = f"{before}{lead}{opening}\n{indented(program, blanks)}{' ' * blanks}{closing}"
            found = humaneval_postprocess_v2(text)
            assert isinstance(found, Extraction)
            assert found.rstrip() == program.rstrip()
            assert program.strip()[:5] in text[found.reading.start : found.reading.end]


@pytest.mark.parametrize("after", ["", "\n", "\nIt returns 1.", "\n\nAs `f()` shows."])
def test_the_fence_may_end_the_last_line_of_a_program(after: str) -> None:
    assert humaneval_postprocess_v2(f"So:\n```python\n{PROGRAM.rstrip()}```{after}") == PROGRAM


def test_a_program_in_a_quotation() -> None:
    quoted = "".join(f"> {line}" for line in f"```python\n{PROGRAM}```\n".splitlines(keepends=True))
    assert humaneval_postprocess_v2(f"He wrote:\n\n{quoted}") == PROGRAM
