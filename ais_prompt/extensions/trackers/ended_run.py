"""What a run tells others when it has ended. What fails here is a warning, and costs no run."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from ais_prompt.errors import AisPromptError, ConfigError, MissingExtra
from ais_prompt.extensions.trackers.options import NotifySpec, TrackSpec, addresses
from ais_prompt.parts import ends_program, exception_line
from ais_prompt.plan import Plan, stored_spec
from ais_prompt.scoring import Row
from ais_prompt.secrets import SECRETS
from ais_prompt.store import RunFolder
from ais_prompt.types import RunSpec

logger = logging.getLogger(__name__)


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


def _need(package: str, where: str) -> None:
    if find_spec(package) is None:
        raise MissingExtra(
            f"{where} needs the package {package}, which is not installed",
            where=where,
            fix=f"pip install {package}, or leave out {where}",
        )


def _track(options: TrackSpec, folder: RunFolder, spec: RunSpec, rows: Sequence[Row]) -> None:
    from ais_prompt.extensions.trackers import senders  # most runs have no tracker

    send: Callable[[senders.TrackedRun, TrackSpec], None] = getattr(senders, f"to_{options.to}")
    send(senders.tracked_run(folder, spec, rows, options.samples), options)


def _try(name: str, call: Callable[[], None]) -> None:
    try:
        with redirect_stdout(sys.stderr):  # the output of a run is its scores
            call()
    except BaseException as error:
        if ends_program(error):
            raise
        logger.warning("%s got nothing of this run: %s", name, SECRETS.hide_in_message(exception_line(error))[:500])
