"""Verify a sealed run: its bytes, its signature, its data and prompts, its scores; and, if asked to, its model.

Prompts are verified as a resumed run would find its answers: every request is made again from the data, and its key
must be in the sealed journal. Scores are verified by extracting and scoring the sealed answers again. Neither needs the
model. An answer that was forged together with its journal line and score is found only by asking the model again: of
`count` samples chosen at random, a share f of forged answers is missed with probability (1 - f) ** count.
"""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from ais_prompt.checks import checked, open_stored
from ais_prompt.config import Options
from ais_prompt.engine import stored_predictions
from ais_prompt.errors import AisPromptError, ConfigError
from ais_prompt.extensions.evidence.locks.prompt_lock import find_drift
from ais_prompt.extensions.evidence.seal_file import LOCK, SEAL, SIGNATURE, Seal, root_of, signer_of
from ais_prompt.models import identity_in_keys
from ais_prompt.plan import Plan, Task
from ais_prompt.scoring import score_task
from ais_prompt.store import RunFolder, read_predictions, read_results, read_run_file
from ais_prompt.utils import counted, listed, versions
from ais_prompt.verbs import Session, asked, run_source, with_found_models

CONFIDENCE: Final = 0.95
_PACKAGE: Final = "ais-prompt"
_OF_NO_TASK: Final = re.compile(r"performances/.*|shards/[^/]+/shard\.json")
_NAMED: Final = 5
"""Most samples that a finding names."""

Subject = Literal["content", "signature", "data", "prompts", "scores", "judges", "performance", "model"]


class Finding(Struct, frozen=True):
    """What was found about one side of a seal.

    Attributes:
        subject: which side.
        holds: whether it is as sealed; None if that cannot be known here.
        text: why, in one sentence.
    """

    subject: Subject
    holds: bool | None
    text: str


class _DiffersError(Exception):
    """What was found is not as sealed."""


def verify_content(seal: Seal, folder: Path, root: str | None, public_key: Path | None) -> Iterator[Finding]:
    """Verify the bytes of an unpacked seal, and its signature.

    Args:
        seal: as it was read.
        folder: with its files.
        root: the root that was published elsewhere; None if it was not.
        public_key: as in `signer_of`.
    """
    found, leaves = root_of(folder, seal)
    if found != seal.root or leaves != seal.leaves:
        yield Finding("content", False, f"the files have root {found}, and the seal says {seal.root}")
    elif root is not None and root != found:
        yield Finding("content", False, f"the root is {found}, not {root}")
    else:
        sealed, here = (one.get(_PACKAGE, "?") for one in (seal.versions, versions()))
        by = f"with {_PACKAGE} {sealed}" + (f", verified with {here}" if sealed != here else "")
        yield Finding("content", True, f"root {found}, {leaves:,} entries; it says: sealed {seal.made} {by}")
    try:
        signer = signer_of(folder, public_key)
    except ConfigError as error:
        yield Finding("signature", False, error.what)
    else:
        if signer is None:
            yield Finding("signature", None if public_key is None else False, "it has no signature")
        else:
            whose = "a key that you did not name with --signer" if public_key is None else "the key that you named"
            yield Finding("signature", None if public_key is None else True, f"signed by {signer}, {whose}")


def verify_run(folder: RunFolder, options: Options) -> Iterator[Finding]:
    """Verify the data, prompts and scores of an unpacked seal, whose results are written again.

    Args:
        folder: of the unpacked files.
        options: the config that is trusted, or the values that replace those of the sealed config.
    """
    try:
        plan, _ = open_stored(str(folder.root), options)
        facts = read_run_file(folder)["tasks"]
        tasks = [task for task in plan.tasks if task.name in facts]
        if not tasks:
            what = "none of its models and datasets are in the seal"
            raise ConfigError(what, where=options.config or "config.py", fix="name the config of the run")
    except AisPromptError as error:
        yield Finding("prompts", None, f"{error.what}: give the config that you trust with --config")
        return
    if left_out := [task.name for task in plan.tasks if task.name not in facts]:
        whose = "the sealed config" if options.config is None else "the config"
        what = f"{counted(len(left_out), 'task')} of {whose} are left out"
        yield Finding("data", False, f"{what}: {listed(left_out[:_NAMED])}")
    if others := sorted(facts.keys() - {task.name for task in tasks}):
        what = f"{counted(len(others), 'task')} of the seal are not in the config, and not verified"
        yield Finding("data", None, f"{what}: {listed(others[:_NAMED])}")
    elif strays := _strays(tasks, folder):
        what = f"{counted(len(strays), 'file')} belong to no task of the run"
        yield Finding("content", False, f"{what}: {listed(strays[:_NAMED])}")
    yield _of_tasks("data", tasks, lambda task: _data(task, facts[task.name]), "task", "with the data of the run")
    yield _of_tasks(
        "prompts",
        tasks,
        lambda task: _prompts(task, folder, facts[task.name]),
        "prompt",
        "made again as sent",
    )
    if options.config is None and (lock := folder.root / LOCK).exists():
        yield _lock(plan, lock)
    yield _of_tasks("scores", tasks, lambda task: _scores(task, folder), "answer", "scored again as sealed")
    if judged := [task.name for task in tasks if any(_judges(task, folder))]:
        what = f"the replies of the judges of {counted(len(judged), 'task')} are taken as sealed; --ask asks them again"
        yield Finding("judges", None, what)
    if (folder.root / "performances").exists():
        yield Finding("performance", None, "the times are sealed, but cannot be measured again")


def _strays(tasks: Sequence[Task], folder: RunFolder) -> list[str]:
    """Return the files of an unpacked seal that no task has, so that nothing is compared with them."""
    known = {folder.config_file, folder.run_file, *(folder.root / name for name in (SEAL, SIGNATURE, LOCK))}
    for task in tasks:
        model, dataset = task.spec.model.abbr, task.spec.dataset.abbr
        known |= {folder.predictions(model, dataset), folder.results(model, dataset), *folder.journals(model, dataset)}
        for replies, judge in _judges(task, folder):
            known |= {place(judge, dataset) for place in (replies.journal, replies.predictions)}
    found = {path for path in folder.root.rglob("*") if path.is_file()} - known
    names = sorted(path.relative_to(folder.root).as_posix() for path in found)
    return [name for name in names if not _OF_NO_TASK.fullmatch(name)]


def ask_again(folder: RunFolder, options: Options, count: int, command: str) -> Finding:
    """Ask the model for the answers to random samples again, and compare them and their scores.

    Args:
        folder: of the unpacked files. The answers of these samples are replaced.
        options: with the trusted config of the model.
        count: number of samples; all, if there are fewer.
        command: the command line, for the record.

    Raises:
        AisPromptError: the model cannot be asked.
    """
    plan = with_found_models(checked(options)[0], "all")
    facts = read_run_file(folder)["tasks"]
    tasks = {task.name: task for task in plan.tasks if task.name in facts}
    for name, task in tasks.items():
        recorded = identity_in_keys(task.model, facts[name]["model"])
        if msgspec.json.decode(msgspec.json.encode(task.model.identity())) != recorded:
            what = f"{name} was answered by another model, or one with other options"
            raise ConfigError(what, where=task.spec.model.where, fix="give the config of that model")
    samples = [(name, one.sample_id) for name, task in tasks.items() for one in _predictions(task, folder)]
    chosen = random.SystemRandom().sample(samples, min(count, len(samples)))
    ids = {name: {id_ for task, id_ in chosen if task == name} for name in tasks}
    before = {name: _answers(task, folder, ids[name]) for name, task in tasks.items()}
    limits = [
        None,
        *sorted({limit for name, task in tasks.items() for limit in _retried_with(task, folder, ids[name])}),
    ]
    for name, task in tasks.items():
        _forget(task, folder, ids[name])
    shutil.rmtree(folder.shards, ignore_errors=True)
    for model in asked(plan, "all"):
        model.preflight()
    for limit in limits:
        part = plan.only([name for name in tasks if ids[name]])
        result = run_source(part, folder, Session(retry_truncated=limit, report=False, command=command))
        for outcome in result.outcomes:
            if outcome.error is not None:
                raise outcome.error
    after = {name: _answers(task, folder, ids[name]) for name, task in tasks.items()}
    texts = sum(before[name][id_][0] == after[name][id_][0] for name, id_ in chosen)
    others = [id_ for name, id_ in chosen if before[name][id_][1] != after[name][id_][1]]
    share = 1 - (1 - CONFIDENCE) ** (1 / len(chosen))
    text = f"{len(chosen) - len(others)} of {counted(len(chosen), 'answer')} have the same score when asked again"
    text += f", {texts} the same text"
    if others:
        return Finding("model", False, f"{text}; not: {listed(others[:_NAMED])}")
    return Finding("model", True, f"{text}; if {share:.1%} or more were forged, {CONFIDENCE:.0%} sure to be found")


def _of_tasks(subject: Subject, tasks: list[Task], verify: Callable[[Task], int], noun: str, words: str) -> Finding:
    """Return one finding about all tasks.

    Args:
        subject: which side.
        tasks: those of the seal.
        verify: returns how much of a task holds, or raises `_DiffersError`.
        noun, words: what is counted, and what holds of it.
    """
    holds, unknown = 0, []
    for task in tasks:
        try:
            holds += verify(task)
        except _DiffersError as found:
            return Finding(subject, False, f"{task.name}: {found}")
        except AisPromptError as error:
            unknown.append(f"{task.name}: {error.what}")
        finally:
            task.release()
    held = f"{counted(holds, noun)} {words}"
    if not unknown:
        return Finding(subject, True, held)
    others = f"; {counted(len(unknown) - 1, 'other task')} likewise" if len(unknown) > 1 else ""
    return Finding(subject, None, f"{unknown[0]}{others}; of the rest, {held}")


def _data(task: Task, facts: Mapping[str, Any]) -> int:
    """Compare the digest of all rows; return 1 if it is that of the run."""
    if task.data.digest != facts["data_digest"]:
        raise _DiffersError(f"the data have digest {task.data.digest}, and the run had {facts['data_digest']}")
    return 1


def _prompts(task: Task, folder: RunFolder, facts: Mapping[str, Any]) -> int:
    """Make every request again, and take the answers of the journal: the sealed predictions must come out, and all.

    Samples that are left out could be those that were answered wrongly.

    Returns:
        The number of samples.
    """
    names = task.spec.model.abbr, task.spec.dataset.abbr
    journals = folder.journals(*names)
    if not journals:
        what = "the answers were made elsewhere, so that their requests are not known"
        raise ConfigError(what, where=str(folder.journal(*names)), fix="verify them where they were made")
    identity = identity_in_keys(task.model, facts["model"])
    made = {one.sample_id: one.to_json() for one in stored_predictions(task, journals, (), identity)}
    different, total = [], 0
    left_out = {one.id for one in task.data.test}
    for one in read_predictions(folder.predictions(*names)):
        total += 1
        left_out.discard(one.sample_id)
        if made.pop(one.sample_id, None) != one.to_json():
            different.append(one.sample_id)
    if different or made:
        found = f"{counted(len(different), 'sample')} of {total} do not come out of the data and the journal"
        raise _DiffersError(f"{found}: {listed((different or list(made))[:_NAMED])}")
    if left_out and facts.get("of") is None:
        found = f"{counted(len(left_out), 'sample')} of {len(task.data.test)} are left out"
        raise _DiffersError(f"{found}: {listed(sorted(left_out)[:_NAMED])}")
    if left_out:
        what = f"the run says that it ended early, and {counted(len(left_out), 'sample')} were not asked"
        raise ConfigError(what, where=str(journals[0]), fix="verify a run that asked all samples")
    return total


def _lock(plan: Plan, path: Path) -> Finding:
    try:
        drift = find_drift(plan, path)
    except AisPromptError as error:
        return Finding("prompts", None, f"{LOCK}: {error.what}")
    if drift.is_none:
        return Finding("prompts", True, f"{LOCK}: data, templates, examples and all prompts are as locked")
    return Finding("prompts", False, f"{LOCK}: to see what changed, unpack it: aisprompt lock CONFIG --check")


def _scores(task: Task, folder: RunFolder) -> int:
    """Extract and score the answers again; return their number, 0 if they were not scored."""
    path = folder.results(task.spec.model.abbr, task.spec.dataset.abbr)
    if not path.exists():
        if task.spec.dataset.eval.evaluator is None:
            return 0
        raise ConfigError("its scores are not sealed", where=str(path), fix="score the run, and seal it again")
    scores, samples = read_results(path)
    if task.spec.dataset.keeps_scores:
        what = "the scores are of another tool, whose rule is not known"
        raise ConfigError(what, where=str(path), fix="score with that tool")
    score_task(task, folder)
    again, made = read_results(path)
    different = [
        (old or new).sample_id
        for old, new in zip_longest(samples, made)
        if old is None or new is None or old.to_json() != new.to_json()
    ]
    if different and not folder.journals(task.spec.model.abbr, task.spec.dataset.abbr):
        what = "the answers were made and scored elsewhere, and have other scores here"
        raise ConfigError(what, where=str(path), fix="verify them where they were made")
    if different:
        what = f"{counted(len(different), 'answer')} of {len(samples)} have another score"
        raise _DiffersError(f"{what}: {listed(different[:_NAMED])}")
    if [one.to_json() for one in scores] != [one.to_json() for one in again]:
        raise _DiffersError("the scores are not those of their answers")
    return len(samples)


def _predictions(task: Task, folder: RunFolder) -> Iterator[Any]:
    return read_predictions(folder.predictions(task.spec.model.abbr, task.spec.dataset.abbr), with_prompts=False)


def _answers(task: Task, folder: RunFolder, ids: Collection[str]) -> dict[str, tuple[Any, Any]]:
    """Return the answer and the score of some samples: id → both."""
    _, samples = read_results(folder.results(task.spec.model.abbr, task.spec.dataset.abbr))
    scores = {one.sample_id: (one.status, one.values) for one in samples}
    return {
        one.sample_id: (one.prediction, scores.get(one.sample_id))
        for one in _predictions(task, folder)
        if one.sample_id in ids
    }


def _retried_with(task: Task, folder: RunFolder, ids: Collection[str]) -> Iterator[int]:
    """Yield each ``max_out_len`` with which truncated answers to some samples were asked again."""
    found = (one for one in _predictions(task, folder) if one.sample_id in ids)
    yield from (answer.retried_with for one in found for answer in one.completions if answer.retried_with)


def _forget(task: Task, folder: RunFolder, ids: Collection[str]) -> None:
    """Remove the answers to some samples from the journals of a task, which become one, and the replies of judges."""
    names = task.spec.model.abbr, task.spec.dataset.abbr
    _keep_lines(folder.journals(*names), folder.journal(*names), lambda id_: id_ not in ids)
    for replies, judge in _judges(task, folder):
        journal = replies.journal(judge, names[1])
        if journal.exists():  # the id of a judge's question is that of the sample, a dash and a digest
            _keep_lines([journal], journal, lambda id_: id_.rpartition("-")[0] not in ids)


def _judges(task: Task, folder: RunFolder) -> Iterator[tuple[RunFolder, str]]:
    """Yield folder and ``abbr`` of each judge of each evaluator."""
    for scoring in task.scorings:
        eval_spec = scoring.spec.dataset.eval
        for judge in eval_spec.judge.models if eval_spec.judge else ():
            yield folder.judge(task.spec.model.abbr, eval_spec.name), judge.abbr


def _keep_lines(journals: Sequence[Path], target: Path, is_kept: Callable[[str], bool]) -> None:
    lines = [line for journal in journals for line in journal.read_bytes().splitlines(keepends=True)]
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(b"".join(line for line in lines if is_kept(msgspec.json.decode(line)["sample_id"])))
