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
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeAlias

__all__ = ["Extension", "Step", "VerbEntry"]
"""What a package of your own needs; the rest is for the core."""

Step: TypeAlias = Literal[
    "audit",
    "audit_answers",
    "begin",
    "benchmarks",
    "beside_scores",
    "check",
    "command_line",
    "compare",
    "compare_within",
    "compared_variants",
    "config_trees",
    "divided",
    "entries",
    "find_data",
    "finished",
    "foreign_name",
    "joined",
    "known_values",
    "may_ask",
    "mock_routes",
    "model",
    "near_copies",
    "open_log",
    "pages",
    "rate",
    "print_question",
    "shown",
    "source",
    "status",
    "translate",
]
"""A place in the path of the core where an extension may act; `STEPS` has what its function takes and returns."""

STEPS: Final[Mapping[Step, str]] = {
    "audit": "(`ais_prompt.plan.Plan`) -> list of `ais_prompt.verbs.Audit`, for `aisprompt check --audit`; the "
    "`documents` of the extension have them as `audits`; all are called",
    "audit_answers": "(`ais_prompt.plan.Task`, its scored samples, its main score, path of its predictions, function "
    "from a postprocessor, as `PartSpec`, to one that scores a prediction; keyword `level`, of messages) -> fields for "
    "the head of its results, for `aisprompt score --audit` and where many answers are unparsed; all are called",
    "check": "(dataset that can be asked, as `ais_prompt.plan.PlannedDataset`, examples for any of its questions, "
    "`ais_prompt.checks.FaultList`) -> list of `ais_prompt.checks.PromptWarning`, for `aisprompt check`; what is wrong "
    "is noted in the list of faults; all are called",
    "command_line": "(words behind a verb that runs a config, its command) -> words with our options; all are called",
    "config_trees": "() -> list of `ais_prompt.config.ConfigTree`, the configs of other programs; all are called",
    "find_data": "(path or id of data) -> (places where they may be, how to get them), or None; all are called",
    "finished": "(path of the run folder, rows of its summary, as `ais_prompt.Row`) -> nothing, at the end of a run; "
    "all are called",
    "foreign_name": "(kind of name, name, our names of this kind) -> an error whose fix is what to write in its place; "
    "None if that is not known. Kinds: option, command, module, config, pattern (of `aisprompt list`), entry (of the "
    "reference), and those of parts",
    "known_values": "(path of the run folder, model, dataset) -> name of a metric, and id of a sample -> value from 0 "
    "to 1, of answers that were drawn at random, for a dataset without an evaluator or golds; None if none is known",
    "mock_routes": "(aiohttp's application of the mock server, function that answers a request as its script says: "
    "(path, body) -> (status, body of the reply)) -> nothing: adds routes; all are called",
    "may_ask": "(`ais_prompt.plan.Plan`, values of the options of `run` that extensions bring) -> whether models may "
    "be asked; it says why not, and one that forbids it ends the run; all are called",
    "near_copies": "(texts, other texts) -> pairs of their places, of texts that are equal but for some words, the "
    "most alike first; a text of the first is in one pair at most",
    "open_log": "(path) -> the run folder that a log of another tool becomes; None if the path holds no log",
    "pages": "(path of a run folder, options of extensions) -> name -> `ais_prompt.report.RunPage`, a page of "
    "`aisprompt view` below the address of the run; all are called",
    "beside_scores": "(path of the run folder, its plan, options of extensions, console of rich) -> a "
    "`ais_prompt.comparison.FurtherComparison` of its tasks, in place of the differences of two models; None if there "
    "is nothing to compare",
    "rate": "(battles of models, each a tuple: model shown first, other model, points of the first, question, values "
    "of covariates; keywords `features`, the names of the covariates, `position`, `ties`, `anchor`, `ridge` and "
    "`resamples`) -> the ratings: `models`, the best first, with `model`, `rating` in log odds, its `interval` and the "
    "number of `battles`, and `effects` of the covariates, with `name` and `value`",
    "shown": "(path of the run folder, console of rich) -> nothing: prints what follows from the scores, below "
    "them; all are called",
    "compare": "(stored run, stored run) -> a `ais_prompt.comparison.FurtherComparison`; None if neither has its kind; "
    "all are called",
    "compare_within": "(values of the options of `aisprompt compare`, by name) -> a "
    "`ais_prompt.comparison.FurtherComparison` of what is in one run, in place of that of two; None if no option asks "
    "for it",
    "compared_variants": "(path of the run folder, share of the questions on which a variant is chosen, or None) -> "
    "what `Run.variants` returns",
    "print_question": "(one question as several tasks ask it, the prompts of each as `ais_prompt.preview.print_sample` "
    "takes them, console of rich, whether origins are shown) -> True if it is printed; None if each is printed alone",
    "begin": "(run folder, its plan, mode of `run`) -> nothing, before a model is asked; an error ends the run; all "
    "are called",
    "model": "(`ModelSpec`, the model that is built of it) -> the model that takes its place, or None",
    "status": "(run folder) -> lines that say how far a run is; all are called",
    "benchmarks": "() -> title of a section of `aisprompt list datasets`, and the benchmarks in it, as `Benchmark`; "
    "all are called",
    "divided": "(`ais_prompt.verbs.Session`) -> a `ais_prompt.cli.modes.DividedRun`: how several processes ask one "
    "run; the options of `run` about it are in the session",
    "joined": "(`ais_prompt.plan.Plan`, run folder) -> a function (task, `ais_prompt.store.PredictionSorter`) -> "
    "whether it has added the predictions of all samples of the task, which processes that each asked a part of the "
    "run have stored; None if there were none",
    "entries": "(name) -> entries of the reference, as `ais_prompt.types.Entry`; only for that of this name are "
    "files read; all are called",
    "source": "(what the command line names, with options of extensions: `Options`) -> the same; all are called",
    "translate": "(config dict, options of extensions, foreign_summary=, folder=, place=) -> (config dict of this "
    "program, notes); all are called",
}
"""Step → its function. Of those that are not all called, the first that has an answer counts, shipped ones first."""

Place: TypeAlias = Literal["config", "run", "stored", "names", "view", "scored", "compare"]
"""Verbs that take an option: those that read any config, the one that asks, those that score stored answers, those that
name configs, the one that shows a run in the browser, those that end with scores and gates, and the one that compares
runs."""

_FOLDER: Final = Path(__file__).parent / "extensions"
REINSTALL: Final = "install ais-prompt again, with all that is in ais_prompt/extensions"


class VerbEntry(NamedTuple):
    """A verb of the command line.

    Attributes:
        purpose: the section of ``aisprompt --help`` that lists it.
        home: ``module:name`` of its click command.
        line: what it does, in one line.
        document: ``module:name`` of what it prints with ``--json``, an `ais_prompt.types.Document`; empty if it has no
            such option.
    """

    purpose: Literal["Ask", "Look", "Compare", "Others"]
    home: str
    line: str
    document: str = ""

    def at(self, package: str) -> VerbEntry:
        """Return the same with the full names of modules, see `Extension.at`."""
        document = self.document and f"{package}.{self.document}"
        return self._replace(home=f"{package}.{self.home}", document=document)


class Benchmark(Protocol):
    """What ``aisprompt list`` shows of questions that can be asked by name.

    Attributes:
        name: the name for ``--datasets``.
        tests: what they test, in a few words.
        size: number of questions.
        language, licence: of the questions.
        is_here: whether they are on this machine.
    """

    name: str
    tests: str
    size: int
    language: str
    licence: str
    is_here: bool


class ModeEntry(NamedTuple):
    """A mode of ``aisprompt run``.

    Attributes:
        line: what it does, for the help of ``--mode``.
        options: ``module:name`` of its options on the command line, a dataclass whose fields say them as those of
            `ais_prompt.config.Options` do. Every ``run`` imports it, and nothing else of a mode that is not asked for.
            Several modes may have the same options.
        home: ``module:name`` of what it does, a `ais_prompt.cli.modes.RunMode`.
        metrics: ``module:name`` of the names of the metrics that gates can limit in it, a frozenset; a gate of a config
            about such a metric is left to its mode.
        task: what it is for, in the list of ``aisprompt --help``; empty for a mode that is not listed there.
    """

    line: str
    options: str
    home: str
    metrics: str
    task: str = ""


class GateEntry(NamedTuple):
    """Gates of a name that is no metric, such as ``NAME >= 80%``.

    Attributes:
        decide: ``module:name`` of (gates of this name, path of the run folder, options of extensions) -> a
            `ais_prompt.types.Verdict` for each model and dataset that a gate concerns.
        fault: ``module:name`` of (spec of the run) -> why it can have no such gate, and the fix; None if it can.
    """

    decide: str
    fault: str


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
    """A kind of file, for the reference.

    Attributes:
        path: where it is in a run folder.
        about: what it holds, in one sentence.
        shape: ``module:name`` of the type of its content; empty if none describes it.
        version: of its form; 0 if that of the run folder counts.
    """

    path: str
    about: str
    shape: str = ""
    version: int = 0


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
        words: kind of part → words of a name that does not exist → the part that is meant, for the fix of the error.
        options: verbs → option, such as ``--strict`` → ``module:name`` of its ``click.option(...)``. Its value is in
            the options of extensions, which steps get.
        variables: environment variable → (its value, what it does), for the reference.
        packages: installed packages whose versions are recorded, because they can change a prompt or an answer.
        verbs: name → verb.
        meant: command as others call it → the verb.
        modes: name → mode of ``run``.
        sections: key of a config → section.
        model_keys: key of a model in a config → its form, whose value is in `ModelSpec.further`.
        documents: verb → ``module:name`` of a msgspec Struct whose fields its ``--json`` document has too; each field
            has a default.
        tabs: name → tab of the report.
        files: short name → kind of file that it writes into run folders.
        logs: format of logs of another tool → ``module:name`` of its reader, an `ais_prompt.store.LogFormat`.
        exporters: format of exported results → ``module:name`` of the function that writes it: it takes
            `ais_prompt.report.StoredResults` and a folder, and returns the files.
        gates: name → gates of this name, such as ``NAME >= 80%``.
        steps: step → ``module:name`` of its function.
        functions: functions that ``ais_prompt`` offers → the module of each.
        results: what they return, offered too → the module of each.
        moved: old name of a module → the module in this package that has its place; empty for the package.
        metrics: names of the metrics of its step ``known_values``, which gates can limit.
    """

    parts: Mapping[str, Mapping[str, str]] = {}
    words: Mapping[str, Mapping[str, str]] = {}
    verbs: Mapping[str, VerbEntry] = {}
    meant: Mapping[str, str] = {}
    modes: Mapping[str, ModeEntry] = {}
    sections: Mapping[str, SectionEntry] = {}
    model_keys: Mapping[str, SectionEntry] = {}
    documents: Mapping[str, str] = {}
    tabs: Mapping[str, TabEntry] = {}
    files: Mapping[str, FileEntry] = {}
    logs: Mapping[str, str] = {}
    exporters: Mapping[str, str] = {}
    gates: Mapping[str, GateEntry] = {}
    options: Mapping[Place, Mapping[str, str]] = {}
    variables: Mapping[str, tuple[str, str]] = {}
    packages: Sequence[str] = ()
    steps: Mapping[Step, str] = {}
    functions: Mapping[str, str] = {}
    results: Mapping[str, str] = {}
    moved: Mapping[str, str] = {}
    metrics: Sequence[str] = ()

    def at(self, package: str) -> Extension:
        """Return the same with the full names of modules.

        Args:
            package: dotted name of the package of the extension.
        """

        def full(homes: Mapping[Any, str]) -> dict[Any, str]:
            return {name: f"{package}.{home}".rstrip(".") for name, home in homes.items()}

        def entries(found: Mapping[str, Any], *fields: str) -> dict[str, Any]:
            """Return entries with the full names of the modules in these fields, which may be empty."""
            return {
                name: one._replace(**{field: f"{package}.{home}" for field in fields if (home := getattr(one, field))})
                for name, one in found.items()
            }

        return self._replace(
            parts={kind: full(homes) for kind, homes in self.parts.items()},
            verbs={name: verb.at(package) for name, verb in self.verbs.items()},
            modes=entries(self.modes, "options", "home", "metrics"),
            sections=entries(self.sections, "home"),
            model_keys=entries(self.model_keys, "home"),
            documents=full(self.documents),
            tabs={
                name: tab._replace(assets=tuple(f"{package}:{asset}" for asset in tab.assets))
                for name, tab in entries(self.tabs, "home").items()
            },
            files=entries(self.files, "shape"),
            functions=full(self.functions),
            results=full(self.results),
            moved=full(self.moved),
            logs=full(self.logs),
            exporters=full(self.exporters),
            gates=entries(self.gates, "decide", "fault"),
            options={place: full(homes) for place, homes in self.options.items()},
            steps=full(self.steps),
        )


@cache
def shipped() -> Mapping[str, Extension]:
    """Return the extensions that are in this installation, by name."""
    names = sorted(path.parent.name for path in _FOLDER.glob("*/__init__.py"))
    packages = {name: f"ais_prompt.extensions.{name}" for name in names}
    return {name: importlib.import_module(package).EXTENSION.at(package) for name, package in packages.items()}


def shipped_configs() -> list[Path]:
    """Return the ``configs`` folders of shipped extensions: they have ``datasets/`` and other kinds, as ours."""
    return sorted(_FOLDER.glob("*/configs"))


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


def missing_extension(name: str) -> str:
    """Return the name of the extension that brings a part, verb or format, if its folder is missing; else nothing."""
    owner = _owners(_FOLDER / "names.json").get(name, "")
    return "" if owner in shipped() else owner


@cache
def _owners(file: Path) -> Mapping[str, str]:
    import json

    owners: dict[str, str] = json.loads(file.read_text("utf-8"))
    return owners
