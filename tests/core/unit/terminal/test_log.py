from __future__ import annotations

import logging
from pathlib import Path

import pytest

from ais_prompt.terminal import ONCE, logging_to

logger = logging.getLogger("ais_prompt.test")


def test_everything_goes_to_the_file_and_warnings_to_the_screen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # What pytest captures may be sent between processes, which a lone surrogate does not survive.
    monkeypatch.setattr(logging.getLogger("ais_prompt"), "propagate", False)
    file = tmp_path / "logs" / "run.log"
    with logging_to(file):
        logger.info("begun")
        logger.warning("mind this 你好 \ud800")
    logger.warning("after")
    text = file.read_text("utf-8")
    assert "begun" in text
    assert "mind this 你好 \\ud800" in text
    assert "after" not in text
    err = capsys.readouterr().err
    assert "WARNING: mind this" in err
    assert "begun" not in err


def test_of_warnings_that_differ_in_tasks_and_numbers_the_screen_has_the_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with logging_to(tmp_path / "run.log"):
        for number in range(30):
            logger.warning("[model/data%d] %d of 40 samples failed", number, number)
        logger.warning("[model/data] something else")
    shown = [line for line in capsys.readouterr().err.splitlines() if line.startswith("WARNING: ")]
    assert shown[:3] == [f"WARNING: [model/data{n}] {n} of 40 samples failed" for n in range(3)]
    assert shown[3:] == [
        "WARNING: [model/data] something else",
        "WARNING: and 27 more in logs/run.log: 0 of 40 samples failed",
    ]
    assert (tmp_path / "run.log").read_text().count("samples failed") == 30


def test_a_second_session_is_appended(tmp_path: Path) -> None:
    for word in ("one", "two"):
        with logging_to(tmp_path / "run.log"):
            logger.info(word)
    assert [line.split()[-1] for line in (tmp_path / "run.log").read_text().splitlines()] == ["one", "two"]


def test_a_log_that_cannot_be_written_ends_nothing(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file in the way")
    with logging_to(tmp_path / "logs" / "run.log"):
        logger.info("fine")


def test_what_is_logged_once_is_in_every_log_once(tmp_path: Path) -> None:
    for session in ("a.log", "b.log"):
        with logging_to(tmp_path / session):
            for place in ("x:1", "x:1", "x:2", None, None):
                logger.info("raised at %s", place, extra={ONCE: place})
        lines = [line.split()[-1] for line in (tmp_path / session).read_text().splitlines()]
        assert lines == ["x:1", "x:2", "None", "None"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_a_full_disk_ends_nothing_and_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("ais_prompt"), "propagate", False)
    with logging_to(Path("/dev/full")):
        logger.info("a message")
        logger.info("another one")
    logger.warning("after")
    assert "/dev/full lacks messages, which changes no score: [Errno 28]" in capsys.readouterr().err
