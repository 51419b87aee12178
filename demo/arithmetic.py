"""The small world of the demo model: sums, how they are put into words, and which of them are never trained on.

Everything that both the datasets (`make_demo_data.py`) and the training text (`demo_documents.py`) say about
arithmetic is said here once, above all the held-out split: a pair of operands belongs to the tests or to the
training, in either order, with either sign, and in every form of question.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from random import Random

MAX_OPERAND = 99
MAX_FOLLOW_UP = 20  # the second operand of "and 3 more?": small, so that a dialogue stays within MAX_OPERAND
HELD_OUT_PERCENT = 12
LABELS = ("A", "B", "C", "D")

# Several ways to say the same, so that the model has to find the numbers and the sign, not to learn one sentence.
WORD_FORMS = {
    "+": ("What is {a} plus {b}?", "How much is {a} plus {b}?", "Add {a} and {b}.", "Please add {b} to {a}."),
    "-": ("What is {a} minus {b}?", "How much is {a} minus {b}?", "Subtract {b} from {a}.", "Take {b} away from {a}."),
}
FOLLOW_UPS = {
    "+": ("and {b} more?", "plus {b}?"),
    "-": ("and {b} less?", "minus {b}?"),
}


@dataclass(frozen=True)
class Problem:
    """One sum or difference: `left sign right`, with both operands in 0..MAX_OPERAND and an answer of at least 0."""

    left: int
    sign: str
    right: int

    @property
    def answer(self) -> int:
        return self.left + self.right if self.sign == "+" else self.left - self.right


def is_held_out(left: int, right: int) -> bool:
    """Whether this pair of operands, in either order, is reserved for the tests.

    A hash and not a random draw: the split needs no state, and is the same in every program and on every machine.
    """
    pair = f"{min(left, right)},{max(left, right)}"
    return int(hashlib.sha256(pair.encode()).hexdigest(), 16) % 100 < HELD_OUT_PERCENT


def draw_problem(rng: Random, *, held_out: bool) -> Problem:
    """A problem from one side of the split, uniform over the ordered pairs of that side that fit the drawn sign."""
    while True:
        sign = "+" if rng.random() < 0.6 else "-"
        left, right = rng.randint(0, MAX_OPERAND), rng.randint(0, MAX_OPERAND)
        if sign == "-" and right > left:
            left, right = right, left
        if is_held_out(left, right) == held_out:
            return Problem(left, sign, right)


def draw_dialogue(rng: Random, *, turns: int, held_out: bool) -> tuple[Problem, ...]:
    """`turns` problems from one side of the split, each but the first beginning with the answer of the one before."""
    while True:
        steps = [draw_problem(rng, held_out=held_out)]
        while len(steps) < turns:
            following = _draw_follow_up(rng, steps[-1].answer, held_out=held_out)
            if following is None:
                break
            steps.append(following)
        if len(steps) == turns:
            return tuple(steps)


def _draw_follow_up(rng: Random, left: int, *, held_out: bool) -> Problem | None:
    """A step that goes on from `left`, or None where this side of the split has none."""
    if left > MAX_OPERAND:
        return None
    sign = "+" if rng.random() < 0.6 else "-"
    largest = MAX_FOLLOW_UP if sign == "+" else min(MAX_FOLLOW_UP, left)
    fitting = [right for right in range(1, largest + 1) if is_held_out(left, right) == held_out]
    return Problem(left, sign, rng.choice(fitting)) if fitting else None


def in_signs(problem: Problem) -> str:
    """The short form: `23+45=?`."""
    return f"{problem.left}{problem.sign}{problem.right}=?"


def in_words(problem: Problem, rng: Random) -> str:
    """One of the sentences: `What is 23 plus 45?`."""
    return rng.choice(WORD_FORMS[problem.sign]).format(a=problem.left, b=problem.right)


def as_follow_up(problem: Problem, rng: Random) -> str:
    """A later turn of a dialogue, which does not repeat the number so far: `and 3 more?`."""
    return rng.choice(FOLLOW_UPS[problem.sign]).format(b=problem.right)


def draw_options(problem: Problem, gold: str, rng: Random) -> dict[str, str]:
    """Four different answers by label, the right one under `gold`.

    A wrong answer is off by one, by ten, has its digits swapped, or is off by one from such a twin. Were all three
    neighbours of the right answer, it could be found as the one that resembles all others, without any arithmetic;
    two values with a neighbour each leave nothing to see from outside.
    """
    answer = problem.answer
    twins = {answer - 10, answer + 10, int(str(answer)[::-1])}
    twin = rng.choice(sorted(value for value in twins if value >= 0 and abs(value - answer) > 2))
    step = rng.choice((1, -1)) if answer and twin else 1
    wrong = [answer + step, twin, twin + step]
    rng.shuffle(wrong)
    return {label: str(answer if label == gold else wrong.pop()) for label in LABELS}
