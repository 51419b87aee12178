"""The rule of a cascade may take the answer out of the text by itself."""

from __future__ import annotations

from ais_prompt.judges import CascadeEvaluator


def test_only_the_rule_uses_its_postprocessor() -> None:
    cascade = CascadeEvaluator(
        {"type": "AccEvaluator"}, {"type": "GenericLLMEvaluator"}, {"type": "first_capital_postprocess"}
    )
    assert cascade.without_judge("the answer: B", "B") == {"accuracy": 1.0, "rule_accuracy": 1.0}
    assert cascade.without_judge("the answer: C", "B") is None
    assert cascade.without_judge("no letter", "B") is None
