"""Labels of people: which answers are right, in the browser, and how far judges agree with them."""

from typing import Final

from ais_prompt.extension import Extension, FileEntry, VerbEntry

EXTENSION: Final = Extension(
    verbs={
        "judge-check": VerbEntry(
            "Compare",
            "command:judge_check",
            "Measure a judge against labels of people.",
            "judge_check:JudgeCheckDocument",
        ),
        "labels": VerbEntry(
            "Compare", "command:labels", "Count labels of people, and say which help most.", "labelled:LabelsDocument"
        ),
    },
    options={
        "view": {
            "--label": "command:LABEL",
            "--name": "command:NAME",
            "--task": "command:TASK",
            "--draw": "command:DRAW",
            "--disagreed": "command:DISAGREED",
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
