"""Batch APIs: the requests of a run as batches, which providers answer within a day, at a lower price."""

from typing import Final

from ais_prompt.extension import Extension, FileEntry, SectionEntry

EXTENSION: Final = Extension(
    model_keys={"batch": SectionEntry("ask it through the batch API of its provider", home="options:FORM")},
    options={"config": {"--batch": "options:BATCH", "--batch-rest": "options:BATCH_REST"}},
    files={
        "batches": FileEntry(
            "batches/MODEL.jsonl",
            "The batches of a model: what each asks, its id at the provider, and how it ended. Answers that are "
            "fetched and not yet in a journal are in `batches/MODEL/`.",
        ),
    },
    steps={
        "begin": "model:begin",
        "model": "model:in_batches",
        "status": "ledger:status_lines",
        "translate": "options:with_batches",
    },
)
