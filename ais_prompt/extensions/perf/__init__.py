"""Serving performance: when requests are sent, what came back when, and what follows from it."""

from typing import Final

from ais_prompt.extension import Extension

EXTENSION: Final = Extension(
    parts={
        "readers": {
            "LoadRowsDataset": "load_rows",
            "MooncakeTraceDataset": "traces",
            "SyntheticDataset": "synthetic",
        },
    },
)
