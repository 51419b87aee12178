"""Only the work that is done a second time is silent, not what goes on beside it."""

from __future__ import annotations

import logging
from threading import Barrier, Thread

import pytest

from ais_prompt.terminal import SILENCE, silence

log = logging.getLogger(__name__)
log.addFilter(SILENCE)


def test_what_is_logged_inside_is_dropped(caplog: pytest.LogCaptureFixture) -> None:
    with silence():
        log.warning("inside")
        with silence():
            log.warning("further inside")
        log.warning("still inside")
    log.warning("after")
    assert caplog.messages == ["after"]


def test_other_threads_log_as_before_whatever_order_they_end_in(caplog: pytest.LogCaptureFixture) -> None:
    step = Barrier(2)

    def first() -> None:
        with silence():
            step.wait()  # both are silent
            step.wait()  # the other one is not any more
            log.warning("silent in the first")

    def second() -> None:
        with silence():
            step.wait()
        log.warning("spoken in the second")
        step.wait()

    threads = [Thread(target=first), Thread(target=second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    log.warning("after")
    assert caplog.messages == ["spoken in the second", "after"]
