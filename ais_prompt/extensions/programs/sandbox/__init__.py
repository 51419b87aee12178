"""Running programs that no one has read, together with their tests.

The program runs in a process of its own, inside of namespaces that hold nothing worth reaching, and its tests run in
another process, which calls the program's functions over a pipe. See docs/sandbox.md for what that protects.
"""

from typing import TYPE_CHECKING

from ais_prompt.rooms import offered

if TYPE_CHECKING:
    from ais_prompt.extensions.programs.sandbox.launch import Isolation, end_spares
    from ais_prompt.extensions.programs.sandbox.program_runner import (
        CheckedProgram,
        Evaluation,
        Outcome,
        Task,
        allowed_isolation,
        evaluate_program,
        find_isolation,
        run_program,
    )
else:
    __getattr__, __dir__ = offered(__name__)
