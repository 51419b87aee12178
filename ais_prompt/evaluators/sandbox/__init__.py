"""Running programs that nobody has read: each in a process of its own, which the kernel keeps from doing harm.

A program may compute, start threads and read files. Whatever else it tries ends it at once: starting a process, a
signal to another one, a socket, writing, creating, renaming or deleting any file. Its time and memory are limited. It
sees an empty folder as its home and working directory, and none of the environment variables. See
`ais_prompt.evaluators.sandbox.seccomp` for how, and docs/evaluators.md for what is not promised.
"""

from ais_prompt.evaluators.sandbox.runner import Outcome, check_sandbox, run_program

__all__ = ["Outcome", "check_sandbox", "run_program"]
