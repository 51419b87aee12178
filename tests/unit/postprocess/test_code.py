from __future__ import annotations

import pytest

from ais_prompt.postprocess.code import humaneval_postprocess_v2, humaneval_postprocess_v3, mbpp_postprocess

TWO = "Draft:\n```python\na = 1\n```\nBetter:\n```\na = 2\n```\n"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("    return 1\n", "    return 1\n"),
        ("\n\n    return 1", "    return 1"),
        ("```py\n    return 1\n```", "    return 1\n"),
        ("```python\ndef f():\n    return 1", "def f():\n    return 1"),
        ("Like so:\n\n  ```python\n  a = 1\n  ```", "  a = 1\n"),
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
