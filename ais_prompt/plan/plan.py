"""The plan of a run: every model, dataset and task of a config, with each part built once, when it is first needed.

`check`, `view-prompt`, `lock`, `run` and `score` all start from a plan, so nothing is checked in one way and run in
another. Building a part opens no weights, socket or server.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from copy import copy
from functools import lru_cache
from threading import RLock
from typing import Any, Final, Generic, TypeVar, overload

from msgspec.structs import replace

from ais_prompt.config import render_config
from ais_prompt.data import Dataset, Retriever, ShotIds, write_rows
from ais_prompt.errors import DataError, PartError, located
from ais_prompt.evaluators import Evaluator, RepeatEvaluator
from ais_prompt.inferencers import RETRY_HINT, DialogueInferencer, InferenceContext, Inferencer, KeepsShots
from ais_prompt.models import Model, estimate_tokens
from ais_prompt.parts import defined_at, guarded_call, part_class
from ais_prompt.plan.build import (
    Postprocessor,
    build_context,
    build_evaluator,
    build_inferencer,
    build_model,
    build_postprocessor,
    build_prompts,
    build_repeat_evaluator,
    build_retriever,
    chat_format_of,
    read_dataset,
)
from ais_prompt.prompts import ChatFormat, PromptBuilder
from ais_prompt.registry import INFERENCERS, is_shipped
from ais_prompt.store import RunFolder, RunRecord
from ais_prompt.types import DatasetSpec, EvalSpec, ModelSpec, RunSpec, Sample, SummarySpec, TaskSpec
from ais_prompt.utils import canonical

ROWS_KEPT: Final = 2048
"""How many rows of the train split are kept at most, so that a large one does not fill the memory."""

T = TypeVar("T")


class built_once(Generic[T]):  # noqa: N801  # a decorator
    """A property that is computed when it is first needed, by one thread, and kept. The object has a ``lock``.

    `functools.cached_property` would let two models that are asked side by side read the same dataset twice. On the
    class it is the property itself, which can keep or forget the value of an object.
    """

    def __init__(self, build: Callable[[Any], T]) -> None:
        self.__doc__ = build.__doc__
        self._build = build

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> built_once[T]: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> T: ...
    def __get__(self, instance: Any, owner: type | None = None) -> T | built_once[T]:
        if instance is None:
            return self
        # Python comes here only while the object has no value of its own: what is kept costs no call and no lock.
        with instance.lock:
            if self._name not in vars(instance):  # another thread may have built it meanwhile
                self.keep(instance, self._build(instance))
            found: T = vars(instance)[self._name]
        return found

    def keep(self, instance: object, value: T) -> None:
        """Let an object have a value that is not built."""
        vars(instance)[self._name] = value

    def kept(self, instance: object) -> T | None:
        """Return the value of an object; None if it is not built yet."""
        found: T | None = vars(instance).get(self._name)
        return found

    def forget(self, instance: object) -> None:
        """Build the value again when it is needed again."""
        vars(instance).pop(self._name, None)


class Plan:
    """Every model on its datasets.

    Attributes:
        spec: the config.
        models, datasets: those of the config, in its order.
        tasks: all datasets of a model together, so that it is loaded only once.
        whole: the plan of all tasks; another one only if this has some of them.
    """

    def __init__(self, spec: RunSpec) -> None:
        self.spec = spec
        self.models = tuple(map(PlannedModel, spec.models))
        self._judges: list[PlannedModel] = []
        self.datasets = tuple(PlannedDataset(dataset, self._judge) for dataset in spec.datasets)
        self.whole = self
        models = {model.spec.abbr: model for model in self.models}
        datasets = {dataset.spec.abbr: dataset for dataset in self.datasets}
        self.tasks = tuple(Task(models[one.model.abbr], datasets[one.dataset.abbr]) for one in spec.tasks)

    def only(self, tasks: Collection[str]) -> Plan:
        """Return the plan of some tasks, for a shard. It has no gates and no summary, which need all tasks.

        Args:
            tasks: their names.
        """
        some = copy(self)
        some.spec = replace(self.spec, gates=(), summary=SummarySpec())
        some.tasks = tuple(task for task in self.tasks if task.name in tasks)
        models, datasets = ({getattr(task.spec, kind).abbr for task in some.tasks} for kind in ("model", "dataset"))
        some.models = tuple(model for model in self.models if model.spec.abbr in models)
        some.datasets = tuple(dataset for dataset in self.datasets if dataset.spec.abbr in datasets)
        return some

    def with_models(self, models: Mapping[PlannedModel, Model]) -> Plan:
        """Return the same plan with other objects for some of its models and judges. This one forgets its rows."""
        other = copy(self)
        planned = {one: PlannedModel(one.spec, model) for one, model in models.items()}
        other.models = tuple(planned.get(one, one) for one in self.models)
        other._judges = [planned.get(one, one) for one in self._judges]
        datasets = {one: one.with_judges(planned) for one in self.datasets}
        other.datasets = tuple(datasets.values())
        for task in self.tasks:
            task.release()
        other.tasks = tuple(Task(planned.get(one._model, one._model), datasets[one.dataset]) for one in self.tasks)
        return other

    @property
    def judges(self) -> Sequence[PlannedModel]:
        """The judges of all datasets; datasets whose judges are configured alike share one."""
        return self._judges

    @property
    def scorings(self) -> list[PlannedDataset]:
        """Every dataset with each of its evaluators."""
        return [scoring for dataset in self.datasets for scoring in dataset.scorings]

    def _judge(self, spec: ModelSpec) -> PlannedModel:
        for judge in self._judges:
            if _config_of(judge.spec) == _config_of(spec):
                return judge
        self._judges.append(PlannedModel(spec))
        return self._judges[-1]


class Task:
    """One model on one dataset: the smallest piece of work.

    Attributes:
        spec: what the config says of both.
    """

    def __init__(self, model: PlannedModel, dataset: PlannedDataset) -> None:
        self.spec = TaskSpec(model.spec, dataset.spec)
        self.dataset = dataset
        self.lock = RLock()
        self._model = model

    @classmethod
    def of(cls, spec: TaskSpec, model: Model | None = None) -> Task:
        """Plan a task by itself, outside of the plan of a run."""
        return cls(PlannedModel(spec.model, model), PlannedDataset(spec.dataset))

    def with_trial_shots(self) -> Task:
        """Return the same task with examples that are found quickly; see `PlannedDataset.with_trial_shots`."""
        return Task(self._model, self.dataset.with_trial_shots())

    @property
    def scorings(self) -> list[Task]:
        """The task with each evaluator that scores it, the headline first."""
        each = [self, *(Task(self._model, one) for one in self.dataset.further)]
        return [one for one in each if one.spec.is_scored_by(one.spec.dataset.eval)]

    @property
    def name(self) -> str:
        """``model/dataset``, as progress and errors show it."""
        return self.spec.name

    @built_once
    def model(self) -> Model:
        """The model, not loaded yet."""
        return self._model.model

    @property
    def data(self) -> Dataset:
        """The rows of the dataset."""
        return self.dataset.data

    @built_once
    def inferencer(self) -> Inferencer:
        """What is asked of a sample."""
        return self.dataset.inferencer

    @built_once
    def text_of(self) -> Postprocessor:
        """What a text of the model goes through before the postprocessor of the dataset."""
        return build_postprocessor(self.spec.model.pred_postprocessor)

    @built_once
    def context(self) -> InferenceContext:
        """What the inferencer works with."""
        return build_context(self.spec.model, self.model, self._model.chat, self.dataset.prompts, self.data)

    def shots(self, sample: Sample) -> Sequence[Sample]:
        """The in-context examples of a test sample, as many as fit."""
        retrieved = list(map(self.dataset.train_row, self.dataset.shot_ids[sample.index]))
        return fitting_shots(self.inferencer, sample, retrieved, self.context) if retrieved else []

    def shown_rows(self) -> Iterator[Sample]:
        """The rows of the train split that are retrieved as an example of any sample, each once."""
        yield from map(self.dataset.train_row, sorted({row for ids in self.dataset.shot_ids for row in ids}))

    def release(self) -> None:
        """Forget what the task holds of its rows."""
        Task.context.forget(self)


class PlannedDataset:
    """A dataset of the config: its rows and the parts that ask and score them. All models share them.

    Each part is built when it is first needed, and raises an `AisPromptError` with its place in the config if it
    cannot be built.

    Attributes:
        judges: the models that judge its answers; none if none is needed.
        further: the same questions with each further evaluator; each has its own postprocessors and judges.
    """

    def __init__(
        self,
        spec: DatasetSpec,
        judge_of: Callable[[ModelSpec], PlannedModel] | None = None,
        data: Dataset | None = None,
        *,
        questions: PlannedDataset | None = None,
    ) -> None:
        """Plan a dataset.

        Args:
            spec: what the config says.
            judge_of: plans a judge of its answers; None lets it have judges of its own.
            data: the questions, where they are not those that the config names.
            questions: the dataset that has the questions, for a further evaluator.
        """
        self.spec = spec
        judge = spec.eval.judge
        self.judges = tuple(map(judge_of or PlannedModel, judge.models if judge else ()))
        further = (replace(spec, eval=scoring) for scoring in spec.eval.further)
        self.further = tuple(PlannedDataset(one, judge_of, questions=self) for one in further)
        self.lock = RLock()
        self._questions = questions
        if data is not None:
            PlannedDataset.data.keep(self, data)

    @property
    def scorings(self) -> tuple[PlannedDataset, ...]:
        """The dataset with each of its evaluators, the headline first."""
        return (self, *self.further)

    @built_once
    def data(self) -> Dataset:
        """The rows, cut to their ranges."""
        return read_dataset(self.spec) if self._questions is None else self._questions.data

    @property
    def size(self) -> int | None:
        """Number of questions, if the rows were read already, as a check does."""
        data = PlannedDataset.data.kept(self)
        return None if data is None else len(data.test)

    @built_once
    def retriever(self) -> Retriever:
        """What chooses the in-context examples."""
        return build_retriever(self.spec)

    @built_once
    def inferencer(self) -> Inferencer:
        """What is asked of a sample, turn by turn."""
        return build_inferencer(self.spec)

    @built_once
    def has_turns(self) -> bool:
        """Whether a prediction has one answer for each turn of a dialogue."""
        part = self.spec.infer.inferencer
        every_turn = getattr(INFERENCERS.get(part.type), "asks_every_turn", None)
        if every_turn is None:
            return False
        found: bool = guarded_call(every_turn, bool, f"{part.type}.asks_every_turn")(part.args)
        return found

    @built_once
    def is_dialogue(self) -> bool:
        """Whether the model is asked turns of a dialogue. The class says so, without being built."""
        kind = INFERENCERS.get(self.spec.infer.inferencer.type)
        if isinstance(kind, type):
            return hasattr(kind, "dialogue_template")
        return isinstance(self.inferencer, DialogueInferencer)

    @built_once
    def prompts(self) -> PromptBuilder:
        """The dataset's side of the prompt."""
        return build_prompts(self.spec, self.retriever, self.inferencer)

    @built_once
    def evaluator(self) -> Evaluator | None:
        """What compares answers with golds; None if the dataset only makes predictions, or keeps its scores."""
        return None if self.spec.keeps_scores else build_evaluator(self.spec.eval)

    @built_once
    def repeat_evaluator(self) -> RepeatEvaluator | None:
        """What gives further scores of repeated answers; None if the config names nothing."""
        return build_repeat_evaluator(self.spec.eval.repeat_evaluator)

    @built_once
    def answer_of(self) -> Postprocessor:
        """Finds the answer in a text."""
        return build_postprocessor(self.spec.eval.pred_postprocessor)

    @built_once
    def gold_of(self) -> Postprocessor:
        """Finds the answer in a gold."""
        return build_postprocessor(self.spec.eval.dataset_postprocessor)

    @built_once
    def shot_ids(self) -> Sequence[ShotIds]:
        """Rows of the train split for each test sample.

        Raises:
            AisPromptError: the retriever failed, or gives rows that do not exist.
        """
        data, spec = self.data, self.spec.infer.retriever
        with located(spec.where):
            found = self.retriever.retrieve(data.train, data.test)
            if not is_shipped(part_class(self.retriever)):
                _check_shots(found, data, spec.type, self.retriever)
        return found

    @built_once
    def train_row(self) -> Callable[[int], Sample]:
        """Reads a row of the train split."""
        # Reading a row takes as long as writing a prompt, and many prompts show the same rows.
        train = self.data.train
        return lru_cache(ROWS_KEPT)(lambda row: train[row])

    def with_trial_shots(self) -> PlannedDataset:
        """Return the same dataset with `Retriever.trial` in place of the real examples, which may take long to find.

        Raises:
            AisPromptError: the retriever cannot be built, or fails.
        """
        other = copy(self)
        other.lock = RLock()
        trial = self.retriever.trial(self.data.train, self.data.test)
        PlannedDataset.shot_ids.keep(other, [trial] * len(self.data.test))
        return other

    def with_judges(self, judges: Mapping[PlannedModel, PlannedModel]) -> PlannedDataset:
        """Return the same dataset with other judges: earlier → new; itself if none of its judges is named.

        This one forgets its rows.
        """
        if not any(judge in judges for scoring in self.scorings for judge in scoring.judges):
            return self
        self.release()
        other, *further = map(copy, self.scorings)
        for one in (other, *further):
            one.lock = RLock()
            one.judges = tuple(judges.get(judge, judge) for judge in one.judges)
        for one in further:
            one._questions = other
        other.further = tuple(further)
        return other

    def release(self) -> None:
        """Forget rows and shots, which may be many; they are read again if they are needed again."""
        for one in self.scorings:
            PlannedDataset.data.forget(one)
            PlannedDataset.shot_ids.forget(one)
            PlannedDataset.train_row.forget(one)


class PlannedModel:
    """A model of the config, or the judge of a dataset."""

    def __init__(self, spec: ModelSpec, model: Model | None = None) -> None:
        """Plan a model.

        Args:
            spec: what the config says.
            model: the model itself, where it is built already.
        """
        self.spec = spec
        self.lock = RLock()
        if model is not None:
            PlannedModel.model.keep(self, model)

    @built_once
    def model(self) -> Model:
        """The model, not loaded yet.

        Raises:
            AisPromptError: it refuses its arguments.
        """
        return build_model(self.spec)

    @built_once
    def chat(self) -> ChatFormat:
        """The model's side of the prompt.

        Raises:
            AisPromptError: its templates cannot be used.
        """
        return chat_format_of(self.spec, self.model)

    def preflight(self) -> None:
        """See whether the model can be used at all.

        Raises:
            AisPromptError: it surely cannot; ``where`` names the model in the config.
        """
        with located(self.spec.where):
            self.model.preflight()


def fitting_shots(
    inferencer: Inferencer, sample: Sample, shots: Sequence[Sample], context: InferenceContext
) -> Sequence[Sample]:
    """Return as many examples as fit into every prompt of a sample; none if it is too long even without.

    The last examples are left out until the prompt has at most ``max_seq_len`` tokens, as OpenCompass does it. All
    prompts of a sample (those of its labels, say) keep the same examples. Nothing but examples is ever left out, and
    not even those if the inferencer measures the whole text (``keeps_all_shots``). The number is found by bisection, so
    a prompt with k examples is built log2(k) + 1 times at most.

    Args:
        inferencer: makes the prompts.
        sample: the question.
        shots: its examples, all of them; at least one.
        context: the model; if its ``max_seq_len`` is None, all examples fit.

    Raises:
        AisPromptError: a prompt cannot be built, or the model's tokenizer cannot be loaded.
    """
    limit = context.model.max_seq_len
    if limit is None or (isinstance(inferencer, KeepsShots) and inferencer.keeps_all_shots):
        return shots

    def too_long(count: int) -> bool:
        for view in inferencer.preview(sample, shots[:count], context):
            tokens = context.model.count_tokens(view.prompt)
            # Without a tokenizer they are estimated, as OpenCompass does for API models.
            if (estimate_tokens(view.prompt) if tokens is None else tokens) > limit:
                return True
        return False

    if not too_long(len(shots)):
        return shots
    return shots[: bisect.bisect_left(range(1, len(shots)), True, key=too_long)]


def _check_shots(shot_ids: Sequence[ShotIds], data: Dataset, name: str, retriever: Retriever) -> None:
    """Check that a retriever returns rows of the train split, for each question.

    Raises:
        PartError: it does not.
    """
    found = f"{len(shot_ids)} lists of examples for {len(data.test)} questions"
    wrong = len(shot_ids) != len(data.test)
    for row in () if wrong else itertools.chain.from_iterable(shot_ids):
        if not 0 <= row < len(data.train):
            found, wrong = f"row {row} of {len(data.train)} train rows", True
            break
    if wrong:
        raise PartError(f"{name}.retrieve gives {found}", where=defined_at(retriever), fix=RETRY_HINT)


def check_cluster(spec: EvalSpec, samples: Sequence[Sample]) -> None:
    """Check that the data have the column of ``eval_cfg.cluster``.

    Raises:
        DataError: they do not.
    """
    if spec.cluster is not None and len(samples) and spec.cluster not in samples[0].fields:
        raise DataError(
            f"there is no column {spec.cluster!r} to cluster by (there are {', '.join(samples[0].fields)})",
            where=f"{spec.where}.cluster",
            fix="name the column that dependent questions share, such as their passage",
        )


def cluster_of(sample: Sample, column: str) -> tuple[str, str]:
    """Return column and value of a sample's cluster."""
    value = sample.fields[column]
    return column, value if isinstance(value, str) else canonical(value)


def record_of(
    plan: Plan,
    folder: RunFolder,
    command: str,
    addresses: Mapping[str, str] | None = None,
    *,
    asks: bool = False,
    notes: Sequence[str] = (),
) -> RunRecord:
    """Return the record of a session of a plan, and write the rows that the config has in memory.

    The arguments are those of `RunRecord`.

    Raises:
        StoreError: as `RunRecord`.
    """
    for dataset in plan.spec.datasets:
        if isinstance(rows := dataset.source.args.get("rows"), str):
            write_rows(rows, folder.root)
    config = render_config(plan.spec.resolved)
    return RunRecord(folder, config, command, addresses, asks=asks, notes=notes, trusted=plan.spec.trusted)


def _config_of(spec: ModelSpec) -> tuple[object, ...]:
    """Return all that distinguishes a judge."""
    return spec.abbr, spec.part.type, spec.part.args, spec.meta_template, spec.prompt_template
