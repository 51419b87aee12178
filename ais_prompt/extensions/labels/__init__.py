"""Labels of people: which answers are right, in the browser, and how far judges agree with them."""

from typing import Final

from ais_prompt.extension import Extension, FileEntry, VerbEntry

EXTENSION: Final = Extension(
    verbs={
        "judge-check": VerbEntry(
            "Compare",
            "command:judge_check",
            "Measure a judge against labels of people.",
            "documents:JudgeCheckDocument",
        ),
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
    steps={"known_values": "label_files:known_values", "pages": "page:pages"},
    metrics=("label",),
)
