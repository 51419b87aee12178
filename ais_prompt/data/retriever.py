"""The protocol of retrievers, which choose the in-context examples of each question, and those that go by positions.

Retrievers by position choose none, fixed rows, rows at random, or the rows before a question. `own_rows`, `take` and
`RowLists` pick the first rows of a ranking without copies of the test row, in little memory. `RetrievalText` makes the
text by which rows are compared.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from typing import Protocol, TypeAlias, overload, runtime_checkable

import numpy as np

from ais_prompt.errors import ConfigError
from ais_prompt.parts import KeptChecks
from ais_prompt.registry import RETRIEVERS
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


@RETRIEVERS.register_module()
class ZeroRetriever:
    """Choose no examples.

    Args:
        ice_eos_token: text in place of the examples; empty by default.
        ice_separator: ignored; accepted because configs of OpenCompass may have it.
    """

    gives_shots = False
    exclude_self = False

    def __init__(self, ice_eos_token: str = "", ice_separator: str = "") -> None:
        self.ice_eos_token = ice_eos_token
        self.ice_separator = ice_separator

    def retrieve(self, train: Sequence[Sample], test: Sequence[Sample]) -> Sequence[ShotIds]:  # noqa: ARG002
        """Return no rows for every test row."""
        return [()] * len(test)

    def candidates(self, train: Sequence[Sample], test: Sequence[Sample]) -> Sequence[Collection[int]]:
        """Return no rows for every test row."""
        return self.retrieve(train, test)

    def trial(self, train: Sequence[Sample], test: Sequence[Sample]) -> ShotIds:  # noqa: ARG002
        """Return no rows."""
        return ()


@RETRIEVERS.register_module()
class FixKRetriever(ShowsExamples):
    """Choose the rows of ``fix_id_list`` in that order, repeats included.

    Args:
        fix_id_list: row numbers in the train split, from 0.
        ice_separator, ice_eos_token: text between and after examples that are text.
        ice_num: ignored; accepted because configs of OpenCompass may have it.
        exclude_self: never show a test row among its own examples, where the two splits share rows. It then has one
            example less.
    """

    def __init__(
        self,
        fix_id_list: Sequence[int],
        ice_separator: str = "\n",
        ice_eos_token: str = "\n",
        ice_num: int = 1,  # noqa: ARG002
        exclude_self: bool = False,
    ) -> None:
        self.fix_id_list = tuple(fix_id_list)
        super().__init__(ice_separator, ice_eos_token, exclude_self)

    def retrieve(self, train: Sequence[Sample], test: Sequence[Sample]) -> Sequence[ShotIds]:
        """Return the fixed rows for every test row.

        Raises:
            ConfigError: an id is not a row of the train split.
        """
        for shot in self.fix_id_list:
            if not 0 <= shot < len(train):
                rows = f"0 to {len(train) - 1}" if train else "no rows"
                raise ConfigError(
                    f"fix_id_list asks for row {shot}, but the train split has {rows}",
                    fix="choose ids within the train split; check train_split and train_range of reader_cfg",
                )
        own = own_rows(train, test, exclude_self=self.exclude_self)
        return RowLists(take(self.fix_id_list, len(self.fix_id_list), rows) for rows in own)


@RETRIEVERS.register_module()
class RandomRetriever(ShowsExamples):
    """Draw rows without replacement, the same ones in every run.

    The draws are those of OpenCompass and AISBench: numpy's ``RandomState``, whose stream never changes, seeded
    once, one permutation of the train rows for each test row. The global generator is not touched.

    Args:
        ice_num: examples for each question.
        seed: seed of the draws, 0 to 2**32 - 1.
        ice_separator, ice_eos_token: text between and after examples that are text.
        exclude_self: never show a test row among its own examples, where the two splits share rows.

    Raises:
        ConfigError: ``ice_num`` is negative, or ``seed`` out of range.
    """

    def __init__(
        self,
        ice_num: int = 1,
        seed: int = 43,
        ice_separator: str = "\n",
        ice_eos_token: str = "\n",
        exclude_self: bool = False,
    ) -> None:
        if not 0 <= seed < 2**32:
            raise ConfigError(f"seed cannot be {seed}", fix="choose one from 0 to 4294967295")
        self.ice_num = check_count(ice_num, "ice_num")
        self.seed = seed
        super().__init__(ice_separator, ice_eos_token, exclude_self)

    def retrieve(self, train: Sequence[Sample], test: Sequence[Sample]) -> Sequence[ShotIds]:
        """Return a draw for every test row.

        Raises:
            ConfigError: the train split has fewer rows than ``ice_num``.
        """
        own = own_rows(train, test, exclude_self=self.exclude_self)
        check_enough(self.ice_num, len(train), "ice_num", own)
        generator = np.random.RandomState(self.seed)
        # choice(n, ice_num, replace=False) takes the head of a permutation. All of it is drawn here, so that leaving a
        # row out does not change the draws of later test rows.
        return RowLists(take(generator.permutation(len(train)), self.ice_num, rows) for rows in own)


@RETRIEVERS.register_module()
class SlidingWindowRetriever(ShowsExamples):
    """Choose the train rows ``i-k`` to ``i-1`` for test row ``i``; before the first train row come the last ones.

    Args:
        k: examples for each question.
        ice_separator, ice_eos_token: text between and after examples that are text.
        ice_num: ignored; accepted because configs of OpenCompass may have it.
        exclude_self: never show a test row among its own examples, where the two splits share rows. The window then
            reaches further back.

    Raises:
        ConfigError: ``k`` is negative.
    """

    def __init__(
        self,
        k: int,
        ice_separator: str = "\n",
        ice_eos_token: str = "\n",
        ice_num: int = 1,  # noqa: ARG002
        exclude_self: bool = False,
    ) -> None:
        self.k = check_count(k, "k")
        super().__init__(ice_separator, ice_eos_token, exclude_self)

    def retrieve(self, train: Sequence[Sample], test: Sequence[Sample]) -> Sequence[ShotIds]:
        """Return the window of every test row.

        Raises:
            ConfigError: the train split has fewer rows than the window, or ends before the last test row's.
        """
        own = own_rows(train, test, exclude_self=self.exclude_self)
        check_enough(self.k, len(train), "k", own)
        if self.k and len(test) > len(train) + 1:
            raise ConfigError(
                f"the train split has {counted(len(train), 'row')}, but the window of the last of {len(test)} test "
                f"rows ends at train row {len(test) - 2}",
                fix="use another retriever, or cut the test split with test_range of reader_cfg",
            )
        return RowLists(self._window(row, len(train), rows) for row, rows in enumerate(own))

    def _window(self, test_row: int, train_rows: int, own: OwnRows) -> ShotIds:
        backwards = (row % train_rows for row in range(test_row - 1, test_row - 1 - train_rows, -1))
        return take(backwards, self.k, own)[::-1]

    def trial(self, train: Sequence[Sample], test: Sequence[Sample]) -> ShotIds:
        """Return the window of the first test row."""
        return self.retrieve(train, test)[0]
