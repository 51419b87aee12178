"""Evaluators of the peers."""

from __future__ import annotations

from typing import Final

from ais_prompt.peers.table.row import Row

EVALUATORS: Final = (
    Row("AccEvaluator", "AccEvaluator"),
    Row("EMEvaluator", "EMEvaluator"),
    Row("BleuEvaluator", "BleuEvaluator"),
    Row("RougeEvaluator", "RougeEvaluator"),
    Row("JiebaRougeEvaluator", "JiebaRougeEvaluator"),
    Row("SquadEvaluator", "SquadEvaluator"),
    Row("HumanEvalEvaluator", "HumanEvalEvaluator"),
    Row("HumanEvaluator", "HumanEvaluator"),
    Row("MBPPEvaluator", "MBPPEvaluator"),
    Row("Gsm8kEvaluator", "Gsm8kEvaluator"),
    Row("MATHEvaluator", "MATHEvaluator", differs="answers are compared by math-verify"),
    Row("MATHVerifyEvaluator", "MATHVerifyEvaluator"),
    Row("GenericLLMEvaluator", "GenericLLMEvaluator"),
    Row("CascadeEvaluator", "CascadeEvaluator"),
)
