"""What ``--json`` prints: one document on standard output, whose schema is in ``docs/schemas``."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final, Literal, TypedDict

import msgspec
from msgspec import Struct, field

from ais_prompt.checks import PHRASINGS, ExtractionTrial, PromptWarning, ScorerAudit
from ais_prompt.comparison import CompareDocument, DifferenceEntry
from ais_prompt.engine import RequestEstimate
from ais_prompt.errors import AisPromptError, Paused, faults_of
from ais_prompt.extension import VerbEntry, all_of, import_object
from ais_prompt.scoring import Row, TaskOutcome
from ais_prompt.steps import extensions
from ais_prompt.types import Document, Fault, Used, Verdict
from ais_prompt.utils import SECRETS, installed_entry


class TaskEnd(Struct, frozen=True):
    """How a task ended: with scores, with predictions only, paused, or failed and why."""

    model: str
    dataset: str
    state: Literal["scored", "predictions", "paused", "failed"]
    error: Fault | None = None


class TaskEstimate(Struct, frozen=True):
    """What a task would ask at most, without the tokens of judges; costs are None without a price."""

    task: str
    samples: int
    requests: int
    input_tokens: int
    output_tokens: int
    least_cost: float | None = None
    most_cost: float | None = None
    judge_requests: int = 0


class RunDocument(Document, kw_only=True):
    """What ``run``, ``score`` and ``merge`` print.

    Attributes:
        folder: the run folder; None if none was made.
        tasks: how each task ended.
        scores: the rows of the summary, as in ``summary.json``.
        gates: the verdict of each gate.
        asked, failed: samples in all, and those that failed.
        reasons: why answers failed → how many of them.
        used: what this session asked.
        isolation: task → how the programs of its answers were kept apart from the machine.
        differences: of the two models of a run, of each dataset and of the means over datasets.
        estimates: what each task would ask, with ``--dry-run``.
    """

    kind: Literal["run", "score", "merge"]
    folder: str | None = None
    tasks: list[TaskEnd] = field(default_factory=list)
    scores: list[Row] = field(default_factory=list)
    gates: list[Verdict] = field(default_factory=list)
    asked: int = 0
    failed: int = 0
    reasons: dict[str, int] = field(default_factory=dict)
    used: Used = Used()
    isolation: dict[str, str] = field(default_factory=dict)
    differences: list[DifferenceEntry] = field(default_factory=list)
    estimates: list[TaskEstimate] = field(default_factory=list)


class Remark(Struct, frozen=True):
    """A warning about prompts, or a note about a translated config (``label``)."""

    label: str
    what: str
    where: str = ""
    fix: str = ""


class ExtractionEntry(Struct, frozen=True):
    """How well a postprocessor finds golds in ordinary phrasings; ``lost`` names those that lose one."""

    dataset: str
    postprocessor: str
    golds: int
    phrasings: int
    lost: list[str]


class FooledEntry(Struct, frozen=True):
    """An answer that knows nothing and scores above chance: its name, text and score (0 to 1), and who read it."""

    answer: str
    text: str
    score: float
    rule: str


class AuditEntry(Struct, frozen=True):
    """The audit of the scorer of a dataset.

    Attributes:
        dataset, scorer: the dataset, and its postprocessor and evaluator.
        samples: samples that were tried; 0 for a judge.
        chance: score of the best answer that reads nothing, 0 to 1.
        fooled: the answers that score above chance.
        rejects: why the golds themselves are no right answers; empty if they are.
    """

    dataset: str
    scorer: str
    samples: int
    chance: float
    fooled: list[FooledEntry]
    rejects: str = ""


class CheckDocument(Document, kw_only=True):
    """What ``check`` prints.

    Attributes:
        models, datasets: numbers of each; 0 if the config has faults.
        warnings: what you may not expect of the prompts.
        extractions: how well each postprocessor finds golds.
        claims: what gates with a confidence need, in words.
        estimates: what each task of a served model would ask.
        audits: what scorers give to answers that know nothing, with ``--audit``.
    """

    kind: Literal["check"]
    models: int = 0
    datasets: int = 0
    warnings: list[Remark] = field(default_factory=list)
    extractions: list[ExtractionEntry] = field(default_factory=list)
    claims: list[str] = field(default_factory=list)
    estimates: list[TaskEstimate] = field(default_factory=list)
    audits: list[AuditEntry] = field(default_factory=list)


class Named(Struct, frozen=True):
    """A name, and what it means: the summary of a config, the module of a part."""

    name: str
    about: str


class FoundConfig(Struct, frozen=True):
    """A config that a pattern found: the name for the command line, the summary of the file, and its path."""

    name: str
    about: str
    path: str


class ProviderEntry(Struct, frozen=True):
    """A provider of models: its address, the variable of its key, and the API that it speaks."""

    name: str
    base_url: str
    key: str
    api: str


class BenchmarkEntry(Struct, frozen=True):
    """A benchmark: what it tests, its number of questions, and whether its data are on this machine (``here``)."""

    name: str
    tests: str
    size: int
    language: str
    licence: str
    here: bool


class ListDocument(Document, kw_only=True):
    """What ``list`` prints; kinds that were not asked for are missing.

    Attributes:
        configs: ``models`` and ``datasets`` → configs that can be named.
        found: ``models``, ``datasets`` and ``summarizers`` → configs that a pattern found.
        benchmarks: questions that extensions know by name.
        providers: of models.
        parts: kind → registered parts.
    """

    kind: Literal["list"]
    configs: dict[str, list[Named]] = field(default_factory=dict)
    found: dict[str, list[FoundConfig]] = field(default_factory=dict)
    benchmarks: list[BenchmarkEntry] = field(default_factory=list)
    providers: list[ProviderEntry] = field(default_factory=list)
    parts: dict[str, list[Named]] = field(default_factory=dict)


class ArgumentEntry(TypedDict):
    """An argument, key or option: its default as it is written, empty if there is nothing to say."""

    name: str
    kind: str
    default: str
    meaning: str


class DescribedEntry(TypedDict):
    """What the reference says of a name; ``facts`` are further pairs of a title and a text."""

    name: str
    group: str
    kind: str
    summary: str
    text: str
    arguments: list[ArgumentEntry]
    usage: str
    also: list[str]
    facts: list[tuple[str, str]]


class DescribeDocument(Document, kw_only=True):
    """What ``describe`` prints.

    Attributes:
        entries: all things of that name.
    """

    kind: Literal["describe"]
    entries: list[DescribedEntry] = field(default_factory=list)


class ShardEntry(TypedDict):
    """The latest session of a shard; without a session it is missing."""

    shard: str
    state: str
    answered: int
    host: str | None
    start: str | None


class StatusDocument(Document, kw_only=True):
    """What ``status`` prints.

    Attributes:
        folder: the run folder.
        shards: in order; empty for a run without shards.
        lines: what it says to people.
    """

    kind: Literal["status"]
    folder: str | None = None
    shards: list[ShardEntry] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)


class MeasuredJudge(TypedDict):
    """A judge against labels of people: shares with their 95 % intervals, null if unknown."""

    run: str
    task: str
    labelled: int
    unjudged: int
    score: float
    sensitivity: list[float] | None
    specificity: list[float] | None
    kappa: list[float] | None
    corrected: list[float] | None


class JudgeCheckDocument(Document, kw_only=True):
    """What ``judge-check`` prints; each measure is the value and both ends of its interval.

    Attributes:
        judges: one entry for each judge.
        alpha: Krippendorff's alpha of several judges; null for one, or if nothing varies.
    """

    kind: Literal["judge-check"]
    judges: list[MeasuredJudge] = field(default_factory=list)
    alpha: float | None = None


class BaselineDocument(Document, kw_only=True):
    """What ``baseline`` prints.

    Attributes:
        file: the baseline; empty if none was written.
        samples, datasets: numbers of what is in it.
        advice: with ``--advise``, the gate of each dataset and what it rests on.
    """

    kind: Literal["baseline"]
    file: str = ""
    samples: int = 0
    datasets: int = 0
    advice: list[dict[str, Any]] = field(default_factory=list)


_OWN: Final[Mapping[str, type[Document]]] = {
    "run": RunDocument,
    "score": RunDocument,
    "check": CheckDocument,
    "merge": RunDocument,
    "list": ListDocument,
    "describe": DescribeDocument,
    "status": StatusDocument,
    "judge-check": JudgeCheckDocument,
    "compare": CompareDocument,
    "baseline": BaselineDocument,
}
"""Verb of the core → its document, without what extensions add."""


def all_documents() -> dict[str, type[Document]]:
    """Return the document of each verb that has one, those of extensions included."""
    verbs = (*_OWN, *all_of("verbs"))
    return {verb: found for verb in verbs if (found := document_of(verb)) is not None}


@cache
def document_of(verb: str) -> type[Document] | None:
    """Return the class of the document of a verb, with the fields that extensions add to it; None if it has none."""
    own = _OWN.get(verb) or _of_extension(verb)
    further = [import_object(one.documents[verb]) for one in extensions() if verb in one.documents]
    if own is None or not further:
        return own
    fields: list[Any] = [
        (one.name, one.type, _default(one)) for added in further for one in msgspec.structs.fields(added)
    ]
    texts = [inspect.getdoc(own) or "", *((inspect.getdoc(one) or "").partition("Attributes:\n")[2] for one in further)]
    names = {"__doc__": "\n".join(texts)}
    made: Any = msgspec.defstruct(own.__name__, fields, bases=(own,), kw_only=True, namespace=names)
    return made  # type: ignore[no-any-return]


def _of_extension(verb: str) -> type[Document] | None:
    entry: VerbEntry | None = all_of("verbs").get(verb) or installed_entry("verbs", verb)
    if entry is None or not entry.document:
        return None
    document: type[Document] = import_object(entry.document)
    return document


def _default(of: msgspec.structs.FieldInfo) -> Any:
    made = of.default_factory is not msgspec.NODEFAULT
    return field(default_factory=of.default_factory) if made else field(default=of.default)


def schema_of_document(verb: str) -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of the document of a verb."""
    schema: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(msgspec.json.schema(document_of(verb))))
    for definition in schema.get("$defs", {}).values():
        if "description" in definition:  # a docstring, of which only some versions of msgspec cut the indentation
            definition["description"] = inspect.cleandoc(definition["description"])
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"aisprompt {verb} --json"}
    return {**head, **schema}


def faults(error: AisPromptError) -> list[Fault]:
    """Return all faults of an error, without secrets."""
    return [Fault(*map(SECRETS.hide_in_message, (one.what, one.where, one.fix))) for one in faults_of(error)]


def task_ends(outcomes: Iterable[TaskOutcome]) -> list[TaskEnd]:
    """Return how tasks ended."""
    return [
        TaskEnd(one.model, one.dataset, _state(one), faults(one.error)[0] if one.error else None) for one in outcomes
    ]


def remarks(warnings: Sequence[PromptWarning]) -> list[Remark]:
    """Return warnings and notes."""
    return [Remark(one.label, one.what, one.where, one.fix) for one in warnings]


def trials(found: Sequence[ExtractionTrial]) -> list[ExtractionEntry]:
    """Return the trials of postprocessors."""
    return [
        ExtractionEntry(one.dataset, one.postprocessor, one.golds, len(PHRASINGS), [lost.phrasing for lost in one.lost])
        for one in found
    ]


def audit_entries(found: Sequence[ScorerAudit]) -> list[AuditEntry]:
    """Return the audits of scorers."""
    return [
        AuditEntry(
            audit.dataset,
            audit.scorer,
            audit.samples,
            audit.chance,
            [FooledEntry(one.answer, one.text, one.score, one.rule) for one in audit.fooled],
            audit.rejects,
        )
        for audit in found
    ]


def task_estimates(found: Sequence[RequestEstimate]) -> list[TaskEstimate]:
    """Return what tasks would ask."""
    return [
        TaskEstimate(
            task=one.task,
            samples=one.samples,
            requests=one.requests,
            judge_requests=one.judge_requests,
            input_tokens=one.input_tokens,
            output_tokens=one.output_tokens,
            least_cost=one.least_cost,
            most_cost=one.most_cost,
        )
        for one in found
    ]


def _state(outcome: TaskOutcome) -> Literal["scored", "predictions", "paused", "failed"]:
    if outcome.error is not None:
        return "paused" if isinstance(outcome.error, Paused) else "failed"
    return "scored" if outcome.scores else "predictions"
