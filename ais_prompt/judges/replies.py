"""Verdicts of a judge: which tag, or which rating, is meant."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from ais_prompt.postprocess import REACH, Candidate, Doubts, Rank, boxed_spans, doubts, said, strongest
from ais_prompt.registry import POSTPROCESSORS
from ais_prompt.types import Extraction
from ais_prompt.utils import late

_VERDICT: Final = (
    r"(?:\b(?i:graded?|verdict|judge?ment|judged|marked|decision|conclusion|evaluation|assessment|result|rating|rated|scored?)\b"
    r"|评级|评判|评定|判定|判断|结论|结果|评分|得分|分数|打分|评|判)"
)
_ANSWER: Final = r"(?:\b(?i:answer)\b|答案)"
# Bounded, so that the time is linear.
_OPEN: Final = r"[\s*_(\[\"'`]{0,60}"
_CLOSE: Final = r"[\s*_)\]\"'`.!]{0,60}"
_IS: Final = (
    r"(?:\s+(?i:for|of|on)\b[^\n.:=\d]{0,60}?)?"
    rf"(?:{_OPEN}[\"'*_]*\s*(?:[:=→]|\s[-–—]\s)|\s*(?:\b(?i:is|as|must\s+be|should\s+be|would\s+be)\b(?:\s+an?\b)?|应?[是为]))"
)
"""What is between the word "verdict" and the verdict."""
_OPTION_BEFORE: Final = late(
    r"(?:\b(?i:answer(?:s|ed)?|options?|choices?|cho(?:ose|oses|se|sen|osing)|pick(?:s|ed)?|select(?:s|ed)?|said|says?|gold|reference|"
    r"ground\s+truth|key|student|model|candidate|prediction|response)\b|答案|选项|选择|学生|模型|考生|回答)[^.!?;\n]*\Z"
)
"""A letter is an option of the question, and no verdict, if a clause names what was answered before it."""
_REPORTED: Final = late(
    r"(?P<said>(?:\b(?i:says?|said|saying|states?|stated|claims?|claimed|contains?|contained|containing|includes?|including|"
    r"writes?|wrote|written|reads?|asks?|asked|demands?|demanded|tells?|told|instructs?|instructed|quotes?|quoted|adds?|added|"
    r"(?:ends?|ended|begins?|began|starts?|started)\s+with|plants?|planted|inserts?|inserted|injects?|injected|repl(?:y|ies|ied)|"
    r"respond(?:s|ed)?|phrases?|text|string|words?|instructions?|given|shown)\b|写道?|说|称|包含|含有|要求|声称|指示)"
    r"[^\n.!?;:\"`'“‘«「『]{0,40}:?\s*)"
    # The quote of a text may hold quotes itself, as JSON does. Its length is bounded, so that the time is linear.
    r"(?P<quote>(?s:```.*?(?:```|\Z))|`[^`\n]{1,400}`|\"[^\n]{1,400}?\"(?=[\s.;!?)]|,\s|\Z)"
    r"|'[^\n]{1,400}?'(?=[\s.;!?)]|,\s|\Z)"
    r"|“[^”]{1,400}”|‘[^’]{1,400}’|«[^»]{1,400}»|「[^」]{1,400}」|『[^』]{1,400}』"
    r"|(?m:^>[^\n]*\n?)+)"
)
"""What a judge quotes from the answer, or from its prompt: 'The answer says "[[A]]"'."""
_OWN: Final = late(rf"(?:\b(?:I|[Mm]y)\b|我|{_VERDICT})[^.!?;\n]*\Z")
"""A judge that quotes its own verdict: 'so I write "[[A]]"'."""
_NUMBER: Final = r"(?P<found>-?\d++(?:\.\d++)?)(?!\d|,\d)"
_SCALES: Final = late(
    r"/\s*\d+|\b(?i:out\s+of)\s+\d+|(?<![\d.])\d+\s*(?:[-–~—]|to|and|到|至)\s*\d+(?!\d|\.\d)|(?<!\d)\d+-?(?:point|分制)|满分[是为]?\s*\d+"
    # "(10 is best)", "[1 = worst]", but not "(7)" and "[[7]]"
    r"|\((?!\s*[\d.]+\s*\))[^()\n]*\)|(?<!\[)\[(?!\[|\s*[\d.]+\s*\])[^\[\]\n]*\]"
)
"""Numbers that tell which ratings there are."""


@POSTPROCESSORS.register_module()
def generic_llmjudge_postprocess(text: str, true_tag: str = "A", false_tag: str = "B") -> Extraction | None:
    r"""Return the tag that a judge gives; None if it gives none, or one as well as the other.

    Args:
        text: the answer of the judge.
        true_tag, false_tag: the tags of a right and of a wrong answer.

    What is looked for, in this order, in what is said after any thinking: the last ``\boxed{}`` or ``[[ ]]``; the last
    "verdict: A", "grade is A", ... or line of nothing but the tag; the tag at the beginning; the only tag by itself. A
    tag that is denied ("not A") does not count, nor one that is quoted from the answer, nor a letter that is an option
    of the question ("the answer is A").

    >>> generic_llmjudge_postprocess("A good attempt, but the value is wrong.\n\nVerdict: **B**")
    'B'
    >>> generic_llmjudge_postprocess("A: CORRECT")
    'A'
    >>> generic_llmjudge_postprocess("It is CORRECT, or perhaps INCORRECT.", "CORRECT", "INCORRECT")
    >>> generic_llmjudge_postprocess("It is not A but B")
    'B'
    >>> generic_llmjudge_postprocess("The predicted answer is A, the reference is B.\n\nB")
    'B'
    >>> generic_llmjudge_postprocess("The student's answer is A.")
    >>> generic_llmjudge_postprocess('The answer only says "[[A]]".')

    Source: OpenCompass, ``generic_llmjudge_postprocess``, which takes the first letter A or B of the text, also inside
    a word ("Based on ..." gives B).
    """
    return only_tag(text, (true_tag, false_tag), may_name_options=true_tag.isalpha() and len(true_tag) == 1)


def only_tag(text: str, tags: Sequence[str], *, may_name_options: bool = False) -> Extraction | None:
    """Return which of several tags a judge gives, as `generic_llmjudge_postprocess` finds one of two.

    >>> only_tag("My final verdict is tie: [[A=B]]", ("A>B", "A=B", "B>A"))
    'A=B'

    Args:
        text: the answer of the judge.
        tags: what the prompt tells it to say; one may begin with another one.
        may_name_options: whether the tags are also letters of options, about which the judge may talk.
    """
    source = said(text)
    longest_first = sorted(tags, key=len, reverse=True)
    letter = "[A-Za-z0-9]" if all(map(str.isascii, tags)) else r"[^\W_]"
    tag = f"(?<!{letter})(?P<found>{'|'.join(map(re.escape, longest_first))})(?!{letter})"
    text = without_quotes(source.text)
    verdicts = _verdicts(text, tag, is_letter="A" in tags, may_name_options=may_name_options)
    found = strongest(verdicts, text)
    if not found or (found[-1].rank == Rank.ALONE and len({one.text for one in found}) > 1):
        return None
    return source.extraction(found[-1].rule, found[-1].start, found[-1].end)


@POSTPROCESSORS.register_module()
def judge_rating_postprocess(text: str) -> Extraction | None:
    """Return the rating that a judge gives, as a number; None if it gives none.

    >>> judge_rating_postprocess("It has 3 faults. Rating: [[7]]")
    '7'
    >>> judge_rating_postprocess("Score: 8.5/10")
    '8.5'

    >>> judge_rating_postprocess("On a scale of 1 to 10, I would rate it 7.")
    '7'

    What is looked for, in this order, in what is said after any thinking: the last ``[[ ]]``; the last overall rating;
    the last "rating: 7", "score is 7", ... or line of nothing but a number; the last "a score of 7", "rate it 7".
    Numbers of the scale do not count.

    Source: Zheng et al. 2023, "Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena" (the form ``[[7]]``).
    """
    source = said(text)
    text = without_quotes(source.text)
    without_scales = _SCALES.sub(lambda scale: " " * len(scale.group()), text)
    criterion = r"(?:[^\d\n.:=]*(?=[:=]))?"
    ways = (
        (Rank.MARKED, "[[ ]]", rf"\[\[\s*{_NUMBER}\s*\]\]"),
        (Rank.MARKED, "<tag>", rf"<\w+>{_OPEN}{_NUMBER}{_CLOSE}</"),
        (
            Rank.FINAL,
            "the overall rating is",
            rf"(?:\b(?i:overall|final|total)\b(?:\s+{_VERDICT})?|总(?:体|评)?{_VERDICT}?|总分){criterion}{_IS}{_OPEN}{_NUMBER}",
        ),
        (Rank.ANNOUNCED, "the rating is", rf"{_VERDICT}{criterion}{_IS}{_OPEN}{_NUMBER}"),
        (Rank.ANNOUNCED, "a line of the rating", rf"(?m:^){_OPEN}{_NUMBER}{_CLOSE}分?{_CLOSE}(?m:$)"),
        (
            Rank.CONCLUDED,
            "a rating of",
            rf"(?:{_VERDICT}(?:\s+of)?|\b(?i:scale)\b[^\d\n.]*|\b(?i:rate|rated|give|assign|award)\s+(?i:it|this|that|the|them)\b[^\d\n.:=]*|[给打][^\d\n。:=]{{0,12}}){_OPEN}{_NUMBER}",
        ),
    )
    denial = doubts(r"\d+(?:\.\d+)?")
    of_ten = ((Rank.ALONE, "7/10", rf"(?<![\d.,]){_NUMBER}\s*/\s*(?:5|10|100)(?!\d)"),)
    found = strongest((*_matches(without_scales, ways, denial), *_matches(text, of_ten, denial)), text)
    return source.extraction(found[-1].rule, found[-1].start, found[-1].end) if found else None


def without_quotes(text: str) -> str:
    """Return a text with blanks in place of what it quotes from others, so that all places stay the same."""

    def blank(found: re.Match[str]) -> str:
        if _OWN.search(text[max(0, found.start() - REACH) : found.start("quote")]):
            return found.group()
        return found["said"] + re.sub(r"[^\n]", " ", found["quote"])

    return _REPORTED.sub(blank, text)


def _verdicts(text: str, tag: str, *, is_letter: bool, may_name_options: bool) -> Iterator[Candidate]:
    denial = doubts(tag.replace("?P<found>", "?:"))
    for start, end in boxed_spans(text):
        if inside := re.search(tag, text[start:end]):
            place = start + inside.start()
            yield Candidate(Rank.MARKED, "boxed", place, place + len(inside.group()), inside.group())
    # The word "A" begins sentences.
    no_word = tag + (r"(?!\s+(?!or\b|and\b|is\b)[a-z])" if is_letter else "")
    announced = _VERDICT if may_name_options else f"(?:{_VERDICT}|{_ANSWER})"
    line_end = rf"{_CLOSE}(?m:$)"
    ways = (
        (Rank.MARKED, "[[ ]]", rf"\[\[\s*{tag}\s*\]\]"),
        (Rank.MARKED, "<tag>", rf"<\w+>{_OPEN}{tag}{_CLOSE}</"),
        (Rank.ANNOUNCED, "the verdict is", rf"{announced}{_IS}{_OPEN}{tag}"),
        (Rank.ANNOUNCED, "the verdict", rf"{announced}{_OPEN}{tag}(?={line_end})"),
        (Rank.ANNOUNCED, "a line of the tag", rf"(?m:^){_OPEN}{tag}(?={line_end})"),
        (Rank.LINE, "the beginning", rf"\A{_OPEN}{tag}(?=\s*(?:[^\w\s]|\n|\Z))"),
        (
            Rank.LABEL,
            "concluded at the end",
            rf"(?<!nswer)(?<!ption)(?<!hoice)(?<!gold)(?<!eference)(?<!答案)(?<!选项)(?:[:→]|\b(?i:so|thus|hence|therefore)\b,?|因此|所以){_OPEN}{tag}(?={_CLOSE}\Z)",
        ),
    )
    yield from _matches(text, ways, denial)
    for one in _matches(text, ((Rank.ALONE, "the only tag", no_word),), denial):
        if not (may_name_options and _OPTION_BEFORE.search(text[max(0, one.start - REACH) : one.start])):
            yield one


def _matches(text: str, ways: tuple[tuple[Rank, str, str], ...], denial: Doubts) -> Iterator[Candidate]:
    for rank, name, pattern in ways:
        for found in re.finditer(pattern, text):
            start, end = found.span("found")
            if rank == Rank.MARKED or not denial.denies_before(text, start):
                yield Candidate(rank, name, start, end, found["found"])
