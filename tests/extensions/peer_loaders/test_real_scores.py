"""Evaluators and postprocessors give what those of the peers give on real answers, or their row says what differs.

With ``--peer-scores`` there is no difference. The answers are those of code-davinci-002 to BIG-Bench Hard, of SmolLM2
to it and GSM8K, of Qwen to GSM8K, IFEval and IQuiz (in Chinese), and of GPT-4 to MT-Bench.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final

import pytest

from ais_prompt.config import Faults
from ais_prompt.errors import MissingExtra
from ais_prompt.evaluators import AnswerBatch, make_evaluator
from ais_prompt.extensions.peers.code.calls import PostprocessCall
from ais_prompt.extensions.peers.code.evaluators import PeerEvaluator
from ais_prompt.extensions.peers.code.session import call_peer
from ais_prompt.extensions.peers.parts import Translation
from ais_prompt.extensions.peers.peer_packages import peer_package
from ais_prompt.extensions.peers.table import PEERS, find_row
from ais_prompt.extensions.peers.table.evaluators import EVALUATORS
from ais_prompt.extensions.peers.table.parts import POSTPROCESSORS as FUNCTIONS
from ais_prompt.registry import POSTPROCESSORS
from ais_prompt.types import SampleScore
from tests.support.real_data import BBH, REAL_DATA, needs

Pair = tuple[str, Any]
SMOLLM2: Final = REAL_DATA / "smollm2/answers.jsonl"
QWEN: Final = REAL_DATA / "foreign_logs/evalscope"
MT_BENCH: Final = REAL_DATA / "mt_bench/gpt-4.jsonl"
EACH: Final = 3
"""Answers of each file of BIG-Bench Hard."""
TOGETHER: Final = 30
"""Answers that are scored in one call."""

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not all(map(peer_package, PEERS)), reason="OpenCompass and AISBench are not there"),
    needs(BBH, SMOLLM2, QWEN, MT_BENCH),
]


@cache
def answers() -> list[Pair]:
    """Answers as they were given, with the golds."""
    rows = [
        json.loads(line) for file in sorted(BBH.glob("*.davinci_*.jsonl")) for line in file.open().readlines()[:EACH]
    ]
    small = [*map(json.loads, SMOLLM2.open())][::EACH]
    free = [turn for line in MT_BENCH.open() for turn in json.loads(line)["choices"][0]["turns"]]
    return [
        *((row["prediction"], row["target"]) for row in rows),
        *((row["answer"], row["gold"]) for row in small),
        *((row["sample_score"]["score"]["prediction"], row["target"] or "yes") for row in qwen()),
        *((turn, "C") for turn in free),
    ]


def qwen(name: str = "*") -> list[dict[str, Any]]:
    """Answers of two models to a dataset, with their scores by evalscope."""
    return [json.loads(line) for file in sorted(QWEN.glob(f"*/reviews/*/{name}.jsonl")) for line in file.open()]


def short() -> list[Pair]:
    """What follows "the answer is", or the last line."""
    return [(_announced(answer), gold) for answer, gold in answers()]


def letters() -> list[Pair]:
    """Labels without their brackets."""
    return [(re.sub(r"[()]", "", answer), re.sub(r"[()]", "", gold)) for answer, gold in short()]


def numbers() -> list[Pair]:
    """Answers whose gold is a number."""
    return [(answer, gold) for answer, gold in short() if re.fullmatch(r"[\d.]+", gold)]


def alternatives() -> list[Pair]:
    """Golds that are lists."""
    return [(answer, [gold, f"{gold.lower()} or so"]) for answer, gold in answers() + short()]


def options() -> list[Pair]:
    """Golds that are an option with its text."""
    return [(answer, f"{gold}. {gold}") for answer, gold in answers() + letters()]


def classes() -> list[Pair]:
    """Golds that are one of several classes."""
    every = sorted({gold for _, gold in answers()})
    return [(answer, {"answers": [gold], "all_classes": every}) for answer, gold in answers()]


def candidates() -> list[Pair]:
    """Golds that are one of several candidates."""
    return [(answer, {"candidates": [[gold, gold.lower()], ["zzz", "other"]], "label": 0}) for answer, gold in short()]


def paragraphs() -> list[Pair]:
    """Golds that are paragraphs."""
    return [(answer, [f"Paragraph {gold}"]) for answer, gold in numbers()]


def _announced(answer: str) -> str:
    found = re.findall(r"(?i)the answer is:?\s*(.+?)(?:\.\s*$|\.\n|$)", answer)
    return str(found[-1] if found else (answer.strip().splitlines() or [""])[-1]).strip()


_OC: Final = "opencompass.datasets"
_ICL: Final = "opencompass.openicl.icl_evaluator"
_AIS: Final = "ais_bench.benchmark.datasets"
SCORED: Final[Sequence[tuple[str, Callable[[], list[Pair]]]]] = (
    (f"{_ICL}.AccEvaluator", short),
    (f"{_ICL}.AccEvaluator", letters),
    (f"{_ICL}.AccwithDetailsEvaluator", letters),
    (f"{_OC}.AGIEvalEvaluator_mcq", letters),
    (f"{_OC}.bbh.BBHEvaluator", answers),
    (f"{_OC}.bbh.BBHEvaluator", short),
    (f"{_OC}.bbh.BBHEvaluator_mcq", letters),
    (f"{_AIS}.bbh.BBHEvaluator", answers),
    (f"{_AIS}.bbh.BBHEvaluator_mcq", letters),
    (f"{_OC}.gpqa.GPQAEvaluator", letters),
    (f"{_OC}.mgsm.MGSM_Evaluator", numbers),
    (f"{_ICL}.EMEvaluator", alternatives),
    (f"{_ICL}.EDAccEvaluator", candidates),
    (f"{_ICL}.BleuEvaluator", answers),
    (f"{_ICL}.RougeEvaluator", short),
    (f"{_ICL}.JiebaRougeEvaluator", answers),
    (f"{_OC}.mmlu_pro.MMLUProBaseEvaluator", options),
    (f"{_OC}.lambada.LambadaEvaluator", answers),
    (f"{_OC}.drop_simple_eval.DropOpenAIEvaluator", answers),
    (f"{_OC}.TriviaQAEvaluator", alternatives),
    (f"{_OC}.NQEvaluator", alternatives),
    (f"{_OC}.natural_question_cn.NQEvaluatorCN", alternatives),
    (f"{_OC}.LEvalEMEvaluator", answers),
    (f"{_OC}.longbench.LongBenchF1Evaluator", alternatives),
    (f"{_OC}.longbench.LongBenchRougeEvaluator", alternatives),
    (f"{_OC}.longbench.LongBenchClassificationEvaluator", classes),
    (f"{_OC}.longbench.LongBenchCodeSimEvaluator", alternatives),
    (f"{_OC}.longbench.LongBenchCountEvaluator", paragraphs),
    (f"{_OC}.longbench.LongBenchRetrievalEvaluator", paragraphs),
    (f"{_OC}.gsm8k.Gsm8kEvaluator", numbers),
    (f"{_AIS}.gsm8k.Gsm8kEvaluator", numbers),
    (f"{_OC}.math.MATHEvaluator", short),
    (f"{_AIS}.math.MATHEvaluator", short),
    ("opencompass.evaluator.MATHVerifyEvaluator", short),
)
"""Evaluator, and the answers that it scores."""
ELSEWHERE: Final = {
    "AveragePPLEvaluator": "it scores perplexities; make real compares them",
    "BFCLRelevanceEvaluator": "it looks for calls of tools, which these answers have not",
    "BFCLSingleTurnEvaluator": "it compares calls of tools, which these answers have not",
    "CascadeEvaluator": "it asks a judge; make real compares them",
    "CircularEvaluator": "test_scores compares it on answers to circular questions",
    "GenericLLMEvaluator": "it asks a judge; make real compares them",
    "HumanEvalEvaluator": "it runs programs, which these answers are not",
    "HumanEvaluator": "it only keeps the answers",
    "MBPPEvaluator": "it runs programs, which these answers are not",
    "MBPPPassKEvaluator": "it runs programs, which these answers are not",
    "SquadEvaluator": "the wheel of OpenCompass lacks a file that it reads",
}
"""Evaluator → why real answers are no test of it."""


def test_every_evaluator_with_a_counterpart_is_compared() -> None:
    compared = [find_row("evaluators", path) for path, _ in SCORED]
    assert {row.name for row in EVALUATORS if row not in compared} == ELSEWHERE.keys()


@pytest.mark.parametrize(("path", "given"), SCORED, ids=lambda one: getattr(one, "__name__", one))
def test_scores_of_each_answer(path: str, given: Callable[[], list[Pair]]) -> None:
    row = find_row("evaluators", path)
    assert row is not None
    if row.differs:  # then --peer-scores runs their code
        part = Translation(Faults(str), peer_scores=True).part("evaluators", {"type": path}, "")
        assert part == {"type": "PeerEvaluator", "cls": path}
        return
    pairs = given()
    try:
        for start in range(0, len(pairs), TOGETHER):
            assert _different(path, pairs[start : start + TOGETHER]) == []
    except MissingExtra as error:
        pytest.skip(str(error))


@cache
def _evaluator(path: str) -> Any:
    part = Translation(Faults(str)).part("evaluators", {"type": path}, "")
    return make_evaluator(part["type"], {key: value for key, value in part.items() if key != "type"})


def _different(path: str, pairs: Sequence[Pair]) -> list[Pair]:
    """Return the answers whose scores differ, found by halving: one call of their code takes a tenth of a second."""
    if _is_equal(_ours(path, pairs), _theirs(path, pairs)):
        return []
    half = len(pairs) // 2
    return [*_different(path, pairs[:half]), *_different(path, pairs[half:])] if half else [*pairs]


def _ours(path: str, pairs: Sequence[Pair]) -> dict[str, float | None]:
    evaluator = _evaluator(path)
    samples = [SampleScore(str(n), "scored", *pair, evaluator.score(*pair)) for n, pair in enumerate(pairs)]
    return {score.metric: score.value for score in evaluator.aggregate(samples)}


def _theirs(path: str, pairs: Sequence[Pair]) -> dict[str, float]:
    predictions, golds = zip(*pairs, strict=True)
    rows = [{"question": ""}] * len(pairs)
    batch = AnswerBatch([*predictions], [*golds], [""] * len(pairs), rows=lambda: rows)
    return dict(PeerEvaluator(path).score_all(batch).metrics)


def _is_equal(ours: dict[str, float | None], theirs: dict[str, float]) -> bool:
    """Return whether values are equal, as percent or as they are, of the main metric where no name is the same."""
    shared = ours.keys() & theirs.keys()
    pairs = [(ours[name], theirs[name]) for name in shared]
    pairs = pairs or [(next(iter(ours.values())), next(iter(theirs.values())))]
    return all(any(abs(scale * (one or 0.0) - other) < 1e-6 for scale in (1, 100)) for one, other in pairs)


ARGUMENTS: Final[dict[str, Sequence[dict[str, Any]]]] = {
    "first_option_postprocess": [{"options": "ABCDEF"}],
    "last_option_postprocess": [{"options": "ABCDEF"}],
    "match_answer_pattern": [{"answer_pattern": r"(?i)answer is:?\s*(\S+)"}],
    "mathbench_postprocess": [{"name": "single_choice_en"}, {"name": "single_choice_cn"}],
    "mgsm_postprocess": [{"lang": "en"}, {"lang": "zh"}, {"lang": "de"}],
    "xml_tag_postprocessor": [{"tag": "answer"}],
}
READ: Final = {
    **dict.fromkeys(("match_answer_pattern", "xml_tag_postprocessor"), "opencompass.utils.text_postprocessors"),
    "GPQA_Simple_Eval_postprocess": f"{_OC}.gpqa",
    "ReCoRD_postprocess": f"{_OC}.record",
    "Xsum_postprocess": f"{_OC}.xsum",
    "bbh_freeform_postprocess": f"{_OC}.bbh",
    "bbh_mcq_postprocess": f"{_OC}.bbh",
    "cmrc_postprocess": f"{_OC}.cmrc",
    "drcd_postprocess": f"{_OC}.drcd",
    "gsm100_dataset_postprocess": f"{_OC}.leval.leval_gsm100",
    "gsm100_postprocess": f"{_OC}.leval.leval_gsm100",
    "gsm8k_postprocess": f"{_OC}.gsm8k",
    "humaneval_postprocess_v2": f"{_OC}.humaneval",
    "humaneval_postprocess_v3": f"{_OC}.humaneval",
    "lcsts_postprocess": f"{_OC}.lcsts",
    "lsht_postprocess": f"{_OC}.longbench.longbench_lsht",
    "math_judement_preprocess": f"{_OC}.math",
    "math_postprocess": f"{_OC}.math",
    "math_postprocess_v2": f"{_OC}.math",
    "mathbench_postprocess": f"{_OC}.mathbench",
    "mgsm_postprocess": f"{_OC}.mgsm",
    "samsum_postprocess": f"{_OC}.longbench.longbench_samsum",
    "strategyqa_dataset_postprocess": f"{_OC}.strategyqa",
    "strategyqa_pred_postprocess": f"{_OC}.strategyqa",
    "trec_postprocess": f"{_OC}.longbench.longbench_trec",
    "triviaqa_postprocess": f"{_OC}.longbench.longbench_trivia_qa",
}
"""Function → its module; the others are in ``opencompass.utils.text_postprocessors``."""
NOT_READ: Final = {
    "generic_llmjudge_postprocess": "it reads verdicts of a judge",
    "gsm8k_dataset_postprocess": "it reads golds",
    "humaneval_postprocess": "the module cannot be imported",
}
NOTHING: Final = ("", None, "NULL", "NO ANSWER FOUND")


CALLS: Final = [
    (name, args)
    for name in sorted({row.name for row in FUNCTIONS if not row.module} - NOT_READ.keys())
    for args in ARGUMENTS.get(name, [{}])
]


@pytest.mark.parametrize(("name", "args"), CALLS, ids=lambda one: one if isinstance(one, str) else "")
def test_what_is_read_in_each_answer(name: str, args: dict[str, Any]) -> None:
    path = f"{READ.get(name, 'opencompass.utils.text_postprocessors')}.{name}"
    row = find_row("postprocessors", path)
    assert row is not None
    texts = [answer for answer, _ in answers()]
    part = {"type": path, **args}
    try:
        theirs = call_peer(PostprocessCall(path, args, texts), path, 60)
    except MissingExtra as error:
        pytest.skip(str(error))
    assert row.differs or _read(Translation(Faults(str)), part, texts) == list(map(_text, theirs))
    exact = _read(Translation(Faults(str), peer_scores=True), part, texts)
    assert exact is None or exact == list(map(_text, theirs))


def _read(translation: Translation, part: dict[str, Any], texts: Sequence[str]) -> list[Any] | None:
    """Return what our function finds in texts; None if that of the peer runs."""
    ours = translation.part("postprocessors", part, "")
    if ours["type"] == "PeerPostprocessor":
        return None
    find = POSTPROCESSORS.function(ours["type"], {key: value for key, value in ours.items() if key != "type"})
    return [_text(find(text)) for text in texts]


def _text(found: Any) -> Any:
    return None if found in NOTHING else str(found).strip()


def test_instructions_are_followed_as_they_and_evalscope_say() -> None:
    pytest.importorskip("if_verifiable")
    path = f"{_OC}.IFEval.ifeval.IFEvaluator"
    evaluator = make_evaluator("InstructionEvaluator", {"benchmark": "ifeval"})
    names = {
        "prompt_strict": ("Prompt-level-strict-accuracy", "prompt_level_strict"),
        "prompt_loose": ("Prompt-level-loose-accuracy", "prompt_level_loose"),
        "instruction_strict": ("Inst-level-strict-accuracy", "inst_level_strict"),
        "instruction_loose": ("Inst-level-loose-accuracy", "inst_level_loose"),
    }
    needs_data = ("capital_word_frequency", "number_sentences")  # those of NLTK, which may be absent
    for row in qwen("ifeval*"):
        score, gold = row["sample_score"]["score"], row["sample_score"]["sample_metadata"]
        if any(name.endswith(needs_data) for name in gold["instruction_id_list"]):
            continue
        kept = [{key: value for key, value in one.items() if value is not None} for one in gold["kwargs"]]
        ours = evaluator.score(score["prediction"], {**gold, "kwargs": kept})
        theirs = _theirs(path, [(score["prediction"], gold)])
        for name, (of_peer, of_evalscope) in names.items():
            assert 100 * ours[name] == pytest.approx(theirs[of_peer])
            assert ours[name] == pytest.approx(score["value"][of_evalscope])
