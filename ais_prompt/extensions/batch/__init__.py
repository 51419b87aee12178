"""What answers cost: batch APIs and files for them, which take half the price, known prices, and the costs of a run."""

from typing import Final

from ais_prompt.extension import Extension, FileEntry, SectionEntry, TabEntry, VerbEntry

EXTENSION: Final = Extension(
    verbs={
        "requests": VerbEntry("Ask", "command:requests", "Write what is still to be asked into a file."),
        "answers": VerbEntry("Ask", "command:answers", "Read answers from files of a batch service."),
    },
    model_keys={"batch": SectionEntry("ask it through the batch API of its provider", home="options:FORM")},
    options={"config": {"--batch": "acting:BATCH", "--batch-rest": "acting:BATCH_REST"}},
    files={
        "batches": FileEntry(
            "batches/MODEL.jsonl",
            "The batches of a model: what each asks, its id at the provider, and how it ended. Answers that are "
            "fetched and not yet in a journal are in `batches/MODEL/`.",
        ),
    },
    tabs={
        "costs": TabEntry(
            home="costs:TAB", files=("predictions/*/*.jsonl",), assets=("assets/costs.js", "assets/zh.json")
        ),
    },
    steps={
        "begin": "acting:begin",
        "mock_routes": "mock_batches:add_routes",
        "model": "acting:in_batches",
        "status": "ledger:status_lines",
        "translate": "options:translate",
    },
)
