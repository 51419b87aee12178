"""The config, parsed once into frozen values. Every spec keeps its config path (``where``) for error messages.

A field whose type has a `Key` is a key of the config. The others follow from keys, or from the command line.

Meta templates are checked, but their token ids are not converted to text yet.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias

from msgspec import Meta, Struct, field, json
from msgspec.structs import replace

from ais_prompt.types.gate import Gate
from ais_prompt.types.key import Count, Key, Text, as_list, split_names, template_text
from ais_prompt.types.limits import Budget, Price
from ais_prompt.types.request import ChatMessage
from ais_prompt.types.sample_draw import DRAW_EXAMPLES, DrawSpec, parse_draw

AVERAGES: Final = ("naive_average", "weighted_average")
"""Metrics of a group, as OpenCompass calls them."""
ELSEWHERE: Final = "elsewhere:"
"""Begins the type of a part that is not to be built."""
LOG: Final = "log"
"""Argument of a dataset that was imported from the log of another tool: its file."""
ROLES_FIX: Final = "write [dict(role='HUMAN', ...), dict(role='BOT', ..., generate=True)]"
Rows: TypeAlias = int | float | str | None
TokenId: TypeAlias = Annotated[int, Meta(ge=0)]
GroupKind: TypeAlias = Literal["average", "standard_deviation", "sum", "harmonic_mean"]


class PartSpec(Struct, frozen=True):
    """A part to build: its ``type`` and its arguments.

    Attributes:
        type: a registered name (``GenInferencer``) or a dotted path (``my_package.parts.MyInferencer``).
        args: keyword arguments; plain values only.
        where: config path, e.g. ``datasets[2].infer_cfg.retriever``.
    """

    type: Annotated[Text, Key("a class, a registered name or a dotted path", fix="name the part to build")]
    args: Mapping[str, Any] = field(default_factory=dict)
    where: str = ""


class ControlSpec(Struct, frozen=True):
    """Questions that cannot be understood, to see what can be answered all the same.

    Attributes:
        type: `'blank'` empties the columns, `'swap'` takes them from another row, `'shuffle'` changes the order of the
            options, and the gold with it.
        columns: the columns; for `'shuffle'` the columns of the options, or the one with the list of them.
        seed: of what is drawn.
    """

    type: Annotated[Literal["blank", "swap", "shuffle"], Key("'blank', 'swap' or 'shuffle'")]
    columns: Annotated[Annotated[tuple[str, ...], Meta(min_length=1)], Key("a list of the columns that it spoils")]
    seed: Annotated[int, Key("a number")] = 0


class ReaderSpec(Struct, frozen=True):
    """Which columns and rows of the data are used.

    Attributes:
        input_columns: the columns of the question.
        output_column: the column of the gold answer; None if there is none.
        train_split: the split of the in-context examples.
        test_split: the split of the questions.
        train_range: which rows of the train split.
        test_range: which rows of the test split.
        limit: maximum number of questions, from the front, after the range; None for all.
        gold_columns: further columns that evaluators are given: with them the gold is a mapping of columns.
        input_template: the text by which retrievers compare rows.
        where: config path.
        allow_missing: leave out input columns that the data do not have, with a warning.
        media_roots: from where else rows may take media.
        control: spoil the questions.
        sample: draw questions at random, after range and limit.
    """

    input_columns: Annotated[tuple[str, ...], Key("a list of column names, or a text of them", read=split_names)]
    output_column: Annotated[str | None, Key("the name of a column, or None")]
    train_split: Annotated[str, Key("the name of a split")] = "train"
    test_split: Annotated[str, Key("the name of a split")] = "test"
    train_range: Annotated[Rows, Key("a number of rows, a slice such as '[:10]', or None", default="all")] = None
    test_range: Annotated[Rows, Key("a number of rows, a slice such as '[:10]', or None", default="all")] = None
    limit: int | None = None
    gold_columns: Annotated[tuple[str, ...], Key("a list of column names, or a text of them", read=split_names)] = ()
    input_template: Annotated[
        str | None,
        Key(
            "a text with {column}, or a `PromptTemplate` of one",
            default="the `input_columns`",
            fix="write the text that retrievers compare: '{question}'",
            read=template_text,
        ),
    ] = None
    where: str = ""
    allow_missing: Annotated[bool, Key()] = False
    media_roots: Annotated[tuple[Text, ...], Key("a list of folders and URLs", default="the data folder only")] = ()
    control: Annotated[ControlSpec | None, Key()] = None
    sample: Annotated[
        DrawSpec | None, Key("a number, '±points', or a dict", "all", fix=f"write {DRAW_EXAMPLES}", read=parse_draw)
    ] = None


class InferSpec(Struct, frozen=True, kw_only=True):
    """Each key is a part, `dict(type=..., **arguments)`.

    Attributes:
        ice_template: what an in-context example looks like.
        prompt_template: what the prompt looks like. Some inferencers build it from the columns, without a template.
        retriever: which rows are shown as examples.
        inferencer: how the model is asked.
        where: config path.
        allow_overlap: whether a question may be among its own in-context examples.
    """

    ice_template: Annotated[PartSpec | None, Key()] = None
    prompt_template: Annotated[PartSpec | None, Key(default="the `ice_template`")] = None
    retriever: Annotated[PartSpec, Key(default="`ZeroRetriever`")] = PartSpec("ZeroRetriever")
    inferencer: Annotated[PartSpec, Key()]
    where: str = ""
    allow_overlap: bool = False


class RoleSpec(Struct, frozen=True):
    """The text around what one role says. A turn of a dataset may have the same keys, which then count.

    Attributes:
        role: the name by which turns find it.
        begin: in front of what is said.
        end: after it.
        prompt: what the role says where the dataset says nothing.
        generate: the model starts to write here.
        api_role: chat models: the role of the message: `HUMAN`, `BOT`, `SYSTEM`, `TOOL`.
    """

    role: Annotated[str, Key(fix=ROLES_FIX)]
    begin: Annotated[Any, Key("text, token id, or a list of them")] = ""
    end: Annotated[Any, Key("text, token id, or a list of them")] = ""
    prompt: Annotated[str | None, Key("a text with {column}")] = None
    generate: Annotated[bool, Key(read=bool)] = False
    api_role: Annotated[str | None, Key(default="chat models need it")] = None


class MetaTemplateSpec(Struct, frozen=True):
    """What a model sees around and between the turns of a dialogue.

    Attributes:
        config: as written in the config, for digests and comparisons only.
        round: the roles of a round, in order, and texts between them.
        reserved: roles for `begin` and `end` of templates, outside of rounds.
        begin: in front of the whole prompt.
        end: after a prompt whose log-likelihood is asked.
        end_tokens: tokens that end an answer, besides the tokenizer's own.
        messages: messages in OpenAI form, for a meta template that is a list of them; it has nothing else.
    """

    config: Any
    round: Annotated[
        tuple[RoleSpec | str, ...] | None,
        Key("a list of roles and texts", default="the turns as the dataset has them", fix=ROLES_FIX),
    ] = None
    reserved: Annotated[tuple[RoleSpec, ...] | None, Key("a list of roles", fix=ROLES_FIX, name="reserved_roles")] = (
        None
    )
    begin: Annotated[Any, Key("text or token ids; chat models: a turn or a list of turns")] = ""
    end: Annotated[Any, Key("text or token ids; no meaning for chat models")] = ""
    end_tokens: Annotated[
        tuple[TokenId, ...],
        Key(
            "a token id or a list of them",
            fix="give numbers; texts that end an answer are the stop_words of the model",
            name="eos_token_id",
            read=as_list,
        ),
    ] = ()
    messages: tuple[ChatMessage, ...] = ()


class VariantSpec(Struct, frozen=True):
    """What distinguishes an item from the other variants of the same model or dataset; its `abbr` only names files.

    Attributes:
        of: `abbr` of the model or dataset, which all its variants share.
        prompt: the name of its prompt in `prompts`.
        options: path below the item → value, as `--sweep` sets it.
    """

    of: Annotated[Text, Key("a name", fix="give the abbr that the variants share")]
    prompt: Annotated[str, Key("a name", default="none")] = ""
    options: Annotated[Mapping[str, Any], Key("a dict of path → value", default="none")] = {}


class ModelSpec(Struct, frozen=True):
    """One model: the part that answers, and the template that formats its prompts. `ModelKeys` says what they mean.

    Attributes:
        part: the model itself.
        where: config path.
        num_gpus: GPUs that it works on; None if the config does not say.
        variant: what distinguishes it from other variants of the model; None if it is none.
        further: key of an extension → its value.
    """

    abbr: str
    part: PartSpec
    meta_template: MetaTemplateSpec | None = None
    prompt_template: Mapping[str, Any] | str | None = None
    where: str = ""
    num_gpus: int | None = None
    price: Price | None = None
    pred_postprocessor: PartSpec | None = None
    variant: VariantSpec | None = None
    further: Mapping[str, Any] = {}

    @property
    def base(self) -> str:
        """The ``abbr`` that all variants of the model share."""
        return self.abbr if self.variant is None else self.variant.of


class ReferenceAnswersSpec(Struct, frozen=True):
    """The answers that `PairwiseEvaluator` compares with those of the models: a column, or the answers of models.

    Attributes:
        column: the column of the data that holds them.
        model: `abbr` of the model that gave them: in this run, or in that of `path`.
        path: the folder of an earlier run, or a file of its predictions.
        models: several models of this run, or ``all``: each model is compared with each of them.
        rounds: with `models`, how many earlier models of the config a model is compared with on each question.
        where: config path.
        among: with `models`, ``abbr`` of the models of the run that answer the dataset.
    """

    column: Annotated[str, Key("a name", default="none")] = ""
    model: Annotated[str, Key("a name", default="none")] = ""
    path: Annotated[Path | None, Key("a path", default="this run")] = None
    models: Annotated[tuple[str, ...], Key("a list of names, or `'all'`", default="none", read=as_list)] = ()
    rounds: Annotated[Count | None, Key("a number from 1", default="all of them")] = None
    where: str = ""
    among: tuple[str, ...] = ()

    @property
    def model_of_run(self) -> str:
        """``abbr`` of the model of this run that gives the answers; empty if they are elsewhere."""
        return "" if self.column or self.path is not None else self.model

    def rivals(self, model: str) -> tuple[str, ...]:
        """Return the models whose answers are compared with those of a model, in the order of the config."""
        everyone = self.models == ("all",)
        return tuple(
            one for one in self.among if one != model and (everyone or not {one, model}.isdisjoint(self.models))
        )


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

    models: Annotated[tuple[ModelSpec, ...], Key("a model, or a list of models", name="judge_cfg")]
    prompt_template: Annotated[PartSpec | None, Key(default="that of the evaluator, if it has one")] = None
    where: str = ""
    reference_answers: Annotated[ReferenceAnswersSpec | None, Key(name="baseline")] = None


class EvalSpec(Struct, frozen=True):
    """How answers are scored.

    Attributes:
        evaluator: what compares answers with the gold; without it, predictions are made and not scored. A list, or a
            dict of name → evaluator, scores each answer with all of them.
        pred_postprocessor: takes the answer out of the model's text.
        dataset_postprocessor: takes the answer out of the gold.
        k: the k of pass@k.
        judge: judges the answers for the evaluator; None if it needs no judge.
        where: config path.
        allow_code_execution: whether an evaluator may run programs that a model wrote; set on the command line.
            ``unsafe`` also allows it on a machine without a sandbox.
        cluster: the column whose values group samples that depend on each other, such as their passage.
        repeat_evaluator: gives further scores of questions that are asked several times, from those of their answers.
        primary: of several evaluators, the name of the one whose first metric is the main one.
        name: the name of the evaluator among several; empty if there is only one.
        further: the other evaluators with what they need, in the order of the config; they have no ``further``.
    """

    evaluator: Annotated[PartSpec | None, Key("a part, a list of parts, or a dict of name → part")] = None
    pred_postprocessor: Annotated[PartSpec | None, Key(default="the text as it is")] = None
    dataset_postprocessor: Annotated[PartSpec | None, Key(default="the gold as it is")] = None
    k: Annotated[tuple[Count, ...], Key("a number from 1, or a list of them", read=as_list)] = ()
    judge: JudgeSpec | None = None
    where: str = ""
    allow_code_execution: bool | Literal["unsafe"] = False
    cluster: Annotated[str | None, Key("the name of a column, or None", default="none")] = None
    repeat_evaluator: Annotated[PartSpec | None, Key(default="none")] = None
    primary: Annotated[str | None, Key("the name of an evaluator", default="the first")] = None
    name: str = ""
    further: "tuple[EvalSpec, ...]" = ()

    @property
    def by_evaluator(self) -> "tuple[EvalSpec, ...]":
        """What each evaluator needs, the headline first."""
        return (self, *self.further)

    def for_each(self, change: "Callable[[EvalSpec], EvalSpec]") -> "EvalSpec":
        """Return the same evaluators, each changed."""
        return replace(change(self), further=tuple(map(change, self.further)))


class DatasetSpec(Struct, frozen=True):
    """One dataset: how it is read, asked and scored. ``variant`` distinguishes it from others of the same questions."""

    abbr: str
    source: PartSpec
    reader: ReaderSpec
    infer: InferSpec
    eval: EvalSpec
    where: str = ""
    variant: VariantSpec | None = None

    @property
    def base(self) -> str:
        """The ``abbr`` that all variants of the dataset share."""
        return self.abbr if self.variant is None else self.variant.of

    @property
    def keeps_scores(self) -> bool:
        """Whether it is from the log of a tool that scored by a rule of its own: its scores cannot be computed here."""
        evaluator = self.eval.evaluator
        return LOG in self.source.args and evaluator is not None and evaluator.type.startswith(ELSEWHERE)


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
        subsets: datasets, and groups defined before this one.
        weights: as written; a dataset with one metric is ``name@metric``, and ``@metric`` that metric of each.
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
    def tasks(self) -> "list[TaskSpec]":
        """Every model on its datasets, all datasets of a model together, so that it is loaded only once."""
        return [
            TaskSpec(model, dataset)
            for model in self.models
            for dataset in self.datasets
            if self.pairs is None or (model.abbr, dataset.abbr) in self.pairs
        ]


def title_of(settings: Mapping[str, Any]) -> str:
    """Return what distinguishes a variant in words: the name of the prompt, and options with their values."""
    words = [str(value) if name == "prompt" else f"{name}={value}" for name, value in settings.items()]
    return ", ".join(words)


class VariantColumns(Struct, frozen=True):
    """What a variant is, as columns of a table; all are empty for a task without variants.

    Attributes:
        base_model, base_dataset: the names that its variants share.
        prompt: the name of its prompt.
        options: JSON of its options, by short names.
    """

    base_model: str = ""
    base_dataset: str = ""
    prompt: str = ""
    options: str = ""


class TaskSpec(Struct, frozen=True):
    """A task: one model on one dataset."""

    model: ModelSpec
    dataset: DatasetSpec

    @property
    def name(self) -> str:
        """``model/dataset``, the name in progress and errors."""
        return f"{self.model.abbr}/{self.dataset.abbr}"

    @property
    def variant(self) -> dict[str, Any]:
        """What distinguishes it from tasks of the same model and dataset: ``prompt`` and the options, by short names.

        An option has the last part of its path as its name, or the whole path where another option has the same.
        """
        found: dict[str, Any] = {}
        parts = [
            (kind, one.variant) for kind, one in (("models", self.model), ("datasets", self.dataset)) if one.variant
        ]
        paths = [path for _, one in parts for path in one.options]
        for kind, one in reversed(parts):
            found |= {"prompt": one.prompt} if one.prompt else {}
            for path, value in one.options.items():
                last = path.rpartition(".")[2]
                is_only = sum(other.rpartition(".")[2] == last for other in paths) == 1
                found[last if is_only and last != "prompt" else f"{kind}.{path}"] = value
        return found

    @property
    def title(self) -> str:
        """What distinguishes it, in words: the name of the prompt, and options with their values; or empty."""
        return title_of(self.variant)

    @property
    def columns(self) -> VariantColumns:
        """What distinguishes it, as columns."""
        settings = self.variant
        if not settings:
            return VariantColumns()
        prompt = settings.pop("prompt", "")
        options = json.encode(settings).decode() if settings else ""
        return VariantColumns(self.model.base, self.dataset.base, prompt, options)

    @property
    def reference_answers(self) -> ReferenceAnswersSpec | None:
        """The answers that its own are compared with; None without a comparison."""
        judges = (one.judge for one in self.dataset.eval.by_evaluator)
        return next((judge.reference_answers for judge in judges if judge and judge.reference_answers), None)

    @property
    def rivals(self) -> frozenset[str]:
        """The models of the run whose answers to the dataset are compared with its own, as its own with theirs."""
        judges = (one.judge for one in self.dataset.eval.by_evaluator)
        references = (judge.reference_answers for judge in judges if judge is not None)
        return frozenset[str]().union(*(one.rivals(self.model.abbr) for one in references if one is not None))

    @property
    def is_reference(self) -> bool:
        """Whether its answers are only those that other models of the run are compared with; it has no score then."""
        return self.dataset.eval.evaluator is not None and not self.is_scored

    def is_scored_by(self, scoring: EvalSpec) -> bool:
        """Return whether one of its evaluators scores it: none compares answers with themselves."""
        references = scoring.judge and scoring.judge.reference_answers
        compared_with = references.model_of_run if references else ""
        return scoring.evaluator is not None and compared_with != self.model.abbr

    @property
    def is_scored(self) -> bool:
        """Whether its answers are scored."""
        return any(map(self.is_scored_by, self.dataset.eval.by_evaluator))
