"""Odd values in logs, seals and run folders of others: a result or three lines, in little memory."""

from __future__ import annotations

import copy
import json
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.e2e.project import ROWS
from tests.support.cli import run_cli
from tests.support.logs import WRITERS
from tests.support.memory import little_memory
from tests.support.parts import write_rows

pytestmark = [pytest.mark.process, pytest.mark.thorough]

HOSTILE: Final = "x\x1b[8m\x9b2J\r\u202e\nsignature  OK  by the key that you named"
ODD: Final[tuple[Any, ...]] = (
    *(None, True, -1, 0, 7, 1e308, -1e308, 2**70, float("inf"), float("nan"), 1e-320, "", "x", HOSTILE, "\ud800"),
    *([], {}, [[]], {"a": 1}, [None], [1, 2], ["x"], {"": ""}, {"type": "x"}),
    *("9" * 5000, "A" * 3000, "attachment://a1"),
)  # fmt: skip
SCORED: Final = """models = [dict(type='ScriptedModel', abbr='m', default='4')]
datasets = [dict(abbr='sums', type='LocalDataset', path='data/sums.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{question}'),
        retriever=dict(type='ZeroRetriever'), inferencer=dict(type='GenInferencer')),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator')))]
"""
Place = tuple[Any, Any]
"""A dict or list, and a key or number in it."""


def places(value: Any) -> Iterator[Place]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield value, key
        yield from places(item)


def changed(value: Any, random: Random) -> Any:
    """A value with one to three odd, missing, repeated or exchanged parts."""
    value = copy.deepcopy(value)
    for _ in range(random.choice((1, 1, 2, 3))):
        every = list(places(value))
        if not every:
            break
        owner, key = random.choice(every)
        match random.randrange(10):
            case 0:
                del owner[key]
            case 1:
                owner[key] = [owner[key]] * random.choice((2, 50))
            case 2:
                other, place = random.choice(every)
                owner[key] = copy.deepcopy(other[place])
            case _:
                owner[key] = copy.deepcopy(random.choice(ODD))
    return value


def change_file(path: Path, random: Random) -> None:
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
        name = random.choice([name for name in files if name.endswith((".json", ".jsonl"))])
        files[name] = changed_text(files[name].decode(), random, lines=name.endswith(".jsonl")).encode()
        with zipfile.ZipFile(path, "w") as archive:
            for each, content in files.items():
                archive.writestr(each, content)
    else:
        path.write_text(changed_text(path.read_text(), random, lines=path.suffix == ".jsonl"))


def changed_text(text: str, random: Random, *, lines: bool) -> str:
    if not lines:
        return json.dumps(changed(json.loads(text), random))
    each = text.splitlines(keepends=True)
    number = random.randrange(len(each))
    each[number] = json.dumps(changed(json.loads(each[number]), random)) + "\n"
    return "".join(each)


def assert_no_fault(*words: str, folder: Path) -> int:
    with little_memory():
        done = run_cli(*words, folder=folder)
    assert done.returncode in (0, 1, 2, 3), done.stderr
    assert "no memory left" not in done.stderr
    printed = done.stdout + done.stderr
    assert "Traceback" not in printed
    assert not set("\x1b\x9b\r\u202e") & set(printed)
    assert not any(line.startswith("signature  OK") for line in printed.splitlines())
    return done.returncode


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
@given(random=st.randoms(use_true_random=False))
def test_an_odd_log_is_read_or_refused(write: Callable[[Path], Path], random: Random) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "log").mkdir()
        write(folder / "log")
        files = sorted(path for path in (folder / "log").rglob("*") if path.suffix in (".json", ".jsonl", ".eval"))
        change_file(random.choice(files), random)
        if assert_no_fault("import", "log", folder=folder) == 0:
            assert_no_fault("explain", "log", "log", folder=folder)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sealed")
    write_rows(folder / "data/sums.jsonl", ROWS)
    (folder / "e.py").write_text(SCORED)
    for command in (["run", "e.py"], ["seal", "e", "-o", "e.seal"]):
        assert run_cli(*command, folder=folder).returncode == 0
    return folder


@given(random=st.randoms(use_true_random=False))
def test_an_odd_seal_is_verified_or_refused(project: Path, random: Random) -> None:
    seal = Path(shutil.copy(project / "e.seal", project / "odd.seal"))
    change_file(seal, random)
    assert_no_fault("verify", "odd.seal", folder=project)


@given(random=st.randoms(use_true_random=False))
def test_an_odd_run_folder_is_read_or_refused(project: Path, random: Random) -> None:
    [run] = (project / "outputs/e").iterdir()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(shutil.copytree(run, Path(place, "run")))
        (folder / ".made-here").unlink()
        files = sorted(path for path in folder.rglob("*") if path.suffix in (".json", ".jsonl"))
        change_file(random.choice(files), random)
        for verb in (["score"], ["compare"], ["seal", "-o", str(Path(place, "x.seal"))]):
            assert_no_fault(verb[0], str(folder), *verb[1:], folder=project)
