"""Evaluators of the peers, and how they read the text of a judge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from ais_prompt.extensions.peers.table.row import PartRow

_PASS_K: Final = "for pass@k set n and k of the dataset"
_SCORE: Final = {"score": "accuracy"}
_CALLS: Final = "tool calls are compared as they are"
_PHRASES: Final = "a phrase does not end at initials and abbreviations, such as U.S."
_ROUGE: Final = "whole answers are compared; there both texts end at the first comma or full stop"
_WORDS: Final = "whole words and numbers are looked for; there 5 is in 15"
_CONTAINED: Final = (
    "whole words of whole phrases are looked for; there 5 is in 15, and a phrase ends at the dot of St. Louis"
)
_SANDBOX: Final = "each program runs in a sandbox, for at most 10 seconds"


def _tokenized(args: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of an evaluator that finds words, for the ``language`` of one of LongBench."""
    is_chinese = args.pop("language", "en") == "zh"
    return {**args, "tokenize": "jieba" if is_chinese else "words"}


def _of_category(args: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a `ToolCallEvaluator` for the functions of a category."""
    category = args.pop("category", None)
    if category is None:
        return args
    return {**args, "language": next((one for one in ("javascript", "java") if one in str(category)), "python")}


def _of_row(args: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a `SimulatedCallsEvaluator`, which finds the category in the id of a row."""
    return {name: value for name, value in args.items() if name != "category"}


def _any_call(args: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a `RegexEvaluator` that finds whether there is a call at all, or that there is none.

    A call whose arguments cannot be read is a text of another form, and none, as it is there.
    """
    is_none = "irrelevance" in str(args.pop("category", ""))
    return {**args, "pattern": r"(?s)(?!\[\{).*" if is_none else r"(?s)\[\{.*\}\]"}


EVALUATORS: Final = (
    PartRow("AccEvaluator", "AccEvaluator"),
    PartRow("AccwithDetailsEvaluator", "AccEvaluator"),
    PartRow("AGIEvalEvaluator_mcq", "AccEvaluator", metrics=_SCORE),
    PartRow("BBHEvaluator_mcq", "AccEvaluator", metrics=_SCORE),
    PartRow("GPQAEvaluator", "AccEvaluator"),
    PartRow("MGSM_Evaluator", "AccEvaluator"),
    PartRow("BBHEvaluator", "BBHEvaluator", metrics=_SCORE),
    PartRow(
        "BBHEvaluator",
        "BBHEvaluator",
        module="ais_bench",
        differs="upper and lower case, commas and what follows yes or no make no difference",
        metrics=_SCORE,
    ),
    PartRow("EMEvaluator", "EMEvaluator", differs=_PHRASES, metrics={"score": "exact_match"}),
    PartRow("EDAccEvaluator", "EDAccEvaluator"),
    PartRow("MMLUProBaseEvaluator", "OptionOrTextEvaluator"),
    PartRow("LambadaEvaluator", "LambadaEvaluator"),
    PartRow("DropOpenAIEvaluator", "FuzzyMatchEvaluator", differs=_WORDS),
    PartRow(
        "TriviaQAEvaluator",
        "ContainedAnswerEvaluator",
        add={"cues": ("answer is", "a:", "answer:")},
        differs=_CONTAINED,
        metrics=_SCORE,
    ),
    PartRow(
        "NQEvaluator", "ContainedAnswerEvaluator", add={"cues": ("answer is",)}, differs=_CONTAINED, metrics=_SCORE
    ),
    PartRow("NQEvaluatorCN", "ContainedAnswerEvaluator", add={"cues": ("答案是：",), "whole": True}, metrics=_SCORE),
    # AISBench calls its metric accuracy.
    PartRow(
        "LEvalEMEvaluator",
        "ContainedAnswerEvaluator",
        add={"cues": (), "first_line": False},
        differs=_WORDS,
        metrics=_SCORE,
    ),
    PartRow(
        "CircularEvaluator",
        "CircularEvaluator",
        module="opencompass.openicl",
        differs="its rows are acc_4, acc_1, perf_4 and vote_4, without more_…, prior_…, perf_1 and vote_1",
    ),
    PartRow("AveragePPLEvaluator", "AveragePPLEvaluator"),
    PartRow("BleuEvaluator", "BleuEvaluator", metrics={"score": "bleu"}),
    PartRow("RougeEvaluator", "RougeEvaluator"),
    PartRow("JiebaRougeEvaluator", "JiebaRougeEvaluator", differs=_ROUGE),
    PartRow("SquadEvaluator", "SquadEvaluator", metrics={"score": "f1"}),
    PartRow(
        "LongBenchF1Evaluator", "SquadEvaluator", add={"first_line": False}, change=_tokenized, metrics={"score": "f1"}
    ),
    PartRow("LongBenchRougeEvaluator", "LongBenchRougeEvaluator", metrics={"score": "rougeL"}),
    PartRow("LongBenchClassificationEvaluator", "LongBenchClassificationEvaluator", metrics=_SCORE),
    PartRow(
        "LongBenchCodeSimEvaluator",
        "LongBenchCodeSimEvaluator",
        differs="lines of code are compared by difflib",
        metrics={"score": "similarity"},
    ),
    PartRow("LongBenchCountEvaluator", "LongBenchCountEvaluator", metrics=_SCORE),
    PartRow("LongBenchRetrievalEvaluator", "LongBenchRetrievalEvaluator", metrics=_SCORE),
    PartRow(
        "HumanEvalEvaluator",
        "HumanEvalEvaluator",
        drop={"k": _PASS_K},
        gold_columns=("prompt", "test", "entry_point"),
        differs=_SANDBOX,
        metrics={"humaneval_pass@1": "accuracy"},
    ),
    PartRow("HumanEvaluator", "HumanEvaluator"),
    PartRow(
        "MBPPEvaluator",
        "MBPPEvaluator",
        add={"extract": True},
        unless={"metric": ("MBPPPlus",)},
        differs=_SANDBOX,
        metrics=_SCORE,
    ),
    PartRow(
        "MBPPPassKEvaluator",
        "MBPPEvaluator",
        add={"extract": True},
        drop={"k": _PASS_K},
        differs=_SANDBOX,
        metrics={"pass@1": "accuracy"},
    ),
    PartRow("Gsm8kEvaluator", "Gsm8kEvaluator"),
    PartRow(
        "MATHEvaluator",
        "MATHEvaluator",
        drop={"version": "answers are compared by math-verify in every version"},
        differs="answers are compared by math-verify",
    ),
    PartRow("MATHEvaluator", "MATHEvaluator", module="ais_bench", differs="math-verify has other options"),
    PartRow(
        "MATHVerifyEvaluator",
        "MATHVerifyEvaluator",
        differs="answers in plain text are compared too; there only LaTeX between $ or in a box is read",
    ),
    PartRow(
        "BFCLSingleTurnEvaluator",
        "ToolCallEvaluator",
        drop={"is_fc_model": _CALLS},
        gold_columns=("functions", "answers"),
        change=_of_category,
    ),
    PartRow(
        "BFCLRelevanceEvaluator",
        "RegexEvaluator",
        drop={"is_fc_model": _CALLS},
        change=_any_call,
    ),
    PartRow(
        "BFCLMultiTurnEvaluator",
        "SimulatedCallsEvaluator",
        drop={"is_fc_model": _CALLS},
        change=_of_row,
        gold_columns=("initial_config", "involved_classes", "ground_truth", "id"),
    ),
    PartRow("GenericLLMEvaluator", "GenericLLMEvaluator"),
    PartRow(
        "CascadeEvaluator",
        "CascadeEvaluator",
        drop={"parallel": "only answers that the rule finds wrong are judged, with the same accuracy"},
    ),
)


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

COUNTS_BY_CATEGORY: Final = RIGHT_OR_WRONG - {"generic_llmjudge_academic_postprocess", "generic_llmjudge_postprocess"}
"""Those that also give the accuracy of each category."""


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
