"""Prompts as texts, the places where two of them differ, and these in words: "newline added before `A:`".

A prompt made of messages becomes one text, so that differences and digests are always those of texts. A mark with its
role begins each message. The marks are characters of Unicode's private use, which ordinary texts do not contain.
Texts are aligned line by line and word by word.

The question of a sample is where its prompt differs from those of its neighbours.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby, takewhile
from typing import Any, Final, TypeAlias

from msgspec import Struct

from ais_prompt.types import ChatMessage, Prediction, Prompt, prompt_to_json, prompts_to_json
from ais_prompt.utils import late, printable, shortened, shown_content

TURN: Final = "\ue2f0"
"""Starts a message: `TURN`, its role, `TEXT` or `PARTS`, its content."""
TEXT: Final = "\ue2f1"
PARTS: Final = "\ue2f2"
"""Replaces `TEXT` if the content is a list of parts, which follow as JSON."""

MARK: Final = late(f"{TURN}[^{TEXT}{PARTS}]*[{TEXT}{PARTS}]")
"""Matches the start of a message, up to its content."""
_TURN: Final = late(f"{TURN}([^{TEXT}{PARTS}]*)([{TEXT}{PARTS}])([^{TURN}]*)")

START: Final = "\ue2f3"
END: Final = "\ue2f4"
"""`START` and `END` are put around a text, so that the context of a change shows whether it is at an end."""

_LINE: Final = late(rf"[^\n{TURN}]*\n|{TURN}[^\n{TURN}]*\n?|[^\n{TURN}]+")
_CHARACTERS: Final = "\u3040-\u30ff\u3400-\u9fff"
_WORD: Final = late(rf"{MARK.pattern}|\n|[^\S\n]+|[{_CHARACTERS}]|[^\W{_CHARACTERS}]+|[^\w\s]")
"""Matches a mark with its role, one newline, spaces, a word (a Chinese or Japanese character is one), or one sign."""

LEAST_ALIKE: Final = 0.6
"""Lines with a smaller share of common words count as replaced, not as changed."""

Piece: TypeAlias = tuple[str, str]
"""Old and new text of a piece, equal where nothing changed."""

_MOST_ALIGNED: Final = 5_000
"""Maximum number of lines or words to align, because the time grows with the square; more count as replaced."""
_AROUND: Final = 80
"""Characters of context to keep left and right of a change."""
Parts: TypeAlias = Mapping[str, Mapping[str, Any]]
"""What determines prompts: kind (``data``, ``templates``) → name → digest or value, plain JSON values only."""
DIGEST_BYTES: Final = 6
"""48 bits: short, and safe for any dataset, as a changed prompt keeps its digest once in 2.8e14 times."""

_LONGEST_LITERAL: Final = 40
_LONGEST_PLACE: Final = 24
_MOST_CHANGES: Final = 3
_BLANKS: Final = {"\n": "newline", " ": "space", "\t": "tab"}

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


class Hunk(Struct, frozen=True):
    """One changed place in a text.

    Attributes:
        left, right: the context before and after it in the new text, up to `_AROUND` characters.
        old, new: the old and the new text; empty where text was added or removed.
    """

    left: str
    old: str
    new: str
    right: str


def hunks(old: str, new: str, least_alike: float = LEAST_ALIKE) -> list[Hunk]:
    """Return the places where two texts differ. Their contexts include `START` and `END`.

    Of several equal spaces or newlines in a row, the last one counts as added or removed: "newline before ``A:``".
    """
    whole = f"{START}{new}{END}"
    found, at = [], 0
    for before, after in _joined(aligned_blocks(lines_of(f"{START}{old}{END}"), lines_of(whole), least_alike)):
        end = at + len(after)
        if before != after:
            found.append(
                _moved_right(Hunk(whole[max(0, at - _AROUND) : at], before, after, whole[end : end + _AROUND]))
            )
        at = end
    return found


def aligned_blocks(old: Sequence[str], new: Sequence[str], least_alike: float = LEAST_ALIKE) -> Iterator[Piece]:
    """Yield the pieces of two texts in order, old beside new; they are equal where nothing changed.

    Blocks, such as lines, are aligned first: they are few and mostly unique. Words are compared within changed blocks.
    """
    for before, after in map(_texts, _aligned(old, new)):
        if before == after:
            yield before, after
        else:
            yield from changed_words(before, after, least_alike)


def lines_of(text: str) -> list[str]:
    """Return the lines of a text with their ends."""
    return _LINE.findall(text)


@lru_cache(4096)  # the prompts of a dataset have the same examples
def changed_words(old: str, new: str, least_alike: float = LEAST_ALIKE) -> list[Piece]:
    """Return the pieces of a changed block, word by word; one piece if its words have little in common."""
    aligned = list(_aligned(_WORD.findall(old), _WORD.findall(new)))
    words = sum(len(before) + len(after) for before, after in aligned)
    same = sum(2 * len(before) for before, after in aligned if before == after)
    return list(map(_texts, aligned)) if same >= least_alike * words else [(old, new)]


def _aligned(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Yield runs of lines or words, equal and different ones in turn."""
    head = common_length(before, after)
    tail = common_length(before[head:][::-1], after[head:][::-1])
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    yield before[:head], after[:head]
    if max(len(old), len(new)) > _MOST_ALIGNED:
        yield old, new
    else:
        from difflib import SequenceMatcher  # a run that reads questions compares no words

        for _, i, j, k, m in SequenceMatcher(None, old, new).get_opcodes():
            yield old[i:j], new[k:m]
    yield before[len(before) - tail :], after[len(after) - tail :]


def common_length(first: Sequence[Any], second: Sequence[Any]) -> int:
    """Return how many characters, words, lines or messages are equal at the beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))


def _texts(run: tuple[Sequence[str], Sequence[str]]) -> Piece:
    return "".join(run[0]), "".join(run[1])


def _joined(pieces: Iterable[Piece]) -> list[Piece]:
    """Join neighbouring pieces that changed, and neighbouring pieces that did not."""
    return [
        ("".join(before for before, _ in group), "".join(after for _, after in group))
        for group in (list(found) for _, found in groupby(pieces, key=lambda piece: piece[0] == piece[1]))
    ]


def _moved_right(hunk: Hunk) -> Hunk:
    """Move an added or removed space or newline after all equal ones that follow it."""
    left, changed, right = hunk.left, hunk.old or hunk.new, hunk.right
    if hunk.old and hunk.new:
        return hunk
    while changed[0].isspace() and right.startswith(changed[0]):
        left, changed, right = left + changed[0], changed[1:] + changed[0], right[1:]
    return Hunk(left, changed, "", right) if hunk.old else Hunk(left, "", changed, right)


def text_of_prompt(prompt: Prompt) -> str:
    """Return the prompt as one text; a prompt that is a text stays as it is."""
    return prompt if isinstance(prompt, str) else "".join(map(_text_of_message, prompt))


def prompt_of_text(text: str) -> Prompt:
    """Read back the text of `text_of_prompt`."""
    return tuple(messages_of_text(text)) if text.startswith(TURN) else text


def messages_of_text(text: str) -> Iterator[ChatMessage]:
    """Yield the messages of a text; none if the prompt was a text."""
    for role, mark, content in _TURN.findall(text):
        yield ChatMessage(role, content if mark == TEXT else tuple(json.loads(content)))


def _text_of_message(message: ChatMessage) -> str:
    if isinstance(message.content, str):
        return f"{TURN}{message.role}{TEXT}{message.content}"
    parts = json.dumps([dict(part) for part in message.content], ensure_ascii=False, sort_keys=True)
    return f"{TURN}{message.role}{PARTS}{parts}"


class TaskPrompts(Struct, frozen=True):
    """The prompts of one model on one dataset.

    Attributes:
        model, dataset: their ``abbr``.
        parts: what determines the prompts.
        digests: id of the whole row → digest of each of its prompts, in the order of the rows.
        texts: id of the whole row → its prompts as texts (`text_of_prompt`); in a lock only for a few rows.
        characters: total length of all prompts.
        tokens: total tokens of all prompts; None if there is no tokenizer, or they were not counted.
    """

    model: str
    dataset: str
    parts: Parts
    digests: Mapping[str, Sequence[str]]
    texts: Mapping[str, Sequence[str]]
    characters: int
    tokens: int | None = None

    @property
    def name(self) -> str:
        """``model/dataset``, the name in progress and errors."""
        return f"{self.model}/{self.dataset}"


class PromptLock(Struct, frozen=True):
    """The content of a lock file.

    Attributes:
        config: name of the config.
        made_with: package → version, of packages that can change a prompt; shown if prompts changed, never compared.
        tasks: the prompts of each model on each dataset.
    """

    config: str
    made_with: Mapping[str, str]
    tasks: Sequence[TaskPrompts]


def compact_digest(text: str) -> str:
    """Return the first 48 bits of the text's SHA-256 as 8 characters of base64url."""
    # Real data can contain lone surrogates; they must not break the digest.
    content = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return base64.urlsafe_b64encode(content[:DIGEST_BYTES]).decode()


def changes_title(changes: Sequence[Hunk]) -> str:
    """Describe the first changes of a prompt, and count the others; an equal change in several places is one."""
    # Of several places the last is named: in a few-shot prompt it is in the question, not in an example.
    last = {(change.old, change.new): change for change in changes}
    titles = list(dict.fromkeys(map(_change, last.values())))
    more = len(titles) - _MOST_CHANGES
    return "; ".join(titles[:_MOST_CHANGES]) + (f"; {more} more change{'s' * (more > 1)}" if more > 0 else "")


def readable(text: str) -> str:
    """Return the text with roles in place of marks, fit for a terminal; each message starts on a new line."""
    shown = MARK.sub(lambda mark: f"\n[{mark[0][1:-1]}] ", text.replace(START, "").replace(END, ""))
    begins_with_role = text.lstrip(START).startswith(TURN)
    return printable(shown.removeprefix("\n") if begins_with_role else shown)


def _change(hunk: Hunk) -> str:
    if hunk.old and hunk.new:
        return f"{_literal(hunk.old)} → {_literal(hunk.new)}"
    verb = "removed" if hunk.old else "added"
    return f"{_literal(hunk.old or hunk.new)} {verb} {_place(hunk)}".rstrip()


def _literal(text: str) -> str:
    text = text.strip(START + END)
    if text and not text.strip() and len(set(text)) == 1 and text[0] in _BLANKS:
        return _BLANKS[text[0]] if len(text) == 1 else f"{len(text)} {_BLANKS[text[0]]}s"
    return f"`{_one_line(text, _LONGEST_LITERAL)}`"


def _place(hunk: Hunk) -> str:
    if hunk.right.startswith(END):
        return "at the end"
    if hunk.left.endswith(START):
        return "at the beginning"
    behind = _one_line(readable(hunk.right).strip().partition("\n")[0].strip(), _LONGEST_PLACE)
    if behind:
        return f"before `{behind}`"
    before = _one_line(hunk.left.rstrip().rpartition("\n")[2][-_LONGEST_PLACE:], _LONGEST_PLACE)
    return f"after `{before}`" if before else ""


def _one_line(text: str, longest: int) -> str:
    return shortened(readable(text).replace("\n", "⏎"), longest)


def questions(predictions: Sequence[Prediction]) -> list[str]:
    """Return the beginning of each question: where the prompt begins to differ from that of its neighbour.

    The text before that is the same for all: instructions, and often the in-context examples. Examples that each
    question has for itself are left out.
    """
    asked = [_without_examples(prediction) for prediction in predictions]
    neighbours = [asked[number - 1 if number else min(1, len(asked) - 1)] for number in range(len(asked))]
    return [snippet("\n".join(_between(*pair))) or "" for pair in zip(asked, neighbours, strict=True)]


def question_text(prediction: Prediction, before: Prediction | None = None) -> str:
    """Return the part of a prompt that differs from that of the sample before, whole.

    Args:
        prediction: of the sample.
        before: of the sample before; None if there is none.
    """
    found, others = prompts_of(prediction), [] if before is None else prompts_of(before)
    if len(found) == len(others) == 1 and isinstance(found[0], list) and isinstance(others[0], list):
        # Examples that are the same message for message need not be compared line by line.
        same = min(common_length(found[0], others[0]), len(found[0]) - 1)
        found, others = ([one[0][same:]] for one in (found, others))
    text = "\n".join(map(_text, found))
    return "\n".join(_between(text.split("\n"), "\n".join(map(_text, others)).split("\n"))) if others else text


def prompts_of(prediction: Prediction) -> list[Any]:
    """Return each prompt of a prediction in order of sending, in the form of `prompt_to_json`."""
    prompts = prompts_to_json(prediction.origin_prompt)
    return [prompts] if isinstance(prompts, str) or all(isinstance(item, dict) for item in prompts) else prompts


def _without_examples(prediction: Prediction) -> list[str]:
    """Return the lines of the question: from the last line that begins as each example does (``Question:``).

    They are lines of the first prompt, or of its last message.
    """
    prompt: Any = prediction.origin_prompt
    if not isinstance(prompt, str) and prompt and not isinstance(prompt[0], ChatMessage):
        prompt = prompt[0]
    if isinstance(prompt, str):
        text = _last_asked(prompt)
    else:
        last = prompt[-1].content if prompt else ""
        text = last if isinstance(last, str) else _text(prompt_to_json(prompt[-1:]))
    lines = text.split("\n")
    if not prediction.shots_used:
        return lines
    labels = [re.sub(r"\d+", "0", found[0]) if (found := _LABEL.match(line)) else "" for line in lines]
    uses = Counter(labels)
    first = next((label for label in labels if label and uses[label] > prediction.shots_used), None)
    if first is None:
        return lines
    return lines[len(lines) - 1 - labels[::-1].index(first) :]


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
    contents = list(map(shown_content, prompt))
    parts = [[{"text": content}] if isinstance(content, str) else content for content in contents]
    return "\n".join(part["text"] for content in parts for part in content if isinstance(part.get("text"), str))


def _between(lines: Sequence[str], others: Sequence[str]) -> Sequence[str]:
    """The lines between those that both begin with and those that both end with; all of them if none is left."""
    start = common_length(lines, others)
    end = common_length(lines[start:][::-1], others[start:][::-1])
    return lines[start : len(lines) - end] or lines


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
