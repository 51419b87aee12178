"""Answer × gold → score."""

from ais_prompt.evaluators.accuracy import AccEvaluator
from ais_prompt.evaluators.base import Evaluator
from ais_prompt.evaluators.gsm8k import Gsm8kEvaluator

__all__ = ["AccEvaluator", "Evaluator", "Gsm8kEvaluator"]
