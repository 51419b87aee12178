"""Rows of benchmarks of programs, from those of their publishers."""

from __future__ import annotations

import ast
import base64
import io
import json
import pickle
import zlib
from typing import Any, Final

from ais_prompt.data import Row


def big_code_bench(row: Row) -> Row:
    """BigCodeBench: both prompts, the beginning of the program, its tests, and the libraries that it may use."""
    kept = ("task_id", "complete_prompt", "instruct_prompt", "canonical_solution", "code_prompt", "test")
    libraries = row["libs"]
    names = ast.literal_eval(libraries) if isinstance(libraries, str) else list(libraries)
    return {**{name: row[name] for name in kept}, "libs": names}


class _Texts(pickle.Unpickler):
    """Reads texts only: a pickle can name any function to be called."""

    def find_class(self, module: str, name: str) -> Any:
        """Refuse every name."""
        raise pickle.UnpicklingError(f"the tests of a question name {module}.{name}, and must be a text")


def tests_of(text: str) -> list[dict[str, str]]:
    """Return the tests in a column: JSON, or JSON that is pickled, compressed and in base64.

    Raises:
        ValueError: it is neither.
    """
    try:
        found = json.loads(text)
    except ValueError:
        try:
            found = json.loads(_Texts(io.BytesIO(zlib.decompress(base64.b64decode(text)))).load())
        except (zlib.error, pickle.UnpicklingError, EOFError, TypeError) as error:
            raise ValueError(f"the tests cannot be read: {error}") from error
    return list(found)


_WITH_CODE: Final = (
    "### Format: You will use the following starter code to write the solution to the problem and enclose your code "
    "within delimiters.\n```python\n{code}\n```\n\n"
)
_FROM_STDIN: Final = (
    "### Format: Read the inputs from stdin solve the problem and write the answer to stdout (do not directly test on "
    "the sample inputs). Enclose your code within delimiters as follows. Ensure that when the python program runs, it "
    "reads the inputs, runs the algorithm and writes output to STDOUT.\n```python\n# YOUR CODE HERE\n```\n\n"
)


def live_code_bench(row: Row) -> Row:
    """LiveCodeBench: a question with its format, all of its tests, and the month of its contest."""
    code = row["starter_code"]
    tests = [*tests_of(row["public_test_cases"]), *tests_of(row["private_test_cases"])]
    metadata = json.loads(row["metadata"] or "{}")
    return {
        "question_id": row["question_id"],
        "question": row["question_content"],
        "form": _WITH_CODE.format(code=code) if code else _FROM_STDIN,
        "platform": row["platform"],
        "difficulty": row["difficulty"],
        "month": str(row["contest_date"])[:7],
        "tests": json.dumps([{"input": test["input"], "output": test["output"]} for test in tests]),
        "method": metadata.get("func_name") or "",
        "answer": "",
    }
