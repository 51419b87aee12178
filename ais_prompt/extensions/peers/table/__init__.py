"""The names of OpenCompass and AISBench, and what each means here. One file a kind of part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from ais_prompt.catalog import PARTS
from ais_prompt.extensions.peers.table.evaluators import EVALUATORS
from ais_prompt.extensions.peers.table.models import MODELS
from ais_prompt.extensions.peers.table.parts import DATASETS, INFERENCERS, POSTPROCESSORS, RETRIEVERS, TEMPLATES
from ais_prompt.extensions.peers.table.row import PartRow

ROWS: Final[Mapping[str, tuple[PartRow, ...]]] = {
    "models": MODELS,
    "readers": DATASETS,
    "retrievers": RETRIEVERS,
    "templates": TEMPLATES,
    "inferencers": INFERENCERS,
    "evaluators": EVALUATORS,
    "postprocessors": POSTPROCESSORS,
}
"""Kind of part, as in `ais_prompt.catalog` → its rows."""

PEERS: Final = ("opencompass", "ais_bench")
"""The packages of the peers."""


class PeerPart(Struct, frozen=True):
    """A part of a peer.

    Attributes:
        path: dotted path of their class or function; a bare name if only the table knows it.
        args: arguments that a registered name implies.
        ais_bench: the path in AISBench, where a registered name means a part of its own there.
    """

    path: str
    args: Mapping[str, Any] = {}
    ais_bench: str = ""


def peer_part(kind: str, name: Any, peer: str = PEERS[0]) -> PeerPart | None:
    """Return the part of a peer that a ``type`` means; None if it is no part of theirs.

    Args:
        kind: the kind of part, as in `ais_prompt.catalog`.
        name: the ``type``: a dotted path, or a name of one of their registries.
        peer: whose config it is: where both have a name, theirs is meant.
    """
    if not isinstance(name, str):
        return None
    if name.partition(".")[0] in PEERS:
        return PeerPart(name)
    if bare := BARE.get(kind, {}).get(name):
        return PeerPart(bare.ais_bench, bare.args) if bare.ais_bench and peer == PEERS[1] else bare
    is_ours = "." in name or name in PARTS[kind]
    return None if is_ours or find_row(kind, name) is None else PeerPart(name)


def find_row(kind: str, path: str) -> PartRow | None:
    """Return the row of a part, that of its module before that of any module; None if there is none."""
    module, _, name = path.rpartition(".")
    rows = [
        row
        for row in ROWS[kind]
        if row.name == name and f"{module}.".startswith(f"{row.module}." if row.module else "")
    ]
    return max(rows, key=lambda row: len(row.module), default=None)


_DATASETS: Final = "opencompass.datasets"
_AIS_DATASETS: Final = "ais_bench.benchmark.datasets"
_GAOKAO: Final = f"{_DATASETS}.GaokaoBench.GaokaoBenchEvaluator"
_GAOKAO_KINDS: Final = (
    *("single_choice", "multi_choice", "multi_question_choice", "five_out_of_seven"),
    *("cloze", "subjective", "correction"),
)
_LAWBENCH_TASKS: Final = {1: 2, 2: 10, 3: 8}
"""Chapter of LawBench → number of its tasks."""

BARE: Final[Mapping[str, Mapping[str, PeerPart]]] = {
    "templates": {
        "OlympiadBenchRawTemplate": PeerPart(f"{_DATASETS}.OlympiadBench.OlympiadBenchRawTemplate"),
        "OlympiadBenchTemplate": PeerPart(f"{_DATASETS}.OlympiadBench.OlympiadBenchTemplate"),
    },
    "postprocessors": {
        "ReCoRD": PeerPart(f"{_DATASETS}.record.ReCoRD_postprocess"),
        "Xsum": PeerPart(f"{_DATASETS}.xsum.Xsum_postprocess", {}, f"{_AIS_DATASETS}.xsum.Xsum_postprocess"),
        "arxivrollbench_choice_postprocess": PeerPart(f"{_DATASETS}.arxivrollbench.arxivrollbench_choice_postprocess"),
        "arxivrollbench_selection_postprocess": PeerPart(
            f"{_DATASETS}.arxivrollbench.arxivrollbench_selection_postprocess"
        ),
        "flores": PeerPart(f"{_DATASETS}.flores.flores_postprocess"),
        "flores-chinese": PeerPart(f"{_DATASETS}.flores.flores_postprocess_chinese"),
        "gsm8k": PeerPart(f"{_DATASETS}.gsm8k.gsm8k_postprocess", {}, f"{_AIS_DATASETS}.gsm8k.gsm8k_postprocess"),
    },
    "evaluators": {
        "AccScoreStr_Evaluator": PeerPart(f"{_DATASETS}.SeedBench.AccScoreStr_Evaluator"),
        "AverageRougeScoreEvaluator": PeerPart(f"{_DATASETS}.SeedBench.AverageRougeScoreEvaluator"),
        "CodeCompassEvaluator": PeerPart(f"{_DATASETS}.codecompass.evaluator.CodeCompassEvaluator"),
        "F1ScoreEvaluator": PeerPart(f"{_DATASETS}.SeedBench.F1ScoreEvaluator"),
        "FakeAlignmentJudgeEvaluator": PeerPart(
            f"{_DATASETS}.fake_alignment.fake_alignment.FakeAlignmentJudgeEvaluator"
        ),
        **{f"GaokaoBenchEvaluator_{kind}": PeerPart(_GAOKAO, {"question_type": kind}) for kind in _GAOKAO_KINDS},
        **{
            f"LawBenchEvaluator_{chapter}_{task}": PeerPart(
                f"{_DATASETS}.lawbench.lawbench.LawBenchEvaluator", {"index": f"{chapter}-{task}"}
            )
            for chapter, tasks in _LAWBENCH_TASKS.items()
            for task in range(1, tasks + 1)
        },
    },
}
"""Kind of part → registered name. Names that are ours too, such as ``AccEvaluator``, mean our part."""
