"""Any value at any place of a log: it is imported, or refused with one error that says what to do."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Iterator
from math import inf, isfinite, nan
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct

from ais_prompt.config import Options
from ais_prompt.errors import AisPromptError
from ais_prompt.extensions.logs.import_log import import_log
from ais_prompt.report import read_stored_results
from ais_prompt.store import RunFolder
from tests.extensions.logs.writers import WRITERS

REMOVED = object()
NESTED: Any = json.loads("[" * 400 + "]" * 400)
ODD: tuple[Any, ...] = (
    *(REMOVED, None, True, 17, -1, 1e308, nan, inf, 10**400),
    *("", "x", "\ud800", "\0", "../../x", "y" * 5000),
    *([], {}, [1, "a", None], {"a": {"b": 1}}, [[]], NESTED),
)


class Part(Struct, frozen=True):
    """One JSON value of a log: a file, a line of it, or a file of an archive."""

    path: Path
    place: int | str | None
    value: Any

    def replaced(self, value: Any) -> None:
        """Write another value in its place."""
        text = json.dumps(value)
        if isinstance(self.place, str):
            with zipfile.ZipFile(self.path) as archive:
                content = {name: archive.read(name) for name in archive.namelist()}
            with zipfile.ZipFile(self.path, "w") as archive:
                for name, old in content.items():
                    archive.writestr(name, text if name == self.place else old)
            return
        lines = self.path.read_text().splitlines() if isinstance(self.place, int) else [""]
        lines[self.place or 0] = text
        self.path.write_text("\n".join(lines) + "\n")


def parts_of(folder: Path) -> Iterator[Part]:
    for path in sorted(folder.rglob("*.*")):
        if path.suffix == ".json":
            yield Part(path, None, json.loads(path.read_text()))
        elif path.suffix == ".jsonl":
            yield from (Part(path, n, json.loads(line)) for n, line in enumerate(path.read_text().splitlines()))
        elif path.suffix == ".eval":
            with zipfile.ZipFile(path) as archive:
                yield from (Part(path, name, json.loads(archive.read(name))) for name in archive.namelist())


def places_in(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the keys that lead to each value in a JSON value, itself included."""
    yield above
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inside:
        yield from places_in(one, (*above, key))


def changed(value: Any, place: tuple[Any, ...], new: Any) -> Any:
    """Return a JSON value with another one at a place, or without the one that is there."""
    if not place:
        return None if new is REMOVED else new
    copy = above = json.loads(json.dumps(value))
    for key in place[:-1]:
        above = above[key]
    if new is REMOVED:
        del above[place[-1]]
    else:
        above[place[-1]] = new
    return copy


@pytest.mark.thorough
@pytest.mark.parametrize("tool", WRITERS)
@settings(max_examples=30)
@given(data=st.data())
def test_no_value_of_a_log_ends_an_import_otherwise(
    tool: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("odd")
    log = folder / "log"
    log.mkdir()
    WRITERS[tool](log)
    part = data.draw(st.sampled_from(list(parts_of(log))))
    place = data.draw(st.sampled_from(list(places_in(part.value))))
    part.replaced(changed(part.value, place, data.draw(st.sampled_from(ODD))))
    found, error = outcome_of(log, folder / "runs")
    if error is not None:
        assert all((error.what, error.where, error.fix))
    for task in read_stored_results(found).tasks if found else ():
        assert all(one.value is None or isfinite(one.value) for one in task.scores)
        assert [sample.prediction.sample_id for sample in task.samples()]
    shutil.rmtree(folder)


def outcome_of(log: Path, work_dir: Path) -> tuple[RunFolder | None, AisPromptError | None]:
    """Return the run folder of a log, or the error."""
    try:
        return import_log(log, Options(work_dir=str(work_dir)), "aisprompt import").folder, None
    except AisPromptError as error:
        return None, error


def test_the_error_says_how_far_the_reader_came(tmp_path: Path) -> None:
    WRITERS["lm-evaluation-harness"](tmp_path)
    [path] = tmp_path.glob("samples_*")
    lines = path.read_text().splitlines()
    lines[2] = json.dumps({**json.loads(lines[2]), "resps": 17})  # the second answer of the first filter
    path.write_text("\n".join(lines))
    with pytest.raises(AisPromptError, match="not as lm-evaluation-harness writes it") as error:
        import_log(tmp_path, Options(work_dir=str(tmp_path / "runs")), "aisprompt import")
    assert "after 1 answer" in error.value.where
