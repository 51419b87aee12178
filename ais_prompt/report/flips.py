"""The changed samples of a comparison in a terminal: named by their question, changed words coloured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from rich.text import Text

from ais_prompt.comparison.comparison import Flip
from ais_prompt.preview.differences import changed_words
from ais_prompt.report.questions import questions
from ais_prompt.utils.text import printable

COLOURS: Final = {"worse": "red", "better": "green"}
LONGEST: Final = 160
"""Characters of an answer that are shown."""


def flip_lines(flips: Sequence[Flip], most: int) -> Iterator[Text]:
    """Yield the lines of the changed samples, those that became worse first.

    Args:
        flips: of one dataset.
        most: the most samples in each direction.
    """
    names = questions_of(flips)
    for name in COLOURS:
        found = [place for place, flip in enumerate(flips) if (flip.after < flip.before) == (name == "worse")]
        for place in found[:most]:
            yield from _flip(flips[place], name, names[place])
        if most and len(found) > most:
            yield Text(f"  … and {len(found) - most} more became {name}; --flips N or --json shows them", style="dim")


def questions_of(flips: Sequence[Flip]) -> list[str]:
    """Return the question of each changed sample in one line; of a single one, the end of its prompt."""
    predictions = [flip.predictions[1] for flip in flips]
    found = questions(predictions)
    return [_end(one.origin_prompt) for one in predictions] if len(found) == 1 else found


def _end(prompt: Any) -> str:
    while isinstance(prompt, tuple | list) and prompt:
        prompt = prompt[-1]
    text = " ".join(str(getattr(prompt, "content", prompt)).split())
    return text if len(text) <= LONGEST else f"…{text[1 - LONGEST :]}"


def _flip(flip: Flip, name: str, question: str) -> Iterator[Text]:
    same = "same prompt" if flip.same_prompt else "other prompt"
    yield Text()
    yield Text.assemble(
        (f"  {name}: ", COLOURS[name]),
        (printable(question), "bold"),
        (f"  row {flip.index}, sample {flip.sample_id}, {same}", "dim"),
    )
    yield Text(f"    gold:   {printable(str(flip.predictions[1].gold))}")
    before, after = (printable(_shortened(prediction.prediction)) for prediction in flip.predictions)
    pieces = changed_words(before, after, least_alike=0.0)
    for when, side, extracted in zip(("before", "after"), (0, 1), flip.extracted, strict=True):
        marked = [(piece[side], "" if piece[0] == piece[1] else "bold underline") for piece in pieces]
        yield Text.assemble(f"    {when + ':':7} ", *marked, f" → {printable(str(extracted))}")


def _shortened(answer: Any) -> str:
    text = " ".join(str(answer).split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} … {text[-LONGEST // 2 :]}"
