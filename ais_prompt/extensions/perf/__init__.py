"""Serving performance: when requests are sent, what came back when, and what follows from it."""

from typing import Final

from ais_prompt.extension import Extension, ModeEntry, SectionEntry, TabEntry

EXTENSION: Final = Extension(
    parts={
        "readers": {
            "LoadRowsDataset": "load_rows",
            "MooncakeTraceDataset": "traces",
            "SyntheticDataset": "synthetic",
        },
    },
    modes={
        "perf": ModeEntry(
            "measures the performance of servers", "options:OPTIONS", "mode:MODE", "metric_names:LOAD_METRICS"
        ),
        "perf_viz": ModeEntry(
            "shows it again", options="options:OPTIONS", home="mode:MODE", metrics="metric_names:LOAD_METRICS"
        ),
    },
    sections={
        "perf": SectionEntry(
            "how `-m perf` measures the performance of a server", "section:FORM", also=("summarizer.calculator",)
        ),
    },
    documents={
        "run": "documents:RunFields",
        "score": "documents:ScoreFields",
        "merge": "documents:ScoreFields",
        "compare": "documents:CompareFields",
    },
    tabs={
        "loads": TabEntry(
            home="page:TAB",
            files=(
                "performances/*/*_schedule.jsonl",
                "performances/*/*_perf.json",
                "loads/*/performances/*/*_schedule.jsonl",
                "summary/perf.csv",
            ),
            assets=("assets/load.js", "assets/loads.js", "assets/load.css", "assets/zh.json"),
        ),
    },
    steps={
        "compare": "comparison:compare_load_runs",
    },
)
