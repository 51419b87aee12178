"""How the peers read what a judge says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

RIGHT_OR_WRONG: Final = frozenset(
    {
        "MedXpertQA_llmjudge_postprocess",
        "generic_llmjudge_academic_postprocess",
        "generic_llmjudge_postprocess",
        "medbullets_llmjudge_postprocess",
        "medmcqa_llmjudge_postprocess",
        "supergpqa_llmjudge_postprocess",
    }
)
"""Functions that read A for right and B for wrong, as `GenericLLMEvaluator` does."""


class JudgeReading(Struct, frozen=True):
    """The function that reads what a summarizer of a dataset reads.

    Attributes:
        function: its dotted name.
        args: those arguments of the summarizer that it takes too.
    """

    function: str
    args: tuple[str, ...] = ()


_SUBJECTIVE: Final = "opencompass.datasets.subjective"

SUMMARIZERS: Final[Mapping[str, JudgeReading]] = {
    "AlignmentBenchSummarizer": JudgeReading(f"{_SUBJECTIVE}.alignbench.alignbench_postprocess", ("judge_type",)),
    "AlpacaSummarizer": JudgeReading(f"{_SUBJECTIVE}.alpacaeval.alpacaeval_postprocess"),
    "ArenaHardSummarizer": JudgeReading(f"{_SUBJECTIVE}.arena_hard.arenahard_postprocess"),
    "CompassArenaSummarizer": JudgeReading(
        f"{_SUBJECTIVE}.compass_arena.compassarena_postprocess", ("summary_type", "check_pos_bias")
    ),
    "FofoSummarizer": JudgeReading(f"{_SUBJECTIVE}.fofo.fofo_postprocess"),
    "FollowBenchSummarizer": JudgeReading(f"{_SUBJECTIVE}.followbench.followbench_postprocess"),
    "MTBench101Summarizer": JudgeReading(f"{_SUBJECTIVE}.mtbench101.mtbench101_postprocess"),
    "MTBenchSummarizer": JudgeReading(f"{_SUBJECTIVE}.mtbench.mtbench_postprocess"),
    "WildBenchPairSummarizer": JudgeReading(f"{_SUBJECTIVE}.wildbench.wildbench_postprocess"),
}
"""Summarizer that a dataset names → the function with which newer configs of the same benchmark read the judge."""
