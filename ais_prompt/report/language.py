"""The language of labels: of the report, and of the summary in a terminal. Messages and files stay English."""

from __future__ import annotations

import os
from typing import Final, Literal

VARIABLE: Final = "AISPROMPT_LANG"
_TERMS: Final = {
    "dataset": "数据集",
    "model": "模型",
    "metric": "指标",
    "score": "得分",
    "95 %": "95 % 置信区间",
    "bounds": "上下界",
    "n": "样本数",
    "scored": "已评分",
    "unparsed": "未解析",
    "truncated": "被截断",
    "failed": "失败",
    "right": "正确",
    "wrong": "错误",
    "no answer": "未解析",
    "cut": "被截断",
    "no gold": "无标准答案",
}


def label_language() -> Literal["en", "zh"]:
    """Return the language that ``AISPROMPT_LANG`` names, or without it ``LC_ALL``, ``LC_MESSAGES`` or ``LANG``."""
    for name in (VARIABLE, "LC_ALL", "LC_MESSAGES", "LANG"):
        if value := os.environ.get(name):
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"


def term(word: str) -> str:
    """Return a heading of the summary in the reader's language."""
    return _TERMS.get(word, word) if label_language() == "zh" else word
