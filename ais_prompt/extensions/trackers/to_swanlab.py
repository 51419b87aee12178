"""SwanLab: an experiment of a project, with scalars, samples and the report."""

from __future__ import annotations

from ais_prompt.extensions.trackers.options import TrackSpec
from ais_prompt.extensions.trackers.tracked_run import TrackedRun


def send(run: TrackedRun, options: TrackSpec) -> None:
    """Send a run; see `Send`. Offline, ``swanlab sync`` sends it later."""
    import swanlab

    mode = "offline" if options.offline else None  # else as SWANLAB_MODE says
    swanlab.init(
        project=options.project, name=run.name, config=run.config, mode=mode, log_dir=str(run.folder / "swanlog")
    )
    try:
        swanlab.log(run.measures)
        if run.samples:
            columns = list(run.samples[0])
            table = swanlab.echarts.Table()
            table.add(columns, [[row.get(name) for name in columns] for row in run.samples])
            swanlab.log({"samples": table})
        for file in run.files:
            if file.suffix == ".html":
                swanlab.log({file.stem: swanlab.Html(str(file))})
    finally:
        swanlab.finish()
