"""Scoring of answers that are there already: neither models nor servers are asked."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec.structs import replace

from ais_prompt.config.render import render_config
from ais_prompt.errors import ConfigError
from ais_prompt.plan.build import read_dataset
from ais_prompt.plan.partition import partition
from ais_prompt.plan.source import Source, checked_for_scoring
from ais_prompt.scoring.foreign_answers import match, predictions, read_answers
from ais_prompt.store.layout import RunFolder, create_run_folder
from ais_prompt.store.predictions import write_predictions
from ais_prompt.store.run_record import RunRecord
from ais_prompt.store.writer_lock import hold_writer_lock
from ais_prompt.types import Prediction, RunSpec, SummarySpec, TaskFacts
from ais_prompt.utils.log import logging_to
from ais_prompt.utils.text import listed

logger = logging.getLogger(__name__)


def open_foreign(file: Path, source: Source, dataset: str | None, command: str) -> tuple[RunSpec, RunFolder]:
    """A new run folder with answers that were made elsewhere, to be scored like those of `open_stored`.

    Answers that are missing, doubled or foreign are named in warnings; questions without one that can be trusted have
    failed.

    Args:
        file: the answers; see `ais_prompt.scoring.foreign_answers.read_answers`.
        source: the config with the dataset, and in ``answered_by`` who answered.
        dataset: ``abbr`` of the dataset; None if the config has only one.
        command: the command line without secrets, for the record.

    Raises:
        ConfigError: the config has faults, or it is not clear which dataset is meant.
        DataError: the answers or the data cannot be read, or do not belong together.
    """
    spec = _with_one_dataset(checked_for_scoring(source), dataset)
    [task] = partition(spec)
    data = read_dataset(task.dataset)
    matched = match(read_answers(file), data.test)
    folder = create_run_folder(spec.work_dir, spec.name)
    with hold_writer_lock(folder), logging_to(folder.logs / "run.log"):
        record = RunRecord(folder, render_config(spec.resolved), command)
        failed: Counter[bool] = Counter()
        made = _counted(predictions(matched, data.test), failed)
        write_predictions(folder.predictions(task.model.abbr, task.dataset.abbr), made)
        for remark in matched.remarks(data.test):
            logger.warning("[%s] %s", task.name, remark)
        identity = {"answers": str(file.absolute())}
        record.add_task(task, TaskFacts(identity, data.digest, data.origins, len(data.test), failed[True]))
        record.finish("finished")
    return spec, folder


def _counted(predictions: Iterable[Prediction], failed: Counter[bool]) -> Iterator[Prediction]:
    """Counts how many of the predictions failed while they pass."""
    for prediction in predictions:
        failed[prediction.failed] += 1
        yield prediction


def _with_one_dataset(spec: RunSpec, abbr: str | None) -> RunSpec:
    """The config with that one of its datasets."""
    abbrs = [dataset.abbr for dataset in spec.datasets]
    if abbr not in abbrs and (abbr is not None or len(abbrs) > 1):
        what = f"the config has no dataset {abbr!r}" if abbr else f"the config has {len(abbrs)} datasets"
        raise ConfigError(what, where="--dataset", fix=f"give --dataset with one of: {listed(abbrs)}")
    index = 0 if abbr is None else abbrs.index(abbr)
    resolved = {key: value for key, value in spec.resolved.items() if key != "summarizer"}
    chosen = spec.datasets[index].abbr
    # Those of other datasets have nothing to decide here.
    gates = tuple(gate for gate in spec.gates if any(gate.concerns(model.abbr, chosen) for model in spec.models))
    resolved["gates"] = [gate.text for gate in gates]
    resolved["datasets"] = [spec.resolved["datasets"][index]]
    return replace(spec, datasets=(spec.datasets[index],), resolved=resolved, summary=SummarySpec(), gates=gates)
