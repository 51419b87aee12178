"""Make a run folder of answers that were made elsewhere, so that they can be scored."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from ais_prompt.checks import checked_for_scoring
from ais_prompt.config import Options
from ais_prompt.plan import Plan, record_of
from ais_prompt.scoring import match, predictions, read_answers
from ais_prompt.store import RunFolder, create_run_folder, hold_writer_lock, write_predictions
from ais_prompt.terminal import logging_to
from ais_prompt.types import Prediction, TaskFacts

logger = logging.getLogger(__name__)


def open_foreign(file: Path, options: Options, command: str) -> tuple[Plan, RunFolder]:
    """Make a run folder with answers that were made elsewhere.

    Answers that are missing, doubled or foreign are named in warnings; questions without one that can be trusted have
    failed.

    Args:
        file: the answers; see `ais_prompt.scoring.foreign_answers.read_answers`.
        options: the config with the dataset, in ``answered_by`` who answered, and in ``answered`` which dataset.
        command: the command line without secrets, for the record.

    Raises:
        ConfigError: the config has faults, or it is not clear which dataset is meant.
        DataError: the answers or the data cannot be read, or do not belong together.
    """
    plan = checked_for_scoring(options)
    [task], data = plan.spec.tasks, plan.datasets[0].data
    matched = match(read_answers(file), data.test)
    folder = create_run_folder(plan.spec.work_dir, plan.spec.name)
    with hold_writer_lock(folder), logging_to(folder.logs / "run.log"):
        record = record_of(plan, folder, command, asks=True).begin()
        failed: Counter[bool] = Counter()
        made = _counted(predictions(matched, data.test, task.dataset.reader.output_column), failed)
        write_predictions(folder.predictions(task.model.abbr, task.dataset.abbr), made)
        for remark in matched.remarks(data.test):
            logger.warning("[%s] %s", task.name, remark)
        identity = {"answers": str(file.absolute())}
        record.add_task(task, TaskFacts(identity, data.digest, data.origins, len(data.test), failed[True]))
        record.finish("finished")
    return plan, folder


def _counted(predictions: Iterable[Prediction], failed: Counter[bool]) -> Iterator[Prediction]:
    """Yield the predictions, and count those that failed."""
    for prediction in predictions:
        failed[prediction.failed] += 1
        yield prediction
