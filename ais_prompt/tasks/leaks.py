"""Proof that no prompt shows the answer it asks for: neither by its template nor among its examples."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ais_prompt.chat import Mode
from ais_prompt.errors import DataError
from ais_prompt.inferencers import Desk, Inferencer
from ais_prompt.models import ScriptedModel
from ais_prompt.prompts import Filled, PromptBuilder
from ais_prompt.retrievers import Retriever
from ais_prompt.tasks.warnings import PromptWarning
from ais_prompt.types import Prompt, Sample

OTHER_GOLD: Final = "\ue000another gold\ue000"
"""Stands in the place of a gold. Private characters: no gold holds them."""


def check_gold_is_hidden(
    inferencer: Inferencer, builder: PromptBuilder, samples: Sequence[Sample], shots: Sequence[Sample]
) -> None:
    """Build the prompts of every sample once more with another gold: they must be the same.

    Inferencers that write labels into their prompts hide nothing, and are not looked at.

    Args:
        inferencer, builder: make the prompts.
        samples: all questions.
        shots: examples for each of them; which ones does not matter here.

    Raises:
        DataError: a prompt is another; it names the first sample and the column.
        PromptError: a prompt cannot be built.
    """
    column = builder.output_column
    if column is None or inferencer.mask is None:
        return
    desk = Desk(builder, _Unformatted(), ScriptedModel(), samples)

    def prompts(sample: Sample) -> list[Filled]:
        return [view.filled for view in inferencer.preview(sample, shots, desk)]

    leaking = [sample for sample in samples if prompts(sample) != prompts(_with_other_gold(sample, column))]
    if leaking:
        raise DataError(
            f"the prompt tells the answer: it changes with the gold in column {column!r}",
            where=f"sample {leaking[0].id}, row {leaking[0].index}; {len(leaking)} of {len(samples)} samples",
            mend=f"take {{{column}}} out of the template, or set output_column to the column with the gold",
        )


class _Unformatted:
    """In the place of a model's format: only what the templates of the data set write is compared."""

    def render(self, prompt: Filled, mode: Mode) -> Prompt:  # noqa: ARG002
        return ""


def _with_other_gold(sample: Sample, column: str) -> Sample:
    value = sample.fields[column]
    # Of a dialogue only the last answer is asked for in every mode; the earlier ones may be part of the question.
    other = [*value[:-1], OTHER_GOLD] if isinstance(value, list) and value else OTHER_GOLD
    return replace(sample, fields={**sample.fields, column: other}, gold=other)


@dataclass(frozen=True, slots=True)
class ShownQuestions:
    """Questions that are shown, or may be, among their own examples.

    Attributes:
        exact: (test row, train row) where all input columns are equal.
        near: the same for those that are equal but for space and case.
    """

    exact: tuple[tuple[int, int], ...]
    near: tuple[tuple[int, int], ...]


def find_shown_questions(
    retriever: Retriever, columns: Sequence[str], train: Sequence[Sample], test: Sequence[Sample]
) -> ShownQuestions:
    """Which questions stand among the rows that they may be shown; the first such row of each.

    Args:
        retriever: says which rows it may show, and whether it leaves a row's own copies out.
        columns: the columns that make a question.
        train, test: the two splits.
    """
    if not retriever.gives_shots:
        return ShownQuestions((), ())
    rows: defaultdict[str, list[int]] = defaultdict(list)
    for row, sample in enumerate(train):
        rows[_key(sample, columns)].append(row)
    exact, near = [], []
    for sample, shown in zip(test, retriever.candidates(train, test), strict=True):
        found = [row for row in rows.get(_key(sample, columns), ()) if row in shown]
        found = [row for row in found if not (retriever.exclude_self and train[row].fields == sample.fields)]
        same = [row for row in found if _values(train[row], columns) == _values(sample, columns)]
        if same:
            exact.append((sample.index, same[0]))
        elif found:
            near.append((sample.index, found[0]))
    return ShownQuestions(tuple(exact), tuple(near))


def shown_questions_warning(found: ShownQuestions, questions: int, where: str) -> PromptWarning | None:
    """What is to be said of questions among their own examples; None if there are none."""
    pairs = (*found.exact, *found.near)
    if not pairs:
        return None
    kinds = f"{len(found.exact)} exactly, {len(found.near)} but for space and case"
    test_row, train_row = pairs[0]
    return PromptWarning(
        f"{len(pairs)} of {questions} questions stand among the rows that they may be shown as examples, answers "
        f"included ({kinds}): test row {test_row} is train row {train_row}" + (", and so on" if len(pairs) > 1 else ""),
        where,
        "exclude_self=True leaves exact copies out; for others choose other ids or another train_range",
    )


def _values(sample: Sample, columns: Iterable[str]) -> list[Any]:
    return [sample.fields[column] for column in columns]


def _key(sample: Sample, columns: Iterable[str]) -> str:
    """A question without what people do not see as a difference: space and case."""
    return "\0".join(" ".join(str(value).casefold().split()) for value in _values(sample, columns))
