"""Understanding of language: the tasks of CLUE, FewCLUE, SuperGLUE and their like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ais_prompt.data import Row
from ais_prompt.extensions.benchmarks.layouts.file_layout import Layout, each, file, hub, letters

_TRUE: Final = {"true": "A", "false": "B"}
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


def _marked_pronoun(value: Row, new_text: str) -> Row:
    """Return a row of WSC with the pronoun replaced by the noun."""
    kept = {name: item for name, item in value.items() if name != "target"}
    return {**kept, "new_text": new_text, "answer": int(value["label"] == "true"), **_spans(value)}


def _cluewsc(value: Row) -> Row:
    characters = list(value["text"])
    characters[value["target"]["span2_index"]] = value["target"]["span1_text"]
    return _marked_pronoun(value, "".join(characters))


def _wsc(value: Row) -> Row:
    words = value["text"].split(" ")
    words[value["target"]["span2_index"]] = value["target"]["span1_text"]
    return _marked_pronoun(value, " ".join(words))


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


LAYOUTS: Final = {
    "AFQMCDatasetV2": _relabelled(_numbered),
    "AXDatasetV2": _named("entailment", "not_entailment"),
    "AnliDataset": _named("c", "e", "n"),
    "CBDatasetV2": _named("contradiction", "entailment", "neutral"),
    "CHIDDataset": hub(each(_chid)),
    "CHIDDatasetV2": file(each(_chid_v2)),
    "CMNLIDataset": _relabelled(str),
    "CMNLIDatasetV2": _named("entailment", "contradiction", "neutral"),
    "CluewscDataset": hub(each(_cluewsc)),
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
    "WSCDataset": hub(each(_wsc)),
    "WSCDatasetV2": file(each(_wsc_v2)),
    "WSCDatasetV3": file(each(_wsc_v3)),
    "WiCDataset": hub(each(lambda value: {**value, "answer": int(value["label"] == "true")})),
    "WiCDatasetV2": file(each(lambda value: {**value, "label": _TRUE[value["label"]]})),
    "bustumDataset_V2": _relabelled(_numbered),
}
"""Name of the class → its layout."""
