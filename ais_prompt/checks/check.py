"""Find all faults of a config before any work: resolve every type, bind every argument, read every dataset.

Then build one prompt for each model and dataset, and look for what a user would want to know about it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, islice, product
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.checks.faults import (
    FaultList,
    call_inferencer,
    call_model,
    check_evaluators,
    check_k,
    check_on_answers,
)
from ais_prompt.checks.prompt_warning import MisspeltPlaceholder, PromptProbe, PromptWarning, probe_prompts
from ais_prompt.checks.usable_rows import check_media, check_scorable, taken_kinds
from ais_prompt.checks.warnings import label_warnings, prompt_warnings
from ais_prompt.data import Dataset, Retriever, ShotIds
from ais_prompt.errors import AisPromptError, ConfigError, DataError, PartError, PromptError, without_index
from ais_prompt.evaluators import AnswerBatch, AsksInParts, DoubtsGolds, JudgedBatchEvaluator
from ais_prompt.inferencers import (
    DialogueInferencer,
    InferenceContext,
    Inferencer,
    Preview,
    RepeatingInferencer,
    RunningConversation,
)
from ais_prompt.models import AsyncModel, ChecksRequests, HasTokenizerPath, LimitsStops, MediaModel, ScriptedModel
from ais_prompt.parts import defined_at, part_class
from ais_prompt.plan import (
    Plan,
    PlannedDataset,
    PlannedModel,
    build_chat_format,
    build_partitioner,
    build_runner,
    check_cluster,
)
from ais_prompt.prompts import ChatFormat, PromptBuilder
from ais_prompt.registry import (
    ENCODERS,
    INFERENCERS,
    MODELS,
    PARTITIONERS,
    POSTPROCESSORS,
    READERS,
    RETRIEVERS,
    RUNNERS,
    TEMPLATES,
    is_shipped,
)
from ais_prompt.steps import steps
from ais_prompt.types import Decoding, Request, Sample, TaskSpec
from ais_prompt.utils import counted, listed

AN_ANSWER: Final = "an answer"
ROWS_TRIED: Final = 20
"""Rows of a dataset of which one must make a prompt, and whose golds are looked at."""
ROWS_ANSWERED: Final = 3
"""Rows whose golds are put into answers for parts of the user."""
OTHER_EXAMPLES: Final = "exclude_self=True leaves exact copies out; for others choose other ids or another train_range"
MOST_TURNS: Final = 64
"""Turns of a dialogue that are answered, at most, where a judge's prompt is tried."""


class Findings(Struct, frozen=True):
    """What was found in a config.

    Attributes:
        faults: what is wrong, in the order of the config.
        warnings: what a user would want to know about the prompts, each once.
    """

    faults: list[AisPromptError]
    warnings: list[PromptWarning]


def check_plan(plan: Plan, place: Callable[[str], str], *, thorough: bool = False) -> Findings:
    """Look for every fault of a config. No weights are loaded, nothing is downloaded, no model is asked.

    Args:
        plan: the plan of the config.
        place: from a config path to the words that tell the user where that is.
        thorough: let extensions search the data, and call the user's parts of scoring with ordinary answers.
    """
    faults = FaultList(place)
    models = [side for model in plan.models if (side := _check_model(model, faults))]
    questions = [question for dataset in plan.datasets if (question := _check_dataset(dataset, faults))]
    found, sound = _try_questions(models, questions, faults)
    for where, mistake in {one.where: one for one in found if isinstance(one, MisspeltPlaceholder)}.items():
        if mistake.is_fault:
            what = f"there is no column {mistake.mark.strip('{}')!r}: {mistake.mark} would be sent as it is"
            faults.note(ConfigError(what, fix=mistake.fix), where)
    _check_runner_and_gates(plan, faults)
    if thorough:
        # Not before a run: a part that ends its process, as broken C code does, would end the run, not its task.
        for dataset in () if faults else plan.scorings:
            if not dataset.has_turns:
                check_on_answers(dataset, dataset.data.test[:ROWS_ANSWERED], faults)
        found += chain.from_iterable(_search(question, faults) for question in sound)
    different = list({tuple(fault.lines()): fault for fault in faults}.values())
    return Findings(different, [replace(warning, where=place(warning.where)) for warning in _once(found)])


def _try_questions(
    models: Sequence[_ModelSide], questions: Sequence[_Question], faults: FaultList
) -> tuple[list[PromptWarning], list[_Question]]:
    """Try the first question of each dataset with each model, and note why it cannot be asked or judged.

    Returns:
        The warnings, and the questions that can be asked.
    """
    refused: dict[str, list[tuple[_ModelSide, AisPromptError]]] = defaultdict(list)
    warnings: list[PromptWarning] = []
    for model, question in product(models, questions):
        where = question.planned.spec.where
        try:
            warnings += _try_prompts(model, question)
        except AisPromptError as error:
            other = _another(model, question) if isinstance(error, DataError | PromptError) else None
            if other is None:
                refused[where].append((model, error))
            else:
                what = f"row {question.sample.index} cannot be asked, and fails: {error.what}"
                warnings += [PromptWarning(what, where, error.fix), *_try_prompts(model, other)]
    sound = [question for question in questions if question.planned.spec.where not in refused]
    for question in questions:
        scorings = question.planned.scorings
        warnings += chain.from_iterable(map(_doubts, scorings))
        _note_refusals(refused.get(question.planned.spec.where, ()), len(models), question, faults)
        warnings += _ignored_examples(question)
        for scoring in scorings:
            if (part := scoring.spec.eval.evaluator) is not None:
                faults.attempt(partial(check_scorable, scoring), part.where)
    if not faults:
        judged = [replace(question, planned=one) for question in questions for one in question.planned.scorings]
        for question in judged:
            warnings += _check_judge(question, [model.planned.spec.abbr for model in models], faults)
    return warnings, sound


def _another(side: _ModelSide, question: _Question) -> _Question | None:
    """Return the next question that can be asked: a row may be broken, and then fails alone."""
    row = _first_usable(question.planned.data.test, lambda row: _probed(side, replace(question, sample=row)))
    return None if row is None else replace(question, sample=row)


def _first_usable(rows: Sequence[Sample], use: Callable[[Sample], object]) -> Sample | None:
    """Return the first of the first rows that can be used; None if there is none."""
    for row in islice(rows, ROWS_TRIED):
        with suppress(DataError, PromptError):
            use(row)
            return row
    return None


def _note_refusals(
    refused: Sequence[tuple[_ModelSide, AisPromptError]], models: int, question: _Question, faults: FaultList
) -> None:
    """Note why models cannot take a question: what is wrong with a model at the model, anything else once."""
    by_fault: dict[tuple[str, str], list[tuple[_ModelSide, AisPromptError]]] = {}
    for side, error in refused:
        if isinstance(error, ConfigError):
            faults.note(error, f"{side.planned.spec.where}.meta_template", error.where)
        else:
            by_fault.setdefault((error.what, error.fix), []).append((side, error))
    for same in by_fault.values():
        of_all = len(same) == models > 1
        names = "" if of_all else f"for the model {listed(side.planned.spec.abbr for side, _ in same)}"
        faults.note(same[0][1], question.planned.spec.infer.where, same[0][1].where or names)


def _check_runner_and_gates(plan: Plan, faults: FaultList) -> None:
    if (runner := plan.spec.runner) is not None and faults.check_part(RUNNERS, runner):
        faults.attempt(lambda: build_runner(runner), runner.where)
    if (partitioner := plan.spec.partitioner) is not None and faults.check_part(PARTITIONERS, partitioner):
        faults.attempt(lambda: build_partitioner(partitioner), partitioner.where)
    if plan.spec.gates and not faults:
        from ais_prompt.checks.gate_faults import faults_of_gates

        for fault in faults_of_gates(plan.spec.gates, plan):
            faults.note(fault, fault.where)


def _once(warnings: Iterable[PromptWarning]) -> Iterator[PromptWarning]:
    """Yield each warning once; one that many datasets share says how many."""
    groups: dict[tuple[str, ...], list[PromptWarning]] = {}
    for one in dict.fromkeys(warnings):
        groups.setdefault(tuple(map(without_index, (one.what, one.where, one.fix))), []).append(one)
    for first, *others in groups.values():
        yield replace(first, what=f"{first.what} (and in {counted(len(others), 'more place')})") if others else first


class _ModelSide(Struct, frozen=True):
    planned: PlannedModel
    chat: ChatFormat


class _Question(Struct, frozen=True):
    """The first question of a dataset, and its in-context examples."""

    planned: PlannedDataset
    sample: Sample
    shots: list[Sample]


def _check_model(planned: PlannedModel, faults: FaultList) -> _ModelSide | None:
    spec = planned.spec
    has_parts = (
        faults.check_part(MODELS, spec.part),
        faults.check_part(POSTPROCESSORS, spec.pred_postprocessor, given=1),
    )
    if not all(has_parts):
        return None
    model = faults.attempt(lambda: planned.model, spec.where)
    if model is None:
        return None
    if not is_shipped(part_class(model)) and not faults.passes(lambda: call_model(model), spec.where):
        return None
    media_kinds = partial(model.media_kinds, offline=True) if isinstance(model, MediaModel) else frozenset
    known = not isinstance(model, AsyncModel) or (isinstance(model, HasTokenizerPath) and model.tokenizer_path)
    tokenizer = _PlainTokenizer if known else lambda: None
    chat = faults.attempt(lambda: build_chat_format(spec, model.prompt_style, tokenizer, media_kinds), spec.where)
    return _ModelSide(planned, chat) if chat else None


class _PlainTokenizer:
    """Stand-in for a tokenizer, which would import torch: its chat template writes only who says what."""

    chat_template = "plain"
    bos_token = ""
    bos_token_id = None

    def __call__(self, text: str, **options: Any) -> dict[str, list[int]]:  # noqa: ARG002
        return {"input_ids": [int(token) for token in re.findall(r"<token (\d+)>", text)]}

    def decode(self, ids: list[int], **options: Any) -> str:  # noqa: ARG002
        return "".join(f"<token {token}>" for token in ids)

    def apply_chat_template(self, messages: list[dict[str, str]], **options: Any) -> str:  # noqa: ARG002
        return "".join(f"[{message['role']}] {message['content']}\n" for message in messages)


def _check_dataset(planned: PlannedDataset, faults: FaultList) -> _Question | None:
    spec = planned.spec
    readable = faults.check_part(READERS, spec.source)
    askable = all(
        [
            faults.check_part(TEMPLATES, spec.infer.ice_template),
            faults.check_part(TEMPLATES, spec.infer.prompt_template),
            faults.check_part(RETRIEVERS, spec.infer.retriever, nested={"encoder": ENCODERS}),
            faults.check_part(INFERENCERS, spec.infer.inferencer),
        ]
    )
    check_evaluators(planned, faults)
    data = faults.attempt(lambda: planned.data, spec.reader.where) if readable else None
    return _check_prompts(planned, data, faults) if askable else None


def _check_prompts(planned: PlannedDataset, data: Dataset | None, faults: FaultList) -> _Question | None:
    """Check that templates, retriever and data fit together, on the first question; check the media of all."""
    spec = planned.spec
    retriever = faults.attempt(lambda: planned.retriever, spec.infer.retriever.where)
    inferencer = faults.attempt(lambda: planned.inferencer, spec.infer.inferencer.where)
    if retriever is None or inferencer is None:
        return None
    asked = inferencer.n if isinstance(inferencer, RepeatingInferencer) else 1
    faults.attempt(lambda: check_k(spec.eval, asked), spec.eval.where)
    prompts = faults.attempt(lambda: planned.prompts, spec.infer.where)
    if data is None:
        return None
    question = faults.attempt(lambda: _first_question(data, prompts, inferencer), spec.reader.where)
    if question is None:
        return None
    chosen = faults.attempt(lambda: retriever.trial(data.train, data.test), spec.infer.retriever.where)
    if prompts is None or chosen is None:
        return None
    shots = faults.attempt(lambda: _rows(data.train, chosen, retriever), spec.infer.retriever.where)
    if shots is None:
        return None
    first = _Question(planned, question, shots)
    before = len(faults)
    _check_question(first, data, faults)
    return first if len(faults) == before else None


def _check_question(question: _Question, data: Dataset, faults: FaultList) -> None:
    """Check what needs the data of a dataset whose parts are well: clusters, overlap, the first prompt, media."""
    planned, spec, shots = question.planned, question.planned.spec, question.shots
    faults.attempt(lambda: check_cluster(spec.eval, data.test), spec.eval.where)
    if not spec.infer.allow_overlap:
        faults.attempt(lambda: _refuse_shown_questions(planned), spec.infer.retriever.where)
    prompts, inferencer = planned.prompts, planned.inferencer
    if faults.attempt(lambda: _try_prompt(prompts, inferencer, question.sample, shots), spec.infer.where):
        faults.attempt(lambda: check_media(prompts, data.test, shots), spec.infer.where)


def _rows(train: Sequence[Sample], chosen: ShotIds, retriever: Retriever) -> list[Sample]:
    if wrong := [row for row in chosen if not 0 <= row < len(train)]:
        what = f"{part_class(retriever).__name__}.trial gives row {wrong[0]} of {len(train)} train rows"
        raise PartError(what, where=defined_at(retriever), fix="return numbers of train rows, from 0")
    return [train[row] for row in chosen]


def _try_prompt(prompts: PromptBuilder, inferencer: Inferencer, question: Sample, shots: list[Sample]) -> bool:
    """Build the prompt of a question; True if that worked, otherwise it raises."""
    if isinstance(inferencer, DialogueInferencer):
        prompts.dialogue(question, shots)
    else:
        prompts.generation(question, shots)
    return True


def _try_prompts(side: _ModelSide, question: _Question) -> list[PromptWarning]:
    """Return the warnings of the prompts of a question.

    Raises:
        AisPromptError: as `_probed`.
    """
    found = _probed(side, question)
    of_prompts = chain.from_iterable(map(prompt_warnings, found))
    return [*of_prompts, *label_warnings(found), *_unsent_stops(side, question), *_equal_repeats(side, question)]


def _probed(side: _ModelSide, question: _Question) -> list[PromptProbe]:
    """Return the probes of the prompts of a question, which a model can take; the first requests are made as well.

    Raises:
        AisPromptError: the model cannot take them.
    """
    model, dataset = side.planned, question.planned
    inferencer, sample, shots = dataset.inferencer, question.sample, question.shots
    context = InferenceContext(dataset.prompts, side.chat, model.model, dataset.data.test)
    found = probe_prompts(TaskSpec(model.spec, dataset.spec), inferencer, context, sample, shots)
    _check_shots_are_shown(inferencer, sample, shots, context, [probe.seen for probe in found])
    if kinds := taken_kinds(model.model, dataset.prompts, offline=True):
        check_media(dataset.prompts, dataset.data.test, shots, kinds)
    if not is_shipped(part_class(inferencer)):
        call_inferencer(inferencer, sample, shots, context)
    elif isinstance(model.model, ChecksRequests):
        for request in _first_requests(side, question):
            model.model.check_request(request)
    return found


def _check_shots_are_shown(
    inferencer: Inferencer, sample: Sample, shots: Sequence[Sample], context: InferenceContext, seen: Sequence[Preview]
) -> None:
    """Check that every prompt of a sample changes with its examples.

    Args:
        inferencer, sample, shots, context: what the prompts are made of.
        seen: the prompts, with all of these examples.

    Raises:
        PromptError: a prompt without the examples is the same: they would be lost.
    """
    if not shots:
        return
    try:
        bare = inferencer.preview(sample, (), context)
    except AisPromptError:  # a template of the user's own may need examples
        return
    if any(with_shots.prompt == without.prompt for with_shots, without in zip(seen, bare, strict=False)):
        raise PromptError(
            "the retriever gives examples, but the prompt is the same without them",
            fix="write ice_template and prompt_template in one form, both as texts or both as dialogues, with the "
            "ice_token as an item of its own; or use ZeroRetriever",
        )


def _first_requests(side: _ModelSide, question: _Question) -> Iterable[Request]:
    """Return the requests of a question that can be asked at once."""
    dataset = question.planned
    context = InferenceContext(dataset.prompts, side.chat, side.planned.model, dataset.data.test)
    conversation = dataset.inferencer.converse(question.sample, question.shots, context)
    return RunningConversation(conversation, lambda _: None).open_requests()


def _unsent_stops(side: _ModelSide, question: _Question) -> Iterator[PromptWarning]:
    """Warn of stop texts that are more than the server takes."""
    model = side.planned.model
    if not isinstance(model, LimitsStops) or model.most_stops is None:
        return
    requests = _first_requests(side, question)
    stops = next((one.decoding.stop for one in requests if isinstance(one.decoding, Decoding)), ())
    if unsent := stops[model.most_stops :]:
        yield PromptWarning(
            f"the server is sent {model.most_stops} stop texts, the most that the API takes; answers are cut here at "
            f"the others, {listed(map(repr, unsent))}, after more tokens than necessary",
            question.planned.spec.infer.inferencer.where,
            "put the stop texts that end most answers first, or remove some",
        )


def _equal_repeats(side: _ModelSide, question: _Question) -> Iterator[PromptWarning]:
    """Warn of several answers to each prompt that will all be equal, because the model decodes greedily."""
    model, inferencer = side.planned.model, question.planned.inferencer
    n = inferencer.n if isinstance(inferencer, RepeatingInferencer) else 1
    if n > 1 and not isinstance(model, ScriptedModel) and model.decoding(None, ()).temperature == 0:
        yield PromptWarning(
            f"all {n} answers to a question will be equal: n={n}, and the temperature of {side.planned.spec.abbr} is 0",
            question.planned.spec.infer.inferencer.where,
            "set a temperature of the model, generation_kwargs=dict(temperature=0.8), or n=1",
        )


def _doubts(dataset: PlannedDataset) -> Iterator[PromptWarning]:
    """Yield what makes the values of the evaluator meaningless for the golds of the first rows."""
    part = dataset.spec.eval.evaluator
    try:
        evaluator = dataset.evaluator
    except AisPromptError:  # `check_scoring` says so
        return
    if part is None or not isinstance(evaluator, DoubtsGolds):
        return
    golds = []
    for row in islice(dataset.data.test, ROWS_TRIED):
        with suppress(AisPromptError):  # it fails its row
            golds.append(dataset.gold_of(row.gold))
    with suppress(DataError):
        if doubt := evaluator.doubt(golds):
            yield PromptWarning(doubt[0], part.where, doubt[1])


def _ignored_examples(question: _Question) -> Iterator[PromptWarning]:
    """Warn of an ``ice_template`` where the dialogue template has no place for examples."""
    infer = question.planned.spec.infer
    if infer.ice_template is None or not isinstance(question.planned.inferencer, DialogueInferencer):
        return
    if question.planned.prompts.prompt_template.ice_token is None:
        what = f"{infer.inferencer.type} shows no in-context examples: ice_template is ignored"
        fix = "remove ice_template, and the retriever that chooses examples"
        yield PromptWarning(what, infer.ice_template.where, fix)


def _search(question: _Question, faults: FaultList) -> list[PromptWarning]:
    """Return the warnings of extensions, and that of questions among their own examples, if these are accepted."""
    dataset = question.planned
    found = [warning for check in steps("check") for warning in check(dataset, question.shots, faults)]
    if dataset.spec.infer.allow_overlap and (shown := _shown_questions(dataset)):
        found.append(PromptWarning(shown, dataset.spec.infer.retriever.where, OTHER_EXAMPLES))
    return found


def _shown_questions(dataset: PlannedDataset) -> str:
    if not dataset.retriever.gives_shots:
        return ""
    from ais_prompt.checks.shown_questions import find_shown_questions

    data = dataset.data
    return find_shown_questions(dataset.retriever, dataset.spec.reader.input_columns, data.train, data.test)


def _refuse_shown_questions(dataset: PlannedDataset) -> None:
    if what := _shown_questions(dataset):
        raise DataError(what, fix=f"{OTHER_EXAMPLES}; allow_overlap=True in the retriever accepts them")


def _check_judge(question: _Question, models: Collection[str], faults: FaultList) -> list[PromptWarning]:
    """Check the prompt of the judges for the first question, and return its warnings."""
    dataset = question.planned
    judge = dataset.spec.eval.judge
    if judge is None:
        return []
    from ais_prompt.judges import check_reference_answers, judge_dataset

    if judge.reference_answers is not None:
        faults.passes(lambda: check_reference_answers(dataset, models), judge.reference_answers.where)
    fields = faults.attempt(lambda: _judge_fields(question), judge.where)
    if fields is None:
        return []
    data = Dataset(train=(), test=[replace(question.sample, fields=fields)], columns=tuple(fields), tables={})
    sides = [_check_model(one, faults) for one in dataset.judges]
    asked = _check_prompts(PlannedDataset(judge_dataset(judge, dataset), data=data), data, faults)
    return _try_questions([side for side in sides if side], [asked], faults)[0] if asked else []


def _judge_fields(question: _Question) -> dict[str, Any]:
    """Return the columns of the judge's prompt about an answer to the first question.

    Raises:
        AisPromptError: as `JudgedBatchEvaluator.questions`.
    """
    from ais_prompt.judges import judge_fields, pair_fields, shown_answer

    dataset, sample = question.planned, question.sample
    shown = shown_answer(AN_ANSWER, AN_ANSWER if dataset.has_turns else "")
    fields = judge_fields(sample.fields, shown, sample.gold)
    if dataset.spec.eval.judge is not None and dataset.spec.eval.judge.reference_answers is not None:
        fields = pair_fields(sample.fields, shown, shown, sample.gold)
    evaluator = dataset.evaluator
    if isinstance(evaluator, AsksInParts):
        return {**fields, **evaluator.parts(dataset.gold_of(sample.gold))[0]}
    if not isinstance(evaluator, JudgedBatchEvaluator):
        return fields
    answer = [AN_ANSWER] * MOST_TURNS if dataset.has_turns else AN_ANSWER
    batch = AnswerBatch(
        [answer], [sample.gold], [None], lambda: [sample.fields], row_numbers=lambda: [0], dataset=dataset.spec.abbr
    )
    return {**sample.fields, **evaluator.questions(batch)[0].fields}


def _first_question(data: Dataset, prompts: PromptBuilder | None, inferencer: Inferencer) -> Sample:
    """Return the first of the first rows from which a prompt can be made, or else the very first: others fail alone.

    Raises:
        DataError: there is no row.
    """
    if not len(data.test):
        raise DataError(
            "there is not one question in the test split",
            fix="check test_split and test_range of reader_cfg, and that the file has rows",
        )
    usable = prompts and _first_usable(data.test, lambda row: _try_prompt(prompts, inferencer, row, []))
    return usable or data.test[0]
