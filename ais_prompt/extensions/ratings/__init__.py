"""Ratings of several models by a judge that compares their answers: Bradley-Terry, with ranks as intervals."""

from typing import Final

from ais_prompt.extension import Extension, FileEntry, TabEntry, VerbEntry

EXTENSION: Final = Extension(
    verbs={
        "ratings": VerbEntry(
            "Compare", "command:ratings", "Rate the models that a judge compared.", "rate:RatingsDocument"
        ),
    },
    tabs={
        "ratings": TabEntry("rate:TAB", ("judge/*/predictions/*/*.jsonl",), ("assets/ratings.js", "assets/zh.json")),
    },
    files={
        "ratings.csv": FileEntry("export/ratings/DATASET.csv", "A row for each model that a judge compared."),
    },
    exporters={"ratings": "rate:write_ratings"},
    steps={"rate": "fitted_ratings:rate_battles", "shown": "after_scores:print_after_scores"},
)
