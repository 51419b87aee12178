"""The protocol of retrievers, which choose the in-context examples of each question, and helpers that they share.

`own_rows`, `take` and `RowLists` pick the first rows of a ranking without copies of the test row, in little memory.
`RetrievalText` makes the text by which rows are compared.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from typing import Protocol, TypeAlias, overload, runtime_checkable

from ais_prompt.errors import ConfigError
from ais_prompt.parts import KeptChecks
from ais_prompt.types import Sample
from ais_prompt.utils import RowIndex, counted, listed, row_key

ShotIds: TypeAlias = tuple[int, ...]
"""Row numbers in the train split, in the order in which they are shown."""

_FIELD = re.compile(r"\{([^{}]*)\}")
OwnRows: TypeAlias = tuple[int, ...]
"""The train rows that are equal to a test row, and must not be among its examples."""


class Retriever(Protocol):
    """Choose the in-context examples.

    Attributes:
        gives_shots: False if it never shows examples, by design.
        exclude_self: whether it leaves out train rows that are equal to the test row in every column.
        ice_separator, ice_eos_token: text between and after examples that are text.
    """

    gives_shots: bool
    exclude_self: bool
    ice_separator: str
    ice_eos_token: str

    def retrieve(self, train: Sequence[Sample], test: Sequence[Sample]) -> Sequence[ShotIds]:
        """Return the shots of every test row, in order of the test rows.

        Raises:
            ConfigError: the train split has too few rows, or lacks a row or column.
        """

    def candidates(self, train: Sequence[Sample], test: Sequence[Sample]) -> Sequence[Collection[int]]:
        """Return the train rows that each test row may be shown: `retrieve`, or all rows where that is slow.

        Raises:
            ConfigError: as `retrieve`, as far as that can be seen without comparing rows.
        """

    def trial(self, train: Sequence[Sample], test: Sequence[Sample]) -> ShotIds:
        """Return shots that the first test row might get, quickly: `check` builds one prompt with them.

        It loads nothing heavy. A retriever that compares texts may return any rows, in their usual number.

        Raises:
            ConfigError: as `retrieve`, as far as that can be seen without comparing rows.
        """


class ShowsExamples(Retriever):
    """The base of the shipped retrievers that show examples.

    Args:
        ice_separator, ice_eos_token: text between and after examples that are text.
        exclude_self: whether it leaves out train rows that are equal to the test row in every column.
    """

    gives_shots = True

    def __init__(self, ice_separator: str, ice_eos_token: str, exclude_self: bool) -> None:
        self.ice_separator = ice_separator
        self.ice_eos_token = ice_eos_token
        self.exclude_self = exclude_self

    def candidates(self, train: Sequence[Sample], test: Sequence[Sample]) -> Sequence[Collection[int]]:
        """Return the rows that are shown."""
        return self.retrieve(train, test)

    def trial(self, train: Sequence[Sample], test: Sequence[Sample]) -> ShotIds:
        """Return the shots of the first test row."""
        return self.retrieve(train, test[:1])[0]


def own_rows(train: Sequence[Sample], test: Sequence[Sample], *, exclude_self: bool) -> Sequence[OwnRows]:
    """Return the train rows with the same columns and values as each test row; none unless ``exclude_self``.

    It compares content, not ids or row numbers: splits that share rows need not share their order, and every copy of a
    row in the train split would show the answer.
    """
    if not exclude_self:
        return [()] * len(test)
    index = RowIndex(row_key(sample.fields) for sample in train)
    return RowLists(index.rows(row_key(sample.fields)) for sample in test)


def take(order: Iterable[int], count: int, own: OwnRows) -> ShotIds:
    """Return the first ``count`` rows of a ranking without the test row's own; fewer if there are not so many."""
    return tuple(islice((int(row) for row in order if row not in own), count))


def check_count(count: int, argument: str) -> int:
    """Return a number of shots unchanged.

    Raises:
        ConfigError: it is negative.
    """
    if count < 0:
        raise ConfigError(f"{argument} cannot be {count}", fix=f"{argument}=0 shows no examples")
    return count


def check_enough(count: int, rows: int, argument: str, own: Iterable[OwnRows] = ()) -> None:
    """Check that the train split has enough rows for every test row.

    Raises:
        ConfigError: it has fewer than ``count``, or too few without a test row's own.
    """
    left_out = max(map(len, own), default=0)
    if count > rows - left_out:
        less = f", {left_out} of them equal to a test row" if left_out else ""
        raise ConfigError(
            f"{argument} asks for {counted(count, 'example')}, but the train split has {counted(rows, 'row')}{less}",
            fix=f"lower {argument}; check train_split and train_range of reader_cfg",
        )


class RowLists(Sequence[ShotIds]):
    """A list of row numbers for each test row, at 8 bytes a number; a tuple takes 40.

    Args:
        lists: the lists, in order of the test rows.
    """

    def __init__(self, lists: Iterable[Sequence[int]]) -> None:
        self._rows = array("q")
        self._ends = array("q", [0])
        for rows in lists:
            self._rows.extend(rows)
            self._ends.append(len(self._rows))

    def __eq__(self, other: object) -> bool:
        """Compare like a list of tuples."""
        return isinstance(other, Sequence) and list(self) == list(other)

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, index: int) -> ShotIds: ...
    @overload
    def __getitem__(self, index: slice) -> RowLists: ...
    def __getitem__(self, index: int | slice) -> ShotIds | RowLists:
        """Return the list of one test row, or those of a slice."""
        if isinstance(index, slice):
            return RowLists(self[row] for row in range(*index.indices(len(self))))
        row = range(len(self))[index]
        return tuple(self._rows[self._ends[row] : self._ends[row + 1]])


class RetrievalText:
    """Make the text by which a row is compared with others.

    Args:
        input_columns: the columns whose values are joined by one blank; those of ``reader_cfg`` unless a config names
            others.
        input_template: a text with ``{column}``, used instead of the joined columns. It is filled in one pass; braces
            around other names stay as they are.
    """

    def __init__(self, input_columns: Sequence[str] | str = (), input_template: str | None = None) -> None:
        self.input_columns = (input_columns,) if isinstance(input_columns, str) else tuple(input_columns)
        self.input_template = input_template

    def of(self, samples: Iterable[Sample]) -> list[str]:
        """Return the texts of samples.

        Raises:
            ConfigError: no column is named, or a column is not in the data.
        """
        if self.input_template is None and not self.input_columns:
            raise ConfigError(
                "the retriever compares texts, but no columns are named",
                fix="give it input_columns=['question'], or an input_template",
            )
        return [self._text(sample) for sample in samples]

    def _text(self, sample: Sample) -> str:
        fields = sample.fields
        if self.input_template is not None:
            return _FIELD.sub(lambda slot: str(fields.get(slot[1], slot[0])), self.input_template)
        try:
            return " ".join(str(fields[column]) for column in self.input_columns)
        except KeyError as error:
            raise ConfigError(
                f"the retriever compares the column {error.args[0]!r}, which the data does not have",
                fix=f"input_columns can name {listed(map(repr, fields))}",
            ) from None


@runtime_checkable
class ComparesTexts(Protocol, metaclass=KeptChecks):
    """A retriever that compares texts of rows.

    Attributes:
        text: makes the text of a row.
    """

    text: RetrievalText
