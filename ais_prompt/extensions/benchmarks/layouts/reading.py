"""Understanding of language: questions about a text, the tasks of CLUE, FewCLUE and SuperGLUE, and long texts.

The gold of some questions is a list of texts. The long texts are those of LongBench and L-Eval.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from ais_prompt.data import Row
from ais_prompt.extensions.benchmarks.layouts.file_layout import (
    Call,
    Layout,
    Rows,
    each,
    file,
    flat,
    folder,
    hub,
    json_items,
    json_whole,
    letters,
    source_and_target,
    tsv_records,
)

_QASPER: Final = {"dev": "qasper-dev-v0.3.json"}
_TRUE: Final = {"true": "A", "false": "B"}


def _answers_of(first_only: str) -> Callable[[Iterator[Sequence[str]], Call], Iterable[Row]]:
    """Return the mapping of a question and the Python list of its answers; one split has the first answer only."""

    def rows(values: Iterator[Sequence[str]], call: Call) -> Iterable[Row]:
        for question, text in values:
            answers = ast.literal_eval(text)
            yield {"question": question, "answer": answers[0] if call.split == first_only else answers}

    return rows


def _first_answer_in(split: str) -> Callable[[Iterator[Row], Call], Iterable[Row]]:
    def rows(values: Iterator[Row], call: Call) -> Iterable[Row]:
        return ({**value, "answer": value["answer"][0]} if call.split == split else value for value in values)

    return rows


def _boolq_v3(value: Row) -> Row:
    question = value["question"][0].upper() + value["question"][1:]
    return {**value, "passage": " -- ".join(value["passage"].split(" -- ")[1:]), "question": question}


def _c3(dialogue: Any, *, lettered: bool) -> Iterable[Row]:
    between = "" if lettered else " "
    content = between.join("".join(paragraph) for paragraph in dialogue[0])
    for question in dialogue[1]:
        choices = question["choice"]
        label = choices.index(question["answer"])
        filled = choices + ["[NULL]" if lettered else choices[0]] * (4 - len(choices))
        numbered = {f"choice{number}": choice for number, choice in enumerate(filled[:4])}
        row = {"content": content, "question": question["question"], **numbered}
        yield {**row, "label": "ABCD"[label]} if lettered else {**row, "choices": filled, "label": label}


def _squad_like(document: Any) -> Iterable[Row]:
    """Yield the questions of a file in the form of SQuAD. The answers keep their order: the first are the same."""
    for article in document["data"]:
        for paragraph in article["paragraphs"]:
            for question in paragraph["qas"]:
                answers = list(dict.fromkeys(answer["text"] for answer in question["answers"]))
                yield {"context": paragraph["context"], "question": question["question"], "answers": answers}


def _drop(article: Any) -> Iterable[Row]:
    for pair in article["qa_pairs"]:
        if any(answer["number"] for answer in pair["validated_answers"]):
            answers = list(dict.fromkeys(text for one in pair["validated_answers"] for text in _drop_texts(one)))
            yield {"prompt": article["passage"], "question": pair["question"], "answers": answers}


def _drop_texts(answer: Any) -> list[str]:
    if answer["number"]:
        return [answer["number"]]
    date = [answer["date"][part] for part in ("day", "month", "year")]
    return [" ".join(date).strip()] if any(date) else answer["spans"]


def _multirc(value: Any, *, lettered: bool) -> Iterable[Row]:
    for question in value["passage"]["questions"]:
        for answer in question["answers"]:
            label = "BA"[answer["label"]] if lettered else answer["label"]
            row = {"text": value["passage"]["text"], "question": question["question"]}
            yield {**row, "answer": answer["text"], "label": label}


def _record(value: Any, *, joined: bool) -> Iterable[Row]:
    text = value["passage"]["text"].replace("@highlight", "")
    text = text.replace("\n\n", "\n") if joined else text
    for query in value["qas"]:
        answers = [answer["text"] for answer in query["answers"]]
        yield {"text": text, "question": query["query"].replace("@placeholder", "____"), "answers": answers}


def _race(value: Any) -> Row:
    row = {"article": value["article"], "question": value["question"], **letters(value["options"][:4])}
    return {**row, "answer": value["answer"]}


def _qasper(papers: Any, *, cut: bool = False) -> Iterable[Row]:
    for paper in papers.values():
        sections = ((part["section_name"] or "", "\n".join(part["paragraphs"])) for part in paper["full_text"])
        article = "\n".join(f"{name}\n{text}\n" for name, text in sections)
        for question in paper["qas"]:
            given = [one["answer"] for one in question["answers"]]
            if answers := [span for one in given for span in one["extractive_spans"]]:
                places = (article.find(clue) for one in given for clue in one["evidence"])
                start = max(0, min(places, default=0)) if cut else 0  # the first evidence of any answer
                yield {"answer": answers, "question": question["question"], "evidence": article[start:]}


def _summary(values: Iterator[Any], call: Call) -> Iterable[Row]:  # noqa: ARG001
    for number, value in enumerate(values):
        if number == 1000:
            return
        row = {name: value[name] for name in ("dialogue", "summary")}
        if not any(isinstance(text, float) for text in row.values()):
            yield row


LAYOUTS: Final = {
    "BoolQDataset": hub(each(lambda value: {**value, "answer": int(value["label"] == "true")})),
    "BoolQDatasetV2": file(each(lambda value: {**value, "label": _TRUE[value["label"]]})),
    "BoolQDatasetV3": file(each(_boolq_v3)),
    "C3Dataset": file(flat(lambda value: _c3(value, lettered=False)), read=json_items),
    "C3Dataset_V2": file(flat(lambda value: _c3(value, lettered=True)), read=json_items),
    "CMRCDataset": file(flat(_squad_like), read=json_whole),
    "DRCDDataset": file(flat(_squad_like), read=json_whole),
    "DropOpenAIDataset": Layout(
        {}, each(lambda value: {"prompt": value["context"], "answers": value["ref_text"]}), alone=("validation",)
    ),
    "LCSTSDataset": folder(read=source_and_target, test="test.src.txt"),
    "MultiRCDataset": file(flat(lambda value: _multirc(value, lettered=False))),
    "MultiRCDatasetV2": file(flat(lambda value: _multirc(value, lettered=True))),
    "NQOpenDataset": folder(
        _first_answer_in("train"), validation="nq-open-validation.jsonl", train="nq-open-train.jsonl"
    ),
    "NaturalQuestionDataset": folder(_answers_of("dev"), read=tsv_records, dev="nq-dev.qa.csv", test="nq-test.qa.csv"),
    "NaturalQuestionDatasetCN": folder(_first_answer_in("dev"), dev="dev.jsonl", test="test.jsonl"),
    "QASPERCUTDataset": Layout(_QASPER, flat(lambda value: _qasper(value, cut=True)), json_whole, alone=("dev",)),
    "QASPERDataset": Layout(_QASPER, flat(_qasper), json_whole, alone=("dev",)),
    "RaceDataset": folder(each(_race), validation="validation/{name}.jsonl", test="test/{name}.jsonl"),
    "ReCoRDDataset": file(flat(lambda value: _record(value, joined=False))),
    "ReCoRDDatasetV2": file(flat(lambda value: _record(value, joined=True))),
    "StrategyQADataset": file(read=json_items),
    "SummeditsDataset_V2": file(each(lambda value: {**value, "label": "BA"[value["label"]]})),
    "TriviaQADataset": folder(
        _answers_of("test"), read=tsv_records, dev="trivia-dev.qa.csv", test="trivia-test.qa.csv"
    ),
    "TriviaQADatasetV2": folder(validation="triviaqa-validation.jsonl", train="triviaqa-train.jsonl"),
    "TriviaQADatasetV3": file(),
    "XsumDataset": Layout({"test": "dev.jsonl"}, _summary, alone=("test",)),
    "dropDataset": Layout({}, flat(_drop), json_items, alone=("validation",)),
    "lambadaDataset": Layout({"test": "test.jsonl"}, each(dict), alone=("test",)),
}
"""Name of the class → its layout."""


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


_MOOD: Final = {"Positive": "A", "Negative": "B"}
_NEWS: Final = {
    "news_agriculture": ("A", "农业新闻"),
    "news_travel": ("B", "旅游新闻"),
    "news_game": ("C", "游戏新闻"),
    "news_tech": ("D", "科技类别公司新闻"),
    "news_sports": ("E", "体育类别新闻"),
    "news_edu": ("F", "初升高教育新闻"),
    "news_entertainment": ("G", "娱乐圈新闻"),
    "news_finance": ("H", "投资资讯"),
    "news_military": ("I", "军事类别常识"),
    "news_car": ("J", "车辆新闻"),
    "news_house": ("K", "楼市新闻"),
    "news_world": ("L", "环球不含中国类别新闻"),
    "news_culture": ("M", "书籍文化历史类别新闻"),
    "news_story": ("N", "故事类别新闻"),
    "news_stock": ("O", "股票市场类别新闻"),
}
"""Label → its letter and its description in prompts of OpenCompass."""


def _relabelled(label: Callable[[Any], str]) -> Layout:
    """Return the layout of a file whose labels become letters; rows without a label (``-``) are left out."""
    return file(each(lambda value: None if value["label"] == "-" else {**value, "label": label(value["label"])}))


def _named(*labels: str) -> Layout:
    """Return the layout of a file whose labels become A, B, ... in this order."""
    return _relabelled(dict(zip(labels, "ABCDEFG", strict=False)).__getitem__)


def _numbered(value: Any) -> str:
    return "AB"[int(value)]


def _spans(value: Row) -> Row:
    return {"span1": value["target"]["span1_text"], "span2": value["target"]["span2_text"]}


def _marked_pronoun(value: Row, words: list[str], between: str) -> Row:
    """Return a row of WSC with the pronoun replaced by the noun; of Chinese texts each character is a word."""
    words[value["target"]["span2_index"]] = value["target"]["span1_text"]
    kept = {name: item for name, item in value.items() if name != "target"}
    return {**kept, "new_text": between.join(words), "answer": int(value["label"] == "true"), **_spans(value)}


def _wsc_v2(value: Row) -> Row:
    return {**_spans(value), "text": value["text"], "label": _TRUE[value["label"]]}


def _wsc_v3(value: Row) -> Row:
    """Mark both spans in the text: ``* noun *`` and ``# pronoun #``."""
    target, words = value["target"], value["text"].split(" ")
    marked: dict[int, str] = {}
    covered: set[int] = set()
    for mark, name in (("#", "span2"), ("*", "span1")):
        text, start = target[f"{name}_text"], target[f"{name}_index"]
        marked[start] = f"{mark} {text} {mark}"
        covered.update(range(start, start + len(text.split(" "))))
    shown = [marked.get(place, word) for place, word in enumerate(words) if place in marked or place not in covered]
    return {**_wsc_v2(value), "text": " ".join(shown)}


def _chid(value: Row) -> Row:
    texts = enumerate(value["candidates"])
    return {**value, **{f"content{number}": value["content"].replace("#idiom#", text) for number, text in texts}}


def _chid_v2(value: Row) -> Row:
    content = value["content"].replace("#idiom#", "______")
    return {"content": content, **letters(value["candidates"]), "answer": "ABCDEFG"[value["answer"]]}


LANGUAGE_TASKS: Final = {
    "AFQMCDatasetV2": _relabelled(_numbered),
    "AXDatasetV2": _named("entailment", "not_entailment"),
    "AnliDataset": _named("c", "e", "n"),
    "CBDatasetV2": _named("contradiction", "entailment", "neutral"),
    "CHIDDataset": hub(each(_chid)),
    "CHIDDatasetV2": file(each(_chid_v2)),
    "CMNLIDataset": _relabelled(str),
    "CMNLIDatasetV2": _named("entailment", "contradiction", "neutral"),
    "CluewscDataset": hub(each(lambda value: _marked_pronoun(value, list(value["text"]), ""))),
    "CluewscDatasetV2": file(each(_wsc_v2)),
    "CslDataset": hub(each(lambda value: {**value, "keywords": "，".join(value["keyword"])})),
    "CslDatasetV2": file(
        each(
            lambda value: {
                "abst": value["abst"],
                "keywords": "，".join(value["keyword"]),
                "label": _numbered(value["label"]),
            }
        )
    ),
    "EprstmtDatasetV2": file(each(lambda value: {"sentence": value["sentence"], "label": _MOOD[value["label"]]})),
    "TNewsDataset": hub(each(lambda value: {**value, "label_desc2": _NEWS[value["label_desc"]][1]})),
    "TNewsDatasetV2": file(
        each(lambda value: {"sentence": value["sentence"], "label_desc2": _NEWS[value["label_desc"]][0]})
    ),
    "WSCDataset": hub(each(lambda value: _marked_pronoun(value, value["text"].split(" "), " "))),
    "WSCDatasetV2": file(each(_wsc_v2)),
    "WSCDatasetV3": file(each(_wsc_v3)),
    "WiCDataset": hub(each(lambda value: {**value, "answer": int(value["label"] == "true")})),
    "WiCDatasetV2": file(each(lambda value: {**value, "label": _TRUE[value["label"]]})),
    "bustumDataset_V2": _relabelled(_numbered),
}
"""Name of the class → its layout."""
