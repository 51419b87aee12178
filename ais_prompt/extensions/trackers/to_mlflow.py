"""MLflow: a run of an experiment, with metrics, parameters, a table of samples and the files as artefacts."""

from __future__ import annotations

import re

from ais_prompt.extensions.trackers.options import TrackSpec
from ais_prompt.extensions.trackers.tracked_run import TrackedRun


def send(run: TrackedRun, options: TrackSpec) -> None:
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
        mlflow.log_metrics({_name(name): value for name, value in run.measures.items()})
        if run.samples:
            columns = {name: [row.get(name) for row in run.samples] for name in run.samples[0]}
            mlflow.log_table(columns, "samples.json")
        for file in run.files:
            mlflow.log_artifact(str(file))


def _name(name: str) -> str:
    """Return a name of a metric as MLflow takes it."""
    return re.sub(r"[^\w\-./ :]", "_", name)
