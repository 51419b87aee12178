"""How far programs are kept apart from the machine, and the least that is accepted."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from msgspec import Struct

from ais_prompt.config.redact import shown_command

Method: TypeAlias = Literal["bubblewrap", "landlock", "command", "none"]

NAMES: Final[dict[str, str]] = {
    "bubblewrap": "bubblewrap + seccomp",
    "landlock": "landlock + seccomp",
    "none": "none",
}


class Isolation(Struct, frozen=True):
    """A way to run programs apart from the machine.

    Attributes:
        method: namespaces by bubblewrap; Landlock; whatever a command of the user does; nothing but limits.
        command: what is put before the command line of the interpreter.
    """

    method: Method
    command: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What people read: ``bubblewrap + seccomp``, ``landlock + seccomp``, ``none``, or the user's command."""
        return NAMES.get(self.method) or shown_command(self.command)
