"""Parts of an answer that a simple rule finds: a pattern, a tag, a line, what follows a phrase.

They do what functions of the same names do in OpenCompass, but for one thing: where nothing is found they return None,
and the answer counts as unparsed. Thoughts are left out first.

Capital letters are for prompts after which a model answers with the letter;
`ais_prompt.postprocess.chosen_option` reads options in words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ais_prompt.postprocess.rule_engine import THINK_END, THINK_START, doubts, said
from ais_prompt.registry import POSTPROCESSORS
from ais_prompt.types import Extraction
from ais_prompt.utils import late, require

_NUMBER: Final = late(r"-?\d*\.?/?\d+")
_YES_NO: Final = late(r"(yes|no|true|false)\b", re.IGNORECASE)
_ANSWER_WORDS: Final = {
    **{"en": "Answer", "bn": "উত্তর", "de": "Antwort", "es": "Respuesta", "fr": "Réponse", "ja": "答え"},
    **{"ru": "Ответ", "sw": "Jibu", "te": "సమాధానం", "th": "คำตอบ", "zh": "答案"},
}


@POSTPROCESSORS.register_module()
def match_answer_pattern(text: str, answer_pattern: str) -> Extraction | None:
    r"""Return the first group of the first match of a regular expression; None without a match that is not denied.

    Args:
        text: the answer of the model.
        answer_pattern: a regular expression; without a group its whole match counts.

    >>> match_answer_pattern("So it is.\nANSWER: C", r"(?i)ANSWER\s*:\s*([A-D])")
    'C'
    >>> match_answer_pattern("It is not no but yes.", r"(?i)\b(yes|no)\b")
    'yes'
    """
    source = said(text, fold=False)
    for found in re.finditer(answer_pattern, source.text):
        group = 1 if found.re.groups else 0
        if not found.group(group):
            return None
        if not doubts(re.escape(found.group(group))).denies_before(source.text, found.start(group)):
            return source.extraction("answer_pattern", *found.span(group))
    return None


@POSTPROCESSORS.register_module()
def xml_tag_postprocessor(text: str, tag: str) -> Extraction | None:
    """Return what is between the last pair of a tag; None without one.

    Args:
        text: the answer of the model.
        tag: the opening tag: ``<conclude>``.

    >>> xml_tag_postprocessor("<conclude>A</conclude> <conclude> B </conclude>", "<conclude>")
    'B'
    """
    source = said(text, fold=False)
    found = list(re.finditer(f"{re.escape(tag)}(.*?)</{re.escape(tag[1:-1])}>", source.text, re.DOTALL))
    return source.stripped("tag", *found[-1].span(1)) if found else None


@POSTPROCESSORS.register_module()
def first_line_postprocess(text: str, remove: Sequence[str] = (), strip: str = "") -> Extraction | None:
    """Return the first line that is not empty, without blanks at its ends.

    Args:
        text: the answer.
        remove: texts of which one is left out at the beginning of the line, such as ``Answer: ``.
        strip: characters that are left out at both ends.

    >>> first_line_postprocess("Answer: Rome\\nIt lies in Italy.", remove=["Answer: "])
    'Rome'
    """
    source = said(text, fold=False)
    line = re.search(r"\S[^\n]*", source.text)
    if line is None:
        return None
    start = line.start() + next((len(one) for one in remove if line.group().startswith(one)), 0)
    return source.stripped("the first line", start, line.end(), f"{strip} \t\r" if strip else None)


@POSTPROCESSORS.register_module()
def after_phrase_postprocess(text: str, phrase: str = "答案是") -> Extraction | None:
    """Return what follows the first occurrence of a phrase, up to the next one; all of the answer without the phrase.

    Args:
        text: the answer of the model.
        phrase: what comes before the answer.

    >>> after_phrase_postprocess("根据原文，答案是北京")
    '北京'
    """
    source = said(text, fold=False)
    start = source.text.find(phrase)
    if start < 0:
        return source.extraction("the whole text", 0, len(source.text))
    start += len(phrase)
    end = source.text.find(phrase, start)
    return source.extraction(f"after {phrase!r}", start, len(source.text) if end < 0 else end)


@POSTPROCESSORS.register_module()
def bbh_mcq_postprocess(text: str) -> Extraction | None:
    """Return the letter that an answer to BBH names: the first in brackets, else the first capital; else all of it.

    It is looked for after the first "answer is ", if there is one.

    >>> bbh_mcq_postprocess("Alice has the ball. So the answer is (B).")
    'B'
    """
    source = said(text, fold=False)
    _, cue, _ = source.text.partition("answer is ")
    start = source.text.find(cue) + len(cue) if cue else 0
    end = source.text.find("answer is ", start) if cue else -1
    end = len(source.text) if end < 0 else end
    for rule, pattern in (("in brackets", r"\(([A-Z])\)*"), ("a capital", "([A-Z])")):
        if letter := re.compile(pattern).search(source.text, start, end):
            return source.extraction(rule, *letter.span(1))
    return source.stripped("the whole text", start, end)


@POSTPROCESSORS.register_module()
def bbh_freeform_postprocess(text: str) -> str | None:
    """Return the answer in free words: the first line after the last "answer is", without markup and double blanks.

    "Yes", "no", "true" and "false" at its beginning are the whole answer.

    >>> bbh_freeform_postprocess("So the answer is **apple, banana**.")
    'apple banana'
    >>> bbh_freeform_postprocess("The answer is yes, as shown above.")
    'Yes'
    """
    answer = re.split(r"answer is\s*:?\s*", said(text, fold=False).text, flags=re.IGNORECASE)[-1]
    answer = answer.strip().partition("\n")[0].strip()
    answer = answer.removesuffix(".").strip()
    if bold := re.search(r"\*\*(.*?)\*\*", answer):
        answer = bold.group(1).strip()
    if word := _YES_NO.match(answer):
        return word.group(1).capitalize()
    if not re.search(r"\d\s*,\s*\d", answer):
        answer = re.sub(r"\s*,\s*", " ", answer)
    return " ".join(answer.split()) or None


@POSTPROCESSORS.register_module()
def mathbench_postprocess(text: str, name: str) -> str | None:
    """Return the first number after "The answer is" ("答案是" if the name has ``_cn``), else the last one; else all.

    Args:
        text: the answer of the model.
        name: name of the part of MathBench; one with ``_cn`` is in Chinese.

    >>> mathbench_postprocess("2 and 3 make 5. The answer is 1,005 apples.", name="cloze_en")
    '1005'
    """
    answer = said(text, fold=False).text
    parts = answer.split("答案是" if "_cn" in name else "The answer is")
    answer = parts[1].strip() if len(parts) > 1 else answer
    numbers = _NUMBER.findall(re.sub(r"(\d),(\d)", r"\1\2", answer))
    return (numbers[0] if len(parts) > 1 else numbers[-1]) if numbers else answer or None


@POSTPROCESSORS.register_module()
def mgsm_postprocess(text: str, lang: str) -> str | None:
    """Return the last number after the word for "answer" in a language, without commas; None without one.

    Args:
        text: the answer of the model.
        lang: the language: ``en``, ``de``, ``fr``, ``zh`` and so on.

    >>> mgsm_postprocess("3 + 4 = 7. Antwort: 1,007 Euro", lang="de")
    '1007'
    """
    _, cue, after = said(text, fold=False).text.rpartition(_ANSWER_WORDS[lang])
    numbers = re.findall(r"\d+\.?\d*", after.replace(",", "")) if cue else []
    return numbers[-1].rstrip(".") if numbers else None


@POSTPROCESSORS.register_module()
def strategyqa_pred_postprocess(text: str) -> str | None:
    """Return the first "yes" or "no" after the last "answer is " of the first paragraph; None without one.

    >>> strategyqa_pred_postprocess("Fish swim. So the answer is Yes.\\n\\nQ: No?")
    'yes'
    """
    paragraph = said(text, fold=False).text.partition("\n\n")[0]
    found = re.search("yes|no", paragraph.rpartition("answer is ")[2].lower())
    return found.group() if found else None


@POSTPROCESSORS.register_module()
def strategyqa_dataset_postprocess(text: object) -> str:
    """Return the gold of StrategyQA: ``yes`` for True, else ``no``."""
    return "yes" if str(text) == "True" else "no"


@POSTPROCESSORS.register_module()
def gsm100_postprocess(text: str) -> str | None:
    """Return the digits of the first word with a digit after "The answer is"; None without one.

    >>> gsm100_postprocess("The answer is about $1,200.")
    '1200'
    """
    _, cue, after = said(text, fold=False).text.partition("The answer is")
    words = after.partition("The answer is")[0].split(" ") if cue else []
    numbers = ("".join(filter(str.isdigit, word)) for word in words)
    return next(filter(None, numbers), None)


@POSTPROCESSORS.register_module()
def without_commas_postprocess(text: str) -> str:
    """Return a gold number without its commas."""
    return str(text).replace(",", "")


@POSTPROCESSORS.register_module()
def general_cn_postprocess(text: str) -> str | None:
    """Return the words that jieba finds in Chinese text, with blanks between them.

    Raises:
        MissingExtra: jieba is not installed.
    """
    jieba = require("jieba", extra="metrics", why="general_cn_postprocess")
    jieba.setLogLevel("WARNING")
    return " ".join(jieba.cut(said(text, fold=False).text)) or None


_CAPITAL = late("[A-Z]")
_RUN = late("[A-D]+")


@POSTPROCESSORS.register_module(name=["first_capital_postprocess", "first-capital"])
def first_capital_postprocess(text: str) -> Extraction | None:
    """Return the first letter A to Z in capitals; None if there is none.

    Any capital counts, also that of a sentence.

    >>> first_capital_postprocess("(c) is wrong, D is right")
    'D'
    >>> first_capital_postprocess("The answer is B")
    'T'

    Source: OpenCompass, ``first_capital_postprocess`` (which takes capitals of every script).
    """
    return _capital(text, _CAPITAL, which=0)


@POSTPROCESSORS.register_module(name=["last_capital_postprocess", "last-capital"])
def last_capital_postprocess(text: str) -> Extraction | None:
    """Return the last letter A to Z in capitals; None if there is none.

    >>> last_capital_postprocess("First A, but in the end it is B.")
    'B'

    Source: OpenCompass, ``last_capital_postprocess``.
    """
    return _capital(text, _CAPITAL, which=-1)


@POSTPROCESSORS.register_module(name=["first_capital_postprocess_multi", "first-capital-multi"])
def first_capital_postprocess_multi(text: str) -> Extraction | None:
    """Return the first run of letters A to D, for questions with several right options; None if there is none.

    >>> first_capital_postprocess_multi("ACD are right")
    'ACD'

    Source: OpenCompass, ``first_capital_postprocess_multi``.
    """
    return _capital(text, _RUN, which=0)


def _capital(text: str, pattern: re.Pattern[str], which: int) -> Extraction | None:
    source = said(text)
    found = list(pattern.finditer(source.text))
    name = "the first capital" if which == 0 else "the last capital"
    return source.extraction(name, *found[which].span()) if found else None


@POSTPROCESSORS.register_module(name=["extract_non_reasoning_content", "extract-non-reasoning-content"])
def extract_non_reasoning_content(
    text: str, think_start_token: str = THINK_START, think_end_token: str = THINK_END
) -> str | None:
    """Return the text without its thoughts; None if nothing is left, as when a thought never ended.

    Args:
        text: the answer of the model.
        think_start_token, think_end_token: the texts around a thought.

    Many chat templates write the start themselves, so an answer may have the end only; what comes before it is thought.

    >>> extract_non_reasoning_content("<think>2+2, that is 4</think>4")
    '4'
    >>> extract_non_reasoning_content("that is 4</think> 4")
    '4'
    >>> extract_non_reasoning_content("Well. <think>a</think>So 4 <think>b</think>it is.")
    'Well. So 4 it is.'
    >>> extract_non_reasoning_content("<think>that is 4, or is it")

    Source: OpenCompass and AISBench, ``extract_non_reasoning_content``; there a thought that never ended is the answer.
    """
    rest = said(text, fold=False, start=think_start_token, end=think_end_token)
    return rest.stripped("after thinking", 0, len(rest.text))
