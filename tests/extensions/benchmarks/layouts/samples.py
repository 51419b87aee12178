"""Small files of our own in the layout of each benchmark: loader → its arguments, and the files below its folder."""

from __future__ import annotations

from typing import Final

from tests.extensions.benchmarks.layouts.cases import Case, lines, of_file, of_folder, of_hub
from tests.extensions.benchmarks.layouts.function_samples import BFCL

_FOUR: Final = [{"label": str(n), "text": f"choice {n}"} for n in range(1, 5)]
_ARC: Final = lines(
    {"id": "a", "question": {"stem": "Which?", "choices": _FOUR}, "answerKey": "3"},
    {"id": "b", "question": {"stem": "Too few", "choices": _FOUR[:3]}, "answerKey": "1"},
)
_LETTERED: Final = [{"label": letter, "text": f"text {letter}"} for letter in "ABCDE"]
_OPEN_BOOK: Final = [
    {"id": "1", "question": {"stem": stem, "choices": _LETTERED[:4]}, "answerKey": "B"} for stem in ("Is it?", "It is")
]
_MMLU: Final = '"What is 1,5?\nsay",one,two,three,four,C\nWhy "so"?,a,b,c,d,A\n'
_NUMBERED: Final = "id,Question,A,B,C,D,Answer\n0,问题,甲,乙,丙,丁,B\n1,又问,1,2,3,4,D\n"
_GPQA: Final = ",".join(
    ["a", "b", "c", "d", "e", "f", "g", "Question", "Correct Answer", "Wrong 1", "Wrong 2", "Wrong 3", "z"]
) + "".join(f"\n{'x,' * 7}What {n}?,right {n},w1,w2,w3,end" for n in range(6))
_HELLASWAG: Final = lines(
    {"query": "Cooking: He: takes: a pan", "choices": ["a", "b", "c", "d"], "gold": 2},
    {"query": "Sport: She runs", "choices": ["e", "f", "g", "h"], "gold": 0},
)
_PIQA: Final = {
    "train.jsonl": lines(
        {"id": "t", "goal": "open a jar", "sol1": "Twist it", "sol2": "Hit it"},
        {"id": "u", "goal": "how?", "sol1": "so", "sol2": "thus"},
    ),
    "train-labels.lst": "1\n0\n",
    "dev.jsonl": lines({"id": "d", "goal": "Clean it.", "sol1": "wipe", "sol2": "burn"}),
    "dev-labels.lst": "-1\n",
}
_SIQA: Final = {
    "train.jsonl": lines({"context": "c", "question": "q", "answerA": "x", "answerB": "y", "answerC": "z"}),
    "train-labels.lst": "3\n",
    "dev.jsonl": lines({"context": "d", "question": "r", "answerA": "1", "answerB": "2", "answerC": "3"}),
    "dev-labels.lst": "1\n",
}
_WINOGRANDE: Final = lines(
    {"sentence": "Ann saw Bo as _ ran.", "option1": "Ann", "option2": "Bo", "answer": "2", "qID": "1"},
    {"sentence": "The _ is big.", "option1": "cup", "option2": "box", "answer": "", "qID": "2"},
)
_STORY: Final = {**{f"input_sentence_{n}": f"S{n}." for n in range(1, 5)}, "answer_right_ending": 2}
_STORIES: Final = {
    "en_train.jsonl": lines(_STORY | {"sentence_quiz1": "a", "sentence_quiz2": "b"}),
    "en_eval.jsonl": lines(_STORY | {"sentence_quiz1": "c", "sentence_quiz2": "d", "answer_right_ending": 1}),
}
_SQUAD: Final = {
    "data": [
        {
            "paragraphs": [
                {
                    "context": "正文",
                    "qas": [
                        {"question": "谁？", "answers": [{"text": "甲", "answer_start": 1}, {"text": "甲"}]},
                        {"question": "何时？", "answers": [{"text": "昨天"}]},
                    ],
                }
            ]
        }
    ]
}
_NUMBER: Final = {"number": "12", "date": {"day": "", "month": "", "year": ""}, "spans": []}
_DATE: Final = {"number": "", "date": {"day": "1", "month": "May", "year": ""}, "spans": []}
_DROP: Final = {
    "nfl_1": {
        "passage": "They scored.",
        "qa_pairs": [
            {"question": "How many?", "validated_answers": [_NUMBER]},
            {"question": "When?", "validated_answers": [_DATE]},
        ],
    }
}
_MULTIRC: Final = {
    "idx": 0,
    "passage": {
        "text": "Once.",
        "questions": [{"question": "Who?", "answers": [{"text": "A", "label": 1}, {"text": "B", "label": 0}]}],
    },
}
_RECORD: Final = {
    "passage": {"text": "Bob met Ann.\n\n@highlight\nThey ate"},
    "qas": [{"query": "@placeholder ate", "answers": [{"text": "Bob"}, {"text": "Ann"}]}],
}
_RACE: Final = {"article": "Long.", "question": "What?", "options": ["w", "x", "y", "z"], "answer": "D", "id": "1"}
_QASPER: Final = {
    "1": {
        "full_text": [
            {"section_name": None, "paragraphs": ["First."]},
            {"section_name": "Method", "paragraphs": ["We add.", "We count."]},
        ],
        "qas": [
            {
                "question": "What is done?",
                "answers": [{"answer": {"extractive_spans": ["add"], "evidence": ["We add."]}}],
            },
            {"question": "Why?", "answers": [{"answer": {"extractive_spans": [], "evidence": []}}]},
        ],
    }
}
_DIALOGUES: Final = [
    [["男：好。", "女：行。"], [{"question": "谁？", "choice": ["甲", "乙", "丙"], "answer": "乙"}], "id"],
]
_SPANS: Final = {"span1_text": "Anna", "span1_index": 0, "span2_text": "her", "span2_index": 3}
_WSC: Final = [{"text": "Anna gave me her old book", "target": _SPANS, "label": label} for label in ("true", "false")]
_CLUEWSC: Final = [
    {
        "text": "小明看见他了",
        "target": {"span1_text": "小明", "span1_index": 0, "span2_text": "他", "span2_index": 4},
        "label": "true",
    }
]
_CHID: Final = {"content": "他#idiom#地走。", "candidates": ["一心一意", "三心二意", "大步流星"], "answer": 2}
_CSL: Final = [{"abst": "摘要", "keyword": ["甲", "乙"], "label": "1", "id": 3}]
_NEWS: Final = [{"sentence": "新闻", "label": "103", "label_desc": "news_sports", "keywords": ""}]
_PROGRAMS: Final = lines(
    *(
        {"task_id": n, "text": f"Write {n}", "code": "x = 1", "test_list": [f"assert f({n})", "assert g()"]}
        for n in range(13)
    )
)
_SANITIZED: Final = lines(
    *(
        {"source_file": "f", "task_id": n, "prompt": f"Write {n}", "code": "y", "test_list": ["assert 1"]}
        for n in range(9)
    )
)
_MATHBENCH: Final = lines(
    {"question": " What? ", "options": ["1", "2", "3", "4"], "answer": "C"},
    {"question": "And?", "options": ["x", "y", "z", "w"], "answer": "A"},
)
_WIKI: Final = {"question": " What? ", "options": ["1", "2", "3", "4"], "answer": "C", "id": 3}
_STEM: Final = [
    {"question": "Which?", "options": ["A. 1", "B. 2"], "answer": "A", "id": 1},
    {"question": "How many?", "options": [], "answer": "12", "id": 2},
]
_LONG: Final = {"input": "Who?", "context": "A long text", "answers": ["Bo", "Bob"], "all_classes": ["x", "y"]}
_EXAM: Final = [
    {"instructions": ["Q1?", "Q2?"], "outputs": ["two words", "1,000"], "input": "A long text", "source": "s"},
]
_AGI: Final = [
    {"passage": None, "question": "Q", "options": ["(A)1", "(B)2"], "label": "B", "answer": None},
    {"passage": "P", "question": "Q", "options": ["(A)1", "(B)2"], "label": ["A", "B"], "answer": None},
    {"passage": "", "question": "Q", "options": None, "label": None, "answer": "12"},
]
_AIME: Final = [{"origin_prompt": "Find x.", "gold_answer": "7", "id": 1}]
_LABELLED: Final = {
    "AFQMCDatasetV2": [{"sentence1": "a", "sentence2": "b", "label": "1"}],
    "AXDatasetV2": [{"premise": "p", "label": "entailment"}, {"premise": "q", "label": "not_entailment"}],
    "AnliDataset": [{"context": "c", "hypothesis": "h", "label": label} for label in "cen"],
    "BoolQDatasetV2": [{"question": "is it", "passage": "p", "label": "true"}, {"question": "a", "label": "false"}],
    "BoolQDatasetV3": [{"question": "is it", "passage": "Title -- text -- more", "label": "true"}],
    "CBDatasetV2": [{"premise": "p", "label": one} for one in ("contradiction", "entailment", "neutral")],
    "CMNLIDataset": [{"sentence1": "s", "label": "-"}, {"sentence1": "t", "label": "neutral"}],
    "CMNLIDatasetV2": [{"sentence1": "s", "label": "-"}, {"sentence1": "t", "label": "contradiction"}],
    "COPADatasetV2": [{"premise": "p", "label": 1}, {"premise": "q", "label": 0}],
    "EprstmtDatasetV2": [{"sentence": "好", "label": "Positive", "id": 1}, {"sentence": "坏", "label": "Negative"}],
    "SummeditsDataset_V2": [{"doc": "d", "label": 0}, {"doc": "e", "label": 1}],
    "WiCDatasetV2": [{"word": "w", "label": "true"}, {"word": "v", "label": "false"}],
    "bustumDataset_V2": [{"sentence1": "a", "label": "0"}],
}

CASES: Final[dict[str, Case]] = {
    "AGIEvalDataset_v2": of_folder({"sat.jsonl": lines(*_AGI)}, name="sat", setting_name="zero-shot"),
    "ARCDataset": Case({"ARC.jsonl": _ARC}, "ARC.jsonl", {"name": "ARC-Challenge"}),
    "ARCDataset of AISBench": of_folder(
        {"ARC-Easy-Dev.jsonl": _ARC, "ARC-Easy-Test.jsonl": _ARC}, peer="ais_bench", name="ARC-Easy"
    ),
    "Aime2024Dataset": of_file(*_AIME),
    "Aime2025Dataset": of_file(*_AIME, peer="ais_bench"),
    "Aime2026Dataset": of_file(*_AIME, peer="ais_bench"),
    "BBHDataset": of_folder(
        {"navigate.json": {"canary": "x", "examples": [{"input": "Go?", "target": "(A)"}]}}, name="navigate"
    ),
    **BFCL,
    "BoolQDataset": of_hub({"question": "q", "label": "true"}, {"question": "r", "label": "false"}),
    "C3Dataset": Case({"dev.json": _DIALOGUES}, "dev.json"),
    "C3Dataset_V2": Case({"dev.json": _DIALOGUES}, "dev.json"),
    "CEvalDataset": of_folder(
        {
            "dev/law_dev.csv": "id,question,A,B,C,D,answer,explanation\n0,问,1,2,3,4,A,因为\n",
            "val/law_val.csv": "id,question,A,B,C,D,answer\n0,问,1,2,3,4,B\n",
            "test/law_test.csv": "id,question,A,B,C,D\n0,问,1,2,3,4\n",
        },
        name="law",
    ),
    "CHIDDataset": of_hub(_CHID),
    "CHIDDatasetV2": of_file(_CHID),
    "CMMLUDataset": of_folder({"dev/math.csv": _NUMBERED, "test/math.csv": _NUMBERED}, name="math"),
    "CMOFibDataset": of_file(*_AIME),
    "CMRCDataset": Case({"dev.json": _SQUAD}, "dev.json"),
    "CluewscDataset": of_hub(*_CLUEWSC),
    "CluewscDatasetV2": of_file(*_CLUEWSC),
    "ChemBenchDataset": of_folder(
        {
            f"{split}/Name_benchmark.json": [{"question": "Q", **dict(zip("ABCD", "wxyz", strict=True)), "answer": "B"}]
            for split in ("dev", "test")
        },
        name="Name",
    ),
    "CommonsenseQADataset_CN": of_file(
        {
            "id": "1",
            "question": "哪里？",
            "question_concept": "地",
            "choices": {"label": list("ABCDE"), "text": list("甲乙丙丁戊")},
            "answerKey": "C",
        }
    ),
    "CompassBenchObjectiveV1_3": of_file(_WIKI, name="circular_en"),
    "CompassBenchObjectiveV1_3 of cloze questions": of_file(
        {"question": " 1? ", "answer": " 2 ", "id": 4}, name="cloze_en"
    ),
    "CrowspairsDatasetCN": of_file({"sent_more": "a", "sent_less": "b"}),
    "CslDataset": of_hub(*_CSL),
    "CslDatasetV2": of_file(*_CSL),
    "CustomDataset": of_file({"question": "q", "answer": 3}, {"question": "r", "answer": 4}),
    "CustomDataset with a file name": of_folder({"part.csv": "question,answer\nq,3\n"}, file_name="part.csv"),
    "DRCDDataset": Case({"dev.json": _SQUAD}, "dev.json"),
    "DropOpenAIDataset": of_file({"context": "c", "ref_text": "1|one", "completion": "x"}),
    "FinanceIQDataset": of_folder({"dev/law.csv": _NUMBERED, "test/law.csv": _NUMBERED}, name="law"),
    "GPQADataset": of_folder({"gpqa_main.csv": _GPQA}, name="gpqa_main.csv"),
    "GPQASimpleEvalDataset": of_folder({"gpqa_main.csv": _GPQA}, name="gpqa_main.csv"),
    "GSM8KDataset": of_folder(
        {
            "train.jsonl": lines({"question": "1 + 1?", "answer": "It is #### 2"}),
            "test.jsonl": lines({"question": "2 + 2?", "answer": "#### 4"}),
        }
    ),
    "GSMHardDataset": of_file({"input": "1 + 1?", "code": "c", "target": 2.0}),
    "HFDataset": of_hub({"a": 1, "b": "x"}, {"a": 2, "b": "y"}),
    "HellaswagDataset": Case({"h.jsonl": _HELLASWAG}, "h.jsonl"),
    "HellaswagDataset_V2": Case({"h.jsonl": _HELLASWAG}, "h.jsonl"),
    "HellaswagDataset_V3": Case({"h.jsonl": _HELLASWAG}, "h.jsonl"),
    "HellaswagDatasetwithICE": of_folder(
        {"hellaswag_train_sampled25.jsonl": _HELLASWAG, "hellaswag.jsonl": _HELLASWAG}
    ),
    "HumanevalDataset": of_file({"task_id": "HumanEval/0", "prompt": "def f():"}, num_repeats=2),
    "JsonlDataset": of_file({"question": "q", "answer": {"a": 1}}),
    "KCLEDataset": of_file({"input": "i", "target": "A", "more": 1}),
    "LCSTSDataset": of_folder({"test.src.txt": " 正文 \n第二\n", "test.tgt.txt": "标题\n二\n"}),
    "LiveStemBenchDataset": of_folder({"livestembench-20241227.json": _STEM}),
    "LiveStemBenchDataset with a sample": of_folder({"other.json": _STEM}, version="other", num_examples=1),
    "LEvalCourseraDataset": Case({"c.jsonl": lines(*_EXAM)}, "c.jsonl", {"name": "c"}, "ais_bench"),
    "LEvalGovReportSummDataset": Case({"c.jsonl": lines(*_EXAM)}, "c.jsonl", {"name": "c"}, "ais_bench"),
    "LEvalQualityDataset": Case({"c.jsonl": lines(*_EXAM)}, "c.jsonl", {"name": "c"}, "ais_bench"),
    "MATHDataset": of_folder(
        {
            "math.json": {
                "0": {"problem": "Find x", "solution": "So $x = \\boxed{\\frac{1}{2}}$."},
                "1": {"problem": "Find y", "solution": "No box"},
                "2": {"problem": "Find z", "solution": "\\boxed{1}, or \\boxed{ {2} }"},
            }
        }
    ),
    "MBPPDataset": Case({"mbpp.jsonl": _PROGRAMS}, "mbpp.jsonl"),
    "MBPPDatasetV2": Case({"mbpp.jsonl": _PROGRAMS}, "mbpp.jsonl", {"num_repeats": 2}),
    "MBPPPlusDataset": Case({"mbpp.jsonl": _PROGRAMS}, "mbpp.jsonl"),
    "MGSMSDataset": Case({"mgsm_en.tsv": 'Is "x" 2?\t12\nHow?\t3\n'}, "mgsm_en.tsv"),
    "MMLUArabicDataset": of_folder({"dev/law_dev.csv": _MMLU, "test/law_test.csv": _MMLU}, name="law"),
    "MMLUDataset": of_folder({"dev/law_dev.csv": _MMLU, "test/law_test.csv": _MMLU}, name="law"),
    "MathBenchDataset": of_folder({"single_choice_en.jsonl": _MATHBENCH}, name="single_choice_en"),
    "MathBenchDataset without circles": of_folder(
        {"single_choice_en.jsonl": _MATHBENCH}, name="single_choice_en", with_circular=False
    ),
    "MathBenchDataset of cloze questions": of_folder(
        {"cloze_en.jsonl": lines({"question": " 1? ", "answer": " 2 ", "topic": "t"})}, name="cloze_en"
    ),
    "MultiRCDataset": of_file(_MULTIRC),
    "MultiRCDatasetV2": of_file(_MULTIRC),
    "NQOpenDataset": of_folder(
        {
            "nq-open-train.jsonl": lines({"question": "q", "answer": ["a", "b"]}),
            "nq-open-validation.jsonl": lines({"question": "q", "answer": ["a", "b"]}),
        }
    ),
    "NaturalQuestionDataset": of_folder(
        {"nq-dev.qa.csv": "who?\t['a', 'b']\n", "nq-test.qa.csv": 'where?\t["c\'s"]\n'}
    ),
    "NaturalQuestionDatasetCN": of_folder(
        {f"{split}.jsonl": lines({"question": "谁", "answer": ["甲", "乙"]}) for split in ("dev", "test")}
    ),
    "OBQADataset": of_file(*_OPEN_BOOK),
    "OBQADatasetV2": of_file(*(one | {"fact1": "f"} for one in _OPEN_BOOK)),
    "PIQADataset": of_folder(_PIQA),
    "PIQADatasetV2": of_folder(_PIQA),
    "PIQADatasetV3": of_folder(_PIQA),
    "QASPERCUTDataset": of_folder({"qasper-dev-v0.3.json": _QASPER}),
    "QASPERDataset": of_folder({"qasper-dev-v0.3.json": _QASPER}),
    "RaceDataset": of_folder({"validation/high.jsonl": lines(_RACE), "test/high.jsonl": lines(_RACE)}, name="high"),
    "ReCoRDDataset": of_file(_RECORD),
    "ReCoRDDatasetV2": of_file(_RECORD),
    "SVAMPDataset": of_file({"Body": "Two.", "Question": "How many?", "Answer": 2.0, "ID": "1"}),
    "SanitizedMBPPDataset": Case({"s.jsonl": _SANITIZED}, "s.jsonl", {"num_repeats": 2}),
    "SiqaDatasetV3": of_folder(_SIQA),
    "StoryClozeDataset": of_folder(_STORIES, lang="en"),
    "StoryClozeDatasetV2": of_folder(_STORIES, lang="en"),
    "StrategyQADataset": Case({"s.json": [{"question": "q", "answer": True}]}, "s.json"),
    "TNewsDataset": of_hub(*_NEWS),
    "TNewsDatasetV2": of_file(*_NEWS),
    "TriviaQADataset": of_folder(
        {"trivia-dev.qa.csv": "who?\t['a', 'b']\n", "trivia-test.qa.csv": "where?\t['c', 'd']\n"}
    ),
    "TriviaQADatasetV2": of_folder(
        {f"triviaqa-{split}.jsonl": lines({"question": "q", "answer": ["a"]}) for split in ("train", "validation")}
    ),
    "TriviaQADatasetV3": of_file({"question": "q", "answer": ["a"]}),
    "WSCDataset": of_hub(*_WSC),
    "WSCDatasetV2": of_file(*_WSC),
    "WSCDatasetV3": of_file(*_WSC),
    "WiCDataset": of_hub({"word": "w", "label": "true"}, {"word": "v", "label": "false"}),
    "WikiBenchDataset": Case({"d/wiki.jsonl": lines(_WIKI)}, "d/", {"filename": "wiki.jsonl", "name": "single"}),
    "WinograndeDataset": of_folder({"dev.jsonl": _WINOGRANDE}),
    "WinograndeDatasetV2": of_folder({"dev.jsonl": _WINOGRANDE}),
    "WinograndeDatasetV3": of_folder({"dev.jsonl": _WINOGRANDE, "train_xs.jsonl": _WINOGRANDE}),
    "XsumDataset": of_file({"dialogue": "d", "summary": "s", "id": 1}),
    "XsumDataset of AISBench": of_folder({"dev.jsonl": lines({"dialogue": "d", "summary": "s"})}, "ais_bench"),
    "commonsenseqaDataset": of_folder(
        {
            f"{split}_rand_split.jsonl": lines(
                {"id": "1", "question": {"stem": "Where?", "choices": _LETTERED}, "answerKey": "E"}
            )
            for split in ("train", "dev")
        }
    ),
    "dropDataset": Case({"drop.json": _DROP}, "drop.json"),
    "lambadaDataset": of_file({"prompt": "He said", "label": "no"}),
    "lambadaDataset of AISBench": of_folder({"test.jsonl": lines({"prompt": "So", "label": "he"})}, "ais_bench"),
    "siqaDataset": of_folder(_SIQA),
    "siqaDataset_V2": of_folder(_SIQA),
    **{name: of_file(*rows) for name, rows in _LABELLED.items()},
}
"""Loader, with a remark after a blank where it is called in several ways → the call."""
