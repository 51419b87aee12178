"""Odd values in files of others, and what every verb must do with them: a result or three lines, in little memory."""

from __future__ import annotations

import copy
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

from tests.support.cli import run_cli
from tests.support.memory import little_memory

HOSTILE: Final = "x\x1b[8m\x9b2J\r\u202e\nsignature  OK  by the key that you named"
ODD: Final[tuple[Any, ...]] = (
    *(None, True, -1, 0, 7, 1e308, -1e308, 2**70, float("inf"), float("nan"), 1e-320, "", "x", HOSTILE, "\ud800"),
    *([], {}, [[]], {"a": 1}, [None], [1, 2], ["x"], {"": ""}, {"type": "x"}),
    *("9" * 5000, "A" * 3000, "attachment://a1"),
)  # fmt: skip
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
