"""Make a run folder of a run of OpenCompass or AISBench, so that every verb works on it."""

from __future__ import annotations

import dataclasses
import json
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from ais_prompt.checks import checked_for_scoring
from ais_prompt.config import LoadedConfig, Options
from ais_prompt.engine import conversations_of
from ais_prompt.errors import AisPromptError, ConfigError, faults_of
from ais_prompt.extensions.peers.agent import steps_of
from ais_prompt.extensions.peers.old_run import OldAnswer, OldRun, find_old_run, open_old_run
from ais_prompt.extensions.peers.simulated_calls import SimulatedToolCallInferencer
from ais_prompt.extensions.peers.translate import translate
from ais_prompt.inferencers import DialogueInferencer, Inferencer, RepeatingInferencer, ToolCallInferencer
from ais_prompt.judges import JudgeQuestions
from ais_prompt.plan import Plan, Task, record_of, unusable_parts, without_permissions
from ais_prompt.postprocess import calls_as_text
from ais_prompt.scoring import Answer, answers_to_judge, match, predictions, score_task
from ais_prompt.store import (
    ImportedLog,
    ImportedTask,
    Journal,
    Log,
    LogFormat,
    RequestKeys,
    RunFolder,
    RunRecord,
    create_run_folder,
    hold_writer_lock,
    write_predictions,
)
from ais_prompt.terminal import NOTE, logging_to
from ais_prompt.types import ELSEWHERE, Completion, Prompt, Sample, TaskFacts, ToolCall
from ais_prompt.utils import digest

logger = logging.getLogger(__name__)

ITEM: Final = re.compile(r"(models|datasets)\[(\d+)\](\.eval_cfg)?")
"""The item of a config that a fault is in."""


def import_run(log: Log, options: Options, command: str, *, scored: bool = False) -> ImportedLog:
    """Make a run folder of a run of OpenCompass or AISBench. Nothing in that run is executed.

    Args:
        log: the run folder, or one that holds runs, of which the latest is taken.
        options: perhaps a config to read the run with, in place of its own.
        command: the command line without secrets, for the record.
        scored: score the answers too, by the rules of its config: exactly as there, or by their counterparts where
            that needs its code. Its own verdicts are not read.

    Raises:
        ConfigError: there is no run, or its config cannot be used.
        DataError: predictions or results cannot be read.
    """
    old = open_old_run(log.path)
    if not scored:
        return _import_run(old, options, command)[0]
    imported, plan = _import_run(
        old, dataclasses.replace(options, options={**options.options, "peer_scores": True}), command
    )
    if not all(task.spec.is_scored for task in plan.tasks):  # its rules need its own code
        imported, plan = _import_run(old, options, command)
    names = {one.name for one in imported.tasks}
    for task in plan.tasks:
        if task.name in names:
            score_task(task, imported.folder)
    return replace(imported, is_scored=True)


def _import_run(old: OldRun, options: Options, command: str) -> tuple[ImportedLog, Plan]:
    """Make the run folder, and return it with what can be scored."""
    plan, notes = _planned(old, options)
    theirs = _names(old, plan)
    found = [task for task in plan.tasks if old.has_answers(*theirs[task.name])]
    if not found:
        names = ", ".join(sorted({model for model, _ in theirs.values()}))
        raise ConfigError(
            "predictions/ has no file of any task of the config",
            where=str(old.root),
            fix=f"models are known as: {names}; give the config of this run with --config",
        )
    notes += [f"{task.name} has no predictions" for task in plan.tasks if task not in found]
    folder = create_run_folder(plan.spec.work_dir, plan.spec.name)
    with hold_writer_lock(folder), logging_to(folder.logs / "run.log"):
        record = record_of(plan, folder, command, asks=True, notes=notes).begin()
        tasks = [_imported(task, old, theirs[task.name], folder, record) for task in found]
        record.finish("finished")
    return ImportedLog(folder, tasks, notes, is_scored=False), plan


def _planned(old: OldRun, options: Options) -> tuple[Plan, list[str]]:
    """Return the plan of the run, without what this program cannot use, and notes on what that is."""
    options = dataclasses.replace(options, allow_code_execution="unsafe")  # nothing is executed here
    if options.config is not None:
        return checked_for_scoring(options), []
    if old.config is None:
        raise ConfigError(
            "the run's config is missing, or it is more than plain data and is not executed",
            where=str(old.root / "configs"),
            fix="give the config that it was made with: --config CONFIG",
        )
    written: Mapping[str, Any] = old.config
    notes: list[str] = []
    try:
        translated, found = translate(written, peer_scores=options.options.get("peer_scores", False))
    except ConfigError as error:
        written, notes = _without(written, faults_of(error))
        translated, found = translate(written, peer_scores=options.options.get("peer_scores", False))
    values, dropped = without_permissions(translated, keeps_judges=True)
    notes += dict.fromkeys(note.what for note in found)
    notes += [str(one) for one in dropped if not one.where.startswith("models[")]  # these models are not asked
    notes += _unread(values)
    for _ in range(3):  # without its eval_cfg, without the dataset; a model at once
        faults: list[AisPromptError] = list(_code_in(values))
        if not faults:
            loaded = LoadedConfig(values, old.root.resolve().parent.name or "imported", trusted=False)
            try:
                return checked_for_scoring(dataclasses.replace(options, loaded=loaded)), notes
            except ConfigError as error:
                faults = list(faults_of(error))
        values, left_out = _without(values, faults)
        notes += left_out
    raise ConfigError("the run's config cannot be used", where=str(old.root), fix="give a config: --config CONFIG")


def _unread(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield a note for each dataset whose loader is code."""
    for where, name in unusable_parts(values):
        if re.fullmatch(r"datasets\[\d+\]", where):
            yield (
                f"{where}: its data are not read, because {name} runs code, and samples are named by their prompts: "
                "give the config with --config CONFIG"
            )


def _code_in(values: Mapping[str, Any]) -> Iterator[ConfigError]:
    """Yield an error for each part of the scoring that is code."""
    for where, name in unusable_parts(values):
        if ".eval_cfg" in where or where.endswith(".inferencer"):
            what = f"the run names code that does not come with this program: {name}"
            yield ConfigError(what, where=where, fix="give a config that you trust: --config CONFIG")


def _without(values: Mapping[str, Any], faults: Sequence[AisPromptError]) -> tuple[dict[str, Any], list[str]]:
    """Return a config without the items that faults are in.

    Raises:
        AisPromptError: a fault is in none.
    """
    models = dict(enumerate(values.get("models", ())))
    datasets = dict(enumerate(values.get("datasets", ())))
    notes = {}
    for fault in faults:
        if not (found := ITEM.match(fault.where)):
            raise fault
        kind, number, in_eval = found[1], int(found[2]), bool(found[3])
        if kind == "models":
            reading = {key: models[number][key] for key in ("pred_postprocessor",) if key in models[number]}
            models[number] = {"type": "elsewhere", "abbr": _abbr(models[number]), **reading}
        elif in_eval and "eval_cfg" in datasets.get(number, {}):
            datasets[number] = {key: value for key, value in datasets[number].items() if key != "eval_cfg"}
            notes[number] = f"{_abbr(datasets[number])} is not scored: {fault.what}"
        elif number in datasets and number not in notes:
            notes[number] = f"{_abbr(datasets.pop(number))} is left out: {fault.what}"
    return {**values, "models": list(models.values()), "datasets": list(datasets.values())}, list(notes.values())


def _abbr(item: Mapping[str, Any]) -> str:
    return str(item.get("abbr", item.get("type")))


def _names(old: OldRun, plan: Plan) -> dict[str, tuple[str, str]]:
    """Return task → the names of its model and dataset in the run; a ``/`` makes a folder there."""
    written = [str(item["abbr"]) for item in (old.config or {}).get("datasets", ()) if "abbr" in item]
    by_ours = {abbr.replace("/", "_"): abbr for abbr in written}
    return {
        task.name: (task.spec.model.abbr, by_ours.get(task.spec.dataset.abbr, task.spec.dataset.abbr))
        for task in plan.tasks
    }


def _imported(task: Task, old: OldRun, names: tuple[str, str], folder: RunFolder, record: RunRecord) -> ImportedTask:
    answers = [_with_calls(answer, task.inferencer) for answer in old.answers(*names)]
    n = task.inferencer.n if isinstance(task.inferencer, RepeatingInferencer) else 1
    questions: int | None = None
    try:
        samples, data_digest, origins = task.data.test, task.data.digest, tuple(task.data.origins)
        questions = len(samples)
    except AisPromptError as error:
        if not task.spec.dataset.source.type.startswith(ELSEWHERE):  # a note has said so of a loader that is code
            what = "its data are not here, so samples are named by their prompts"
            logger.warning("[%s] %s: %s", task.name, what, error.what)
        samples, data_digest, origins = [], "", ()
    groups = _by_question(answers, questions, n, in_turn=old.repeats_in_turn(*names))
    if questions is None:
        samples = _samples_of(groups)
    elif isinstance(task.inferencer, DialogueInferencer):  # the gold is what the assistant says in the data
        golds = {index: first.values.get("gold") for index, (first, *_) in groups.items()}
        samples = [replace(sample, gold=golds.get(sample.index, sample.gold)) for sample in samples]
    answered = _conversations(groups) if isinstance(task.inferencer, DialogueInferencer) else _answers(groups, n)
    matched = match(answered, samples)
    steps = {index: steps_of(first.values.get("steps")) for index, (first, *_) in groups.items()}
    found = predictions(matched, samples, task.spec.dataset.reader.output_column)
    made = [replace(one, steps=steps.get(one.index, ())) for one in found]
    write_predictions(folder.predictions(task.spec.model.abbr, task.spec.dataset.abbr), made)
    for remark in matched.remarks(samples, cuts_thoughts=task.spec.model.pred_postprocessor is not None):
        logger.warning("[%s] %s", task.name, remark)
    failed = sum(prediction.failed for prediction in made)
    facts = TaskFacts({"imported": str(old.root.absolute())}, data_digest, origins, len(made), failed)
    record.add_task(task.spec, facts)
    judges = [judge.spec.abbr for judge in task.dataset.judges]
    try:
        for remark in keep_verdicts(task, old, names, folder):
            logger.log(NOTE, "[%s] %s", task.name, remark)
    except AisPromptError as error:
        logger.warning("[%s] verdicts of the run are not used: %s", task.name, error.what)
    task.release()
    numbers = old.numbers(*names, *judges[:1])
    return ImportedTask(name=task.name, samples=len(made), failed=failed, reported=numbers)


def _with_calls(answer: OldAnswer, inferencer: Inferencer) -> OldAnswer:
    """Return an answer whose calls of tools are JSON, as our inferencers write them; AISBench writes lists."""
    said = answer.values.get("prediction")
    if not isinstance(inferencer, ToolCallInferencer) or not isinstance(said, list):
        return answer
    text = json.dumps(said, ensure_ascii=False)
    if not isinstance(inferencer, SimulatedToolCallInferencer) and all(isinstance(call, dict) for call in said):
        calls = [ToolCall(name, str(arguments)) for call in said for name, arguments in call.items()]
        text = calls_as_text(calls) or text
    return replace(answer, values={**answer.values, "prediction": text})


def _by_question(
    answers: Sequence[OldAnswer], questions: int | None, n: int, *, in_turn: bool
) -> dict[int, list[OldAnswer]]:
    """Return number of a question → the answers to it.

    OpenCompass asks a dataset ``n`` times through and numbers all rows. AISBench asks each row ``n`` times in turn, and
    numbers these; where the model repeats (``num_return_sequences``), all answers to a question have its number.

    Args:
        answers: those of a task.
        questions: how many there are; None if the data are not here.
        n: how often each was asked.
        in_turn: as in `OldRun.repeats_in_turn`.
    """
    rows = {answer.index for answer in answers}
    count = questions or -(-(max(rows, default=0) + 1) // n)
    groups: dict[int, list[OldAnswer]] = {}
    for answer in answers:
        number = answer.index
        if n > 1 and not in_turn:
            number %= count
        elif n > 1 and len(rows) == len(answers):
            number //= n
        groups.setdefault(number, []).append(answer)
    return groups


def _samples_of(groups: Mapping[int, Sequence[OldAnswer]]) -> list[Sample]:
    """Return samples in place of the data, named by what was asked."""
    return [
        Sample(digest([index, first.values.get("origin_prompt")]), index, {}, first.values.get("gold"))
        for index, (first, *_) in sorted(groups.items())
    ]


def _answers(groups: Mapping[int, Sequence[OldAnswer]], n: int) -> Iterator[Answer]:
    """Yield one answer for each question; the answers to a repeated one as a list, None for those that failed."""
    for index, group in groups.items():
        for answer in group if n == 1 else group[:1]:
            values = {**_values(answer), "index": index}
            if n > 1:
                given = [_values(other)["prediction"] for other in group]
                values["prediction"] = (given + [None] * n)[:n]
            prediction = values["prediction"]
            items = prediction if isinstance(prediction, list) and prediction else [prediction]
            yield Answer(answer.where, values, is_measured=all(isinstance(one, int | float) for one in items))


def _conversations(groups: Mapping[int, Sequence[OldAnswer]]) -> Iterator[Answer]:
    """Yield one answer for each conversation. AISBench writes its turns one by one, those that failed elsewhere."""
    for index, group in groups.items():
        turns = [_values(turn) for turn in sorted(group, key=lambda turn: len(turn.values.get("origin_prompt") or ()))]
        several = {key: [turn.get(key) for turn in turns] for key in ("prediction", "origin_prompt")}
        values = {**turns[0], **(several if len(turns) > 1 else {}), "index": index}
        yield Answer(group[0].where, values)


def _values(answer: OldAnswer) -> dict[str, Any]:
    """Return an answer as `ais_prompt.scoring.foreign_answers` takes it; one that failed has none.

    Of a text that was only measured, OpenCompass writes ``ppl``; of a conversation, its rounds with both sides.
    """
    said = answer.values.get("prediction", answer.values.get("ppl"))
    if isinstance(said, list) and said and all(isinstance(turn, dict) and "assistant" in turn for turn in said):
        said = [turn["assistant"] for turn in said]
    values = {"index": answer.index, "prediction": said}
    if answer.values.get("success") is False:
        values["prediction"] = None
    for key in ("origin_prompt", "gold"):
        if key in answer.values:
            values[key] = answer.values[key]
    return values


FORMAT: Final = LogFormat(
    "OpenCompass or AISBench", lambda log: log.path.is_dir() and find_old_run(log.path) is not None, make_run=import_run
)


def keep_verdicts(task: Task, old: OldRun, names: tuple[str, str], folder: RunFolder) -> Iterator[str]:
    """Write the replies that lie in a run into the journals of the judges of a task.

    Args:
        task: whose predictions are in the folder already.
        old: the run.
        names: of the model and the dataset there.
        folder: the new run folder.

    Yields:
        A remark for each judge that has replies there.

    Raises:
        AisPromptError: the judge or its prompt cannot be made, or a file cannot be read.
    """
    for judge in task.dataset.judges:
        replies = {_known(prompt): reply for prompt, reply in old.verdicts(*names, judge.spec.abbr)}
        if not replies:
            continue
        judging = Task(judge, JudgeQuestions(task, lambda judged: answers_to_judge(judged, folder)))
        key_of = RequestKeys(judge.model.identity())
        path = folder.judge(task.spec.model.abbr).journal(judge.spec.abbr, task.spec.dataset.abbr)
        asked = kept = 0
        with Journal.open(path) as journal:
            for conversation in conversations_of(judging, lambda _: None, judging.data.test):
                for request in conversation.open_requests():
                    asked += 1
                    reply = replies.get(_known(request.prompt))
                    if reply is not None:
                        kept += 1
                        journal.append(key_of(request), request, Completion(reply, "unknown"))
        yield f"{judge.spec.abbr}: {kept} of {asked} questions are answered in the run, and are not asked again"


def _known(prompt: Prompt | Any) -> str:
    """Return the text of a prompt in one form for both programs: without roles and blanks."""
    return re.sub(r"\s+", "", "".join(_texts(prompt)))


def _texts(prompt: Any) -> Iterator[str]:
    if isinstance(prompt, str):
        yield prompt
    elif isinstance(prompt, Mapping):
        yield from _texts(prompt.get("content", prompt.get("prompt")) or "")
    elif isinstance(prompt, list | tuple):
        for one in prompt:
            yield from _texts(one)
    elif prompt is not None:
        yield from _texts(getattr(prompt, "content", ""))
