"""Clusters: questions that depend on each other, such as those about one passage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from ais_prompt.errors import DataError
from ais_prompt.plan.plan import PlannedDataset
from ais_prompt.types import EvalSpec, Prediction, Sample
from ais_prompt.utils import canonical


def check_cluster(spec: EvalSpec, samples: Sequence[Sample]) -> None:
    """Check that the data have the column of ``eval_cfg.cluster``.

    Raises:
        DataError: they do not.
    """
    if spec.cluster is not None and len(samples) and spec.cluster not in samples[0].fields:
        raise DataError(
            f"there is no column {spec.cluster!r} to cluster by (there are {', '.join(samples[0].fields)})",
            where=f"{spec.where}.cluster",
            fix="name the column that dependent questions share, such as their passage",
        )


def cluster_of(sample: Sample, column: str) -> tuple[str, str]:
    """Return column and value of a sample's cluster."""
    value = sample.fields[column]
    return column, value if isinstance(value, str) else canonical(value)


def with_clusters(dataset: PlannedDataset, predictions: Iterable[Prediction]) -> Iterator[Prediction]:
    """Yield predictions with the cluster that scoring uses: as stored, or from the data if the column was named later.

    Raises:
        DataError: the data have no such column, or no longer the row of a prediction.
    """
    spec = dataset.spec.eval
    samples: dict[str, Sample] = {}
    for prediction in predictions:
        if (prediction.cluster and prediction.cluster[0]) == spec.cluster:
            yield prediction
        elif spec.cluster is None:
            yield replace(prediction, cluster=None)
        else:
            if not samples:
                check_cluster(spec, dataset.data.test)
                # Predictions of the first version are named after their whole rows.
                samples = {name: sample for sample in dataset.data.test for name in (sample.row_id, sample.id)}
            if (sample := samples.get(prediction.sample_id)) is None:
                raise DataError(
                    f"the data no longer hold sample {prediction.sample_id}, so its cluster is not known",
                    where=f"{spec.where}.cluster",
                    fix="score with the data of the run, or without cluster",
                )
            yield replace(prediction, cluster=cluster_of(sample, spec.cluster))
