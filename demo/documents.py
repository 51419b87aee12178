"""What the demo model reads in training: endless random documents in every form that an evaluation may ask in.

Multiple choice needs no form of its own: by perplexity each option is put in the place of the answer of a completion.

A document is a list of pieces, each with the weight of its tokens in the loss. Answers, and how they end, weigh 1.
Questions weigh 0: they are random, and nothing is learned from guessing them. That questions weigh 0 also makes the
model stop: after the answer of a completion the only thing it was ever taught to say is the end of the text, although
few-shot documents go on with a further question.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from demo.arithmetic import (
    Problem,
    as_follow_up,
    draw_dialogue,
    draw_problem,
    in_signs,
    in_words,
)

BOS, EOS, PAD = "<s>", "</s>", "<pad>"
TURN_START, TURN_END = "<|im_start|>", "<|im_end|>"

# A prompt may end with or without the blank before the answer, so the blank is learned too.
BLANK_WEIGHT = 0.1

COMPLETION_STYLES = (("Q: ", "\nA:", " "), ("Question: ", "\nAnswer:", " "), ("", "", "\n"))
CHAT_WRAPPERS = ("{q}", "{q}", "{q}", "{q}\n", "Question: {q}", "Question: {q}\nAnswer:", "Q: {q}\nA:")
SYSTEM_WORDS = (
    "You are a careful helpful assistant calculator . , Answer the question with number only a letter of right "
    "option Please be short Think and add subtract two numbers in your reply I will give to you"
)


@dataclass(frozen=True)
class Piece:
    """A stretch of text and the weight of each of its tokens in the loss, 0..1."""

    text: str
    weight: float = 0.0


@dataclass(frozen=True)
class Document:
    """One training text, and the problems in it (so that a test can see that none is held out)."""

    pieces: tuple[Piece, ...]
    problems: tuple[Problem, ...]

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)


def completion_document(rng: Random, shots: int) -> Document:
    """`Q: 23+45=?` / `A: 68`, repeated: each answer but the first has the ones before it as its examples."""
    problems = tuple(draw_problem(rng, held_out=False) for _ in range(shots + 1))
    before, after, blank = rng.choice(COMPLETION_STYLES)
    phrase = _draw_phrasing(rng)
    gap = rng.choice(("", "\n"))
    pieces = []
    for problem in problems:
        pieces += [Piece(before + phrase(problem) + after), Piece(blank, BLANK_WEIGHT)]
        pieces += [Piece(f"{problem.answer}\n", 1), Piece(gap)]
    return _completed(pieces, problems)


def chat_document(rng: Random, shots: int) -> Document:
    """A conversation of questions that have nothing to do with each other, as few-shot examples are in chat."""
    problems = tuple(draw_problem(rng, held_out=False) for _ in range(shots + 1))
    phrase = _draw_phrasing(rng)
    wrapper = rng.choice(CHAT_WRAPPERS)
    turns = [([Piece(wrapper.format(q=phrase(problem)))], str(problem.answer)) for problem in problems]
    return Document((*_chat_opening(rng), *_chat_turns(turns)), problems)


def dialogue_document(rng: Random, shots: int) -> Document:
    """`1+1=?` ... `and 3 more?`: later turns go on from the answer before; `shots` more dialogues stand in front."""
    problems: list[Problem] = []
    turns = []
    for _ in range(shots + 1):
        first, *later = draw_dialogue(rng, turns=rng.choice((2, 3, 4)), held_out=False)
        phrase = _draw_phrasing(rng)
        questions = [phrase(first), *(as_follow_up(step, rng) for step in later)]
        problems += [first, *later]
        end = rng.choice(("", "", "", "\n"))
        turns += [([Piece(q + end)], str(p.answer)) for q, p in zip(questions, (first, *later), strict=True)]
    return Document((*_chat_opening(rng), *_chat_turns(turns)), tuple(problems))


# Form, share of the documents, largest number of shots.
FORMS: tuple[tuple[Callable[[Random, int], Document], float, int], ...] = (
    (completion_document, 0.45, 8),
    (chat_document, 0.25, 5),
    (dialogue_document, 0.30, 1),
)


def draw_document(rng: Random) -> Document:
    """The training stream: each call gives the next document."""
    form, _, most_shots = rng.choices(FORMS, weights=[share for _, share, _ in FORMS])[0]
    return form(rng, rng.randint(0, most_shots))


def _draw_phrasing(rng: Random) -> Callable[[Problem], str]:
    """How the questions of one document are put: in signs, or each in some words."""
    if rng.random() < 0.5:
        return in_signs
    return lambda problem: in_words(problem, rng)


def _completed(pieces: list[Piece], problems: tuple[Problem, ...]) -> Document:
    """Closes a completion: the end of the text takes the place of the gap after the last answer."""
    return Document((Piece(BOS), *pieces[:-1], Piece(EOS, 1)), problems)


def _chat_opening(rng: Random) -> list[Piece]:
    """BOS, and for half of the conversations a system message of random words: whatever it says, sums stay sums."""
    if rng.random() < 0.5:
        return [Piece(BOS)]
    words = " ".join(rng.choices(SYSTEM_WORDS.split(), k=rng.randint(1, 16)))
    return [Piece(f"{BOS}{TURN_START}system\n{words}{TURN_END}\n")]


def _chat_turns(turns: list[tuple[list[Piece], str]]) -> list[Piece]:
    """Questions and answers as the chat template writes them."""
    pieces = []
    for question, answer in turns:
        pieces += [Piece(f"{TURN_START}user\n"), *question, Piece(f"{TURN_END}\n{TURN_START}assistant\n")]
        pieces += [Piece(answer + TURN_END, 1), Piece("\n")]
    return pieces
