"""The columns that OpenCompass gives to the prompt of a judge, and what its postprocessors know of each question.

Source: OpenCompass, ``LMEvaluator`` and ``SubjectiveEvalTask``.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

Order: TypeAlias = Literal["first", "random", "double"]

SEED: Final = 666
"""The seed of the order in which two answers are shown."""
PROMPT_LIST: Final = "judge_prompt_list"
"""Key of a gold with several prompts, each of which is a question of its own."""

_ENGLISH: Final = re.compile(r"\b[a-zA-Z]+\b")
_CHINESE: Final = re.compile(r"[\u4e00-\u9fff]")


class ShownAnswer(Struct, frozen=True):
    """An answer in the prompt of a judge.

    Attributes:
        model: who gave it.
        answer: a text, or the rounds of a dialogue as ``dict(round=…, user=…, assistant=…)``.
    """

    model: str
    answer: Any


def rounds(dialogue: Any, answers: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rounds of a dialogue: what the user says in the row, and what the model answered.

    Args:
        dialogue: the column of that name, a list of messages; anything else if the turns are in other columns.
        answers: one for each turn of the assistant; those beyond the dialogue are left out.
    """
    turns = [turn for turn in dialogue if isinstance(turn, Mapping)] if isinstance(dialogue, list) else []
    said = (
        [str(turn.get("content", "")) for turn in turns if turn.get("role") == "user"] if turns else [""] * len(answers)
    )
    pairs = zip(said, answers, strict=False)
    return [{"round": n, "user": user, "assistant": answer} for n, (user, answer) in enumerate(pairs, 1)]


def columns(shown: Sequence[ShownAnswer], *, pack: bool) -> dict[str, Any]:
    """Return the columns for the answers of a question, the first of which is ``prediction``.

    Args:
        shown: the answers, in their order.
        pack: show all rounds of a dialogue as one text; else each is a column.
    """
    found: dict[str, Any] = {}
    for number, one in enumerate(shown):
        name = f"prediction{number + 1}" if number else "prediction"
        if isinstance(one.answer, str):
            found[name] = one.answer
            found[f"{name}_en_word_count"] = len(_ENGLISH.findall(one.answer))
            found[f"{name}_cn_word_count"] = len(_CHINESE.findall(one.answer))
        elif pack:
            found[name] = str(one.answer)
        else:
            # Here the peer counts from 1: prediction_r1, prediction1_r1.
            name = f"prediction{number}" if number else "prediction"
            found |= {f"{name}_r{turn}": each["assistant"] for turn, each in enumerate(one.answer, 1)}
    return found


def orders(order: Order, rows: Sequence[int]) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield the comparisons of two answers: the position in ``rows``, and which answer comes first and second.

    Args:
        order: as they are (``first``), shuffled, or each question twice, in both orders.
        rows: numbers of the rows, from 0; the order of a row does not depend on what other rows there are.
    """
    drawn = random.Random(SEED)
    shuffled = []
    for _ in range(max(rows, default=-1) + 1 if order == "random" else 0):
        pair = [0, 1]
        drawn.shuffle(pair)
        shuffled.append((pair[0], pair[1]))
    for position, row in enumerate(rows):
        yield position, shuffled[row] if order == "random" else (0, 1)
    if order == "double":
        yield from ((position, (1, 0)) for position in range(len(rows)))


def reference(
    gold: Any, shown: Sequence[ShownAnswer], baselines: Sequence[str] = (), *, keep_predictions: bool = False
) -> Any:
    """Return what a postprocessor knows of a question: the gold, and for a comparison, who gave which answer.

    Args:
        gold: the output column.
        shown: the answers, in their order.
        baselines: names of the models that answers are compared with.
        keep_predictions: whether it needs the answers too.
    """
    if len(shown) < 2:
        return gold
    found = dict(gold) if isinstance(gold, Mapping) else {}
    for number, one in enumerate(shown, 1):
        found[f"answer{number}"] = one.model
        if keep_predictions:
            found[f"prediction{number}"] = one.answer
    return {**found, "base_models": list(baselines)}
