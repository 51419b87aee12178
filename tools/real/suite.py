"""Widely used datasets in the layout of their files, with rows of our own and answers in the forms of chat models."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

FORMS: Final = (
    "{right}",
    "The answer is {right}.",
    "**Answer: {right}**",
    "{right}. {text}",
    "It could be {wrong}, but I would say {right}.",
    "答案：{right}",
    "So the correct option is ({right}) {text}.",
    "\\boxed{{{right}}}",
    "Option {wrong} is too large.\n\nTherefore, the answer is {right}.",
    "I cannot answer this question.",
    "A good question! The right one is {right}.",
    "{wrong}",
)
"""How a model answers a question with options."""
STEMS: Final = (
    ("Which of these is drunk?", ("tea", "a road", "a hat", "a stone", "sand"), 0),
    ("Which of these is worn?", ("milk", "a coat", "a pond", "a tune", "fog"), 1),
    ("What do bees make?", ("iron", "paper boats", "honey", "snow", "coal"), 2),
    ("What is 3 times 4?", ("7", "34", "43", "12", "1"), 3),
)


class Question(Struct, frozen=True):
    """A question with options."""

    stem: str
    texts: Sequence[str]
    key: int
    answer: str


def questions(name: str, first: int, options: int = 4) -> list[Question]:
    """Return questions that name their dataset, answered in the forms from the first on."""
    found = []
    for number, (stem, texts, key) in enumerate(STEMS):
        right, wrong, text = "ABCDE"[key], "ABCDE"[(key + 1) % 4], texts[key]
        if key >= options:
            continue
        form = FORMS[(first + number) % len(FORMS)]
        answer = form.format(right=right, wrong=wrong, text=text)
        found.append(Question(f"({name} {number}) {stem}", texts[:options], key, answer))
    return found


def _csv(rows: Sequence[Sequence[Any]], delimiter: str = ",") -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return text.getvalue()


class Suite(Struct):
    """Files and answers of several datasets.

    Attributes:
        modules: their config files.
        files: path below the folder of data → its content.
        answers: text in a question → what the model answers.
    """

    modules: list[str] = []
    files: dict[str, str | Sequence[Mapping[str, Any]]] = {}
    answers: dict[str, str] = {}

    def add(self, module: str, files: Mapping[str, Any], answers: Mapping[str, str]) -> None:
        """Add a dataset."""
        self.modules.append(module)
        self.files.update(files)
        self.answers.update(answers)

    def choices(self, module: str, asked: Sequence[Question], files: Mapping[str, Any]) -> None:
        """Add a dataset of questions with options."""
        self.add(module, files, {one.stem: one.answer for one in asked})


def _letters(asked: Sequence[Question]) -> Iterator[list[str]]:
    for one in asked:
        yield [one.stem, *one.texts, "ABCDE"[one.key]]


def _labelled(one: Question) -> dict[str, Any]:
    choices = [{"text": text, "label": "ABCDE"[number]} for number, text in enumerate(one.texts)]
    return {"question": {"stem": one.stem, "choices": choices}, "answerKey": "ABCDE"[one.key]}


def opencompass() -> Suite:
    """Return datasets of OpenCompass; only one subset of each is there."""
    suite = Suite()
    shots = [["(shot) Which is red?", "blood", "grass", "snow", "coal", "A"]] * 5
    asked = questions("mmlu", 0)
    suite.choices(
        "mmlu.mmlu_gen_4d595a",
        asked,
        {"mmlu/dev/marketing_dev.csv": _csv(shots), "mmlu/test/marketing_test.csv": _csv(list(_letters(asked)))},
    )
    header = ["id", "question", "A", "B", "C", "D", "answer", "explanation"]
    asked = questions("ceval", 4)
    rows = _csv([header, *([n, *row, ""] for n, row in enumerate(_letters(asked)))])
    shown = _csv([header, *([n, *row, "so"] for n, row in enumerate(shots))])
    suite.choices(
        "ceval.ceval_gen_5f30c7",
        asked,
        {f"ceval/formal_ceval/{split}/logic_{split}.csv": rows for split in ("val", "test")}
        | {"ceval/formal_ceval/dev/logic_dev.csv": shown},
    )
    asked = questions("cmmlu", 8)
    header = ["", "Question", "A", "B", "C", "D", "Answer"]
    suite.choices(
        "cmmlu.cmmlu_gen_c13365",
        asked,
        {
            "cmmlu/dev/anatomy.csv": _csv([header, *([n, *row] for n, row in enumerate(shots))]),
            "cmmlu/test/anatomy.csv": _csv([header, *([n, *row] for n, row in enumerate(_letters(asked)))]),
        },
    )
    asked = questions("race", 1)
    race = [
        {"article": "A text.", "question": one.stem, "options": list(one.texts), "answer": "ABCD"[one.key]}
        for one in asked
    ]
    suite.choices(
        "race.race_gen_69ee4f",
        asked,
        {f"race/test/{name}.jsonl": race for name in ("middle", "high")}
        | {f"race/validation/{name}.jsonl": race * 2 for name in ("middle", "high")},
    )
    asked = questions("obqa", 5)
    suite.choices(
        "obqa.obqa_gen_9069e4",
        asked,
        {
            "openbookqa/Main/test.jsonl": list(map(_labelled, asked)),
            "openbookqa/Additional/test_complete.jsonl": [{**_labelled(one), "fact1": "A fact."} for one in asked],
        },
    )
    asked = questions("csqa", 9, options=5)
    commonsense = list(map(_labelled, asked))
    examples = [{**one, "question": {**one["question"], "stem": "(shot) Which?"}} for one in commonsense] * 3
    suite.choices(
        "commonsenseqa.commonsenseqa_gen_1da2d0",
        asked,
        {"commonsenseqa/train_rand_split.jsonl": examples, "commonsenseqa/dev_rand_split.jsonl": commonsense},
    )
    asked = questions("siqa", 2, options=3)
    siqa = [
        {
            "context": "Ann is here.",
            "question": one.stem,
            **dict(zip(("answerA", "answerB", "answerC"), one.texts, strict=True)),
        }
        for one in asked
    ]
    labels = "".join(f"{one.key + 1}\n" for one in asked)
    suite.choices(
        "siqa.siqa_gen_18632c",
        asked,
        {f"siqa/{split}.jsonl": siqa for split in ("train", "dev")}
        | {f"siqa/{split}-labels.lst": labels for split in ("train", "dev")},
    )
    asked = questions("hellaswag", 6)
    hellaswag = [{"query": f"Home: {one.stem}", "choices": list(one.texts), "gold": one.key} for one in asked]
    suite.choices("hellaswag.hellaswag_gen_6faab5", asked, {"hellaswag/hellaswag.jsonl": hellaswag})
    asked = questions("gpqa", 10)
    gpqa = _csv([[""] * 7 + ["Question"] + [""] * 4, *([""] * 7 + [one.stem, *one.texts] for one in asked)])
    suite.choices(
        "gpqa.gpqa_gen_4baadb",
        asked,
        {f"gpqa/gpqa_{name}.csv": gpqa for name in ("extended", "main", "diamond")},
    )
    yes_no = {
        "(boolq 1) is tea wet": ("true", "A"),
        "(boolq 2) is sand wet": ("false", "No, it is not."),
        "(boolq 3) is a coat worn": ("true", "B. No"),
        "(boolq 4) do bees sing": ("false", "The answer is B."),
    }
    suite.add(
        "SuperGLUE_BoolQ.SuperGLUE_BoolQ_gen_883d50",
        {"SuperGLUE/BoolQ/val.jsonl": [
            {"question": stem, "passage": "A text.", "label": gold} for stem, (gold, _) in yes_no.items()
        ]},
        {stem: answer for stem, (_, answer) in yes_no.items()},
    )  # fmt: skip
    facts = {
        "(fact 1) who wrote the song": (["J. K. Rowling", "Rowling"], "The answer is J. K. Rowling."),
        "(fact 2) where is the bridge": (["St. Louis"], "The answer is St. Paul"),
        "(fact 3) when was it built": (["1999", "in 1999"], "It was built in 1999.\nIt is tall."),
        "(fact 4) what is it called": (["The Old Mill"], "old mill"),
    }
    table = _csv([[stem, repr(golds)] for stem, (golds, _) in facts.items()], "\t")
    suite.add(
        "triviaqa.triviaqa_gen_2121ce",
        {f"triviaqa/trivia-{split}.qa.csv": table for split in ("dev", "test")},
        {stem: answer for stem, (_, answer) in facts.items()},
    )
    suite.add("nq.nq_gen_3dcea1", {f"nq/nq-{split}.qa.csv": table for split in ("dev", "test")}, {})
    squad = [
        {
            "question": stem,
            "is_impossible": number == 1,
            "answers": [{"text": gold} for gold in golds],
            "plausible_answers": [{"text": "the river"}],
        }
        for number, (stem, (golds, _)) in enumerate(facts.items())
    ]
    suite.add(
        "squad20.squad20_gen_1710bc",
        {"SQuAD2.0/dev-v2.0.json": json.dumps({"data": [{"paragraphs": [{"context": "A text.", "qas": squad}]}]})},
        {},
    )
    suite.add(
        "lambada.lambada_gen_217e11",
        {"lambada/test.jsonl": [
            {"prompt": "(end 1) Ann drank her", "label": "tea"}, {"prompt": "(end 2) Ben wore his", "label": "coat"}
        ]},
        {"(end 1)": "tea, and left", "(end 2)": "A coat"},
    )  # fmt: skip
    suite.add(
        "strategyqa.strategyqa_gen_1180a7",
        {"strategyqa/strategyQA_train.json": json.dumps(
            [{"question": f"(plan {n}) Can it fly?", "answer": n % 2 == 0} for n in range(4)]
        )},
        {"(plan 0)": "Birds fly. So the answer is yes", "(plan 1)": "I know that it does not.",
         "(plan 2)": "Yes", "(plan 3)": "It is heavy.\n\nSo the answer is no."},
    )  # fmt: skip
    maths = {
        "(math 1) Halve one.": ("\\frac{1}{2}", "We get \\boxed{\\dfrac{1}{2}}."),
        "(math 2) Halve three.": ("1.5", "Thus it is $\\boxed{\\frac{3}{2}}$."),
        "(math 3) Count them.": ("1{,}200", "The final answer is $1,200$."),
        "(math 4) Name the set.": ("(1, 2)", "\\boxed{(1,2)}"),
        "(math 5) Give it.": ("x^2+1", "So \\boxed{x^2 + 1"),
    }
    suite.add(
        "math.math_500_gen",
        {"math/test_prm800k_500.jsonl": [
            {"problem": stem, "solution": f"So ${gold}$.", "answer": gold} for stem, (gold, _) in maths.items()
        ]},
        {stem: answer for stem, (_, answer) in maths.items()},
    )  # fmt: skip
    aime = [
        {"origin_prompt": f"(aime {n}) Find it.", "gold_answer": gold} for n, gold in enumerate(("204", "025", "7"))
    ]
    suite.add(
        "aime2024.aime2024_0shot_nocot_gen_5e9f4f",
        {"aime.jsonl": aime},
        {"(aime 0)": "\\boxed{204}", "(aime 1)": "It is \\boxed{25}.", "(aime 2)": "The answer is 7."},
    )
    tasks = [
        {"prompt": f"(code {n}) Write f.", "test_list": ["assert f(1) == 2", "assert f(2) == 3"], "task_id": n,
         "code": "", "source_file": "x", "test_imports": []}
        for n in range(11)
    ]  # fmt: skip
    suite.add(
        "mbpp.sanitized_mbpp_mdblock_gen_a447ff",
        {"mbpp/sanitized-mbpp.jsonl": tasks},
        {"(code 7)": "```python\ndef f(x):\n    return x + 1\n```", "(code 8)": "def f(x):\n    return 2",
         "(code 9)": "Here it is:\n```\nf = lambda x: x + 1\n```\nDone.", "(code 10)": "```python\ndef f(x:\n```"},
    )  # fmt: skip
    suite.add(
        "drop.drop_openai_simple_evals_gen_3857b0",
        {"drop_simple_eval/dev.jsonl": [
            {"context": f"(drop {n}) Read and answer.", "ref_text": gold} for n, gold in enumerate(("12|twelve", "Ann"))
        ]},
        {"(drop 0)": "They had more.\nAnswer: 12", "(drop 1)": "Ben"},
    )  # fmt: skip
    return suite


def aisbench() -> Suite:
    """Return datasets of AISBench, whose files are those of OpenCompass."""
    suite = opencompass()
    suite.modules = [
        "mmlu.mmlu_gen_0_shot_cot_chat_prompt",
        "ceval.ceval_gen_0_shot_cot_chat_prompt",
        "cmmlu.cmmlu_gen_0_shot_cot_chat_prompt",
        "race.race_middle_gen_5_shot_chat",
        "math.math500_gen_0_shot_cot_chat_prompt",
        "aime2024.aime2024_gen_0_shot_chat_prompt",
        "hellaswag.hellaswag_gen_0_shot_chat_prompt",
        "siqa.siqa_gen_0_shot_chat",
        "drop.drop_gen_0_shot_str",
        "SuperGLUE_BoolQ.SuperGLUE_BoolQ_gen_0_shot_str",
        "mbpp.sanitized_mbpp_passk_gen_3_shot_chat_prompt",
        "gpqa.gpqa_gen_0_shot_cot_chat_prompt",
        "lambada.lambada_gen_0_shot_chat",
    ]
    suite.files["aime/aime.jsonl"] = suite.files["aime.jsonl"]
    return suite
