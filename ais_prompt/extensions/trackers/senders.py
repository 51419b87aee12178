"""What sends a run to a tracker: a function for each, which imports its package."""

from __future__ import annotations

import re
from typing import Any, Final

from ais_prompt.extensions.trackers.options import TrackSpec
from ais_prompt.extensions.trackers.tracked_run import TrackedRun

_NOT_IN_NAMES: Final = r"[^\w\-./ :]"
"""What the names of metrics must not have in MLflow."""


def to_mlflow(run: TrackedRun, options: TrackSpec) -> None:
    """Send a run; see `Send`."""
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
    """Send a run; see `Send`. Offline, ``wandb sync`` sends it later."""
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
    """Send a run; see `Send`. Offline, ``swanlab sync`` sends it later."""
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
    """Send a run; see `Send`. It stays on this machine, unless its own variables name a server."""
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
