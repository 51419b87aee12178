"""Long texts: LongBench and L-Eval."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from ais_prompt.extensions.benchmarks.layouts.layout import Layout, Rows, each, flat, hub
from ais_prompt.readers.table import Row

# fmt: off
_WITH_QUESTION: Final = (
    "2wikimqa", "dureader", "hotpotqa", "multifieldqa_en", "multifieldqa_zh", "musique", "narrativeqa",
    "passage_retrieval_en", "passage_retrieval_zh", "qasper", "qmsum", "repobench", "samsum", "triviaqa",
)
_WITHOUT_QUESTION: Final = ("gov_report", "lcc", "multi_news", "passage_count", "vcsum")
_WITH_CLASSES: Final = ("lsht", "trec")

_EXAMS: Final = ("Coursera", "GSM100", "SciFi", "TPO", "TopicRetrieval")
_TEXTS: Final = (
    "FinancialQA", "GovReportSumm", "LegalContractQA", "MeetingSumm", "MultidocQA", "NarrativeQA", "NaturalQuestion",
    "NewsSumm", "PaperAssistant", "PatentSumm", "ReviewSumm", "ScientificQA", "TVShowSumm",
)
# fmt: on


def _columns(*names: str) -> Rows:
    return each(lambda value: {name: value[name] for name in names})


def _classes(value: Any) -> Row:
    labels = {"answers": value["answers"], "all_classes": value["all_classes"]}
    return {"input": value["input"], "context": value["context"], "all_labels": labels}


def _long_bench(rows: Rows) -> Layout:
    return Layout({"test": "data/{name}.jsonl"}, rows)


def _l_eval(answer: Callable[[Any], Row]) -> Layout:
    def questions(value: Any) -> Iterable[Row]:
        for question, gold in zip(value["instructions"], value["outputs"], strict=False):
            yield {"question": question, "context": value["input"], **answer(gold)}

    layout = hub(flat(questions))
    return Layout({}, layout.rows, alone=("test",), defaults=layout.defaults, loaded=layout.loaded)


LONG_TEXTS: Final = {
    **{f"LongBench{name}Dataset": _long_bench(_columns("input", "context", "answers")) for name in _WITH_QUESTION},
    **{f"LongBench{name}Dataset": _long_bench(_columns("context", "answers")) for name in _WITHOUT_QUESTION},
    **{f"LongBench{name}Dataset": _long_bench(each(_classes)) for name in _WITH_CLASSES},
    **{f"LEval{name}Dataset": _l_eval(lambda gold: {"answer": gold}) for name in _EXAMS},
    **{f"LEval{name}Dataset": _l_eval(lambda gold: {"length": len(gold.split()), "answer": gold}) for name in _TEXTS},
    "LEvalQualityDataset": _l_eval(lambda gold: {"answer": gold[1]}),
}
"""Name of the class → its layout."""
