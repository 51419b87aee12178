"""Prompts and options of a run side by side: which is best, how sure that is, and what its answers take."""

from typing import Final

from ais_prompt.extension import Extension, GateEntry, TabEntry

EXTENSION: Final = Extension(
    options={
        "compare": {"--variants": "shown:VARIANTS", "--holdout": "shown:HOLDOUT"},
        "scored": {"--holdout": "shown:HOLDOUT"},
    },
    documents=dict.fromkeys(("run", "score", "merge", "compare"), "variant_group:VariantsField"),
    gates={"best": GateEntry(decide="best:check_best", fault="best:fault_of_best")},
    tabs={
        "variants": TabEntry(
            home="tab:TAB",
            files=("summary/summary.json",),
            assets=("assets/variants.js", "assets/variants.css", "assets/zh.json"),
        ),
    },
    steps={
        "beside_scores": "shown:beside_scores",
        "compare_within": "shown:compare_within",
        "compared_variants": "shown:compared_variants",
        "print_question": "shown:print_question",
    },
)
