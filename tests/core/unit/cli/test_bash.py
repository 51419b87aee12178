"""Completion in a real bash: lines are typed into it, and Tab is pressed."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.waiting import WATCHDOG_SECONDS

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash"),
]

ROOT = Path(__file__).parents[4]
LINE_START, LINE_END, TAB = "\x01", "\x05", "\t"


class Bash:
    """An interactive bash in a terminal, with the completion of aisprompt."""

    def __init__(self, folder: Path) -> None:
        program = folder / "bin" / "aisprompt"
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m ais_prompt "$@"\n')
        program.chmod(0o755)
        self._controller, terminal = pty.openpty()
        path = f"{program.parent}:{os.environ['PATH']}"
        self._process = subprocess.Popen(
            ["bash", "--norc", "--noprofile", "-i"],
            cwd=folder,
            env={"PATH": path, "PYTHONPATH": str(ROOT), "TERM": "dumb", "COLUMNS": "500"},  # wide: no line is broken
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            start_new_session=True,
        )
        os.close(terminal)
        self._type('eval "$(aisprompt completion bash)"\n')

    def completed(self, line: str) -> str:
        """Type a line, press Tab, and return the line that bash makes of it."""
        self._type(f"{line}{TAB}{LINE_START}echo '<<{LINE_END}>>'\n")
        return self._read(re.compile(r"^<<(.*)>>\r?$", re.MULTILINE))

    def close(self) -> None:
        self._process.kill()
        self._process.wait(timeout=WATCHDOG_SECONDS)
        os.close(self._controller)

    def _type(self, text: str) -> None:
        os.write(self._controller, text.encode())

    def _read(self, wanted: re.Pattern[str]) -> str:
        received, end = "", time.monotonic() + WATCHDOG_SECONDS
        while not (found := wanted.search(received)):
            ready, _, _ = select.select([self._controller], [], [], max(0.0, end - time.monotonic()))
            assert ready, received
            received += os.read(self._controller, 4096).decode()
        return found[1]


@pytest.fixture
def bash(tmp_path: Path) -> Iterator[Bash]:
    for run in ("20260101_000000Z", "20270102_000000Z"):
        (tmp_path / "outputs" / "sums" / run).mkdir(parents=True)
    (tmp_path / "summary.py").touch()
    (tmp_path / "answers").mkdir()
    (tmp_path / "answers" / "mine.jsonl").touch()
    opened = Bash(tmp_path)
    yield opened
    opened.close()


def test_tab_completes_commands_configs_names_runs_and_files(bash: Bash) -> None:
    ends = {
        "aisprompt view-p": "rompt ",
        "aisprompt check --all": "ow-code-execution ",
        "aisprompt run summ": "ary.py ",
        "aisprompt run --models demo_ch": "at ",
        "aisprompt run --models demo_chat --datasets demo_add": "ition ",
        "aisprompt view su": "ms ",
        "aisprompt score sums/2027": "0102_000000Z ",
        "aisprompt run sums.py -r 2027": "0102_000000Z ",
        "aisprompt run sums.py -r la": "test ",
        "aisprompt run sums.py --lock-file answers/mi": "ne.jsonl ",
        "aisprompt view-prompt summary.py --with summ": "ary.py ",
    }
    assert {line: bash.completed(line) for line in ends} == {line: line + end for line, end in ends.items()}
