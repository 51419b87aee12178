"""Ids of OpenCompass for data, and the archives that hold them."""

from __future__ import annotations

from typing import Final

LOCAL_PATHS: Final = {
    f"opencompass/{name}": f"data/{path}"
    for name, path in {
        "OCNLI-dev": "CLUE/OCNLI/dev.json",
        "ChemBench": "ChemBench",
        "LCSTS": "LCSTS",
        "LiveMathBench": "LiveMathBench",
        "LiveMathBench202412": "LiveMathBench",
        "Longbench": "Longbench",
        "WikiBench": "WikiBench",
        "kcle": "kcle_diamond.jsonl",
        "kcle_fix": "kcle_diamond_fix_251029.jsonl",
        "livestembench": "livestembench",
        "QASPER": "QASPER/qasper-dev-v0.3.json",
        "SVAMP": "svamp/SVAMP.jsonl",
        "afqmc-dev": "CLUE/AFQMC/dev.json",
        "ai2_arc-dev": "ARC/ARC-c/ARC-Challenge-Dev.jsonl",
        "ai2_arc-easy-dev": "ARC/ARC-e/ARC-Easy-Dev.jsonl",
        "ai2_arc-test": "ARC/ARC-c/ARC-Challenge-Test.jsonl",
        "aime2024": "aime.jsonl",
        "aime2025": "aime2025/aime2025.jsonl",
        "aime2026": "aime2026/aime2026.jsonl",
        "bbh": "BBH/data",
        "boolq": "SuperGLUE/BoolQ/val.jsonl",
        "ceval-exam": "ceval/formal_ceval",
        "cmmlu": "cmmlu",
        "cmnli-dev": "CLUE/cmnli/cmnli_public/dev.json",
        "cmo_fib": "cmo.jsonl",
        "cmrc_dev": "CLUE/CMRC/dev.json",
        "commonsense_qa": "commonsenseqa",
        "drcd_dev": "CLUE/DRCD/dev.json",
        "gsm8k": "gsm8k",
        "gsm_hard": "gsm-hard/test.jsonl",
        "hellaswag": "hellaswag/hellaswag.jsonl",
        "hellaswag_ice": "hellaswag",
        "hmmt2026": "hmmt2026/hmmt_feb_2026.jsonl",
        "humaneval": "humaneval/human-eval-v2-20210705.jsonl",
        "humaneval_cn": "humaneval_cn/human-eval-cn-v2-20210705.jsonl",
        "lambada": "lambada/test.jsonl",
        "math": "math",
        "mbpp": "mbpp/mbpp.jsonl",
        "mbpp_plus": "mbpp_plus/mbpp_plus.jsonl",
        "mgsm": "mgsm",
        "mmlu": "mmlu",
        "mmlu_pro": "mmlu_pro",
        "natural_question": "nq",
        "nq_open": "nq-open",
        "openbookqa_fact": "openbookqa/Additional/test_complete.jsonl",
        "openbookqa_test": "openbookqa/Main/test.jsonl",
        "piqa": "piqa",
        "race": "race",
        "sanitized_mbpp": "mbpp/sanitized-mbpp.jsonl",
        "siqa": "siqa",
        "strategy_qa": "strategyqa/strategyQA_train.json",
        "summedits": "summedits/summedits.jsonl",
        "trivia_qa": "triviaqa",
        "winogrande": "winogrande",
        "xstory_cloze": "xstory_cloze",
        "xsum": "Xsum/dev.jsonl",
    }.items()
}
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
