"""What a run tells others when it has ended. What fails here is a warning, and costs no run."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict

from ais_prompt import __version__
from ais_prompt.errors import AisPromptError, ConfigError, MissingExtra
from ais_prompt.extensions.trackers.options import NotifySpec, TrackSpec, addresses
from ais_prompt.parts import ends_program, exception_line
from ais_prompt.plan import Plan, stored_spec
from ais_prompt.scoring import Row
from ais_prompt.secrets import SECRETS
from ais_prompt.store import RunFolder, read_run_file
from ais_prompt.types import RunSpec

logger = logging.getLogger(__name__)
_MEASURED: Final = ("score", "ci95_low", "ci95_high", "n", "scored", "unparsed", "truncated", "failed")
LONGEST: Final = 2000
"""Characters of a text in a table of samples."""


class TrackedRun(Struct, frozen=True):
    """What a tracker gets of a run. No secret is in it.

    Attributes:
        name: name and time of the run.
        folder: the run folder.
        measures: ``model/dataset/metric/score`` and the like → number.
        config: flat: ``models``, ``datasets``, ``status`` and the version.
        samples: rows of the table of samples, texts cut.
        files: that belong to the run: config, summary and report.
    """

    name: str
    folder: Path
    measures: dict[str, float]
    config: dict[str, Any]
    samples: list[dict[str, Any]]
    files: list[Path]


Send = Callable[[TrackedRun, TrackSpec], None]


def check(folder: RunFolder, plan: Plan, mode: str) -> None:  # noqa: ARG001
    """See before anything is asked that the packages are here; see `STEPS`.

    Raises:
        MissingExtra: a package is not installed.
        ConfigError: the address of messages is not set.
    """
    for spec in plan.spec.sections.get("track", ()):
        _need(spec.to, "track")
    notify = plan.spec.sections.get("notify")
    if notify is not None:
        _need("apprise", "notify")
        if not addresses(notify):
            what = f"the variable {notify.to.removeprefix('$')} with the address of messages is not set"
            raise ConfigError(what, where="notify", fix="export it, or leave out notify")


def tell_all(root: Path, rows: Sequence[Row]) -> None:
    """Send scores to the trackers, and a message; see `STEPS`."""
    folder = RunFolder(root)
    try:
        spec = stored_spec(folder)
    except AisPromptError:  # its config cannot be read any more: the run itself has said so
        return
    trackers: Sequence[TrackSpec] = spec.sections.get("track", ())
    for one in trackers:
        _try(one.to, partial(_track, one, folder, spec, rows))
    notify: NotifySpec | None = spec.sections.get("notify")
    if notify is not None:
        from ais_prompt.extensions.trackers.senders import send_message

        _try("notify", lambda: send_message(notify, folder, spec, rows))


def tracked_run(folder: RunFolder, spec: RunSpec, rows: Sequence[Row], most: int) -> TrackedRun:
    """Return what trackers get of a run.

    Args:
        folder, spec: of the run.
        rows: of its summary.
        most: most samples.
    """
    from ais_prompt.report import sample_rows  # most runs have no tracker

    measures: dict[str, float] = {}
    for row in rows:
        if row.metric is not None:
            values = {name: value for name, value in asdict(row).items() if name in _MEASURED and value is not None}
            measures |= {f"{row.model}/{row.dataset}/{row.metric}/{name}": float(v) for name, v in values.items()}
    samples: list[dict[str, Any]] = []
    for task in spec.tasks if most else ():
        for sample in sample_rows(task, folder):
            if len(samples) == most:
                break
            samples.append({name: _shown(value) for name, value in sample.items()})
    run = read_run_file(folder)
    config = {
        "models": ", ".join(model.abbr for model in spec.models),
        "datasets": ", ".join(dataset.abbr for dataset in spec.datasets),
        "status": str(run.get("status")),
        "ais_prompt": __version__,
    }
    files = [folder.config_file, folder.summary_dir / "summary.md", folder.summary_dir / "summary.json", folder.report]
    name = "/".join(folder.root.absolute().parts[-2:])
    return TrackedRun(name, folder.root, measures, config, samples, [path for path in files if path.exists()])


def _shown(value: Any) -> str | int | float | bool | None:
    if value is None or isinstance(value, bool | int | float):
        return value
    return SECRETS.hide(value if isinstance(value, str) else repr(value))[:LONGEST]


def _need(package: str, where: str) -> None:
    if find_spec(package) is None:
        raise MissingExtra(
            f"{where} needs the package {package}, which is not installed",
            where=where,
            fix=f"pip install {package}, or leave out {where}",
        )


def _track(options: TrackSpec, folder: RunFolder, spec: RunSpec, rows: Sequence[Row]) -> None:
    from ais_prompt.extensions.trackers import senders

    send: Send = getattr(senders, f"to_{options.to}")
    send(tracked_run(folder, spec, rows, options.samples), options)


def _try(name: str, call: Callable[[], None]) -> None:
    try:
        with redirect_stdout(sys.stderr):  # the output of a run is its scores
            call()
    except BaseException as error:
        if ends_program(error):
            raise
        logger.warning("%s got nothing of this run: %s", name, SECRETS.hide_in_message(exception_line(error))[:500])
