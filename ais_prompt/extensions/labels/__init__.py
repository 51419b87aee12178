"""Labels of people: which answers are right, in the browser, for measuring judges."""

from typing import Final

from ais_prompt.extension import Extension, FileEntry, VerbEntry

EXTENSION: Final = Extension(
    verbs={
        "labels": VerbEntry(
            "Compare", "command:labels", "Count labels of people, and say which help most.", "documents:LabelsDocument"
        ),
    },
    options={
        "view": {
            "--label": "options:LABEL",
            "--name": "options:NAME",
            "--task": "options:TASK",
            "--draw": "options:DRAW",
            "--disagreed": "options:DISAGREED",
        },
    },
    files={
        "labels": FileEntry(
            "labels/MODEL/DATASET/NAME.jsonl", "What a person called right and wrong, for `judge-check --labels`."
        ),
    },
    steps={"known_values": "known:known_values", "pages": "page:pages"},
    metrics=("label",),
)
