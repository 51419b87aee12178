"""Run a program that names itself, starts others, and sleeps; made to be killed meanwhile."""

from __future__ import annotations

import sys

from ais_prompt.extensions.programs.sandbox import CheckedProgram, find_isolation, run_program

PROGRAM = """
import ctypes, os, time
ctypes.CDLL(None).prctl(15, b'@NAME@', 0, 0, 0)
open_files = []
try:
    open_files.append(open('/tmp/hostile@NAME@', 'w'))
    os.setsid() if not os.fork() else None
    if not os.fork():
        os.setsid()
except OSError:
    pass
for number in range(1, 65):
    try:
        __import__('signal').signal(number, __import__('signal').SIG_IGN)
    except (OSError, ValueError):
        pass
while True:
    time.sleep(1)
"""

if __name__ == "__main__":
    level, name = sys.argv[1:]
    isolation = find_isolation(level)
    print("ready", flush=True)
    run_program(CheckedProgram(PROGRAM.replace("@NAME@", name)), isolation, 300, 256)
