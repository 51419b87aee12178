"""The question of a sample in one line: where its prompt differs from those of its neighbours."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ais_prompt.types import ChatMessage, Prediction, prompt_to_json, prompts_to_json

SNIPPET: Final = 120
"""Maximum number of characters of a text in one line."""
_LABEL: Final = re.compile(r"\s*([^\s:：.]+( [^\s:：.]+)?[:：.]|\S+)")
"""How a line begins: ``Question:``, ``Question 3:``, ``A.``, or its first word."""
_MARKER: Final = re.compile(
    r"((?:<[|｜][^<>|｜\n]{1,40}[|｜]?>|<[^<>|｜\n]{1,40}[|｜]>|</?s>|<[be]os>"
    r"|<(?:start|end)_of_turn>|<extra_id_\d+>|\[/?INST\])"
    r"(?:\s{0,2}(?:system|developer|user|assistant|model|tool)(?=\s*(?:\n|<|$)))?)",
    re.IGNORECASE,
)
"""A special token of a chat template, with the role that follows it, as in ``<|im_start|>user`` and ``[INST]``."""
_OF_ANSWER: Final = re.compile(r"assistant|model|/INST", re.IGNORECASE)
"""Such a marker before an answer of the model."""


def questions(predictions: Sequence[Prediction]) -> list[str]:
    """Return the beginning of each question: where the prompt begins to differ from that of its neighbour.

    The text before that is the same for all: instructions, and often the in-context examples. Examples that each
    question has for itself are left out.
    """
    asked = [_without_examples(prediction) for prediction in predictions]
    neighbours = [asked[number - 1 if number else min(1, len(asked) - 1)] for number in range(len(asked))]
    return [snippet("\n".join(_between(*pair))) or "" for pair in zip(asked, neighbours, strict=True)]


def question_text(prompts: Any, before: Any = None) -> str:
    """Return the part of a prompt that differs from that of the sample before, whole.

    Args:
        prompts, before: in the form of `prompts_to_json`; None if there is no sample before.
    """
    found, others = _each(prompts), [] if before is None else _each(before)
    if len(found) == len(others) == 1 and isinstance(found[0], list) and isinstance(others[0], list):
        # Examples that are the same message for message need not be compared line by line.
        same = min(_shared(found[0], others[0]), len(found[0]) - 1)
        found, others = ([one[0][same:]] for one in (found, others))
    text = "\n".join(map(_text, found))
    return "\n".join(_between(text.split("\n"), "\n".join(map(_text, others)).split("\n"))) if others else text


def prompts_of(prediction: Prediction) -> list[Any]:
    """Return each prompt of a prediction in order of sending, in the form of `prompt_to_json`."""
    return _each(prompts_to_json(prediction.origin_prompt))


def _each(prompts: Any) -> list[Any]:
    return [prompts] if isinstance(prompts, str) or all(isinstance(item, dict) for item in prompts) else prompts


def _without_examples(prediction: Prediction) -> list[str]:
    """Return the lines of the question: from the last line that begins as each example does (``Question:``)."""
    lines = _last_text(prediction).split("\n")
    if not prediction.shots_used:
        return lines
    labels = [re.sub(r"\d+", "0", found[0]) if (found := _LABEL.match(line)) else "" for line in lines]
    uses = Counter(labels)
    first = next((label for label in labels if label and uses[label] > prediction.shots_used), None)
    if first is None:
        return lines
    return lines[len(lines) - 1 - labels[::-1].index(first) :]


def _last_text(prediction: Prediction) -> str:
    """Return the text of the first prompt, or of its last message."""
    prompt: Any = prediction.origin_prompt
    if not isinstance(prompt, str) and prompt and not isinstance(prompt[0], ChatMessage):
        prompt = prompt[0]
    if isinstance(prompt, str):
        return _last_asked(prompt)
    last = prompt[-1].content if prompt else ""
    return last if isinstance(last, str) else _text(prompt_to_json(prompt[-1:]))


def _last_asked(prompt: str) -> str:
    """Return the last message that is no answer, of a text that a chat template made; any other text as it is."""
    asked, markers = prompt, ""
    for place, piece in enumerate(_MARKER.split(prompt)):
        if place % 2:
            markers += piece
        elif piece.strip():
            if place and not _OF_ANSWER.search(markers):
                asked = piece.strip()
            markers = ""
    return asked


def _text(prompt: str | Sequence[Mapping[str, Any]]) -> str:
    """Return the texts of a prompt in the form of `prompt_to_json`; media are left out."""
    if isinstance(prompt, str):
        return prompt
    contents = [message["content"] for message in prompt]
    parts = [[{"text": content}] if isinstance(content, str) else content for content in contents]
    return "\n".join(part["text"] for content in parts for part in content if isinstance(part.get("text"), str))


def _between(lines: Sequence[str], others: Sequence[str]) -> Sequence[str]:
    """The lines between those that both begin with and those that both end with; all of them if none is left."""
    start = _shared(lines, others)
    end = _shared(lines[start:][::-1], others[start:][::-1])
    return lines[start : len(lines) - end] or lines


def _shared(items: Sequence[Any], others: Sequence[Any]) -> int:
    """Return the number of equal items at the beginning."""
    number = 0
    for one, other in zip(items, others, strict=False):
        if one != other:
            break
        number += 1
    return number


def snippet(value: Any) -> str | None:
    """Return a value as one short line; None if there is no value."""
    if value is None:
        return None
    items = value if isinstance(value, list) else [value]
    text = " · ".join("–" if item is None else text_or_json(item) for item in items)
    return " ".join(text[: 4 * SNIPPET].split())[:SNIPPET]


def text_or_json(value: Any) -> str:
    """Return a text as it is, and anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
