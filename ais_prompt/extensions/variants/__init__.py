"""Prompts and options of a run side by side: which is best, how sure that is, and what its answers take."""

from typing import Final

from ais_prompt.extension import Extension, GateEntry, TabEntry

EXTENSION: Final = Extension(
    options={
        "compare": {"--variants": "variant_views:VARIANTS", "--holdout": "variant_views:HOLDOUT"},
        "scored": {"--holdout": "variant_views:HOLDOUT"},
    },
    documents=dict.fromkeys(("run", "score", "merge", "compare"), "variant_group:VariantsField"),
    gates={"best": GateEntry(decide="best:check_best", fault="best:fault_of_best")},
    tabs={
        "variants": TabEntry(
            home="variant_tab:TAB",
            files=("summary/summary.json",),
            assets=("assets/variants.js", "assets/variants.css", "assets/zh.json"),
        ),
    },
    steps={
        "beside_scores": "variant_views:beside_scores",
        "compare_within": "variant_views:compare_within",
        "compared_variants": "variant_views:compared_variants",
        "print_question": "variant_views:print_question",
    },
)
