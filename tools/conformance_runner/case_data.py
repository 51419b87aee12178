"""The dataset of a case: its spec as a config would give it, and its rows as a reader gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from ais_prompt.config import ConfigSection, Faults
from ais_prompt.data import Dataset, Embeddings, Table, load_dataset, select, store_rows
from ais_prompt.types import DatasetSpec, EvalSpec, InferSpec, PartSpec, ReaderSpec, Sample
from ais_prompt.utils import digest
from tools.conformance_runner.cases import Case

NOT_SPLITS = ("embeddings", "messages")
EMBEDDED_SPLITS = ("train", "test")


class CaseReader:
    """Reads the rows that stand in a case; what is done with them is what is done with those of a JSON file.

    Args:
        rows: split → its rows.
    """

    def __init__(self, rows: Mapping[str, Sequence[dict[str, Any]]]) -> None:
        self._rows = rows

    def splits(self) -> tuple[str, ...]:
        """Names of the splits."""
        return tuple(self._rows)

    def read(self, split: str) -> Table:
        """All rows of a split.

        Raises:
            DataError: the values of a column do not go together.
        """
        return Table(store_rows(enumerate(self._rows[split]), lambda number: f"{split}[{number}]"), [split])


class RecordedEncoder:
    """Gives the embeddings that stand in a case.

    Args:
        vectors: text → its embedding.
    """

    def __init__(self, vectors: Mapping[str, Sequence[float]]) -> None:
        self._vectors = vectors

    def encode(self, texts: Sequence[str]) -> Embeddings:
        """One row for each text: shape (texts, dimensions)."""
        return np.array([self._vectors[text] for text in texts], dtype=np.float32)


def dataset_spec(case: Case) -> DatasetSpec:
    """The case as an item of ``datasets`` in a config.

    Raises:
        ConfigFaults: ``reader_cfg`` is wrong.
    """
    reader = _reader_spec(case)
    infer = InferSpec(
        ice_template=_part(case, "ice_template"),
        prompt_template=_part(case, "prompt_template"),
        retriever=_retriever(case, reader),
        inferencer=PartSpec("GenInferencer", _inferencer_options(case)),
    )
    return DatasetSpec(case.name, PartSpec(CaseReader.__name__), reader, infer, EvalSpec())


def read_rows(case: Case, spec: ReaderSpec) -> Dataset:
    """The rows after ``reader_cfg`` was applied.

    Raises:
        DataError, ConfigError: a range or a column cannot be used.
    """
    rows = {split: values for split, values in case.data.items() if split not in NOT_SPLITS}
    if case.category == "reader":
        return load_dataset(CaseReader(rows), spec)
    # The other cases were recorded with the rows as they stand: a column may hold 7 and True, or be missing.
    train = _samples(rows.get(spec.train_split, []), spec.train_range, spec)
    test = _samples(rows[spec.test_split], spec.test_range, spec)
    return Dataset(train, test, columns=(), tables={})


def _samples(rows: Sequence[dict[str, Any]], wanted: int | float | str | None, spec: ReaderSpec) -> list[Sample]:
    chosen = [rows[number] for number in select(wanted, len(rows))]
    gold = spec.output_column
    return [Sample(digest(row), index, row, row.get(gold) if gold else None) for index, row in enumerate(chosen)]


def _reader_spec(case: Case) -> ReaderSpec:
    faults = Faults(lambda path: path)
    spec = ConfigSection(case.config["reader_cfg"], "reader_cfg", faults).read(ReaderSpec)
    faults.raise_any()
    assert spec is not None  # it is only None with a fault
    # The peers take media from anywhere; no case sends them.
    return replace(spec, media_roots=("/", "http://", "https://"))


def _part(case: Case, key: str) -> PartSpec | None:
    if case.config.get(key) is None:
        return None
    args = dict(case.config[key])
    return PartSpec(args.pop("type"), args, key)


def _retriever(case: Case, reader: ReaderSpec) -> PartSpec:
    spec = _part(case, "retriever") or PartSpec("ZeroRetriever")
    embeddings = case.data.get("embeddings")
    if embeddings is None:
        return spec
    vectors = {
        " ".join(str(row[column]) for column in reader.input_columns): vector
        for split in EMBEDDED_SPLITS
        for row, vector in zip(case.data[split], embeddings[split], strict=True)
    }
    return replace(spec, args={**spec.args, "encoder": RecordedEncoder(vectors)})


def _inferencer_options(case: Case) -> dict[str, Any]:
    """Of the inferencer's options only the mask matters to prompts."""
    options = case.config.get("inferencer") or {}
    return {key: options[key] for key in ("gen_field_replace_token",) if key in options}
