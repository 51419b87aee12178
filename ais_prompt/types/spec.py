"""The config, parsed once into frozen values. Every spec keeps its config path (``where``) for error messages.

Meta templates are checked, but their token ids are not converted to text yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct, field

from ais_prompt.types.limits import Budget, Gate, Price
from ais_prompt.types.request import ChatMessage

AVERAGES: Final = ("naive_average", "weighted_average")
"""Metrics of a group, as OpenCompass calls them."""
ELSEWHERE: Final = "elsewhere:"
"""Begins the type of a part that is not to be built."""
LOG: Final = "log"
"""Argument of a dataset that was imported from the log of another tool: its file."""
GroupKind: TypeAlias = Literal["average", "standard_deviation", "sum", "harmonic_mean"]


class PartSpec(Struct, frozen=True):
    """A part to build: its ``type`` and its arguments.

    Attributes:
        type: a registered name (``GenInferencer``) or a dotted path (``my_package.parts.MyInferencer``).
        args: keyword arguments; plain values only.
        where: config path, e.g. ``datasets[2].infer_cfg.retriever``.
    """

    type: str
    args: Mapping[str, Any] = field(default_factory=dict)
    where: str = ""


class ControlSpec(Struct, frozen=True):
    """``control`` of ``reader_cfg``: questions that cannot be understood, to see what can be answered all the same.

    Attributes:
        type: ``blank`` empties the columns, ``swap`` takes them from another row, ``shuffle`` changes the order of the
            options, and the gold with it.
        columns: the columns; for ``shuffle`` the columns of the options, or the one with the list of them.
        seed: of what is drawn.
    """

    type: Literal["blank", "swap", "shuffle"]
    columns: tuple[str, ...]
    seed: int = 0


class DrawSpec(Struct, frozen=True):
    """``sample`` of ``reader_cfg``: how many questions are drawn at random from all of them.

    Attributes:
        size: number of questions; None if ``points`` says how many.
        points: half of the 95 % interval of a share of right answers, in points of percentage: as many questions are
            drawn as it needs where half of them are right, which takes the most.
        by: the column whose values each get their part of the questions, and at least one; None divides nothing.
        seed: other questions for another seed.
    """

    size: int | None = None
    points: float | None = None
    by: str | None = None
    seed: int = 0


class ReaderSpec(Struct, frozen=True):
    """``reader_cfg`` of a dataset.

    Attributes:
        input_columns: the columns that make up the question.
        output_column: the column with the gold answer; None if there is none.
        gold_columns: columns that form the gold together, as a mapping, where scoring needs more than the output
            column (the tests of a program, for example); else empty.
        train_split, test_split: names of the splits for in-context examples and for questions.
        train_range, test_range: which rows of a split: None (all), a number, or a slice as text.
        input_template: the text by which retrievers compare rows; None uses the input columns.
        limit: maximum number of questions, from the front, after the range; None for all.
        allow_missing: whether input columns that the data do not have are left out, with a warning.
        media_roots: folders and URLs outside of the data folder from which rows may take media.
        where: config path.
        control: how the questions are spoiled; None leaves them as they are.
        sample: how many questions are drawn, after range and limit; None asks all.
    """

    input_columns: tuple[str, ...]
    output_column: str | None
    train_split: str = "train"
    test_split: str = "test"
    train_range: int | float | str | None = None
    test_range: int | float | str | None = None
    limit: int | None = None
    gold_columns: tuple[str, ...] = ()
    input_template: str | None = None
    where: str = ""
    allow_missing: bool = False
    media_roots: tuple[str, ...] = ()
    control: ControlSpec | None = None
    sample: DrawSpec | None = None


class InferSpec(Struct, frozen=True):
    """``infer_cfg`` of a dataset. Both templates may be missing: some inferencers build the prompt from the columns.

    Attributes:
        allow_overlap: whether a question may be among its own in-context examples.
    """

    ice_template: PartSpec | None
    prompt_template: PartSpec | None
    retriever: PartSpec
    inferencer: PartSpec
    where: str = ""
    allow_overlap: bool = False


class ReferenceAnswersSpec(Struct, frozen=True):
    """The answers with which a judge compares those of a model.

    Attributes:
        column: the column of the data that holds them; empty if a model gave them.
        model: ``abbr`` of the model that gave them, in this run or in that of ``path``; empty for the only model there.
        path: the folder of an earlier run, or a file of its predictions; None for this run.
        where: config path.
    """

    column: str = ""
    model: str = ""
    path: Path | None = None
    where: str = ""

    @property
    def model_of_run(self) -> str:
        """``abbr`` of the model of this run that gives the answers; empty if they are elsewhere."""
        return "" if self.column or self.path is not None else self.model


class JudgeSpec(Struct, frozen=True):
    """The models that judge answers.

    Attributes:
        models: the judges; each is asked the same.
        prompt_template: the prompt of the judges; its columns are those of the row, ``prediction`` and ``gold``, and
            with reference answers ``prediction2``.
        where: config path of the evaluator.
        reference_answers: are compared with those of the model, in both orders; None if each answer is judged
            by itself.
    """

    models: tuple[ModelSpec, ...]
    prompt_template: PartSpec
    where: str = ""
    reference_answers: ReferenceAnswersSpec | None = None


class EvalSpec(Struct, frozen=True):
    """``eval_cfg`` of a dataset. Without an evaluator, predictions are made but not scored.

    Attributes:
        evaluator: compares answers with golds.
        pred_postprocessor, dataset_postprocessor: extract the answer from a text, and from the gold.
        k: the values of k for ``pass@k``, for questions that are asked several times.
        judge: judges the answers for the evaluator; None if it needs no judge.
        cluster: the column whose value is shared by questions that depend on each other, such as their passage; None
            if all questions are independent.
        where: config path.
        allow_code_execution: whether an evaluator may run programs that a model wrote; set on the command line.
            ``unsafe`` also allows it on a machine without a sandbox.
        repeat_evaluator: gives further scores of questions that are asked several times, from those of their answers.
    """

    evaluator: PartSpec | None = None
    pred_postprocessor: PartSpec | None = None
    dataset_postprocessor: PartSpec | None = None
    k: tuple[int, ...] = ()
    judge: JudgeSpec | None = None
    where: str = ""
    allow_code_execution: bool | Literal["unsafe"] = False
    cluster: str | None = None
    repeat_evaluator: PartSpec | None = None


class DatasetSpec(Struct, frozen=True):
    """One dataset: how it is read, asked and scored."""

    abbr: str
    source: PartSpec
    reader: ReaderSpec
    infer: InferSpec
    eval: EvalSpec
    where: str = ""

    @property
    def keeps_scores(self) -> bool:
        """Whether it is from the log of a tool that scored by a rule of its own: its scores cannot be computed here."""
        evaluator = self.eval.evaluator
        return LOG in self.source.args and evaluator is not None and evaluator.type.startswith(ELSEWHERE)


class ModelSpec(Struct, frozen=True):
    """One model: the part that answers, and the template that formats its prompts.

    Attributes:
        abbr: name of the model in results.
        part: the model itself.
        meta_template: formats dialogues, or as a list is sent with messages in OpenAI form; None uses the default of
            the kind of model.
        prompt_template: a role template instead of a meta template: role → (before, after), or a dotted path.
        where: config path.
        num_gpus: GPUs that it works on; None if the config does not say.
        price: the price of its tokens; None if it is not known.
        pred_postprocessor: what each text of this model goes through when it is scored, before that of the dataset.
    """

    abbr: str
    part: PartSpec
    meta_template: MetaTemplateSpec | None = None
    prompt_template: Mapping[str, Any] | str | None = None
    where: str = ""
    num_gpus: int | None = None
    price: Price | None = None
    pred_postprocessor: PartSpec | None = None


class MetaTemplateSpec(Struct, frozen=True):
    """How a model formats dialogues.

    Attributes:
        config: as written in the config, for digests and comparisons only.
        round: the roles of a round in order, and texts between them; None if the config has no round.
        reserved: the roles outside of rounds; None if the config does not say.
        begin, end: text before and after the prompt: text or token ids for language models, turns for API models.
        end_tokens: ids of tokens that end an answer, in addition to those of the tokenizer.
        messages: messages in OpenAI form, for a meta template that is a list of them; it has nothing else.
    """

    config: Any
    round: tuple[RoleSpec | str, ...] | None = None
    reserved: tuple[RoleSpec, ...] | None = None
    begin: Any = ""
    end: Any = ""
    end_tokens: tuple[int, ...] = ()
    messages: tuple[ChatMessage, ...] = ()


class RoleSpec(Struct, frozen=True):
    """A role of a meta template.

    Attributes:
        role: the name of the role in templates.
        begin, end: text before and after the prompt of the role: a text, a token id, or a list of both.
        prompt: the default prompt for a role without data; None if there is none.
        generate: True if the model starts to generate here.
        api_role: the name of the role for an API model; None if it has none.
    """

    role: str
    begin: Any = ""
    end: Any = ""
    prompt: str | None = None
    generate: bool = False
    api_role: str | None = None


class SummaryEntry(Struct, frozen=True):
    """The name of a dataset or group, and one of its metrics; None means all metrics, or the main one."""

    name: str
    metric: str | None = None

    @property
    def key(self) -> str:
        """``name@metric``, as weights can name it."""
        return f"{self.name}@{self.metric or ''}"


class SummaryGroup(Struct, frozen=True):
    """A group of datasets with one score.

    Attributes:
        name: name of the row in the summary.
        subsets: datasets, and groups defined before this one.
        weights: dataset, or dataset and metric as ``name@metric`` → weight, or ``n`` for the number of questions;
            None for equal weights.
        where: config path.
        kind: the statistic of the scores.
        metric: the name of the score; None for that of its kind.
        transforms: dataset → an expression of ``x``, its score in percent, that takes the place of the score.
    """

    name: str
    subsets: tuple[SummaryEntry, ...]
    weights: Mapping[str, float] | str | None = None
    where: str = ""
    kind: GroupKind = "average"
    metric: str | None = None
    transforms: Mapping[str, str] = field(default_factory=dict)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of its scores."""
        if self.metric is not None:
            return (self.metric,)
        if self.kind != "average":
            return (self.kind,)
        return AVERAGES if self.weights is not None else AVERAGES[:1]


class SummarySpec(Struct, frozen=True):
    """``summarizer`` of a config.

    Attributes:
        entries: the rows to show, in this order; all if empty.
        groups: the averages.
        shows_missing: whether an entry that is not in the run has a row.
    """

    entries: tuple[SummaryEntry, ...] = ()
    groups: tuple[SummaryGroup, ...] = ()
    shows_missing: bool = False


class RunSpec(Struct, frozen=True):
    """A whole config.

    Attributes:
        name: the config's file name without its suffix; names the folder below ``work_dir``.
        models, datasets: every model answers every dataset, unless ``pairs`` says otherwise.
        work_dir: the folder for run folders.
        config_file: the config file; None for ``--models … --datasets …``.
        resolved: the config as plain values after overrides, for ``config.py`` of the run folder.
        summary: rows and averages of the summary.
        cache: folder of the answer cache that runs share; None for no cache.
        gates: the conditions that the run must meet.
        budget: how much each session may ask.
        runner: starts the shards of the run; None asks everything in one process.
        partitioner: divides the tasks among the shards; None lets every shard ask a part of each dataset.
        trusted: whether the user named the config, or made the run whose folder it is in.
        pairs: the ``abbr`` of each model with that of a dataset that it runs on; None for all pairs.
        sections: section of an extension → its value, if the config has it.
    """

    name: str
    models: tuple[ModelSpec, ...]
    datasets: tuple[DatasetSpec, ...]
    work_dir: Path
    config_file: Path | None
    resolved: Mapping[str, Any]
    summary: SummarySpec = SummarySpec()
    cache: Path | None = None
    gates: tuple[Gate, ...] = ()
    budget: Budget = Budget()
    runner: PartSpec | None = None
    partitioner: PartSpec | None = None
    trusted: bool = True
    pairs: frozenset[tuple[str, str]] | None = None
    sections: Mapping[str, Any] = {}

    @property
    def tasks(self) -> list[TaskSpec]:
        """Every model on its datasets, all datasets of a model together, so that it is loaded only once."""
        return [
            TaskSpec(model, dataset)
            for model in self.models
            for dataset in self.datasets
            if self.pairs is None or (model.abbr, dataset.abbr) in self.pairs
        ]


class TaskSpec(Struct, frozen=True):
    """A task: one model on one dataset."""

    model: ModelSpec
    dataset: DatasetSpec

    @property
    def name(self) -> str:
        """``model/dataset``, the name in progress and errors."""
        return f"{self.model.abbr}/{self.dataset.abbr}"

    @property
    def reference_answers(self) -> ReferenceAnswersSpec | None:
        """The answers that its own are compared with; None without a comparison."""
        judge = self.dataset.eval.judge
        return None if judge is None else judge.reference_answers

    @property
    def is_reference(self) -> bool:
        """Whether its answers are those that other models of the run are compared with; it has no score then."""
        return self.reference_answers is not None and self.reference_answers.model_of_run == self.model.abbr

    @property
    def is_scored(self) -> bool:
        """Whether its answers are scored."""
        return self.dataset.eval.evaluator is not None and not self.is_reference
