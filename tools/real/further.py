"""More datasets in the layout of their files, with rows of our own: kinds that `tools.real.suite` does not have."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from tools.real.suite import Suite, opencompass, questions


def generation() -> Suite:
    """Return datasets of OpenCompass that a chat model answers."""
    suite = Suite()
    languages = ("bn", "de", "en", "es", "fr", "ja", "ru", "sw", "te", "th", "zh")
    prefixes = {"de": "Antwort", "es": "Respuesta", "ja": "答え", "zh": "答案"}
    suite.add(
        "mgsm.mgsm_gen_d967bc",
        {f"mgsm/mgsm_{one}.tsv": f"(mgsm {one}) 7 + 5?\t12\n(mgsm {one}) 1,000 + 1?\t1,001\n" for one in languages},
        {f"(mgsm {one})": f"7 + 5 = 12.\n{prefixes.get(one, 'Answer')}: 12" for one in languages},
    )
    suite.add(
        "gsm_hard.gsmhard_gen_8a1400",
        {"gsm-hard/test.jsonl": [{"input": f"(hard {n}) Add.", "target": gold} for n, gold in enumerate(HARD)]},
        {f"(hard {len(HARD) - 1}) Add.\nAnswer:": "The answer is -9867630"},
    )
    suite.add(
        "SVAMP.svamp_gen_fb25e4",
        {"svamp/SVAMP.jsonl": [{"Body": f"(svamp {n}) Two.", "Question": "How many?", "Answer": 2.0} for n in (0, 1)]},
        {"(svamp 0)": "It is 1 + 1 = 2.", "(svamp 1)": "Between 2 and 3"},
    )
    _super_glue(suite)
    suite.add(
        "CLUE_CMRC.CLUE_CMRC_gen_1bd3c8",
        {"CLUE/CMRC/dev.json": json.dumps({"data": [{"paragraphs": [{"context": "小明住在北京。", "qas": [
            {"question": f"(cmrc {n})住哪里？", "answers": [{"text": "北京"}, {"text": "北京市"}]} for n in (0, 1)
        ]}]}]})},
        {"(cmrc 0)": "答案是北京。", "(cmrc 1)": "他住在北京"},
    )  # fmt: skip
    suite.add(
        "lcsts.lcsts_gen_8ee1fe",
        {"LCSTS/test.src.txt": "(lcsts 0)今天北京下雨。\n(lcsts 1)火车晚点了。\n",
         "LCSTS/test.tgt.txt": "北京下雨\n火车晚点\n"},
        {"(lcsts 0)": "1. 北京今天下雨，", "(lcsts 1)": "没有火车"},
    )  # fmt: skip
    suite.add(
        "TheoremQA.TheoremQA_5shot_gen_6f0af8",
        {"TheoremQA/theoremqa_test.json": json.dumps([
            {"Question": f"(theorem {n}) Find it.", "Answer_type": kind, "Answer": gold, "Picture": None}
            for n, (kind, gold, _) in enumerate(THEOREMS)
        ])},
        {f"(theorem {n})": answer for n, (_, _, answer) in enumerate(THEOREMS)},
    )  # fmt: skip
    _instructions(suite)
    suite.add(
        "math.math_500_cascade_eval_gen_6ff468",
        {"math/test_prm800k_500.json": json.dumps({
            str(n): {"problem": f"(cascade {n}) Halve it.", "solution": f"It is $\\boxed{{{gold}}}$."}
            for n, gold in enumerate(("\\frac{1}{2}", "1.5", "(1, 2)"))
        })},
        {"as a grading expert": "A", "(cascade 0)": "\\boxed{\\dfrac{1}{2}}",
         "(cascade 1)": "It is one and a half."},
    )  # fmt: skip
    asked = questions("exam", 3)
    agieval = [
        {
            "passage": None,
            "question": one.stem,
            "options": [f"({letter}){text}" for letter, text in zip("ABCD", one.texts, strict=True)],
            "label": "ABCD"[one.key],
            "answer": None,
        }
        for one in asked
    ]
    blanks = [{**agieval[0], "question": "(blank) Halve one.", "options": None, "label": None, "answer": "$\\frac12$"}]
    exams = ("aqua-rat", "logiqa-zh", "sat-math", "jec-qa-kd", "gaokao-physics", "gaokao-mathcloze", "math")
    suite.add(
        "agieval.agieval_gen_5c79b4",
        {f"AGIEval/data/v1/{name}.jsonl": blanks if name in exams[-2:] else agieval for name in exams},
        {**{one.stem: one.answer for one in asked}, "(blank)": "It is $\\boxed{\\frac{1}{2}}$."},
    )
    _tasks(suite, ("bbh.bbh_gen", "mmlu_pro.mmlu_pro_gen", "longbench.longbench"), "Longbench")
    return suite


HARD: Final = (3, 4.5, -2.0, 10, 99999, -9867630.0)
THEOREMS: Final = (
    ("float", 0.5, "The answer is 1/2."),
    ("integer", 12, "So the answer is: 12 apples"),
    ("bool", True, "The answer is True."),
    ("list of float", [0.5, 2], "The answer is [0.5, 2.0]"),
    ("option", "(a)", "Therefore, the answer is (a)."),
)
EXAMS: Final = ("agieval-aqua-rat", "agieval-jec-qa-kd", "agieval-math")
BBH: Final = {
    "temporal_sequences": (("(bbh 0) When?\n(A) one\n(B) two", "(B)"), ("(bbh 1) When?", "(A)")),
    "navigate": (("(bbh 2) Do you return?", "Yes"), ("(bbh 3) Return?", "No")),
    "multistep_arithmetic_two": (("(bbh 4) 1 + 1 =", "2"),),
    "word_sorting": (("(bbh 5) Sort: b a", "a b"), ("(bbh 6) Sort: c a", "a c")),
}
LONG: Final = {
    "2wikimqa": (("(long 0) Who?", "Some text.", "Ann Lee"), ("(long 1) Where?", "Some text.", "Rome")),
    "trec": (("Question: (long 2) What?\nType:", "Some text.", "Color"),),
    "lcc": (("", "(long 3) def f(x):\n", "return x"),),
    "vcsum": (("", "(long 4) 会议。", "会议讨论了预算"),),
    "passage_count": (("", "(long 5) Paragraph 1: a", "3"),),
    "passage_retrieval_en": (("(long 6) An abstract.", "Some text.", "Paragraph 3"),),
    "dureader": (("(long 7) 谁？", "一段文字。", "鲁迅先生"),),
    "samsum": (("(long 8) Dialogue: hi\nSummary: ", "Some text.", "Ann says hi."),),
}
LOADER: Final = """
import json
import os
import datasets
class Loader(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [datasets.BuilderConfig(name=name) for name in {names}]
    def _info(self):
        return datasets.DatasetInfo()
    def _split_generators(self, _):
        path = os.path.join(self.config.data_dir, "data", self.config.name + ".jsonl")
        return [datasets.SplitGenerator(name="test", gen_kwargs=dict(path=path))]
    def _generate_examples(self, path):
        with open(path, encoding="utf-8") as lines:
            yield from enumerate(map(json.loads, lines))
"""
"""In place of the script that comes with LongBench."""
TASKS: Final = (
    *(f"bbh-{name}" for name in BBH),
    *("mmlu_pro_math", "mmlu_pro_computer_science"),
    *(f"LongBench_{name}" for name in LONG),
)
"""Those of `_tasks` that have rows."""


def _tasks(suite: Suite, modules: Sequence[str], folder: str) -> None:
    """Add parts of BBH, MMLU-Pro and LongBench, whose folder has another name in each peer."""
    bbh, mmlu_pro, longbench = modules
    suite.add(
        bbh,
        {f"BBH/data/{name}.json": json.dumps({"examples": [{"input": stem, "target": gold} for stem, gold in rows]})
         for name, rows in BBH.items()},
        {"(bbh 0)": "I think so. So the answer is (B).", "(bbh 1)": "Answer: (A) one", "(bbh 2)": "the answer is yes.",
         "(bbh 3)": "the answer is **No**.", "(bbh 4)": "So the answer is: 2", "(bbh 5)": "the answer is a, b"},
    )  # fmt: skip
    asked = questions("pro", 2)
    rows = [
        {"question": one.stem, "options": [*one.texts, "N/A"], "answer": "ABCD"[one.key], "category": category,
         "cot_content": "A: Let's think step by step. So."}
        for one, category in zip(asked, ("math", "computer science") * 2, strict=True)
    ]  # fmt: skip
    suite.choices(mmlu_pro, asked, {f"mmlu_pro/{split}.jsonl": rows for split in ("validation", "test")})
    suite.add(
        longbench,
        {f"{folder}/data/{name}.jsonl": [
            {"input": stem, "context": context, "answers": [gold], "all_classes": ["Color", "Animal"]}
            for stem, context, gold in rows
        ] for name, rows in LONG.items()} | {f"{folder}/{folder}.py": LOADER.replace("{names}", repr([*LONG]))},
        {"(long 0)": "Ann", "(long 1)": "in Rome.\nYes", "(long 2)": "Color\nand", "(long 3)": "    return x\n# c",
         "(long 4)": "讨论预算", "(long 5)": "There are 3 of 4", "(long 6)": "Paragraph 3", "(long 7)": "鲁迅"},
    )  # fmt: skip


def _super_glue(suite: Suite) -> None:
    """Add parts of SuperGLUE, which `perplexity` reads too."""
    for module, files, answers in (
        (
            "WiC.SuperGLUE_WiC_gen_d06864",
            [{"word": "bank", "sentence1": "(wic 0) A bank.", "sentence2": "The bank.", "label": "true"},
             {"word": "bat", "sentence1": "(wic 1) A bat.", "sentence2": "Bats fly.", "label": "false"}],
            {"(wic 0)": "A. Yes", "(wic 1)": "They are the same: A"},
        ),
        (
            "CB.SuperGLUE_CB_gen_854c6c",
            [{"premise": f"(cb {n}) It rains.", "hypothesis": "It is wet.", "label": one, "idx": n}
             for n, one in enumerate(("entailment", "contradiction", "neutral"))],
            {"(cb 0)": "B. Entailment", "(cb 1)": "Answer: A", "(cb 2)": "neutral"},
        ),
        (
            "COPA.SuperGLUE_COPA_gen_91ca53",
            [{"premise": f"(copa {n}) It fell.", "choice1": "It broke.", "choice2": "It flew.", "question": kind,
              "label": n, "idx": n} for n, kind in enumerate(("effect", "cause"))],
            {"(copa 0)": "A", "(copa 1)": "It flew."},
        ),
        (
            "RTE.SuperGLUE_RTE_gen_68aac7",
            [{"premise": f"(rte {n}) Ann ran.", "hypothesis": "Ann moved.", "label": one, "idx": n}
             for n, one in enumerate(("entailment", "not_entailment"))],
            {"(rte 0)": "A. Yes", "(rte 1)": "no"},
        ),
        (
            "MultiRC.SuperGLUE_MultiRC_gen_27071f",
            [{"idx": 0, "passage": {"text": "Ann ran home.", "questions": [{"question": "(rc 0) Who ran?", "answers": [
                {"text": "Ann", "label": 1}, {"text": "Ben", "label": 0}]}]}}],
            {"(rc 0)": "A. Yes, it is true."},
        ),
        (
            "ReCoRD.SuperGLUE_ReCoRD_gen_a69961",
            [{"idx": 0, "passage": {"text": "Ann met Ben.\n@highlight\nThey talked."}, "qas": [
                {"query": "(record 0) @placeholder met Ben.", "answers": [{"text": "Ann"}, {"text": "Ann Lee"}]}]}],
            {"(record 0)": "Answer: Ann\nSince she did."},
        ),
        (
            "WSC.SuperGLUE_WSC_gen_7902a7",
            [{"text": f"(wsc {n}) Ann thanked Eve because she helped .", "label": one, "idx": n,
              "target": {"span1_text": "Eve", "span1_index": 4, "span2_text": "she", "span2_index": 6}}
             for n, one in enumerate(("true", "false"))],
            {"(wsc 0)": "A", "(wsc 1)": "B. No"},
        ),
    ):  # fmt: skip
        name = module.partition(".")[0]
        suite.add(f"SuperGLUE_{module}", {f"SuperGLUE/{name}/val.jsonl": files}, answers)


def _instructions(suite: Suite) -> None:
    rules: list[tuple[str, dict[str, Any]]] = [
        ("punctuation:no_comma", {}),
        ("length_constraints:number_words", {"relation": "at least", "num_words": 4}),
        ("detectable_format:number_bullet_lists", {"num_bullets": 2}),
        ("change_case:english_lowercase", {}),
        ("startend:end_checker", {"end_phrase": "Bye."}),
    ]
    rows = [
        {
            "key": n,
            "prompt": f"(rule {n}) Write.",
            "instruction_id_list": [name],
            "kwargs": [{"num_words": None, **one}],
        }
        for n, (name, one) in enumerate(rules)
    ]
    answers = ("No comma here", "Too short", "* one\n* two", "all of it is small.", "I say\n\nBye.\n\nReally.")
    suite.add(
        "IFEval.IFEval_gen_3321a3",
        {"ifeval/input_data.jsonl": rows},
        {f"(rule {n})": answer for n, answer in enumerate(answers)},
    )


def conversations() -> Suite:
    """Return a dataset of OpenCompass with several turns, which a judge rates."""
    suite = Suite()
    turns = [{"user": "(turn 1) Hello, I am Ann.", "bot": "Hello Ann."}, {"user": "(turn 2) Who am I?", "bot": "Ann."}]
    rows = [{"id": n, "task": task, "history": turns} for n, task in ((1, "CM"), (2, "GR"))]
    suite.add(
        "subjective.multiround.mtbench101_judge",
        {"subjective/mtbench101.jsonl": rows},
        {"impartial judge follow this": "A fair answer.\nRating: [[7]]", "(turn 2)": "You are Ann."},
    )
    return suite


def perplexity() -> Suite:
    """Return datasets of OpenCompass whose options are measured by a base model."""
    suite = opencompass()
    _super_glue(suite)
    suite.modules = [
        "mmlu.mmlu_ppl_ac766d",
        "ceval.ceval_ppl_578f8d",
        "cmmlu.cmmlu_ppl_8b9c76",
        "race.race_ppl_a138cd",
        "obqa.obqa_ppl_6aac9e",
        "siqa.siqa_ppl_ced5f6",
        "hellaswag.hellaswag_ppl_a6e128",
        "gpqa.gpqa_ppl_6bf57a",
        "SuperGLUE_WiC.SuperGLUE_WiC_ppl_312de9",
        "SuperGLUE_CB.SuperGLUE_CB_ppl_0143fe",
        "SuperGLUE_COPA.SuperGLUE_COPA_ppl_9f3618",
        "SuperGLUE_RTE.SuperGLUE_RTE_ppl_66caf3",
        "SuperGLUE_MultiRC.SuperGLUE_MultiRC_ppl_ced824",
        "SuperGLUE_BoolQ.SuperGLUE_BoolQ_ppl_314b96",
    ]
    idioms = [
        {"content": f"今天#idiom#，{end}。", "candidates": ["风和日丽", "七上八下", "画蛇添足", "亡羊补牢", "井底之蛙",
                                                       "守株待兔", "掩耳盗铃"], "answer": 0, "id": n}
        for n, end in enumerate(("我们去公园", "天气很好"))
    ]  # fmt: skip
    suite.add(
        "FewCLUE_chid.FewCLUE_chid_ppl_8f2872",
        {f"FewCLUE/chid/{name}.json": idioms for name in ("dev_few_all", "test_public")},
        {},
    )
    texts = [{"question": f"Ann has {n} nuts.", "answer": f"#### {n}", "text": f"Ben has {n} hats."} for n in range(2)]
    suite.add(
        "gsm8k_contamination.gsm8k_contamination_ppl_ecdd22",
        {f"{name}.jsonl": texts for name in ("gsm8k/train", "gsm8k/test", "gsm8k-extra/mock_gsm8k_test")},
        {},
    )
    return suite


def aisbench() -> Suite:
    """Return datasets of AISBench that a chat model answers."""
    suite = generation()
    kept = ("mgsm", "LCSTS", "ifeval", "BBH", "mmlu_pro")
    suite.modules = [
        "mgsm.mgsm_gen_0_shot_cot_chat_prompt",
        "lcsts.lcsts_gen_0_shot_chat",
        "ifeval.ifeval_0_shot_gen_str",
    ]
    suite.files = {name: rows for name, rows in suite.files.items() if name.startswith(kept)} | {
        f"agieval/{name.rpartition('/')[2]}": rows for name, rows in suite.files.items() if name.startswith("AGIEval")
    }
    suite.add(
        "Xsum.Xsum_gen_0_shot_chat",
        {"Xsum/dev.jsonl": [{"dialogue": "(xsum 0) A man ran.", "summary": "A man ran."}] * 2},
        {"(xsum 0)": "A man was running.\nMore."},
    )
    asked = questions("long", 2)
    suite.choices(
        "longbenchv2.longbenchv2_gen_75fbba",
        asked,
        {"LongBench-v2/data.json": json.dumps([
            {"question": one.stem, "context": "A long text. " * 20, "answer": "ABCD"[one.key], "difficulty": level,
             "length": "short", **{f"choice_{letter}": text for letter, text in zip("ABCD", one.texts, strict=True)}}
            for one, level in zip(asked, ("easy", "hard") * 2, strict=True)
        ])},
    )  # fmt: skip
    asked = questions("mine", 7, options=3)
    suite.choices(
        "custom.custom_mcq_gen",
        asked,
        {"custom/mcq.jsonl": [
            {"question": one.stem, **dict(zip("ABC", one.texts, strict=True)), "answer": "ABC"[one.key]}
            for one in asked
        ]},
    )  # fmt: skip
    suite.add(
        "mtbench.mtbench_gen",
        {"mtbench/question.jsonl": [{"question_id": n, "prompt": [f"(mt {n}) Hello.", "And now?"]} for n in (81, 82)]},
        {"(mt 81)": "Hello to you."},
    )
    modules = ("bbh.bbh_gen_3_shot_cot_chat", "mmlu_pro.mmlu_pro_gen_0_shot_str", "longbench.longbench")
    _tasks(suite, modules, "LongBench")
    return suite
