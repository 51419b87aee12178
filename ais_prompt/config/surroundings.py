"""What a worker process must share with its parent, so that it finds the same parts and hides the same secrets."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from ais_prompt.config.custom_imports import import_custom_modules
from ais_prompt.utils.secrets import SECRETS


class Surroundings(Struct, frozen=True):
    """What parts of the user's own need to be found, and what must not be written.

    Attributes:
        folder: the working directory.
        path: where modules are looked for.
        custom_imports: of the config.
        secrets: to hide.
    """

    folder: str
    path: Sequence[str]
    custom_imports: Any
    secrets: Sequence[str]

    @classmethod
    def here(cls, config: Mapping[str, Any]) -> Surroundings:
        """Return those of this process, in which a config was read."""
        return cls(os.getcwd(), tuple(sys.path), config.get("custom_imports"), SECRETS.values())  # noqa: PTH109

    def enter(self) -> None:
        """Make this process like the one that they are of.

        Raises:
            AisPromptError: a module cannot be imported here.
        """
        os.chdir(self.folder)
        sys.path[:] = self.path
        SECRETS.add(*self.secrets)
        import_custom_modules({"custom_imports": self.custom_imports}, "custom_imports")
