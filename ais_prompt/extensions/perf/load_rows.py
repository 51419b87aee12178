"""Rows of a file for a load: as many as it needs, with answers as long as ``.meta.json`` beside the file says.

Source of the format: AISBench, "Custom dataset". It draws without a seed; here the same seed gives the same rows.
"""

from __future__ import annotations

import math
import random
from decimal import Decimal
from pathlib import Path
from typing import Final, Literal

import msgspec
from msgspec import Struct

from ais_prompt.data import Row, Table, read_file, reading, require_data
from ais_prompt.errors import DataError
from ais_prompt.registry import READERS

LENGTH: Final = "max_out_len"
"""The column with the most tokens of an answer."""


class LengthLimits(Struct, forbid_unknown_fields=True):
    """The parameters of one of the two methods; numbers may be written as texts."""

    min_value: int | None = None
    max_value: int | None = None
    percentage_distribute: list[tuple[int, float]] = []


class AnswerLengths(Struct, forbid_unknown_fields=True):
    """The lengths of answers: drawn from a range, or so many rows of each length, in the order of the file."""

    method: Literal["uniform", "percentage"]
    params: LengthLimits

    def __post_init__(self) -> None:
        """Check what the method needs.

        Raises:
            ValueError: a number is missing or impossible.
        """
        least, most, parts = self.params.min_value, self.params.max_value, self.params.percentage_distribute
        if self.method == "uniform" and (least is None or most is None or not 1 <= least <= most):
            raise ValueError("uniform needs min_value and max_value, at least 1 and in this order")
        if self.method == "percentage" and (
            sum(Decimal(str(share)) for _, share in parts) != 1
            or any(length < 1 or share <= 0 for length, share in parts)
        ):
            raise ValueError("percentage needs percentage_distribute: pairs of a length and a share, which add up to 1")

    def draw(self, rows: int, draws: random.Random) -> list[int]:
        """Return the length of each answer.

        Shares are multiplied as floating-point numbers, as in AISBench: 0.29 of 100 rows are 28.
        """
        least, most, parts = self.params.min_value, self.params.max_value, self.params.percentage_distribute
        if least is not None and most is not None and self.method == "uniform":
            return [draws.randint(least, most) for _ in range(rows)]
        lengths = [length for length, share in parts for _ in range(math.floor(share * rows))]
        return lengths + [parts[-1][0]] * (rows - len(lengths))


class LoadSettings(Struct, forbid_unknown_fields=True):
    """What ``.meta.json`` says.

    Attributes:
        request_count: how many rows; beyond those of the file they come again. None: each once.
        sampling_mode: the first rows, rows drawn without order, or the first ones shuffled.
        output_config: the lengths of the answers, in place of those in the rows.
    """

    request_count: int | None = None
    sampling_mode: Literal["default", "random", "shuffle"] = "default"
    output_config: AnswerLengths | None = None

    def __post_init__(self) -> None:
        """Check the number.

        Raises:
            ValueError: it is less than 1.
        """
        if self.request_count is not None and self.request_count < 1:
            raise ValueError("request_count must be at least 1")

    def rows(self, rows: list[Row], draws: random.Random) -> list[Row]:
        """Return the rows of the load."""
        count = len(rows) if self.request_count is None or not rows else self.request_count
        repeated = [rows[number % len(rows)] for number in range(max(count, len(rows)))]
        chosen = draws.sample(repeated, count) if self.sampling_mode == "random" else repeated[:count]
        if self.sampling_mode == "shuffle":
            draws.shuffle(chosen)
        if self.output_config is None:
            return chosen
        lengths = self.output_config.draw(len(chosen), draws)
        return [{**row, LENGTH: length} for row, length in zip(chosen, lengths, strict=True)]


@READERS.register_module()
class LoadRowsDataset:
    """Read the rows of a file for a load (``-m perf``), as AISBench's ``CustomDataset``.

    A column ``max_tokens`` is called ``max_out_len``, which the load asks for. A file ``PATH.meta.json`` may say how
    many rows there are (``request_count``), which (``sampling_mode``: ``default``, ``random`` or ``shuffle``), and how
    long the answers are (``output_config``).

    Args:
        path: a JSONL or CSV file, or the folder of ``file_name``.
        file_name: the file in the folder.
        meta_path: a file in place of ``PATH.meta.json``.
        seed: of what is drawn.
    """

    def __init__(self, path: str, file_name: str | None = None, meta_path: str | None = None, seed: int = 0) -> None:
        self._path = Path(path, file_name) if file_name else Path(path)
        self._meta_path = Path(meta_path) if meta_path else None
        self._seed = seed

    def splits(self) -> tuple[str, ...]:
        """Return the only split."""
        return ("test",)

    def read(self, split: str) -> Table:  # noqa: ARG002
        """Read the rows.

        Raises:
            DataError: a file is missing or cannot be read.
        """
        rows = [
            {LENGTH if name == "max_tokens" else name: value for name, value in row.items()}
            for row in read_file(require_data(str(self._path)))
        ]
        meta = self._meta_path or Path(f"{self._path}.meta.json")
        settings = read_settings(meta) if self._meta_path or meta.exists() else LoadSettings()
        return Table.of_rows(settings.rows(rows, random.Random(self._seed)))


def read_settings(path: Path) -> LoadSettings:
    """Read ``.meta.json`` of AISBench.

    Raises:
        DataError: it cannot be read, or a value is not as `LoadSettings` has it.
    """
    with reading(path):
        text = path.read_bytes()
    try:
        return msgspec.json.decode(text, type=LoadSettings, strict=False)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        fix = "correct it: request_count, sampling_mode and output_config are all that it may have"
        raise DataError(f"the settings of a load cannot be read: {error}", where=str(path), fix=fix) from None
