"""What sends a run when it has ended: to a tracker, a function for each, which imports its package; and as a message.

The message goes through Apprise. It has scores and names, and no sample and no secret.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict

from ais_prompt import __version__
from ais_prompt.errors import StoreError
from ais_prompt.extensions.trackers.options import NotifySpec, TrackSpec, addresses
from ais_prompt.gates import check_gates
from ais_prompt.report import sample_rows
from ais_prompt.scoring import Row
from ais_prompt.secrets import SECRETS
from ais_prompt.steps import brought_gate
from ais_prompt.store import RunFolder, read_run_file
from ais_prompt.types import RunSpec
from ais_prompt.utils import counted

_NOT_IN_NAMES: Final = r"[^\w\-./ :]"
"""What the names of metrics must not have in MLflow."""
_MEASURED: Final = ("score", "ci95_low", "ci95_high", "n", "scored", "unparsed", "truncated", "failed")
MOST_LINES: Final = 20
"""Lines of scores in a message."""
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


def tracked_run(folder: RunFolder, spec: RunSpec, rows: Sequence[Row], most: int) -> TrackedRun:
    """Return what trackers get of a run.

    Args:
        folder, spec: of the run.
        rows: of its summary.
        most: most samples.
    """
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


def to_mlflow(run: TrackedRun, options: TrackSpec) -> None:
    """Send a run."""
    import mlflow

    if options.uri:
        mlflow.set_tracking_uri(options.uri)
    elif options.offline:
        mlflow.set_tracking_uri(f"sqlite:///{(run.folder / 'mlflow.db').absolute()}")
        if mlflow.get_experiment_by_name(options.project) is None:
            mlflow.create_experiment(options.project, (run.folder / "mlartifacts").absolute().as_uri())
    mlflow.set_experiment(options.project)
    with mlflow.start_run(run_name=run.name):
        mlflow.log_params(run.config)
        mlflow.log_metrics({re.sub(_NOT_IN_NAMES, "_", name): value for name, value in run.measures.items()})
        if run.samples:
            columns = {name: [row.get(name) for row in run.samples] for name in run.samples[0]}
            mlflow.log_table(columns, "samples.json")
        for file in run.files:
            mlflow.log_artifact(str(file))


def to_wandb(run: TrackedRun, options: TrackSpec) -> None:
    """Send a run. Offline, ``wandb sync`` sends it later."""
    import wandb

    mode = "offline" if options.offline else None  # else as WANDB_MODE says
    settings = wandb.Settings(silent=True, console="off", disable_git=True, disable_code=True)
    opened = wandb.init(
        project=options.project, name=run.name, config=run.config, mode=mode, dir=str(run.folder), settings=settings
    )
    with opened:
        opened.log(run.measures)
        if run.samples:
            opened.log({"samples": wandb.Table(*_table(run))})
        opened.log_artifact(_artifact(wandb, run))


def to_swanlab(run: TrackedRun, options: TrackSpec) -> None:
    """Send a run. Offline, ``swanlab sync`` sends it later."""
    import swanlab

    mode = "offline" if options.offline else None  # else as SWANLAB_MODE says
    swanlab.init(
        project=options.project, name=run.name, config=run.config, mode=mode, log_dir=str(run.folder / "swanlog")
    )
    try:
        swanlab.log(run.measures)
        if run.samples:
            table = swanlab.echarts.Table()
            table.add(*_table(run))
            swanlab.log({"samples": table})
        for file in run.files:
            if file.suffix == ".html":
                swanlab.log({file.stem: swanlab.Html(str(file))})
    finally:
        swanlab.finish()


def to_trackio(run: TrackedRun, options: TrackSpec) -> None:
    """Send a run. It stays on this machine, unless its own variables name a server."""
    import trackio

    trackio.init(project=options.project, name=run.name, config=run.config, embed=False, auto_log_gpu=False)
    try:
        trackio.log(run.measures)
        if run.samples:
            columns, rows = _table(run)
            trackio.log({"samples": trackio.Table(columns=columns, data=rows)})
        trackio.log_artifact(_artifact(trackio, run))
    finally:
        trackio.finish()


def _table(run: TrackedRun) -> tuple[list[str], list[list[Any]]]:
    """Return columns and rows of the table of samples, of which there are some."""
    columns = list(run.samples[0])
    return columns, [[row.get(name) for name in columns] for row in run.samples]


def _artifact(tracker: Any, run: TrackedRun) -> Any:
    artifact = tracker.Artifact("run", type="evaluation")
    for file in run.files:
        artifact.add_file(str(file))
    return artifact


def send_message(options: NotifySpec, folder: RunFolder, spec: RunSpec, rows: Sequence[Row]) -> None:
    """Send the message.

    Raises:
        StoreError: no service took it.
    """
    import apprise

    status = str(read_run_file(folder).get("status"))
    gates = [gate for gate in spec.gates if not gate.needs_samples and brought_gate(gate.name) is None]
    broken = [verdict for verdict in check_gates(gates, rows) if not verdict.passed]
    if options.only_failures and status == "finished" and not broken:
        return
    urls = addresses(options)
    for url in urls:
        SECRETS.add(url)
    service = apprise.Apprise()
    if not all(map(service.add, urls)):
        raise StoreError("an address of messages is not one of Apprise", fix=f"look at {options.to}")
    title = f"{spec.name}: {status}" + (f", {counted(len(broken), 'broken gate')}" if broken else "")
    text = "\n".join([*(f"gate {one.gate} is broken: {one.subject}" for one in broken), text_of(folder, rows)])
    if not service.notify(title=title, body=SECRETS.hide(text)):
        raise StoreError("no service took the message", fix=f"look at {options.to}")


def text_of(folder: RunFolder, rows: Sequence[Row]) -> str:
    """Return the scores of a run in words."""
    lines = [f"{row.model} · {row.dataset} · {row.metric}: {_score(row)}" for row in rows if row.metric is not None]
    lines += [f"{row.model} · {row.dataset}: {row.note}" for row in rows if row.metric is None and row.note]
    left = len(lines) - MOST_LINES
    more = [f"and {counted(left, 'line')} more"] if left > 0 else []
    return "\n".join([*lines[:MOST_LINES], *more, f"Run folder: {folder.root.name}"])


def _score(row: Row) -> str:
    if row.score is None:
        return "no score"
    if not row.fraction:
        return f"{row.score:.4g}"
    bounds = f" ({row.ci95_low:.1%}-{row.ci95_high:.1%})" if None not in (row.ci95_low, row.ci95_high) else ""
    return f"{row.score:.1%}{bounds}, n = {row.n}"
