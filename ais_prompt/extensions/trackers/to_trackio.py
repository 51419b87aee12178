"""Trackio: a run of a project in its local database, with a table of samples and the files as artefact."""

from __future__ import annotations

from ais_prompt.extensions.trackers.options import TrackSpec
from ais_prompt.extensions.trackers.tracked_run import TrackedRun


def send(run: TrackedRun, options: TrackSpec) -> None:
    """Send a run; see `Send`. It stays on this machine, unless its own variables name a server."""
    import trackio

    trackio.init(project=options.project, name=run.name, config=run.config, embed=False, auto_log_gpu=False)
    try:
        trackio.log(run.measures)
        if run.samples:
            columns = list(run.samples[0])
            rows = [[row.get(name) for name in columns] for row in run.samples]
            trackio.log({"samples": trackio.Table(columns=columns, data=rows)})
        artifact = trackio.Artifact("run", type="evaluation")
        for file in run.files:
            artifact.add_file(str(file))
        trackio.log_artifact(artifact)
    finally:
        trackio.finish()
