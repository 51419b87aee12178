"""Read a run folder of OpenCompass or AISBench: config, predictions and results.

The folder may come from anybody: nothing in it is run, links that lead out of it and oversized files are refused, and
its config must be plain data.

Formats: OpenCompass 0.5 writes ``predictions/<model>/<dataset>.json`` (row number → answer; ``_0``, ``_1``, … for the
parts of a split dataset). AISBench 3 writes ``<dataset>.jsonl`` with the row number as ``id``, and failed requests into
``<dataset>_failed.jsonl``. Both write ``results/<model>/<dataset>.json`` (metric → number, ``details``) and their
config below ``configs/``.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from ais_prompt.config import literal_values
from ais_prompt.errors import ConfigError, DataError
from ais_prompt.extensions.peers.translate import judges_of
from ais_prompt.store import reading
from ais_prompt.utils import check_values, decode, open_regular, read_objects, read_regular

LARGEST: Final = 1 << 30
"""Most bytes of a file that is read; the peers write whole datasets into one JSON object."""
CONFIG_KEYS: Final = ("models", "datasets", "chatml_datasets", "summarizer")
"""What of a config is read."""
_RUN: Final = re.compile(r"\d{8}_\d{6}")


class OldAnswer(Struct, frozen=True):
    """What was answered to one row.

    Attributes:
        where: its place in the files.
        index: number of the row, from 0.
        values: what the peer wrote about it.
    """

    where: str
    index: int
    values: Mapping[str, Any]


class OldRun(Struct, frozen=True):
    """A run folder of a peer.

    Attributes:
        root: the folder.
        config: `CONFIG_KEYS` and ``judge_models`` of its config; None if it has no readable one.
    """

    root: Path
    config: Mapping[str, Any] | None

    def has_answers(self, model: str, dataset: str) -> bool:
        """Return whether a task has a file of predictions."""
        return bool(self._parts(dataset, "predictions", model))

    def answers(self, model: str, dataset: str) -> Iterator[OldAnswer]:
        """Yield the answers of a task, in the order of the files; then the requests that failed, without an answer.

        Args:
            model, dataset: as the peer names them.

        Raises:
            DataError: a file cannot be read, or is not as the peer writes it.
        """
        count = 0
        answered: set[int] = set()
        for path in self._parts(dataset, "predictions", model):
            for answer in _answers_of(path, start=count):
                yield answer
                answered.add(answer.index)
                count += 1
        if failures := self._file("predictions", model, f"{dataset}_failed.jsonl"):
            for failed in _answers_of(failures, start=0):
                if failed.index not in answered:  # a repeated run answers what failed before
                    # AISBench wrote this request; it becomes an answer in the form of the others.
                    prompt = {"origin_prompt": failed.values["input"]} if "input" in failed.values else {}
                    yield OldAnswer(failed.where, failed.index, {"success": False, "prediction": None, **prompt})

    def repeats_in_turn(self, model: str, dataset: str) -> bool:
        """Return whether the repeats of a question follow each other, as in AISBench; in OpenCompass the rounds do."""
        return any(path.suffix == ".jsonl" for path in self._parts(dataset, "predictions", model))

    def verdicts(self, model: str, dataset: str, judge: str) -> Iterator[tuple[Any, str]]:
        """Yield what a judge was asked about the answers of a task, and its reply.

        AISBench keeps it beside the predictions, OpenCompass beside the results: once for each repeat of the questions,
        or in a folder for the model or for each comparison with a base model.

        Args:
            model, dataset, judge: as the peer names them.

        Raises:
            DataError: a file cannot be read.
        """
        places = [("predictions", model, f"{dataset}-{judge}.jsonl")]
        for repeat in ("replica", "llm_judge_replica"):
            count = 0
            while self._file(*(place := ("results", model, f"{dataset}_{repeat}{count}.json"))):
                places.append(place)
                count += 1
        files = [path for place in places if (path := self._file(*place))]
        for folder in self._judged(model, judge):
            files += self._parts(dataset, "results", folder)
        for path in files:
            for found in _answers_of(path, start=0):
                if isinstance(reply := found.values.get("prediction"), str):
                    yield found.values.get("origin_prompt"), reply

    def _judged(self, model: str, judge: str) -> list[str]:
        """Return the folders of results in which a judge rates a model, or compares it with a base model."""
        name = f"{model}_judged-by--{judge}"
        folders = sorted(self.root.glob(f"results/*{glob.escape(name)}"))
        return [folder.name for folder in folders if folder.name == name or folder.name.endswith(f"_{name}")]

    def numbers(self, model: str, dataset: str, judge: str = "") -> dict[str, float]:
        """Return the peer's scores of a task, metric → number as it writes it; empty if there are none.

        Args:
            model, dataset: as the peer names them.
            judge: of AISBench, whose scores have its name too.

        Raises:
            DataError: the file cannot be read.
        """
        names = ((model, dataset), (model, f"{dataset}-{judge}"), (f"{model}_judged-by--{judge}", dataset))
        path = next(filter(None, (self._file("results", folder, f"{name}.json") for folder, name in names)), None)
        if path is None:
            return {}
        values = _json_object(path)
        return {name: value for name, value in values.items() if type(value) in (int, float)}

    def _parts(self, dataset: str, *folder: str) -> list[Path]:
        """Return the files of a dataset in a folder, in order."""
        for ending in (".json", ".jsonl"):
            if whole := self._file(*folder, dataset + ending):
                return [whole]
        parts: list[Path] = []
        while part := self._file(*folder, f"{dataset}_{len(parts)}.json"):
            parts.append(part)
        return parts

    def _file(self, *names: str) -> Path | None:
        """Return a file of the folder; None if it is not there.

        Raises:
            DataError: a link leads out of the folder, or it is too large.
        """
        return _inside(self.root, self.root.joinpath(*names))


def find_old_run(path: Path) -> Path | None:
    """Find the run in a folder: itself, or else the latest of the runs in it; None if there is no run."""
    if (path / "predictions").is_dir():
        return path
    runs = sorted(run for run in path.glob("*") if _RUN.match(run.name) and (run / "predictions").is_dir())
    return runs[-1] if runs else None


def open_old_run(path: Path) -> OldRun:
    """Read the config of the run in a folder, see `find_old_run`.

    Raises:
        ConfigError: there is no run.
        DataError: its config cannot be read.
    """
    if (root := find_old_run(path)) is None:
        raise ConfigError(
            "the folder holds no run of OpenCompass or AISBench: there is no predictions/ in it",
            where=str(path),
            fix="name the folder with the time: outputs/default/20240131_120000",
        )
    return OldRun(root, _config_of(root))


def _config_of(root: Path) -> Mapping[str, Any] | None:
    """Return the config that the run was last started with, read without running it."""
    files = sorted((root / "configs").glob("*.py"))
    if not files or (path := _inside(root, files[-1])) is None:
        return None
    with reading(path, fix="give a config: --config CONFIG"):
        content = read_regular(path)
    try:
        values = literal_values(content.decode())
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    read: dict[str, Any] = {key: values[key] for key in CONFIG_KEYS if key in values}
    if judges := judges_of(values):
        read["judge_models"] = judges
    return read


def _inside(root: Path, path: Path) -> Path | None:
    if not path.exists():
        return None
    if not path.resolve().is_relative_to(root.resolve()):
        raise DataError("the name leads out of the run folder", where=str(path), fix="put the file itself there")
    if (size := path.stat().st_size) > LARGEST:
        what = f"the file is too large: {size:,} bytes, at most {LARGEST:,}"
        raise DataError(what, where=str(path), fix="take it out of the run folder")
    return path


def _answers_of(path: Path, start: int) -> Iterator[OldAnswer]:
    if path.suffix == ".jsonl":
        with reading(path, fix="check the file"), open_regular(path) as lines:
            for number, values in read_objects(lines, str(path)):
                yield OldAnswer(f"{path}:{number}", _row_number(values.get("id"), f"{path}:{number}"), values)
        return
    found = _json_object(path)
    if isinstance(details := found.get("details"), dict):  # what a function makes of judgements, and these
        found = details
    for key, values in found.items():
        where = f"{path}, {key!r}"
        if not isinstance(values, dict):
            raise DataError("it is not an answer", where=where, fix="copy the file again")
        yield OldAnswer(where, start + _row_number(key, where), values)


def _row_number(value: Any, where: str) -> int:
    if isinstance(value, int) or (isinstance(value, str) and value.isdecimal()):
        return int(value)
    raise DataError(f"an answer needs the number of its row, not {value!r:.40}", where=where, fix="copy the file again")


def _json_object(path: Path) -> dict[str, Any]:
    with reading(path, fix="check the file"):
        content = read_regular(path)
    try:
        check_values(content, str(path))
        values = decode(content.decode("utf-8-sig"))
    except ValueError as error:
        raise DataError(f"the file is not JSON: {error}", where=str(path), fix="copy it again") from None
    if not isinstance(values, dict):
        raise DataError("the file is not a JSON object", where=str(path), fix="copy it again")
    return values
