"""Ask through files, for batch services and other sites.

`write_requests` writes what a run still has to ask, and `read_answer_files` takes the answers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from ais_prompt.engine import conversations_of
from ais_prompt.errors import ConfigError, DataError
from ais_prompt.extensions.batch.batch_lines import BatchedModel, batch_answer, batch_request, custom_id, has_batches
from ais_prompt.parts import part_class
from ais_prompt.plan import Plan, Task, record_of
from ais_prompt.scoring import merge_journals
from ais_prompt.store import (
    Journal,
    JournalView,
    RequestKeys,
    RunFolder,
    create_run_folder,
    hold_writer_lock,
    reading,
    replacing,
)
from ais_prompt.types import Completion, Decoding, Request
from ais_prompt.utils import encode_plain, open_regular, read_objects

MOST_REQUESTS: Final = 50_000
MOST_BYTES: Final = 200_000_000
"""Most requests and bytes of a file that OpenAI takes; source: its guide "Batch API", "Rate limits"."""


class AnswersRead(Struct):
    """What came of files with answers.

    Attributes:
        answered, failed: lines with an answer, and those that the service could not answer.
        unknown: lines whose request is not open: already answered, of another run, or of no run.
        left: open requests of the next wave, or that were not answered.
    """

    answered: int = 0
    failed: int = 0
    unknown: int = 0
    left: int = 0


def begin_run(plan: Plan, command: str) -> RunFolder:
    """Make the folder of a run that is asked through files.

    Raises:
        ConfigError: as `write_requests`; no folder is made then.
    """
    unmade = RunFolder(plan.spec.work_dir / plan.spec.name)
    for task in plan.tasks:
        _model(task)
        next(_open_requests(task, unmade), None)
    folder = create_run_folder(plan.spec.work_dir, plan.spec.name)
    with hold_writer_lock(folder):
        record_of(plan, folder, command, asks=True).finish("partial")
    return folder


def write_requests(plan: Plan, folder: RunFolder, output: Path) -> list[tuple[Path, int]]:
    """Write every request that can be asked now; of a dialogue that is its next turn.

    Datasets that send a model the same request share one line, and its answer.

    Args:
        plan: of the run.
        folder: of the run.
        output: the file; more than one is numbered, ``requests-00002.jsonl``.

    Returns:
        the files, and how many requests each holds.

    Raises:
        ConfigError: a model has no form for files, or a dataset asks for log-likelihoods.
        AisPromptError: the data, a journal or a prompt cannot be read or made.
    """
    files: list[tuple[Path, int]] = []
    asked = _distinct_requests(plan, folder)
    lines = (encode_plain(batch_request(_model(task), key, request)) for key, (task, request) in asked)
    line = next(lines, None)
    while line is not None or not files:
        path = output if not files else output.with_name(f"{output.stem}-{len(files) + 1:05}{output.suffix}")
        count = size = 0
        with replacing(path) as stream:
            while line is not None and count < MOST_REQUESTS and (not count or size + len(line) <= MOST_BYTES):
                stream.write(line)
                count, size = count + 1, size + len(line)
                line = next(lines, None)
        files.append((path, count))
    return files


def read_answer_files(plan: Plan, folder: RunFolder, files: Sequence[Path], command: str) -> AnswersRead:
    """Put the answers of files into the journals of a run, and write the predictions of tasks that are complete.

    Args:
        plan, folder: of the run.
        files: in the form of `ais_prompt.extensions.batch.batch_lines`.
        command: the command line without secrets, for the record.

    Raises:
        ConfigError: as `write_requests`.
        DataError: a file is not JSONL, or has requests instead of answers.
        StoreError: the run folder cannot be written.
    """
    found = AnswersRead()
    with hold_writer_lock(folder), ExitStack() as journals:
        waiting: defaultdict[str, list[tuple[Task, Request]]] = defaultdict(list)
        keys: dict[str, str] = {}  # id in a file → key
        for task in plan.tasks:
            for key, request in _open_requests(task, folder):
                waiting[key].append((task, request))
                keys[custom_id(key)] = key
        opened: dict[str, Journal] = {}
        for found_id, line in _answer_lines(files):
            key = keys.get(custom_id(found_id), "")
            if key not in waiting:
                found.unknown += 1
                continue
            for task, request in waiting[key]:
                completion = batch_answer(_model(task), line, request)
                if task.name not in opened:
                    path = folder.journal(task.spec.model.abbr, task.spec.dataset.abbr)
                    opened[task.name] = journals.enter_context(Journal.open(path))
                opened[task.name].append(key, request, completion)
            # The tasks of a key ask the same model for the same text, so the last completion says what all are.
            if completion.failure is None:
                del waiting[key]
                found.answered += 1
            else:
                found.failed += 1
    merge_journals(plan, folder, command)
    found.left = sum(1 for _ in _distinct_requests(plan, folder))
    return found


def _distinct_requests(plan: Plan, folder: RunFolder) -> Iterator[tuple[str, tuple[Task, Request]]]:
    """Yield each key once, with the first task that asks its request: services refuse a ``custom_id`` that repeats."""
    seen = set()
    for task in plan.tasks:
        _model(task)
        for key, request in _open_requests(task, folder):
            if key not in seen:
                seen.add(key)
                yield key, (task, request)


def _open_requests(task: Task, folder: RunFolder) -> Iterator[tuple[str, Request]]:
    """Yield key and request of everything in a task that can be asked now and has no answer yet."""
    view = JournalView(*folder.journals(task.spec.model.abbr, task.spec.dataset.abbr))
    key_of = RequestKeys(task.model.identity())

    def recall(request: Request) -> Completion | None:
        return view.answer(key_of(request))

    for conversation in conversations_of(task, recall, task.data.test):
        for request in conversation.open_requests():
            if not isinstance(request.decoding, Decoding):
                raise ConfigError(
                    f"{task.name} asks for log-likelihoods, which batch services do not give",
                    where=task.spec.dataset.infer.where,
                    fix="ask this dataset with `aisprompt run`, or write a config without it",
                )
            yield key_of(request), request


def _model(task: Task) -> BatchedModel:
    model = task.model
    if not has_batches(model):
        raise ConfigError(
            f"{part_class(model).__name__} cannot be asked through files, only models behind an OpenAI-compatible "
            "server, and those of Anthropic",
            where=task.spec.model.where,
            fix="use OpenAIChatModel, OpenAICompletionModel, OpenAIResponsesModel or AnthropicModel with the name of "
            "the model",
        )
    return model


def _answer_lines(files: Sequence[Path]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for path in files:
        with reading(path, fix="check the path"), open_regular(path) as lines:
            for number, line in read_objects(lines, str(path)):
                key = line.get("custom_id")
                is_request = ("url" in line and "response" not in line) or "params" in line
                if not isinstance(key, str) or is_request:
                    what = "the line is a request, not an answer" if is_request else "the line is not an answer"
                    fix = "give the file that the service wrote; its lines have a custom_id"
                    raise DataError(what, where=f"{path}:{number}", fix=fix)
                yield key, line
