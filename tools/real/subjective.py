"""Subjective suites of OpenCompass with rows of our own: each judge says something else of each answer, often oddly."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace


class Judged(Struct, frozen=True):
    """A subjective suite.

    Attributes:
        module: its config file, below ``datasets.subjective``; one of another suite where `config` takes its datasets.
        files: path below the folder of data → its content.
        answers: text in a question → what the model or the judge answers. The judge comes first: its questions hold
            those of the model.
        config: further lines of the config.
        reads_itself: whether its evaluator names the function that reads the judge, so that it needs no summarizer.
    """

    module: str
    files: Mapping[str, Any]
    answers: Mapping[str, str]
    config: str = ""
    reads_itself: bool = False


_FOLDER: Final = "subjective"
_CHOICES: Final = (
    *("A++", "A+", "A=B", "B+", "B++", "C"),
    *("A", "A.", "CORRECT", "The answer is B", ""),
)
"""What judges of WildBench say, of which the second line has the wrong format."""


def suites() -> dict[str, Judged]:
    """Return name → suite."""
    return {
        "WildBench": _wildbench("wildbench.wildbench_pair_judge"),
        "WildBench, new": replace(_wildbench("wildbench.wildbench_pair_judge_new"), reads_itself=True),
        "MT-Bench": _mtbench("multiround.mtbench_single_judge_diff_temp"),
        "AlignBench": _alignbench("alignbench.alignbench_judgeby_critiquellm"),
        "Arena-Hard": _arena_hard("arena_hard.arena_hard_compare"),
        "FollowBench": _followbench("followbench.followbench_llmeval"),
        "FollowBench, new": replace(_followbench("followbench.followbench_llmeval_new"), reads_itself=True),
        "CompassArena": _compass_arena("compassarena.compassarena_compare"),
        "CompassArena, ratings": replace(
            _compass_arena("compassarena.compassarena_compare_bradleyterry"), config=_RATINGS, reads_itself=True
        ),
        "AlpacaEval": _alpaca("alpaca_eval.alpacav2_judgeby_gpt4"),
        "Fofo": _fofo("fofo.fofo_judge"),
        "CompassBench": _compass_bench(),
    }


def _given(answers: Sequence[Any]) -> str:
    """Return the answers of a base model as OpenCompass keeps them."""
    return json.dumps({str(n): {"prediction": answer} for n, answer in enumerate(answers)})


def _choice(said: str) -> str:
    return f'{{"analysis of A": "So.", "choice": "{said}"}}' if said in _CHOICES[:6] else said


def _wildbench(module: str) -> Judged:
    tags: Sequence[tuple[str, list[str]]] = (
        ("Math", []),
        ("Planning", ["Editing"]),
        ("Coding & Debugging", ["Math", "Others"]),
    )
    rows = [
        {
            "turn": [
                *([{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}] if n % 2 else []),
                {"role": "user", "content": f"(wild {n}) Advise me."},
            ],
            "checklist": ["Is it kind?", "Is it short?"],
            "primary_tag": tags[n % 3][0],
            "secondary_tag": tags[n % 3][1],
            "session_id": str(n),
        }
        for n in range(2 * len(_CHOICES))  # so many that each category has a verdict: without it they cannot average
    ]
    folders = {"gpt4": 0, "llama2-70b": 3, "claude": 7}
    said = {
        f"{folder} advises {n}.": _choice(_CHOICES[(n * (first + 1) + first) % len(_CHOICES)])
        for folder, first in folders.items()
        for n in range(len(rows))
    }
    return Judged(
        module,
        {f"{_FOLDER}/WildBench/wildbench.jsonl": rows}
        | {
            f"{_FOLDER}/WildBench/{folder}/wildbench.json": _given([f"{folder} advises {n}." for n in range(len(rows))])
            for folder in folders
        },
        said | {f"(wild {n})": f"Do what is wise, {n} times." for n in range(len(rows))},
    )


def _mtbench(module: str) -> Judged:
    kinds = {
        "mtbench_0.0": ("math", "coding", "reasoning", "extraction"),
        "mtbench_0.1": ("stem", "humanities"),
        "mtbench_0.7": ("writing", "roleplay"),
    }
    said = {
        "math": ("Rating: [[7]]", "Rating: 5", "[[6]]"),
        "coding": ("So. Rating: [[2.5]]", "Rating:  [[10]]"),
        "reasoning": ("Rating: [[3]]", ""),
        "extraction": ("Rating: [[4]] or Rating: [[5]]",),
        "stem": ("Rating: [[8]]", "A", "CORRECT"),
        "humanities": ("Rating: [[1]]", "<think>Rating: [[2]]</think>Rating: [[9]]"),
        "writing": ("Rating: [[6]]", "Rating: [[7]]", "Rating: [[9]]"),
        "roleplay": ("Rating: [[10]]", "The answer is B"),
    }
    files, judged, answers = {}, {}, {}
    for name, capabilities in kinds.items():
        rows = []
        for kind in capabilities:
            for n, one in enumerate(said[kind]):
                mark = f"mt {kind} {n}"
                turns = (f"({mark}) Write.", f"({mark} again) Shorter.")
                dialogue = [
                    {"role": role, "content": text}
                    for turn in turns
                    for role, text in (("user", turn), ("assistant", ""))
                ]
                others = {"reference": [f"First {mark}.", f"Second {mark}."]}
                rows.append({"dialogue": dialogue, "capability": kind, "others": others})
                judged[f"Assistant A:\nIt is written, {mark}."] = one
                answers[f"({mark} again)"] = f"Shorter, {mark}."
                answers[f"({mark})"] = f"It is written, {mark}."
        files[f"{_FOLDER}/mtbench/{name}.json"] = json.dumps(rows)
    return Judged(module, files, judged | answers)


def _alignbench(module: str) -> Judged:
    kinds = ("专业能力", "数学计算", "基本任务", "逻辑推理", "中文理解", "文本写作", "角色扮演", "综合问答")
    said = (
        "{'事实正确性': 8, '满足用户需求': 6, '清晰度': 7, '完备性': 5, '综合得分': 7}",
        "先 {'事实正确性': 1} 后\n{'事实正确性': 5, '逻辑连贯性': 9,\n'综合得分': 3}",
        "{'事实正确性': 11, '综合得分': 3}",
        "{'事实正确性': 4, '综合得分': 4}",
        "{'其他': 4, '综合得分': 3}",
        "综合得分: 3",
        "{'丰富度': 2, '综合得分': 10}",
        "{'丰富度': 3, '综合得分': 9}",
        "A",
        "",
        "{'清晰度': 3, '综合得分': 2}",
        "{'清晰度': 6, '综合得分': 6}",
        "{'完备性': 6, '综合得分': 8}",
    )
    rows = [
        {
            "question": f"(对齐 {n}) 写一句。",
            "capability": kinds[n % len(kinds)],
            "others": {"subcategory": "写作", "reference": f"参考 {n}。", "question_id": n},
        }
        for n in range(len(said))
    ]
    paths = {"dimension_set_filepath": "set.json", "dimension_def_filepath": "def.json",
             "subcategory_mapping": "map.json"}  # fmt: skip
    folder = f"{_FOLDER}/alignment_bench"
    config = {
        "multi-dimension": {"Paths": paths},
        "set": {"生成": ["事实正确性", "清晰度"]},
        "def": {"事实正确性": "事实是否正确。", "清晰度": "是否清楚。"},
        "map": {"写作": "生成"},
    }
    return Judged(
        module,
        {f"{folder}/alignment_bench.json": json.dumps(rows, ensure_ascii=False)}
        | {f"{folder}/config/{name}.json": json.dumps(one, ensure_ascii=False) for name, one in config.items()},
        {f"[助手的答案开始]\n第 {n} 句。": one for n, one in enumerate(said)}
        | {f"(对齐 {n})": f"第 {n} 句。" for n in range(len(said))},
    )


def _arena_hard(module: str) -> Judged:
    said = (
        *("[[A>B]]", "[[A>>B]]", "[[A=B]]", "[[B>A]]", "[[B>>A]]", "none", "[[A>B]] [[B>A]]", "[[A<B]]", "A", ""),
        *("My final verdict is tie: [[A=B]].", "<think>[[A>B]]</think>[[B>A]]"),
    )
    questions = len(said) // 2
    rows = [
        {"question_id": str(n), "cluster": f"cluster {n % 2}", "turns": [{"content": f"(arena {n}) Solve it."}]}
        for n in range(questions)
    ]
    return Judged(
        module,
        {
            f"{_FOLDER}/arena_hard/arenahard.jsonl": rows,
            f"{_FOLDER}/arena_hard/arenahard.json": _given([f"A base solution {n}." for n in range(questions)]),
        },
        {f"Assistant A's Answer|>\nA base solution {n}.": said[n] for n in range(questions)}
        | {f"Assistant B's Answer|>\nA base solution {n}.": said[questions + n] for n in range(questions)}
        | {f"(arena {n})": f"Solved {n}." for n in range(questions)},
    )


def _followbench(module: str) -> Judged:
    said = {
        1: ("YES", "```\nNO\n```", "I think so.\nYES", "A", ""),
        2: ("['YES', 'NO']", "So:\n['YES', 'YES']", "['YES']", "['YES', 'PARTIAL']", "YES"),
        3: ("['YES', 'NO', 'MAYBE']", "['YES', 'YES', 'YES']", "['YES', 'OK', 'NO']", "[YES, NO, NO]", "CORRECT"),
        4: ("['YES', 'NO', 'NO', 'True']", "['YES'] * 4", "['YES', 'YES', 'YES', 'YES']", "no list", "A."),
        5: ("['YES', 'NO', 'NO', 'True', 'N/A']", "['YES', 'YES', 'YES', 'YES', 'YES']", "", "[]", "['NO'] and more"),
    }
    files = {}
    answers: dict[str, str] = {}
    questions: dict[str, str] = {}
    for name, step in (("followbench_llmeval_cn", 1), ("followbench_llmeval_en", 2)):
        rows = []
        for level, replies in said.items():
            for n in range(len(replies)):
                mark = f"{name[-2:]} {level}.{n}"
                prompt = f"Does it follow the rules? {{prediction}} ({mark})"
                rows.append({"instruction": f"(follow {mark}) Obey.", "judge_prompt": prompt, "level": level})
                answers[f"Obeyed {mark}."] = replies[n // step]
                questions[f"(follow {mark})"] = f"Obeyed {mark}."
        files[f"{_FOLDER}/followbench/converted_data/{name}.json"] = json.dumps(rows)
    return Judged(module, files, answers | questions)


_STYLES: Final = (
    "# All\n- one\n- **two**\n- three",
    "Said in simple words, and at length.",
    "1. first\n2. __second__\n```\n# no header\n```",
    "## Part\n\n**bold** and **bolder**",
    "Yes.",
)
_RATINGS: Final = """
from opencompass.summarizers import CompassArenaBradleyTerrySummarizer
summarizer = dict(type=CompassArenaBradleyTerrySummarizer, num_bootstrap=2, num_cpu=1, groups=['capability'])
"""


def _compass_arena(module: str) -> Judged:
    said = (
        "Choice: A",
        "选择：B",
        "Choice: C",
        "A",
        "The answer is B",
        "",
        "So.\nChoice: B",
        "选择：C",
        "Choice: A.",
        "B",
    )
    names = ("language", "knowledge", "reason_v2", "math_v2", "creationv2_zh")
    files: dict[str, Any] = {}
    answers: dict[str, str] = {}
    questions: dict[str, str] = {}
    for place, name in enumerate(names):
        rows = [
            {"question": f"(compass {name} {n}) Reply.", "capability": f"part {n % 2}",
             "others": {"reference": "It is so." if n % 2 else None}}
            for n in range(5)
        ]  # fmt: skip
        files[f"{_FOLDER}/compass_arena/{name}.json"] = json.dumps(rows)
        given = [f"{_STYLES[n]}\nBase reply {name} {n}." for n in range(5)]
        files[f"{_FOLDER}/compass_arena/gpt4-turbo/compassarena_{name}.json"] = _given(given)
        for n, one in enumerate(given):
            answers[f"[回答1开始]\n{one}"] = said[(2 * n + place) % len(said)]
            answers[one] = said[(3 * n + place + 1) % len(said)]
            questions[f"(compass {name} {n})"] = f"{_STYLES[(2 * n + place) % 5]}\nReply {name} {n}."
    return Judged(module, files, answers | questions)


def _alpaca(module: str) -> Judged:
    said = ("m", "M", "m is better", "A", "", "Model M", "M.", "<think>m</think>M")
    rows = [
        {"question": f"(alpaca {n}) Tell me.", "capability": f"kind {n % 3}", "others": {}} for n in range(len(said))
    ]
    return Judged(
        module,
        {
            f"{_FOLDER}/alpaca_eval/alpaca_eval.json": json.dumps(rows),
            f"{_FOLDER}/alpaca_eval/gpt4-turbo/alpaca_eval.json": _given(
                [f"A base tale {n}." for n in range(len(said))]
            ),
        },
        {f"A base tale {n}.": one for n, one in enumerate(said)}
        | {f"(alpaca {n})": f"A tale {n}." for n in range(len(said))},
    )


def _fofo(module: str) -> Judged:
    said = ("'format_correctness': 1", '{"format_correctness": 0, "reasons": "no"}', "A", "", "format_correctness: 1",
            "'format_correctness': 1", "'format_correctness':  0")  # fmt: skip
    formats = ("Json", "CSV", "XML", "Law")
    rows = [
        {"instruction": f"(fofo {n}) Format it.", "id": n, "domain": f"domain {n % 2}", "sub_domain": "x",
         "format": formats[n % 4], "format_type": "general" if n % 4 < 3 else "domain-specific"}
        for n in range(len(said))
    ]  # fmt: skip
    return Judged(
        module,
        {f"{_FOLDER}/fofo/fofo_test_prompts.json": json.dumps(rows)},
        {f"Formatted {n}.": one for n, one in enumerate(said)}
        | {f"(fofo {n})": f"Formatted {n}." for n in range(len(said))},
    )


_LANGUAGE: Final = """
from opencompass.datasets import CompassBenchDataset
from opencompass.openicl.icl_evaluator import LMEvaluator
from opencompass.openicl.icl_inferencer import GenInferencer
from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.openicl.icl_retriever import ZeroRetriever
from opencompass.summarizers import CompassBenchSummarizer
asked, judged = (dict(type=PromptTemplate, template=dict(round=[dict(role='HUMAN', prompt=mark)]))
    for mark in ('{question}', '{judge_prompt}'))
datasets = [dict(abbr='language/' + name, type=CompassBenchDataset, path='data/subjective/compassbench', name=name,
    reader_cfg=dict(input_columns=['question', 'judge_prompt'], output_column='judge'),
    infer_cfg=dict(prompt_template=asked, retriever=dict(type=ZeroRetriever),
        inferencer=dict(type=GenInferencer)),
    eval_cfg=dict(evaluator=dict(type=LMEvaluator, prompt_template=judged), pred_role='BOT'),
    mode='m2n', infer_order='double', base_models=[dict(abbr='gpt4-turbo')],
    given_pred=[dict(abbr='gpt4-turbo', path='data/subjective/compassbench/gpt4-turbo')])
    for name in ('compassbench_2601_language_sub_chat', 'compassbench_2601_language_sub_nlp')]
summarizer = dict(type=CompassBenchSummarizer)
"""
"""Its summarizer knows these names of datasets only, and no file of OpenCompass has them."""


def _compass_bench() -> Judged:
    files: dict[str, Any] = {}
    answers: dict[str, str] = {}
    questions: dict[str, str] = {}
    folder = f"{_FOLDER}/compassbench"
    for place, name in enumerate(("chat", "nlp")):
        whole = f"compassbench_2601_language_sub_{name}"
        count = len(_CHOICES) - place
        rows = [
            {"question": f"(bench {name} {n}) Talk.", "language": "zh" if n % 2 else "en", "category": "talk",
             "others": {"level": 1}}
            for n in range(count)
        ]  # fmt: skip
        given = [f"Base talk {name} {n}." for n in range(count)]
        files[f"{folder}/{whole}.json"] = json.dumps(rows)
        # The last part of the path: a dataset with a slash in its name is a file in a folder.
        files[f"{folder}/gpt4-turbo/{whole}.json"] = _given(given)
        for n, one in enumerate(given):
            for start in ("[回答1开始]", "[Response 1 Start]"):
                answers[f"{start}\n{one}"] = _choice(_CHOICES[(3 * n + place) % len(_CHOICES)])
            answers[one] = _choice(_CHOICES[(2 * n + place + 1) % len(_CHOICES)])
            questions[f"(bench {name} {n})"] = f"Talk {name} {n}."
    return Judged("fofo.fofo_judge", files, answers | questions, _LANGUAGE)
