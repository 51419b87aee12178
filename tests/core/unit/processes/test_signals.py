"""Signals of people and of batch systems."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.waiting import WATCHDOG_SECONDS

SEND = """
import asyncio, signal, threading, time
from ais_prompt.processes.threads import terminable, wakeable
from ais_prompt.processes.threads import run_coroutine

def send():
    time.sleep(0.5)  # the main thread waits by then
    signal.pthread_kill(threading.get_ident(), signal.{name})
"""
LOCK = """
lock = threading.Lock()
lock.acquire()
threading.Thread(target=send).start()
try:
    with {around}():
        lock.acquire()
except KeyboardInterrupt as stop:
    print(type(stop).__name__)
"""
NESTED = LOCK.replace("    with", "    with terminable(), ")
COROUTINE = """
async def inner():
    threading.Thread(target=send).start()
    try:
        await asyncio.sleep(600)
    finally:
        print("cancelled")

async def outer():  # as in a notebook
    run_coroutine(inner())

loop = asyncio.new_event_loop()  # asyncio.run would take the signal
try:
    loop.run_until_complete(outer())
except KeyboardInterrupt as stop:
    print(type(stop).__name__)
"""
HANDLER = """
async def inner():
    threading.Thread(target=send).start()
    await asyncio.sleep(1)

async def outer():  # as in a server with a handler of its own
    came = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, came.set)
    run_coroutine(inner())
    await came.wait()
    print("handled")

asyncio.run(outer())
"""
LOST: dict[str, tuple[str, str, list[str]]] = {
    "SIGTERM": (LOCK.format(around="terminable"), "SIGTERM", ["Termination"]),
    "SIGUSR1": (LOCK.format(around="terminable"), "SIGUSR1", ["Termination"]),
    "Ctrl-C on the command line": (LOCK.format(around="terminable"), "SIGINT", ["KeyboardInterrupt"]),
    "Ctrl-C in Python": (LOCK.format(around="wakeable"), "SIGINT", ["KeyboardInterrupt"]),
    "SIGTERM inside of both": (NESTED.format(around="wakeable"), "SIGTERM", ["Termination"]),
    "Ctrl-C in a notebook": (COROUTINE, "SIGINT", ["cancelled", "KeyboardInterrupt"]),
    "Ctrl-C with a handler of its own": (HANDLER, "SIGINT", ["handled"]),
}


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
def test_a_signal_that_the_waiting_main_thread_does_not_see() -> None:
    """Another thread gets it: to the main thread that is the same as if it came in the moment before the wait."""
    started = {case: start(SEND.format(name=name) + body) for case, (body, name, _) in LOST.items()}
    for case, process in started.items():
        out, err = process.communicate(timeout=WATCHDOG_SECONDS)
        assert out.split() == LOST[case][2], (case, err)


def start(program: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", program]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
