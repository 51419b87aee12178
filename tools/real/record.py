"""Record what rules of the peers say, with their own code: ``ENV/bin/python tools/real/record.py FILE``.

ENV is an environment with both wheels, such as the one of ``python -m tools.real``. The tests compare our rules with
the file, so that they need no peer. Its keys:

- ``verdicts``: judge → reply → whether the answer is right,
- ``thoughts``: text → text without thoughts,
- ``repeats``: peer → each table of right and wrong repeats with its numbers,
- ``tables``: summarizer → replies of a judge with its numbers.

Beside FILE it writes ``ratings.json``: ``matches`` of dataset → base model → model, and ``tables`` of them.
"""

import csv
import json
import random
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy
import pandas
import tiktoken
from ais_bench.benchmark.datasets.utils.llm_judge import LLMJudgeCorrectEvaluator, get_a_or_b
from ais_bench.benchmark.openicl.icl_evaluator.icl_base_evaluator import BaseEvaluator as AISBenchEvaluator
from datasets import Dataset
from mmengine import ConfigDict
from opencompass.datasets import compassarena_bradleyterry_postprocess
from opencompass.datasets.generic import generic_llmjudge_academic_postprocess, generic_llmjudge_postprocess
from opencompass.datasets.Medbullets import medbullets_llmjudge_postprocess
from opencompass.datasets.medmcqa import medmcqa_llmjudge_postprocess
from opencompass.datasets.MedXpertQA import MedXpertQA_llmjudge_postprocess
from opencompass.datasets.supergpqa.supergpqa import supergpqa_llmjudge_postprocess
from opencompass.evaluator import CascadeEvaluator
from opencompass.openicl.icl_evaluator.icl_base_evaluator import BaseEvaluator as OpenCompassEvaluator
from opencompass.summarizers.subjective import alignmentbench, arenahard, compass_arena_bradley_terry
from opencompass.summarizers.subjective.compass_arena import CompassArenaSummarizer
from opencompass.summarizers.subjective.compassbench import CompassBenchSummarizer
from opencompass.summarizers.subjective.mtbench import post_process_mtbench_single
from opencompass.summarizers.subjective.mtbench101 import get_final_results, post_process_mtbench101
from opencompass.summarizers.subjective.wildbench import WildBenchPairSummarizer
from opencompass.utils.text_postprocessors import extract_non_reasoning_content

REPLIES = (
    *("A", "B", "A.", "B.", " A\n", "a", "b", "C", "", "AB", "A B", "(A)", "[[A]]", "[[B]]", "\\boxed{A}", "**B**"),
    *("CORRECT", "CORRECT.", "Correct, I think.", "INCORRECT", "NOT CORRECT", "A: CORRECT", "B: INCORRECT"),
    *("The answer is A", "The answer is B", "The answer is B.", "Based on the gold: A", "Answer: A", "ANSWER: B"),
    *("I say A and not B", "It is wrong", "It is right", "结论：A", "结论：B。", "Grade\n\nA", "Grade\n\nB\n"),
    *("<think>Maybe B</think>A", "<think>Maybe A</think>\nB", "<think>A or", "no thought</think>A", "<think></think>"),
)
TEXTS = (
    *(
        "18",
        "<think>x</think>18",
        "<think>x</think>\n 18 \n",
        "x</think>18",
        "<think>never ends 18",
        "<think>",
        "</think>",
    ),
    *("a<think>b</think>c<think>d</think>e", "a<think>b</think>c<think>d", "<think>a<think>b</think>c</think>d", ""),
    "<think>a</think>b</think>c",
)
ROWS = {
    "subject_name": "s", "choice_type": "c", "topic_name": "t", "question": "q", "options": "o", "discipline": "d",
    "field": "f", "subfield": "u", "medical_task": "m", "body_system": "b", "question_type": "q", "label": "A",
}  # fmt: skip
REPEATS = (
    ((1, 1), (1, 0), (0, 1), (0, 0)),
    ((1, 0, 1, 0), (1, 1, 1, 0), (0, 0, 0, 1)),
    ((1, 1, 1, 1, 1), (0, 0, 0, 0, 0), (1, 0, 0, 0, 0), (1, 1, 1, 0, 1)),
    ((0, 0, 0),),
)
"""Tables of right and wrong: question → repeat → whether it is right."""


class _Loaded:
    """A dataset as functions of OpenCompass get it."""

    def __init__(self) -> None:
        self.reader = self
        self.dataset = {"test": Dataset.from_list([ROWS])}


def verdicts() -> dict[str, dict[str, bool]]:
    """Return judge → reply → whether the answer is right."""
    counted = {
        function.__name__: {reply: _accuracy(function, reply) > 0 for reply in REPLIES}
        for function in (
            generic_llmjudge_postprocess,
            generic_llmjudge_academic_postprocess,
            medbullets_llmjudge_postprocess,
            medmcqa_llmjudge_postprocess,
            MedXpertQA_llmjudge_postprocess,
            supergpqa_llmjudge_postprocess,
        )
    }
    cascade = {reply: CascadeEvaluator._get_llm_correctness(None, {"prediction": reply}) for reply in REPLIES}
    evaluator = LLMJudgeCorrectEvaluator()
    read = {reply: evaluator.score([get_a_or_b(reply)], [""])["accuracy"] > 0 for reply in REPLIES}
    whole = {reply: evaluator.score([reply], [""])["accuracy"] > 0 for reply in REPLIES}
    return {**counted, "CascadeEvaluator": cascade, "get_a_or_b": read, "LLMJudgeCorrectEvaluator": whole}


def _accuracy(function: Any, reply: str) -> float:
    output = {"0": {"origin_prompt": "", "prediction": reply, "gold": "A"}}
    needs_rows = "dataset" in function.__code__.co_varnames[: function.__code__.co_argcount]
    found: Mapping[str, Any] = function(output, "", **({"dataset": _Loaded()} if needs_rows else {}))
    return float(found["accuracy"])


def repeats() -> dict[str, list[dict[str, Any]]]:
    """Return peer → each table with the numbers for it, for one k and for several."""
    found: dict[str, list[dict[str, Any]]] = {"opencompass": [], "ais_bench": []}
    for table in REPEATS:
        n = len(table[0])
        for k in (1, n, *((list(range(1, n + 1)),) if n > 2 else ())):
            for peer, base in (("opencompass", OpenCompassEvaluator), ("ais_bench", AISBenchEvaluator)):
                found[peer].append({"right": table, "k": k, "numbers": _repeated(base, table, k)})
    return found


def _repeated(base: Any, table: Any, k: Any) -> dict[str, float]:
    class Evaluator(base):  # type: ignore[misc]
        def score(self, predictions: Any) -> dict[str, Any]:
            details = [{"correct": bool(right)} for right in predictions]
            return {"accuracy": 100 * sum(predictions) / len(predictions), "details": details}

    n = len(table[0])
    in_turn = base is AISBenchEvaluator
    right = [one for row in table for one in row] if in_turn else [row[i] for i in range(n) for row in table]
    places = [row for row in range(len(table)) for _ in range(n)] if in_turn else [*range(len(table))] * n
    rows = Dataset.from_list([{"subdivision": "gsm8k_test", "idx": place} for place in places])
    numbers = Evaluator().evaluate(k, n, rows, predictions=right)
    return {key: float(value) for key, value in numbers.items() if key != "details"}


WILDBENCH_REPLIES = (
    *('"choice": "A++"', '"choice": "A+"', '"choice": "A=B"', '"choice": "B+"', '"choice": "B++"', '"choice": "C"'),
    *("no choice", '"choice": "A++"', '"choice": "B+"', '"choice": "B++", "choice": "A++"'),
)
ARENA_REPLIES = (
    *("[[A>B]]", "[[A>>B]]", "[[A=B]]", "[[B>A]]", "[[B>>A]]", "none", "[[A=B]]", "[[A>B]] [[B>A]]", "[[B>A]]"),
    *("[[A>B]]", "[[B>>A]]", "[[A>B]]", "[[A<B]]", "[[B>A]]", "[[A>B]]", "[[A>>B]]"),
)
ALIGN_REPLIES = (
    "{'事实正确性': 8, '满足用户需求': 6, '清晰度': 7, '完备性': 5, '综合得分': 7}",
    "first {'事实正确性': 1} then\n{'事实正确性': 5, '逻辑连贯性': 9,\n'综合得分': 3}",
    "{'事实正确性': 11, '综合得分': 3}",
    "{'事实正确性': 4}",
    "{'其他': 4, '综合得分': 3}",
    "事实正确性: 4, 综合得分: 3",
    "{'丰富度': 2, '综合得分': 10}",
)

CAPABILITIES = ("数学计算", "逻辑推理", "基本任务", "综合问答", "文本写作", "角色扮演", "专业能力")
COMPASS_REPLIES = (
    *("Choice: A", "选择：B", "Choice: C", "A", "", "So.\nChoice: B", "选择：C", "Choice: A or Choice: B", "选择: A"),
    *("Choice: D", "Choice: B", "Choice: A"),
)
MT_REPLIES = (
    *("Rating: [[7]]", "So. Rating: [[2.5]]", "Rating: 5", "[[6]]", "Rating:  [[10]]", "A", "", "Rating: [[3]] [[4]]"),
    *("Rating: [[4]] or Rating: [[5]]", "<think>Rating: [[2]]</think>Rating: [[9]]", "rating: [[1]]"),
)


def tables() -> dict[str, list[dict[str, Any]]]:
    """Return summarizer → the replies of a judge with the numbers of its table."""
    replies = {
        "ArenaHardSummarizer": (_arena, ARENA_REPLIES),
        "CompassArenaSummarizer": (_compass_arena, COMPASS_REPLIES),
        "CompassBenchSummarizer": (_compass_bench, WILDBENCH_REPLIES),
        "WildBenchPairSummarizer": (_wildbench, WILDBENCH_REPLIES),
    }
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in replies}
    for base in ("gpt4-0314", "other"):
        for names in (("mine", base), (base, "mine")):
            for name, (count, said) in replies.items():
                known = [
                    {
                        "answer1": names[n % 3 == 0],
                        "answer2": names[n % 3 != 0],
                        "primary_tag": "Math",
                        "secondary_tag": ["Editing"],
                        "question": f"{n % 5}",
                        "capability": f"{n % 2}",
                    }
                    for n in range(len(said))
                ]
                output = [[reply, one] for reply, one in zip(said, known, strict=True)]
                found[name].append({"output": output, "base": base, "numbers": count(output, base)})
    half = {"summary_type": "half_add"}
    found["CompassArenaSummarizer"] += [
        {**case, "args": half, "numbers": _compass_arena(case["output"], case["base"], **half)}
        for case in found["CompassArenaSummarizer"]
    ]
    rated = [[reply, {"capability": CAPABILITIES[n % len(CAPABILITIES)]}] for n, reply in enumerate(ALIGN_REPLIES)]
    found["AlignmentBenchSummarizer"] = [{"output": rated, "base": "", "numbers": _alignbench(rated)}]
    turns = [{"task": f"{n % 2}", "multi_id": str(n % 5)} for n in range(len(MT_REPLIES))]
    rated = [[reply, dict(one)] for reply, one in zip(MT_REPLIES, turns, strict=True)]
    found["MTBench101Summarizer"] = [{"output": rated, "base": "", "numbers": _mt_bench_101(rated)}]
    rated = [[reply, {}] for reply in MT_REPLIES]
    found["MTBenchSummarizer"] = [{"output": rated, "base": "", "numbers": _mt_bench()}]
    return found


def _wildbench(output: Any, base: str) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        summary = WildBenchPairSummarizer(_run(folder, output, base, "w")).summarize("t")
    return {"score": summary["Wildbench"]["judge"]["mine"]["score"]}


def _compass_arena(output: Any, base: str, **options: str) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        summary = CompassArenaSummarizer(_run(folder, output, base, "c"), **options).summarize("t")
    return {"score": float(summary["CompassArena"]["judge"]["mine"]["c"])}


def _compass_bench(output: Any, base: str) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        scores = CompassBenchSummarizer(_run(folder, output, base, "language/c")).get_score("t")
    return {"score": scores["judge"]["language/c"]["mine"]["language/c"]}


def _run(folder: str, output: Any, base: str, dataset: str) -> ConfigDict:
    """Write the replies as a run has them; return its config."""
    _write(output, Path(folder) / f"results/{base}_mine_judged-by--judge/{dataset}.json")
    return ConfigDict(
        work_dir=folder,
        datasets=[{"abbr": dataset, "base_models": [{"abbr": base, "type": "x"}]}],
        judge_models=[{"abbr": "judge", "type": "x"}],
        eval={"partitioner": {"models": [{"abbr": "mine", "type": "x"}]}},
    )


def _mt_bench() -> dict[str, float]:
    ratings = [one["score"] for one in map(post_process_mtbench_single, MT_REPLIES) if one]
    return {"total": sum(ratings) / len(ratings), "rated": len(ratings)}


def _arena(output: Any, base: str) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        _write(output, Path(folder) / "a.json")
        battles = arenahard.get_battles_from_judgment({"abbr": "a"}, folder, arenahard.post_process_compass_arena)
    battles = battles.reset_index(drop=True)
    ratings = arenahard.compute_mle_elo(battles)
    numpy.random.seed(42)
    rounds = arenahard.get_bootstrap_result(battles, arenahard.compute_mle_elo, 100)
    stats = pandas.DataFrame({"model": ratings.index, "score": ratings.values})
    for name, quantile in (("lower", 2.5), ("upper", 97.5)):
        stats[name] = [numpy.percentile(rounds[model], quantile) for model in stats["model"]]
    stats = stats.sort_values(by="model").reset_index(drop=True)
    rates = {name: arenahard.get_win_rate_column(stats, name, base) for name in ("score", "lower", "upper")}
    return {name: float(rate["mine"]) for name, rate in rates.items()}


def _mt_bench_101(output: Any) -> dict[str, float]:
    read = [(post_process_mtbench101(reply), known) for reply, known in output]
    answers, references = zip(*((one, known) for one, known in read if one), strict=True)
    with tempfile.TemporaryDirectory() as folder:
        return {"average": get_final_results(answers, references, folder, 0, "mine", "judge")}


def _alignbench(output: Any) -> dict[str, float]:
    read = [(alignmentbench.post_process_alignbench(reply), known) for reply, known in output]
    answers, references = zip(*((one, known) for one, known in read if one), strict=True)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "dimension.csv"
        alignmentbench.get_dimension_results(answers, references, file, 0, "mine")
        head, row = csv.reader(file.open(encoding="utf-8"))
        file = Path(folder) / "capability.csv"
        alignmentbench.get_capability_results(answers, references, file, 0, "mine")
        _, _, names, numbers = csv.reader(file.open(encoding="utf-8"))
    pairs = [*zip(head[1:], row[1:], strict=True), *zip(names[1:], numbers[1:], strict=True)]
    return {name: float(number) for name, number in pairs}


RATED = {"north": ("old", "older"), "south": ("old",)}
"""Dataset → base models."""
MODELS = ("long", "plain", "terse")
TEXTS_OF_STYLE = (
    "# Answer\n- one\n- two\n**three** and more words",
    "A word.",
    "1. first\n2. second\n```\n# no header\n```\nIt ends here, __so__ it ends.",
    "## Part\n\ntext text text\n\n## Part\n\n**bold** text, **bolder** text",
    "Many plain words without any sign of style, and then a few more of them.",
)
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"with_control_vars": False},
    {"groups": ["capability"]},
    {"groups": ["capability"], "normalize_style_features": False},
)


def ratings() -> dict[str, Any]:
    """Return battles of several models, and what the summarizer makes of them; a word is a token."""
    tiktoken.encoding_for_model = lambda _: SimpleNamespace(encode=lambda text, **_: text.split())
    drawn = random.Random(58)
    matches: dict[str, Any] = {}
    for dataset, bases in RATED.items():
        for base in bases:
            for place, model in enumerate(MODELS):
                output = {}
                for n in range(9):
                    names = [model, base] if drawn.random() < 0.5 and dataset == "north" else [base, model]
                    said = drawn.choices("ABCD", [4 - place, 2 + place, 2, 1])[0]  # D is no verdict
                    known = {"capability": f"part {n % 3}", "answer1": names[0], "answer2": names[1]}
                    texts = {f"prediction{number}": drawn.choice(TEXTS_OF_STYLE) for number in (1, 2)}
                    output[str(n)] = {"prediction": f"Choice: {said}", "gold": known | texts}
                found = compassarena_bradleyterry_postprocess(output, "")["matches"]
                for match in found:
                    del match["prediction1"], match["prediction2"]
                matches.setdefault(dataset, {}).setdefault(base, {})[model] = found
    tables = [{"options": options, **_ratings(matches, options)} for options in OPTIONS]
    return {"source": "OpenCompass 0.5.4, Apache-2.0, from answers of our own", "matches": matches, "tables": tables}


def _ratings(matches: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the numbers of the summarizer.

    Returns:
        ``rows``: dataset (empty for all), base model, model, rating, predicted win rate, battles; ``odds``: of all
        datasets, covariate → odds ratio.
    """
    models = [{"abbr": name, "type": "x"} for name in MODELS]
    config = ConfigDict(
        datasets=[
            {"abbr": name, "base_models": [{"abbr": base, "type": "x"} for base in bases], "infer_cfg": {}}
            for name, bases in RATED.items()
        ],
        judge_models=[{"abbr": "judge", "type": "x"}],
        models=models,
        eval={"partitioner": {"models": models}},
        summarizer={},
    )
    compass_arena_bradley_terry.get_prompt_hash = lambda _: ""  # of prompts, which there are none of
    with tempfile.TemporaryDirectory() as folder:
        for dataset, bases in matches.items():
            for base, battles in bases.items():
                for model, found in battles.items():
                    file = Path(folder) / f"results/{base}_{model}_judged-by--judge/{dataset}.json"
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text(json.dumps({"matches": found}), "utf-8")
        config.work_dir = folder
        rater = compass_arena_bradley_terry.CompassArenaBradleyTerrySummarizer
        rater(config, num_bootstrap=2, num_cpu=1, **options).summarize(time_str="t")
        of_each = pandas.read_csv(f"{folder}/summary/summary_t_by_judge.csv")
        whole = pandas.read_csv(f"{folder}/summary/summary_t_all_scores_df.csv")
        odds = json.loads((Path(folder) / "summary/summary_t_all_scores_ctrl_coefs.json").read_text("utf-8"))["judge"]
    columns = ["dataset", "base_model", "model_name", "rating", "predicted_win_rate", "num_battles"]
    joined = whole.assign(dataset="", base_model=RATED["south"][0])
    rows = [*of_each[columns].values.tolist(), *joined[columns].values.tolist()]
    return {"rows": rows, "odds": odds or {}}


def _write(output: Any, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    entries = {str(n): {"prediction": reply, "gold": known} for n, (reply, known) in enumerate(output)}
    file.write_text(json.dumps(entries), "utf-8")


if __name__ == "__main__":
    table = {
        "verdicts": verdicts(),
        "thoughts": {text: extract_non_reasoning_content(text) for text in TEXTS},
        "repeats": repeats(),
        "tables": tables(),
    }
    rated = json.dumps(ratings(), ensure_ascii=False)
    Path(sys.argv[1]).with_name("ratings.json").write_text(rated + "\n", "utf-8")
    Path(sys.argv[1]).write_text(json.dumps(table, indent=1, ensure_ascii=False) + "\n", "utf-8")
