"""Where this process finds the user's code and configs: folders that options name, and modules that a config imports.

``custom_imports = dict(imports=['my_parts'])`` names modules that register parts. A worker process imports them too:
`Surroundings` carries the folders, the imports and the secrets of its parent. Every command loads this file, so the
guards of parts are imported where something fails.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from ais_prompt.errors import AisPromptError, ConfigError
from ais_prompt.secrets import SECRETS
from ais_prompt.steps import first_answer

_GIVEN: Final[dict[str, Sequence[str]]] = {}
"""Environment variable → the folders that the option of the same meaning names in this process."""


class SearchFolders:
    """Folders that an option names, or else an environment variable, written as ``PATH`` is.

    Like `sys.path` they belong to the process; `Surroundings` hands them on to its workers.

    Attributes:
        variable: the environment variable.
    """

    def __init__(self, variable: str) -> None:
        self.variable = variable

    @property
    def given(self) -> Sequence[str]:
        """The folders that the option names."""
        return _GIVEN.get(self.variable, ())

    @given.setter
    def given(self, folders: Sequence[str]) -> None:
        _GIVEN[self.variable] = folders

    def paths(self) -> list[Path]:
        """Return the folders."""
        texts = self.given or os.environ.get(self.variable, "").split(os.pathsep)
        return [Path(text).expanduser() for text in texts if text]


CONFIG_FOLDERS: Final = SearchFolders("AISPROMPT_CONFIG_DIR")
"""Folders that hold ``datasets``, ``models`` and ``summarizers`` (``--config-dir``)."""


def make_importable(folders: Iterable[Path]) -> None:
    """Let modules in these folders be imported from now on, by name or as the dotted path of a part.

    The folders go to the end of the search path: a file ``datasets.py`` beside a config does not hide the library.
    """
    for folder in folders:
        if str(folder) not in sys.path:
            sys.path.append(str(folder))


def import_custom_modules(values: Mapping[str, Any], where: str) -> None:
    """Import the modules that a config names in ``custom_imports``.

    Raises:
        ConfigError: the value has the wrong form, or a module is missing or fails.
    """
    custom = values.get("custom_imports")
    if custom is None:
        return
    names = custom.get("imports") if isinstance(custom, Mapping) else None
    names = [names] if isinstance(names, str) else names
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) and name for name in names):
        fix = "write custom_imports = dict(imports=['my_parts'])"
        raise ConfigError(f"custom_imports has the wrong form: {custom!r:.60}", where=where, fix=fix)
    for name in names:
        try:
            importlib.import_module(name)
        except BaseException as error:
            from ais_prompt.parts import ends_program

            if ends_program(error):
                raise
            if not (custom.get("allow_failed_imports") and isinstance(error, ImportError)):
                raise _failed_import(name, error, where) from error


def _failed_import(name: str, error: BaseException, where: str) -> ConfigError:
    from ais_prompt.parts import last_line_in

    if isinstance(error, AisPromptError):
        return ConfigError(f"custom import {name!r}: {error.what}", where=error.where or where, fix=error.fix)
    missing = str(error.name) if isinstance(error, ModuleNotFoundError) else ""
    if missing and missing == name.partition(".")[0]:
        fix = "put the file beside the config or into the working directory, or install it"
        return ConfigError(f"custom_imports names the module {name!r}, which is not there", where=where, fix=fix)
    stem = name.rpartition(".")[2]
    foreign = first_answer("foreign_name", "module", missing, ()) if missing else None
    return ConfigError(
        f"custom import {name!r} failed: {type(error).__name__}: {error}",
        where=last_line_in(error, lambda file: stem in (*file.parts, file.stem)) or where,
        fix=foreign.fix if foreign else "fix that module",
    )


class Surroundings(NamedTuple):
    """What parts of the user's own need to be found, and what must not be written.

    Attributes:
        folder: the working directory.
        path: where modules are looked for.
        custom_imports: of the config.
        secrets: to hide.
        folders: environment variable → the folders that an option names in its place.
    """

    folder: str
    path: Sequence[str]
    custom_imports: Any
    secrets: tuple[Sequence[str], Sequence[str]]
    folders: Mapping[str, Sequence[str]]

    @classmethod
    def here(cls, config: Mapping[str, Any]) -> Surroundings:
        """Return those of this process, in which a config was read."""
        return cls(
            folder=os.getcwd(),  # noqa: PTH109
            path=tuple(sys.path),
            custom_imports=config.get("custom_imports"),
            secrets=SECRETS.shared(),
            folders={variable: folders for variable, folders in _GIVEN.items() if folders},
        )

    def enter(self) -> None:
        """Make this process like the one that they are of.

        Raises:
            AisPromptError: a module cannot be imported here.
        """
        os.chdir(self.folder)
        sys.path[:] = self.path
        SECRETS.add_shared(*self.secrets)
        _GIVEN.clear()
        _GIVEN.update(self.folders)
        import_custom_modules({"custom_imports": self.custom_imports}, "custom_imports")
