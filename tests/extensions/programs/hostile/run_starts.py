"""Start one sandbox after the other; made to be killed meanwhile."""

from __future__ import annotations

import sys

from ais_prompt.extensions.programs.sandbox import evaluate_program, find_isolation

if __name__ == "__main__":
    isolation = find_isolation(sys.argv[1])
    print("starting", flush=True)
    while True:
        evaluate_program("def solution(): return 1", "solution()", isolation, 10, 256)
