"""Postprocessors of the peers."""

from __future__ import annotations

from typing import Final

from ais_prompt.peers.table.row import Row

_OTHER: Final = "it finds the answer in more phrasings than the peer's function, so scores can be higher"


def _row(name: str, differs: str = _OTHER) -> Row:
    return Row(name, name, differs=differs, exact=f"{name}_peer")


POSTPROCESSORS: Final = (
    Row("extract_non_reasoning_content", "extract_non_reasoning_content", exact="extract_non_reasoning_content_peer"),
    Row("first_capital_postprocess", "first_capital_postprocess", exact="first_capital_postprocess_peer"),
    Row("last_capital_postprocess", "last_capital_postprocess", exact="last_capital_postprocess_peer"),
    Row("gsm8k_dataset_postprocess", "gsm8k_dataset_postprocess"),
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
