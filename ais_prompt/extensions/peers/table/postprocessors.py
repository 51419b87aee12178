"""Postprocessors of the peers."""

from __future__ import annotations

from typing import Final

from ais_prompt.extensions.peers.table.row import PartRow

_OTHER: Final = "it finds the answer in more phrasings than the peer's function, so scores can be higher"


_BLANKS: Final = "blanks at the ends of the line are left out"


def _row(name: str, differs: str = _OTHER) -> PartRow:
    return PartRow(name, name, differs=differs, exact=f"{name}_peer")


POSTPROCESSORS: Final = (
    PartRow(
        "extract_non_reasoning_content", "extract_non_reasoning_content", exact="extract_non_reasoning_content_peer"
    ),
    PartRow("first_capital_postprocess", "first_capital_postprocess", exact="first_capital_postprocess_peer"),
    PartRow("last_capital_postprocess", "last_capital_postprocess", exact="last_capital_postprocess_peer"),
    PartRow("gsm8k_dataset_postprocess", "gsm8k_dataset_postprocess"),
    PartRow(
        "GPQA_Simple_Eval_postprocess", "match_answer_pattern", add={"answer_pattern": r"(?i)ANSWER\s*:\s*([A-D])"}
    ),
    PartRow("ReCoRD_postprocess", "first_line_postprocess", add={"remove": ("Answer: ",)}),
    PartRow("Xsum_postprocess", "first_line_postprocess"),
    PartRow("bbh_freeform_postprocess", "bbh_freeform_postprocess"),
    PartRow(
        "bbh_freeform_postprocess",
        "bbh_freeform_postprocess",
        module="ais_bench",
        differs="it also removes commas, and what follows yes or no",
    ),
    PartRow("bbh_mcq_postprocess", "bbh_mcq_postprocess"),
    PartRow("cmrc_postprocess", "after_phrase_postprocess"),
    PartRow("drcd_postprocess", "after_phrase_postprocess"),
    PartRow("general_cn_postprocess", "general_cn_postprocess"),
    PartRow("gsm100_dataset_postprocess", "without_commas_postprocess"),
    PartRow("gsm100_postprocess", "gsm100_postprocess"),
    PartRow("lcsts_postprocess", "first_line_postprocess", add={"remove": ("1. ", "- "), "strip": "“，。！”"}),
    PartRow("lsht_postprocess", "first_line_postprocess", differs=_BLANKS),
    PartRow("match_answer_pattern", "match_answer_pattern"),
    PartRow("math_judement_preprocess", "match_answer_pattern", add={"answer_pattern": r"(?i)ANSWER\s*:\s*([^\n]+)"}),
    PartRow("mathbench_postprocess", "mathbench_postprocess"),
    PartRow("mgsm_postprocess", "mgsm_postprocess"),
    PartRow("samsum_postprocess", "first_line_postprocess", differs=_BLANKS),
    PartRow("strategyqa_dataset_postprocess", "strategyqa_dataset_postprocess"),
    PartRow("strategyqa_pred_postprocess", "strategyqa_pred_postprocess"),
    PartRow("trec_postprocess", "first_line_postprocess", differs=_BLANKS),
    PartRow("triviaqa_postprocess", "first_line_postprocess", differs=_BLANKS),
    PartRow("xml_tag_postprocessor", "xml_tag_postprocessor"),
    PartRow("humaneval_postprocess", "humaneval_postprocess_v2", differs=_OTHER, exact="humaneval_postprocess_v2_peer"),
    PartRow("math_postprocess", "math_postprocess_v2", differs=_OTHER, exact="math_postprocess_peer"),
    _row("first_capital_postprocess_multi"),
    _row("first_number_postprocess"),
    _row("first_option_postprocess"),
    _row("general_postprocess"),
    _row("generic_llmjudge_postprocess"),
    _row("gsm8k_postprocess"),
    _row("humaneval_postprocess_v2"),
    _row("humaneval_postprocess_v3"),
    _row("last_option_postprocess"),
    _row("math_postprocess_v2"),
    _row("multiple_select_postprocess"),
)
