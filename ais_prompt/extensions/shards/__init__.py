"""One run in several processes, here, by Slurm or by Ray: divide it, follow its shards, merge their answers."""

from typing import Final

from ais_prompt.extension import Extension, VerbEntry

EXTENSION: Final = Extension(
    parts={
        "partitioners": {
            "NumWorkerPartitioner": "partitioners",
            "SizePartitioner": "partitioners",
        },
        "runners": {
            "LocalRunner": "local_shards",
            "RayRunner": "ray",
            "SlurmRunner": "slurm",
        },
    },
    verbs={
        "merge": VerbEntry(
            "Ask",
            "shard_verbs:merge",
            "Put the answers of shards together.",
            "documents:MergeDocument",
        ),
        "serve": VerbEntry("Ask", "shard_verbs:serve", "Start servers that all shards share."),
        "status": VerbEntry(
            "Ask", "shard_verbs:status", "Show how far the shards of a run are.", "documents:StatusDocument"
        ),
    },
    steps={
        "divided": "division:divided",
        "joined": "joining:joined",
    },
)
