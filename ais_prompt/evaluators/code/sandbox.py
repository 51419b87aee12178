"""The old path of `ais_prompt.sandbox`, which scripts import."""

from ais_prompt.sandbox import *  # noqa: F403
from ais_prompt.sandbox import CheckedProgram as Task  # noqa: F401
