"""Texts that are much like each other, for comparing metrics with reference libraries."""

from __future__ import annotations

import random

WORDS = "the a an cat cat's dog sat, on mat. Mat and 3.5 1,000 B-52 über (so) it! is “quoted” 42% _under_ x".split()
CHARACTERS = "今天天气很好我们去公园玩吧，机器学习是人工智能的一个分支。GPT4 模型"


def pairs(number: int, chinese: bool = False) -> list[tuple[str, list[str]]]:
    """Answers, some of which are empty, each with one to three golds; some are equal."""
    chance = random.Random(number)
    return [
        (_text(chance, chinese), [_text(chance, chinese) or "x" for _ in range(chance.randint(1, 3))])
        for _ in range(number)
    ]


def _text(chance: random.Random, chinese: bool) -> str:
    length = chance.choice([0, 1, 2, 5, 10, 20])
    if chinese:
        return "".join(chance.choices(CHARACTERS, k=length)).strip()
    return chance.choice([" ", "  ", "\n"]).join(chance.choices(WORDS, k=length))
