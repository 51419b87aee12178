"""Files of a run folder in which one value was changed: an error that names the file, or a result, never a crash."""

from __future__ import annotations

import copy
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.cli import main
from tests.core.e2e.project import DATASET, MODEL, ROWS
from tests.support.parts import write_rows

pytestmark = pytest.mark.thorough


OTHERS: Final = [None, 3, -1, "x", [], {}, True, [1], {"a": 1}, 1.5, float("nan")]
FILES: Final = {
    "run.json": "RUN/run.json",
    "results": "RUN/results/fake/sums.json",
    "predictions": "RUN/predictions/fake/sums.jsonl",
    "journal": "RUN/journal/fake/sums.jsonl",
    "baseline": "base.json",
    "lock": "eval.lock",
}
DAMAGES: Final[dict[str, Callable[[bytes], bytes | None]]] = {
    "a folder": lambda _: None,
    "empty": lambda _: b"",
    "cut": lambda content: content[: len(content) // 2],
    "no text": lambda _: bytes(range(256)),
    "UTF-16": lambda content: content.decode().encode("utf-16"),
    "too deep": lambda _: b"[" * 100_000,
    "too many digits": lambda _: b"9" * 5000,
    "a number without end": lambda content: re.sub(rb'(": ?)[\d.]+', rb"\g<1>1e999", content),
    "half a character": lambda content: content.replace(b"It is", b"\\ud800"),
    "another name": lambda content: content.replace(b"sums", b"../x\\u0000"),
    "nothing in it": lambda content: re.sub(rb'(": ?)(\{[^{}]*\}|\[[^][]*\])', rb"\g<1>{}", content),
    "two byte order marks": lambda content: 2 * b"\xef\xbb\xbf" + content,
}
RUN_VERBS: Final = [
    ["run", "eval.py", "-r"],
    ["run", "eval.py", "-r", "-m", "eval"],
    ["run", "eval.py", "-r", "-m", "viz"],
    ["score", "RUN"],
    ["compare", "RUN", "saved"],
    ["baseline", "RUN", "-o", "other.json"],
]
VERBS: Final = {
    **dict.fromkeys(("run.json", "results", "predictions", "journal"), RUN_VERBS),
    "baseline": [["score", "RUN", "--baseline", "base.json"]],
    "lock": [["lock", "eval.py", "--check"], ["run", "eval.py", "--locked", "--dry-run"]],
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    root, before = tmp_path_factory.mktemp("shapes"), Path.cwd()
    os.chdir(root)
    write_rows(root / "data/sums.jsonl", ROWS[:4])
    (root / "eval.py").write_text(f"models = [{MODEL}]\ndatasets = [{DATASET}]\n")
    try:
        assert invoked("run", "eval.py")[0] == 0
        [run] = (root / "outputs/eval").iterdir()
        assert invoked("baseline", str(run), "-o", "base.json")[0] == 0
        assert invoked("lock", "eval.py")[0] == 0
        shutil.copytree(run, root / "saved")
        shutil.copytree(root, root.with_name("all"), dirs_exist_ok=True)
        yield root
    finally:
        os.chdir(before)


def restored(project: Path) -> Path:
    """The run folder, as it was, with the files beside it."""
    [run] = (project / "outputs/eval").iterdir()
    shutil.rmtree(run)
    shutil.copytree(project / "saved", run)
    for name in ("base.json", "eval.lock"):
        if (project / name).is_dir():
            (project / name).rmdir()
        shutil.copy(project.with_name("all") / name, project / name)
    return run


def invoked(*args: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, args)
    return done.exit_code, done.output


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The keys that lead to each value inside a JSON value."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield from paths(item, (*path, key))


def mutated(value: Any, path: tuple[Any, ...], other: Any, *, remove: bool) -> Any:
    if not path:
        return other
    whole = owner = copy.deepcopy(value)
    for key in path[:-1]:
        owner = owner[key]
    if remove:
        del owner[path[-1]]
    else:
        owner[path[-1]] = other
    return whole


def written(kind: str, value: Any) -> str:
    """A file as the program lays it out; details have a line for each sample."""
    if kind != "results" or not isinstance(value, dict) or not isinstance(value.get("details"), list):
        return json.dumps(value, indent=2)
    head = json.dumps({key: item for key, item in value.items() if key != "details"}, indent=2)
    details = ",\n".join("    " + json.dumps(detail) for detail in value["details"])
    return head.removesuffix("\n}") + ',\n  "details": [\n' + details + "\n  ]\n}\n"


@given(data=st.data())
def test_one_value_that_is_another_one_never_crashes(project: Path, data: st.DataObject) -> None:
    run = restored(project)
    kind = data.draw(st.sampled_from(sorted(FILES)))
    file = Path(FILES[kind].replace("RUN", str(run)))
    lines = file.read_text("utf-8").split("\n")
    number = data.draw(st.integers(0, 2)) if file.suffix == ".jsonl" else None
    value = json.loads(lines[number] if number is not None else "\n".join(lines))
    path = data.draw(st.sampled_from(list(paths(value))))
    changed = mutated(value, path, data.draw(st.sampled_from(OTHERS)), remove=data.draw(st.booleans()))
    if number is None:
        file.write_text(written(kind, changed))
    else:
        lines[number] = json.dumps(changed)
        file.write_text("\n".join(lines))
    verb = data.draw(st.sampled_from(VERBS[kind]))
    code, output = invoked(*(arg.replace("RUN", str(run)) for arg in verb))
    assert code in (0, 1, 2, 3), output
    assert "Traceback" not in output
    if code > 1:
        assert file.name in output


@given(st.sampled_from(sorted(FILES)), st.sampled_from(sorted(DAMAGES)), st.data())
def test_a_damaged_file_never_crashes(project: Path, kind: str, damage: str, data: st.DataObject) -> None:
    run = restored(project)
    file = Path(FILES[kind].replace("RUN", str(run)))
    content = DAMAGES[damage](file.read_bytes())
    file.unlink()
    if content is None:
        file.mkdir()
    else:
        file.write_bytes(content)
    verb = data.draw(st.sampled_from(VERBS[kind]))
    code, output = invoked(*(arg.replace("RUN", str(run)) for arg in verb))
    assert code in (0, 1, 2, 3), output
    assert "Traceback" not in output
