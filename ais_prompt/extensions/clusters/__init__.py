"""Slurm and Ray start the shards of a run; partitioners divide its tasks among them."""

from typing import Final

from ais_prompt.extension import Extension

EXTENSION: Final = Extension(
    parts={
        "partitioners": {
            "NumWorkerPartitioner": "partitioners",
            "SizePartitioner": "partitioners",
        },
        "runners": {
            "RayRunner": "ray",
            "SlurmRunner": "slurm",
        },
    },
    steps={
        "array_index": "array_job:array_index",
    },
)
