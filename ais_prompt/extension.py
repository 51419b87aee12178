"""Extensions: what a folder of ``ais_prompt/extensions``, or an installed package, adds to the program.

An extension says what it brings in one literal value, the ``EXTENSION`` of its ``__init__.py``, which imports nothing
of it; so everything that can be named is known without importing any of it. The core imports no extension: it finds
the manifests by listing the folder, and a folder can be deleted. A package of your own has an entry point, and is
looked at when a name is found nowhere else::

    [project.entry-points."ais_prompt.extensions"]
    my-extension = "my_package:EXTENSION"
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias

Step: TypeAlias = Literal["translate", "accelerate", "open_log", "finished", "compare"]
"""A place in the path of the core where an extension may act; `STEPS` has what its function takes and returns."""

STEPS: Final[Mapping[Step, str]] = {
    "translate": "(config dict, options of the command line) -> (config dict of this program, notes)",
    "accelerate": "(models of a config, accelerator, folder) -> (models that a server serves, notes)",
    "open_log": "(path) -> the run folder that a log of another tool becomes; None if the path holds no log",
    "finished": "(run folder, results of the run) -> nothing; every extension that has it is called",
    "compare": "(stored run, stored run) -> a `ais_prompt.report.FurtherComparison`; None if neither has its kind",
}
"""Step → its function. Of all but ``finished`` and ``compare`` the first that is found is called, shipped ones before
others."""

_FOLDER: Final = Path(__file__).parent / "extensions"
REINSTALL: Final = "install ais-prompt again, with all that is in ais_prompt/extensions"


class VerbEntry(NamedTuple):
    """A verb of the command line.

    Attributes:
        purpose: the section of ``aisprompt --help`` that lists it.
        home: ``module:name`` of its click command.
        line: what it does, in one line.
    """

    purpose: Literal["Ask", "Look", "Compare", "Others"]
    home: str
    line: str


class ModeEntry(NamedTuple):
    """A mode of ``aisprompt run``.

    Attributes:
        line: what it does, for the help of ``--mode``.
        options: ``module:name`` of its options on the command line, a tuple of `click.Option`. Every ``run`` imports
            it, and nothing else of a mode that is not asked for. Several modes may have the same options.
        home: ``module:name`` of what it does, a `ais_prompt.cli.modes.RunMode`.
        metrics: ``module:name`` of the names of the metrics that gates can limit in it, a frozenset; a gate of a config
            about such a metric is left to its mode.
    """

    line: str
    options: str
    home: str
    metrics: str


class SectionEntry(NamedTuple):
    """A section of a config, a dict at the top of its file.

    Attributes:
        line: what it is for, in the table of the keys of a config.
        home: ``module:name`` of its keys and its parser, a `ais_prompt.config.SectionForm`.
        also: other dotted paths in a config which the parser reads.
    """

    line: str
    home: str
    also: tuple[str, ...] = ()


class FileEntry(NamedTuple):
    """A kind of file in a run folder, for `aisprompt describe`: where it is, and what it holds in one sentence."""

    path: str
    about: str


class TabEntry(NamedTuple):
    """A tab of the report.

    Attributes:
        home: ``module:name`` of its data, a `ais_prompt.report.ReportTab`.
        files: patterns of files in a run folder; a run with such a file has the tab.
        assets: its scripts (``.js``, in order), style (``.css``) and Chinese labels (``zh.json``), as paths in the
            package; every report has them.
    """

    home: str
    files: tuple[str, ...]
    assets: tuple[str, ...]


class Extension(NamedTuple):
    """What an extension brings. Modules are named from its package on: ``rows`` is the module ``rows`` in it.

    Attributes:
        parts: kind of part → name in configs → module that registers it.
        verbs: name → verb.
        meant: command as others call it → the verb.
        modes: name → mode of ``run``.
        sections: key of a config → section.
        documents: verb → ``module:name`` of a msgspec Struct whose fields its ``--json`` document has too; each field
            has a default.
        tabs: name → tab of the report.
        files: short name → kind of file that it writes into run folders.
        logs: format of logs of another tool → ``module:name`` of its reader, a `LogFormat`.
        exporters: format of exported results → ``module:name`` of the function that writes it: it takes
            `StoredResults` and a folder, and returns the files.
        steps: step → ``module:name`` of its function.
    """

    parts: Mapping[str, Mapping[str, str]] = {}
    verbs: Mapping[str, VerbEntry] = {}
    meant: Mapping[str, str] = {}
    modes: Mapping[str, ModeEntry] = {}
    sections: Mapping[str, SectionEntry] = {}
    documents: Mapping[str, str] = {}
    tabs: Mapping[str, TabEntry] = {}
    files: Mapping[str, FileEntry] = {}
    logs: Mapping[str, str] = {}
    exporters: Mapping[str, str] = {}
    steps: Mapping[Step, str] = {}

    def at(self, package: str) -> Extension:
        """Return the same with the full names of modules.

        Args:
            package: dotted name of the package of the extension.
        """

        def full(homes: Mapping[Any, str]) -> dict[Any, str]:
            return {name: f"{package}.{home}" for name, home in homes.items()}

        return self._replace(
            parts={kind: full(homes) for kind, homes in self.parts.items()},
            verbs={name: verb._replace(home=f"{package}.{verb.home}") for name, verb in self.verbs.items()},
            modes={
                name: ModeEntry(mode.line, *(f"{package}.{home}" for home in mode[1:]))
                for name, mode in self.modes.items()
            },
            sections={
                name: section._replace(home=f"{package}.{section.home}") for name, section in self.sections.items()
            },
            documents=full(self.documents),
            tabs={
                name: tab._replace(
                    home=f"{package}.{tab.home}", assets=tuple(f"{package}:{asset}" for asset in tab.assets)
                )
                for name, tab in self.tabs.items()
            },
            logs=full(self.logs),
            exporters=full(self.exporters),
            steps=full(self.steps),
        )


@cache
def shipped() -> Mapping[str, Extension]:
    """Return the extensions that are in this installation, by name."""
    names = sorted(path.parent.name for path in _FOLDER.glob("*/__init__.py"))
    packages = {name: f"ais_prompt.extensions.{name}" for name in names}
    return {name: importlib.import_module(package).EXTENSION.at(package) for name, package in packages.items()}


def all_of(field: str) -> dict[str, Any]:
    """Return the entries of a field of all shipped extensions, such as ``exporters``."""
    return {name: value for one in shipped().values() for name, value in getattr(one, field).items()}


def parts_of(kind: str) -> dict[str, str]:
    """Return the parts of a kind that shipped extensions bring, by name, with the module of each."""
    return {name: home for one in shipped().values() for name, home in one.parts.get(kind, {}).items()}


def import_object(home: str) -> Any:
    """Import what ``module:name`` names."""
    module, _, name = home.partition(":")
    return getattr(importlib.import_module(module), name)


def names_of(one: Extension) -> list[str]:
    """Return every name that an extension brings, of parts, verbs, formats and steps, in alphabetical order.

    Modes, options, sections and metrics of gates are as people write them: ``-m NAME``, ``--NAME``, ``NAME=`` and
    ``--gate NAME``.
    """
    parts = (name for homes in one.parts.values() for name in homes)
    options = (name for mode in one.modes.values() for option in import_object(mode.options) for name in option.opts)
    modes = (f"-m {name}" for name in one.modes)
    sections = (f"{name}=" for name in one.sections)
    metrics = (f"--gate {name}" for mode in one.modes.values() for name in import_object(mode.metrics))
    of_run = (*modes, *options, *sections, *metrics)
    return sorted({*parts, *one.verbs, *one.meant, *of_run, *one.logs, *one.exporters, *one.steps})


def missing_extension(name: str) -> str:
    """Return the name of the extension that brings a part, verb or format, if its folder is missing; else nothing."""
    owner = _owners().get(name, "")
    return "" if owner in shipped() else owner


@cache
def _owners() -> Mapping[str, str]:
    import json

    owners: dict[str, str] = json.loads((_FOLDER / "names.json").read_text("utf-8"))
    return owners
