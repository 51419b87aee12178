"""Weights & Biases: a run of a project, with its summary, a table of samples and the files."""

from __future__ import annotations

from ais_prompt.extensions.trackers.options import TrackSpec
from ais_prompt.extensions.trackers.tracked_run import TrackedRun


def send(run: TrackedRun, options: TrackSpec) -> None:
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
            columns = list(run.samples[0])
            opened.log({"samples": wandb.Table(columns, [[row.get(name) for name in columns] for row in run.samples])})
        artifact = wandb.Artifact("run", type="evaluation")
        for file in run.files:
            artifact.add_file(str(file))
        opened.log_artifact(artifact)
