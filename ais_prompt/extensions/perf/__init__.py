"""Serving performance: when requests are sent, what came back when, and what follows from it."""

from typing import Final

from ais_prompt.extension import Extension, FileEntry, ModeEntry, SectionEntry, TabEntry

EXTENSION: Final = Extension(
    parts={
        "readers": {
            "LoadRowsDataset": "load_rows",
            "MooncakeTraceDataset": "synthetic",
            "SyntheticDataset": "synthetic",
        },
    },
    modes={
        "perf": ModeEntry(
            "measures the performance of servers",
            options="options:LoadOptions",
            home="mode:MODE",
            metrics="options:LOAD_METRICS",
            task="Measure the performance of a server.",
        ),
        "perf_viz": ModeEntry(
            "shows it again", options="options:LoadOptions", home="mode:MODE", metrics="options:LOAD_METRICS"
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
    files={
        "perf.json": FileEntry(
            "performances/MODEL/DATASET_perf.json",
            "What `-m perf` measured: plan, stages, verdicts and client, in seconds and tokens; null is infinite.",
        ),
        "schedule": FileEntry(
            "performances/MODEL/DATASET_schedule.jsonl", "The plan of a load, written before its first request."
        ),
        "perf.csv": FileEntry(
            "performances/MODEL/DATASET.csv", "The tables of AISBench, with `DATASET.json` beside it."
        ),
        "details": FileEntry(
            "performances/MODEL/DATASET_details.jsonl",
            "Each request of a load in the form of AISBench; `DATASET_failed.jsonl` has the failures alone.",
        ),
        "plot.html": FileEntry(
            "performances/MODEL/DATASET_plot.html",
            "The requests of a load as a picture; `DATASET_rps_distribution_plot.html` has its rates.",
        ),
        "charts.json": FileEntry(
            "performances/MODEL/DATASET_charts.json", "The numbers of these pictures, thinned out."
        ),
        "loads.csv": FileEntry(
            "summary/perf.csv", "One row for each of several loads: `--sweep`, `--find-rate`, `--runs`."
        ),
        "loads": FileEntry("loads/NN-KEY=VALUE/", "One of several loads: a run folder of its own."),
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
