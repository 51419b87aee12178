"""Signals of people and of batch systems."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.waiting import WATCHDOG_SECONDS

PROGRAM = """
import signal, threading, time
from ais_prompt.utils.signals import terminable

def send():
    time.sleep(0.5)  # the main thread waits by then
    signal.pthread_kill(threading.get_ident(), signal.{name})

with terminable():
    lock = threading.Lock()
    lock.acquire()
    threading.Thread(target=send).start()
    try:
        lock.acquire()
    except KeyboardInterrupt as stop:
        print(type(stop).__name__)
"""


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
@pytest.mark.parametrize(
    ("name", "raised"), [("SIGTERM", "Termination"), ("SIGUSR1", "Termination"), ("SIGINT", "KeyboardInterrupt")]
)
def test_a_signal_that_another_thread_gets_ends_the_waiting_of_the_main_thread(name: str, raised: str) -> None:
    command = [sys.executable, "-c", PROGRAM.format(name=name)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=WATCHDOG_SECONDS)
    assert done.stdout == f"{raised}\n", done.stderr
