"""What `tools.peer_configs` asks of one config file of OpenCompass or AISBench."""

from __future__ import annotations

import dataclasses
import re
import signal
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.checks import FaultList, check_plan
from ais_prompt.config import Options, load_config
from ais_prompt.errors import AisPromptError, MissingExtra, PartError, faults_of
from ais_prompt.plan import Plan, ReadConfig, read_spec
from ais_prompt.registry import READERS
from ais_prompt.types import DatasetSpec, PartSpec, RunSpec
from ais_prompt.utils import digest
from ais_prompt.verbs import Session, open_run_folder, run_source
from tools.judged_rows import GOLD, RATED, verdicts
from tools.made_up_rows import MEDIA_ROOTS, SHAPES, made_up

Measure: TypeAlias = Literal["check", "run", "prompts", "models", "summarizers"]

SECONDS: Final = 240
"""Time limit of a file."""
KINDS_RUN: Final = 3
"""Datasets of a file that are run: the first of each kind, which differ in evaluator, postprocessor or inferencer."""
LIKELIHOOD: Final = ("PPL", "CLP", "LL")
"""Beginnings of inferencers that need a model with log-likelihoods, which a text model has here."""
_COLUMN: Final = re.compile(r"""(?:KeyError: |Column )['"]?\\?['"]?(\w[\w.-]*)""")
"""The column, or the key of a gold, that an evaluator misses."""
_MOST_COLUMNS: Final = 8
_PARTS: Final = Path(__file__).parent / "peer_parts"


class FileResult(Struct, frozen=True):
    """What came of one file.

    Attributes:
        file: its path below the configs of the peer.
        datasets: how many it has.
        causes: why it did not pass; empty if it did.
        seconds: how long it took.
        settings: digest of a prompt setting → what came of it (`tools.peer_prompts.Verdict`).
    """

    file: str
    datasets: int
    causes: tuple[str, ...]
    seconds: float = 0.0
    settings: Mapping[str, str] = {}


def checked(file: Path, name: str) -> FileResult:
    """Check all datasets of a file: names, arguments, loaders that can be imported, and prompts on made-up rows."""
    try:
        config = _read(file)
    except AisPromptError as error:
        return FileResult(name, 0, tuple(map(cause, faults_of(error))))
    return FileResult(name, len(config.spec.datasets), tuple(map(cause, _faults(config))))


def ran(file: Path, name: str) -> FileResult:
    """Run the first dataset of each kind of a file, with the scripted model and made-up rows."""
    try:
        config = _read(file)
        found = [_run(one) for one in _kinds(config)]
    except AisPromptError as error:
        return FileResult(name, 0, tuple(map(cause, faults_of(error))))
    return FileResult(name, len(config.spec.datasets), tuple(dict.fromkeys(one for one in found if one)))


def checked_model(file: Path, name: str) -> FileResult:
    """Check the models of a file with a small dataset. No engine is needed, nothing is loaded."""
    return _checked(Options(models=(str(file),), datasets=(str(_PARTS / "dataset.py"),)), name)


def checked_summarizer(file: Path, name: str) -> FileResult:
    """Check the summarizer of a file with a small dataset and the scripted model."""
    try:
        parts = [load_config(_PARTS / part).values for part in ("chat.py", "dataset.py")]
    except AisPromptError as error:
        return FileResult(name, 0, tuple(map(cause, faults_of(error))))
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "config.py"
        values = {"models": parts[0]["models"], "datasets": parts[1]["datasets"]}
        config.write_text("".join(f"{key} = {value!r}\n" for key, value in values.items()), "utf-8")
        return _checked(Options(str(config), summarizer=str(file)), name)


def _checked(options: Options, name: str) -> FileResult:
    try:
        config = read_spec(options)
        faults = check_plan(Plan(config.spec), config.loaded.place).faults
    except AisPromptError as error:
        faults = list(faults_of(error))
    return FileResult(name, 1, tuple(map(cause, faults)))


def cause(error: AisPromptError) -> str:
    """Return what is wrong in a form that is equal for all files with the same fault."""
    what = error.what if isinstance(error, MissingExtra) else f"{type(error).__name__}: {error.what}"
    same = re.sub(r"(?<![\w.:</])~?/\w[^\s,')]*|0x[0-9a-f]+|(?<=\[)\d+(?=\])|(?<=the abbr )'[^']*'", "…", what)
    return re.sub(r"\s+", " ", same)[:200]


def _read(file: Path) -> ReadConfig:
    source = Options(allow_code_execution=True, datasets=(str(file),), models=(str(_PARTS / "text.py"),))
    config = read_spec(source)
    first = config.spec.datasets[0].infer.inferencer.type if config.spec.datasets else ""
    if not first.startswith(LIKELIHOOD):
        config = read_spec(dataclasses.replace(source, models=(str(_PARTS / "chat.py"),)))
    return config


def _faults(config: ReadConfig) -> list[AisPromptError]:
    """Return the faults of all datasets; those of data that only a run would read are none."""
    faults = FaultList(config.loaded.place)
    for dataset in config.spec.datasets:
        faults.check_part(READERS, dataset.source)
    spec = _with_rows(config.spec, "letter")
    return [*faults, *check_plan(Plan(spec), config.loaded.place).faults]


def _with_rows(spec: RunSpec, shape: str, unknown: Sequence[str] = (), keys: Sequence[str] = ()) -> RunSpec:
    """Return the config with made-up rows in place of all loaders, and a scripted judge."""
    return replace(spec, datasets=tuple(_dataset(dataset, shape, unknown, keys) for dataset in spec.datasets))


def _dataset(dataset: DatasetSpec, shape: str, unknown: Sequence[str], keys: Sequence[str]) -> DatasetSpec:
    rows = PartSpec("tools.made_up_rows.MadeUpRows", made_up(dataset, shape, unknown, keys), dataset.source.where)
    if (evaluator := dataset.eval.evaluator) is not None and evaluator.type == RATED:
        gold = {**dict.fromkeys(keys, "A"), **GOLD}
        rows = replace(rows, args={**rows.args, "golds": [gold]})
    reader = replace(dataset.reader, train_range=None, test_range=None, media_roots=MEDIA_ROOTS)
    if dataset.eval.judge is not None:
        [model] = dataset.eval.judge.models
        scripted = PartSpec("ScriptedModel", verdicts(dataset), model.part.where)
        judge = replace(dataset.eval.judge, models=(replace(model, part=scripted, meta_template=None),))
        dataset = replace(dataset, eval=replace(dataset.eval, judge=judge))
    if evaluator is not None and evaluator.args.get("baselines"):
        baselines = [{**one, "path": str(_PARTS / "baseline.json")} for one in evaluator.args["baselines"]]
        evaluator = replace(evaluator, args={**evaluator.args, "baselines": baselines})
        dataset = replace(dataset, eval=replace(dataset.eval, evaluator=evaluator))
    # Made-up rows are as similar as rows can be: a question among its own examples is no fault of the config.
    infer = replace(dataset.infer, allow_overlap=True)
    return replace(dataset, source=rows, reader=reader, infer=infer)


def _kinds(config: ReadConfig) -> Iterator[RunSpec]:
    """Yield the config with the first dataset of each kind, one at a time."""
    seen: set[str] = set()
    for dataset in config.spec.datasets:
        scoring, inferencer = dataset.eval, dataset.infer.inferencer
        parts = [scoring.evaluator, scoring.pred_postprocessor, scoring.dataset_postprocessor, inferencer]
        kind = digest([(part.type, repr(part.args)) if part else None for part in parts])
        if kind not in seen and len(seen) < KINDS_RUN:
            seen.add(kind)
            yield replace(config.spec, datasets=(dataset,), gates=())


def _run(spec: RunSpec) -> str:
    """Run one dataset with one shape of rows after the other, until it is scored; return a cause if none is."""
    first = ""
    for shape in SHAPES:
        columns: list[str] = []
        keys: list[str] = []
        while True:
            found = _run_once(_with_rows(spec, shape, columns, keys))
            if not found:
                return ""
            missing = _COLUMN.search(found)
            # What is missing in spite of its column is a key of the gold.
            names = columns if missing is None or missing[1] not in columns else keys
            if missing is None or missing[1] in names or len(names) >= _MOST_COLUMNS:
                first = first or found
                break
            names.append(missing[1])
    return first


def _run_once(spec: RunSpec) -> str:
    with tempfile.TemporaryDirectory() as folder:
        plan = Plan(replace(spec, work_dir=Path(folder), name="peer"))
        faults = check_plan(plan, str).faults
        if faults:
            return cause(faults[0])
        result = run_source(plan, open_run_folder(plan), Session(report=False))
    for outcome in result.outcomes:
        if outcome.error is not None:
            return cause(outcome.error)
    return next((f"samples failed: {reason}" for reason in result.reasons), "")


@contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Raise a `PartError` in the main thread when the time is over."""

    def over(*_: Any) -> None:
        raise PartError(f"the file took longer than {seconds} s")

    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
