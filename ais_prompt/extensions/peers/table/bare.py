"""Names under which the peers register parts, as their configs write them without an import."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct


class Bare(Struct, frozen=True):
    """The part behind a registered name.

    Attributes:
        path: dotted path of their class or function.
        args: arguments that the name implies.
        ais_bench: the path in AISBench, where the name means a part of its own.
    """

    path: str
    args: Mapping[str, Any] = {}
    ais_bench: str = ""


_DATASETS: Final = "opencompass.datasets"
_AIS_DATASETS: Final = "ais_bench.benchmark.datasets"
_GAOKAO: Final = f"{_DATASETS}.GaokaoBench.GaokaoBenchEvaluator"
_GAOKAO_KINDS: Final = (
    *("single_choice", "multi_choice", "multi_question_choice", "five_out_of_seven"),
    *("cloze", "subjective", "correction"),
)
_LAWBENCH_TASKS: Final = {1: 2, 2: 10, 3: 8}
"""Chapter of LawBench → number of its tasks."""

BARE: Final[Mapping[str, Mapping[str, Bare]]] = {
    "templates": {
        "OlympiadBenchRawTemplate": Bare(f"{_DATASETS}.OlympiadBench.OlympiadBenchRawTemplate"),
        "OlympiadBenchTemplate": Bare(f"{_DATASETS}.OlympiadBench.OlympiadBenchTemplate"),
    },
    "postprocessors": {
        "ReCoRD": Bare(f"{_DATASETS}.record.ReCoRD_postprocess"),
        "Xsum": Bare(f"{_DATASETS}.xsum.Xsum_postprocess", {}, f"{_AIS_DATASETS}.xsum.Xsum_postprocess"),
        "arxivrollbench_choice_postprocess": Bare(f"{_DATASETS}.arxivrollbench.arxivrollbench_choice_postprocess"),
        "arxivrollbench_selection_postprocess": Bare(
            f"{_DATASETS}.arxivrollbench.arxivrollbench_selection_postprocess"
        ),
        "flores": Bare(f"{_DATASETS}.flores.flores_postprocess"),
        "flores-chinese": Bare(f"{_DATASETS}.flores.flores_postprocess_chinese"),
        "gsm8k": Bare(f"{_DATASETS}.gsm8k.gsm8k_postprocess", {}, f"{_AIS_DATASETS}.gsm8k.gsm8k_postprocess"),
    },
    "evaluators": {
        "AccScoreStr_Evaluator": Bare(f"{_DATASETS}.SeedBench.AccScoreStr_Evaluator"),
        "AverageRougeScoreEvaluator": Bare(f"{_DATASETS}.SeedBench.AverageRougeScoreEvaluator"),
        "CodeCompassEvaluator": Bare(f"{_DATASETS}.codecompass.evaluator.CodeCompassEvaluator"),
        "F1ScoreEvaluator": Bare(f"{_DATASETS}.SeedBench.F1ScoreEvaluator"),
        "FakeAlignmentJudgeEvaluator": Bare(f"{_DATASETS}.fake_alignment.fake_alignment.FakeAlignmentJudgeEvaluator"),
        **{
            f"GaokaoBenchEvaluator_{kind}": Bare(
                f"{_DATASETS}.GaokaoBench.GaokaoBenchEvaluator", {"question_type": kind}
            )
            for kind in (
                "single_choice",
                "multi_choice",
                "multi_question_choice",
                "five_out_of_seven",
                "cloze",
                "subjective",
                "correction",
            )
        },
        **{
            f"LawBenchEvaluator_{chapter}_{task}": Bare(
                f"{_DATASETS}.lawbench.lawbench.LawBenchEvaluator", {"index": f"{chapter}-{task}"}
            )
            for chapter, tasks in _LAWBENCH_TASKS.items()
            for task in range(1, tasks + 1)
        },
    },
}
"""Kind of part → registered name. Names that are ours too, such as ``AccEvaluator``, mean our part."""
