"""The program that an answer makes of the prompt of HumanEval."""

from __future__ import annotations

import pytest

from ais_prompt.extensions.programs.evaluator import humaneval_program

PROMPT = 'def double(x: int) -> int:\n    """Double a number.\n\n    >>> double(2)\n    4\n    """\n'


@pytest.mark.parametrize(
    "answer",
    [
        "    return 2 * x\n",
        "return 2 * x",
        "    double_x = 2 * x\n    return double_x\n",
        "def double(x):\n    return 2 * x\n",
        "async def other(): ...\n\ndef double(x):\n    return 2 * x\n",
        "double = lambda x: 2 * x\n",
        "double: object = lambda x: 2 * x\n",
        "def twice(x):\n    return 2 * x\n\ndouble = twice\n",
        "def twice(x):\n    return 2 * x\n\nother = double = twice\n",
        "from functools import partial\nfrom operator import mul\n\ndouble = partial(mul, 2)\n",
        "try:\n    from nowhere import double\nexcept ImportError:\n    def double(x):\n        return 2 * x\n",
        "class double(int):\n    def __new__(cls, x):\n        return 2 * x\n",
        "from __future__ import annotations\n\ndef double(x: Nothing) -> Nothing:\n    return 2 * x\n",
        '"""A module."""\nfrom __future__ import (\n    annotations,\n    division,\n)\ndouble = lambda x: 2 * x\n',
        "from __future__ import annotations\n    return 2 * x\n",
    ],
)
def test_every_way_to_define_the_function(answer: str) -> None:
    names: dict[str, object] = {}
    exec(compile(humaneval_program(PROMPT, answer, "double"), "program", "exec", dont_inherit=True), names)
    assert names["double"](4) == 8  # type: ignore[operator]
