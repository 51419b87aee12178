"""How the time of each postprocessor grows with the length of hostile answers.

    python -m bench.extraction_speed [--size 25000]

One piece of text, such as an opening bracket or a negation, is repeated up to a size, and up to four times that
size. In linear time the second takes four times as long. Only the slowest piece of each postprocessor is printed, and
every piece whose time grows more than sixfold.
"""

from __future__ import annotations

import argparse
import time
from typing import Any, Final

from ais_prompt.registry import POSTPROCESSORS

NAMES: Final = (
    "first_option_postprocess",
    "last_option_postprocess",
    "multiple_select_postprocess",
    "gsm8k_postprocess",
    "first_number_postprocess",
    "math_postprocess_v2",
    "general_postprocess",
    "generic_llmjudge_postprocess",
    "judge_rating_postprocess",
    "humaneval_postprocess_v2",
    "mbpp_postprocess",
    "extract_non_reasoning_content",
)
# fmt: off
PIECES: Final = (
    "( ", ") ", "[[", "{", "\\boxed{", "\\[", "\\(", "$", "$x$ ", "$$", "**", "~~", "``` \n", "<think>", "<answer>",
    '"answer": ', '"answer": "', "#### ", "1 ", "7", "1,234,", "= 3 ", "-", "not ", "not A but B, ", "isn't A ",
    "不是A，而是B，", "答案是", "答案不是3，", "选", "the answer is ", "the answer is 3 ", "answer to x ", "so A ",
    "A, ", "A or B ", "AB", "A) B) C) ", "A. x\n", "B is correct ", "if A, ", "let x ", "could be 3 ", "because 3 ",
    "I cannot ", "not enough ", "I need ", "He has 3 apples. ", "Is it 3? ", "Wait, the answer is A. ", "Question: ",
    "\nQ", "\n", " ", "题", "题，", "word ",
)
# fmt: on


def seconds(name: str, piece: str, size: int) -> float:
    """The processor time for one answer of a size."""
    postprocessor: Any = POSTPROCESSORS.get(name)
    text = piece * (size // len(piece))
    begin = time.process_time()
    postprocessor(text)
    return time.process_time() - begin


def main() -> None:
    """Print a line for each postprocessor, and one for each piece in which it is slower than linear."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=25_000, help="characters of the shorter answers")
    size = parser.parse_args().size
    print(f"{'postprocessor':34}{'slowest on':28}{f'{size:,}':>12}{f'{4 * size:,}':>12}{'growth':>8}")
    for name in NAMES:
        times = {piece: (seconds(name, piece, size), seconds(name, piece, 4 * size)) for piece in PIECES}
        slowest = max(PIECES, key=lambda piece: times[piece][1])
        for piece, (short, long) in times.items():
            growth = long / max(short, 0.001)
            if piece == slowest or (growth > 6 and long > 0.1):
                print(f"{name:34}{piece!r:28}{short:>10.2f} s{long:>10.2f} s{growth:>8.1f}", flush=True)


if __name__ == "__main__":
    main()
