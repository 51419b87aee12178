"""Running programs that no one has read, together with their tests.

The program runs in a process of its own, inside of namespaces that hold nothing worth reaching, and its tests run in
another process, which calls the program's functions over a pipe. See docs/sandbox.md for what that protects.
"""

from ais_prompt.sandbox.choose import find_isolation
from ais_prompt.sandbox.launch import Isolation, end_spares
from ais_prompt.sandbox.program_runner import CheckedProgram, Evaluation, Outcome, evaluate_program, run_program

__all__ = [
    "CheckedProgram",
    "Evaluation",
    "Isolation",
    "Outcome",
    "end_spares",
    "evaluate_program",
    "find_isolation",
    "run_program",
]

Task = CheckedProgram  # its first name, which scripts import
