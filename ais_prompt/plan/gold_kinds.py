"""What gold answers are, and what scores them: `KINDS`, a table.

A kind is a guess. It counts only if its scorer gives full marks to the golds of the file, alone and in an ordinary
sentence, and none to the gold of another row (`fits`): a scorer that cannot read the answers of a file is never chosen.

Numbers and dates need nine golds of ten, formulas three of four. The others are odd (`odd_golds`): "None" among
numbers is right where an answer gives no number and says "None". `unread_golds` finds the golds to which no answer is
right.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import takewhile
from string import ascii_uppercase
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from ais_prompt.errors import AisPromptError, DataError, MissingExtra, MissingGoldError
from ais_prompt.evaluators import golds_of, make_evaluator
from ais_prompt.postprocess import (
    UNMARKED,
    gsm8k_postprocess,
    last_boxed,
    same_label,
    to_decimal,
    without_unit,
)
from ais_prompt.registry import POSTPROCESSORS
from ais_prompt.utils import is_missing, late, parse_text

Kind: TypeAlias = Literal["letter", "letters", "object", "label", "number", "date", "formula", "text", "exact"]
Scoring: TypeAlias = dict[str, dict[str, Any]]
"""An ``eval_cfg``."""

MOST_LABELS: Final = 200
"""Different values of a column of labels."""
ROWS_PER_LABEL: Final = 3
"""Rows that each label has at least, in the mean."""
LONGEST_LABEL: Final = 40
"""Characters of a label."""
KNOWN_LABELS: Final = (
    frozenset(("yes", "no", "maybe", "unknown")),
    frozenset(("true", "false", "unknown", "uncertain", "not given", "neither")),
    frozenset(("positive", "negative", "neutral", "mixed")),
    frozenset(("entailment", "contradiction", "neutral")),
    frozenset(("correct", "incorrect")),
    frozenset(("spam", "ham", "not spam")),
    frozenset(("是", "否")),
    frozenset(("对", "错")),
    frozenset(("正确", "错误")),
    frozenset(("正面", "负面", "中性", "积极", "消极")),
    frozenset(("√", "×")),
    frozenset(("t", "f")),
    frozenset(("예", "아니오", "아니요")),
    frozenset(("참", "거짓")),
    frozenset(("긍정", "부정", "중립")),
    frozenset(("はい", "いいえ")),
    frozenset(("ja", "nein")),
    frozenset(("oui", "non")),
    frozenset(("sí", "no")),
    frozenset(("sim", "não")),
    frozenset(("да", "нет")),
    *map(frozenset, ("абвгд", "أبجده", "アイウエオ", "甲乙丙丁戊")),
)
"""Labels that need no repetition to be recognised."""
_TAG: Final = "<answer>"
_TRIED: Final = 20
"""Different golds that a scorer is tried on."""
_MOST_TRIED: Final = 2_000
"""Different golds that are looked at to find those to which no answer is right."""
_MOST: Final = 0.9
"""Share of the golds that makes a column one of numbers or dates."""
_LABEL_NAMES: Final = late(r"labels?|class|category|sentiment|intent|.*_label|标签|类别|情感", re.IGNORECASE)
_VERDICT: Final = late(
    r"\s*(yes|no|true|false|正确|错误|对|错|是|否)的?(?:\s*[,.:;!，。：；！—–-].*)?", re.IGNORECASE | re.DOTALL
)
"""A truth value, and what it says of it: "No, it is not so."."""
_CODE: Final = late(r"[-+]?0\d+")
"""Digits that are a code: 00701 is not 701."""
_THREE_DIGITS: Final = late(r"\d{3}")
"""An answer of the AIME, a number from 000 to 999: 073 is 73."""
_FORMULA: Final = late(r"\\[A-Za-z]+|\$[^$]+\$|[\w)]\^[\w({-]|√|π|\bsqrt\b|(?:\d|\b[a-z]|\))!")
_PROSE: Final = late(r"(?<![\\A-Za-z{])[A-Za-z]{3,}\s+[A-Za-z]{2,}\s+[A-Za-z]{2,}")
_LETTERS: Final = ascii_uppercase[:18]
"""Options of a question; those of BBH go to R."""
_CAPITAL: Final = late(r"[A-ZＡ-Ｚ]")
_LAST_RARE: Final = _LETTERS.index("J")
"""The last letter that a file may have without most of those before it."""
_BESIDE_TEXTS: Final = late(
    r"text|value|aliases|(?:normalized|matched|char)_\w+|(?:\w+_)?(?:ids?|start|end|types?|index|offsets?|tokens|lang|source)"
)
"""Names in an object with an answer that tell nothing to be compared."""


_MOST_FORMULAS: Final = 0.75
"""The same for formulas, which all are right in a box: bare, "26!" is taken for an exclamation."""


class Golds(Struct, frozen=True, dict=True):
    """The golds of a file.

    Attributes:
        values: as the data have them, without those that are missing.
        column: their column.
        letters: the letters of the options; empty without options.
        chinese: whether the question is Chinese.
    """

    values: Sequence[Any]
    column: str
    letters: str = ""
    chinese: bool = False

    @cached_property
    def texts(self) -> list[list[str]]:
        """The right answers of each row as texts; empty for an object of another form. Each kind looks at them."""
        return [_texts(value) or [] for value in self.values]

    @cached_property
    def numbers(self) -> list[list[str]]:
        """The right answers of each row: of "12 cm" and "Add.\\n#### 12" the number, else the whole text."""
        return [[_number_of(text) for text in texts] for texts in self.texts]


class GoldKind(Struct, frozen=True):
    """What golds are.

    Attributes:
        name: as ``--kind`` of `aisprompt init` takes it.
        about: in a few words, for the line that says what was recognised.
        examples: golds.
        scoring: returns the ``eval_cfg``; None if the golds are something else.
        sentence: how a model may say one, for the trial.
        share: of the golds that the scorer must read.
    """

    name: Kind
    about: str
    examples: Sequence[Any]
    scoring: Callable[[Golds], Scoring | None]
    sentence: str = "The answer is %s."
    share: float = 1.0


def has_gold(value: Any) -> bool:
    """Return whether a row has a gold: an empty list, or one of empty answers, is none."""
    return _texts(value) != []


def _texts(value: Any) -> list[str] | None:
    """Return the right answers of a gold as texts; None for an object of another form."""
    if isinstance(value, bool):
        return [str(value).lower()]
    if any(map(_has_content, value if isinstance(value, list) else [value])):
        return None
    try:
        return golds_of(value)
    except MissingGoldError:
        return []
    except AisPromptError:
        return None


def _has_content(value: Any) -> bool:
    """Return whether an object with a ``text`` or ``value`` has more to compare: ``{"value": 3.5, "unit": "kg"}``."""
    if not isinstance(value, Mapping) or not {"text", "value"} & set(value):
        return False
    others = (one for key, one in value.items() if not _BESIDE_TEXTS.fullmatch(str(key)))
    return not all(is_missing(one) or one == [] for one in others)


def _scoring(evaluator: str, extract: str | None = None, of_gold: str | None = None, **args: Any) -> Scoring:
    """Return an ``eval_cfg``; arguments that begin with ``extract_`` are those of the postprocessor."""
    own = {key.removeprefix("extract_"): value for key, value in args.items() if key.startswith("extract_")}
    others = {key: value for key, value in args.items() if not key.startswith("extract_")}
    return {
        "evaluator": {"type": evaluator, **others},
        **({} if extract is None else {"pred_postprocessor": {"type": extract, **own}}),
        **({} if of_gold is None else {"dataset_postprocessor": {"type": of_gold}}),
    }


def _letter(golds: Golds) -> Scoring | None:
    if not golds.letters:
        return _letters_in_question(golds, "first_option_postprocess", most=1)
    letters = golds.letters
    if any(len(text) > 1 for texts in golds.texts for text in texts):
        return None
    more: dict[str, Any] = {} if letters == "ABCD" else {"extract_options": letters}
    if any(text.islower() for texts in golds.texts for text in texts):
        more["ignore_case"] = True
    return _scoring("AccEvaluator", "first_option_postprocess", **more)


def _letters(golds: Golds) -> Scoring | None:
    if not golds.letters:
        return _letters_in_question(golds, "multiple_select_postprocess", most=len(_LETTERS))
    return _scoring("AccEvaluator", "multiple_select_postprocess", extract_options=golds.letters)


def _letters_in_question(golds: Golds, extract: str, most: int) -> Scoring | None:
    """Return what scores golds of up to ``most`` letters, where the options are part of the question."""
    if not all(_CAPITAL.search(text) for texts in golds.texts for text in texts):
        return None
    from ais_prompt.postprocess import option_dataset_postprocess

    read: list[str] = []
    with suppress(DataError):
        read = list(takewhile(lambda letters: len(letters) <= most, map(option_dataset_postprocess, golds.values)))
    found = set("".join(read))
    if len(read) < len(golds.values) or len(found) < 2 or not found <= set(_LETTERS):
        return None
    last = _LETTERS.index(max(found))
    if last > _LAST_RARE and 2 * len(found) <= last:
        return None  # M and F, or E, N and C, are labels
    options = _LETTERS[: max(4, last + 1)]
    more = {} if options == "ABCD" and most == 1 else {"extract_options": options}
    of_gold = None if read == list(golds.values) else "option_dataset_postprocess"
    return _scoring("AccEvaluator", extract, of_gold, **more)


def _object(golds: Golds) -> Scoring | None:
    values = [_parsed_object(value) for value in golds.values]
    known = [value for value in values if isinstance(value, Mapping) and not _texts(value)]
    nested = [value for value in values if isinstance(value, list) and any(isinstance(one, Mapping) for one in value)]
    are_objects = values and len(known) + len(nested) == len(values)
    if not are_objects:
        return None
    of_gold = (
        "json_postprocess" if any(isinstance(one, str) and one.strip()[0] == "`" for one in golds.values) else None
    )
    return _scoring("JsonEqualEvaluator", "json_postprocess", of_gold, extract_lenient=True)


def _parsed_object(value: Any) -> Any:
    """Return the object, or the list of objects, that a text or a code block is in JSON; any other value as it is."""
    text = value.strip() if isinstance(value, str) else ""
    if text.startswith("```"):
        text = text.strip("`").removeprefix("json").strip()
    if text.startswith(("{", "[{")):
        with suppress(ValueError):
            return parse_text(text)
    return value


def labels_of(golds: Golds) -> list[str] | None:
    """Return the labels of a column of few short repeated values, each as it is written first; None for others."""
    if not golds.texts or any(len(one) != 1 for one in golds.texts):
        return None
    texts = [text for [text] in golds.texts]
    explained = [verdict[1] for text in texts if (verdict := _VERDICT.fullmatch(text))]
    if len(explained) == len(texts):
        texts = explained
    spelled: dict[str, str] = {}
    for text in texts:
        spelled.setdefault(same_label(text), text.strip())
    counts = Counter(map(same_label, texts))
    if len(counts) < 2 or len(counts) > MOST_LABELS or any(len(one) > LONGEST_LABEL or "\n" in one for one in counts):
        return None
    repeated = len(texts) >= ROWS_PER_LABEL * len(counts)
    numbers = all(to_decimal(text) is not None for text in counts)
    if numbers and not (repeated and _LABEL_NAMES.fullmatch(golds.column)):
        return None
    if not repeated and not any(counts.keys() <= known for known in KNOWN_LABELS):
        return None
    if numbers:
        return sorted(spelled.values(), key=lambda label: to_decimal(label) or 0)
    return sorted(spelled.values(), key=lambda label: (not label.isascii(), label.casefold()))


def _label(golds: Golds) -> Scoring | None:
    if (labels := labels_of(golds)) is None:
        return None
    scoring = _scoring("AccEvaluator", "label_postprocess", ignore_case=True, extract_labels=labels)
    are_labels = {same_label(text) for [text] in golds.texts} <= set(map(same_label, labels))
    return scoring if are_labels else {**scoring, "dataset_postprocessor": scoring["pred_postprocessor"]}


def _number(golds: Golds) -> Scoring | None:
    texts = [text for texts in golds.texts for text in texts]
    if texts and all((box := last_boxed(text)) and to_decimal(box) is not None for text in texts):
        return _scoring("Gsm8kEvaluator", "gsm8k_postprocess", "math_postprocess_v2")
    if not _mostly(golds.numbers, to_decimal):
        are_solutions = texts and len(texts) == len(golds.texts) and all(map(_states_number, texts))
        return _scoring("Gsm8kEvaluator", "gsm8k_postprocess", "gsm8k_postprocess") if are_solutions else None
    of_gold = None
    if any("####" in text for text in texts):
        of_gold = "gsm8k_dataset_postprocess"
    elif any(without_unit(text) is not None for text in texts):
        of_gold = "number_dataset_postprocess"
    if of_gold is not None and any(len(one) != 1 for one in golds.texts):
        return None
    codes = any(_CODE.fullmatch(text) for texts in golds.numbers for text in texts)
    if codes and not all(_THREE_DIGITS.fullmatch(text) for texts in golds.numbers for text in texts):
        return None
    odd = _odd_texts(golds.numbers, to_decimal)
    if any(_FORMULA.search(text) for text in odd):
        return None
    more: dict[str, Any] = {"or_text": True, "extract_words": _words(odd)} if odd else {}
    if _has_thousands_points(texts):
        more["thousands_point"] = True
    return _scoring("Gsm8kEvaluator", "gsm8k_postprocess", of_gold, **more)


def _has_thousands_points(texts: Sequence[str]) -> bool:
    """Return whether "1.250" is 1250 in this column: others have decimal commas, or are euros, and none is "1.5"."""
    points = {len(digits) for text in texts for digits in re.findall(r"\.(\d+)", text)}
    return points == {3} and any("€" in text or re.search(r",\d\d?(?!\d)", text) for text in texts)


def _number_of(text: str) -> str:
    """Return the number of a gold, as far as it is known where it is; else the gold."""
    return text.rpartition("####")[2].strip() if "####" in text else without_unit(text) or text.strip()


def _states_number(text: str) -> bool:
    """Return whether a gold is a solution that marks or announces a number: "We add. The answer is 30"."""
    number = gsm8k_postprocess(text)
    return number is not None and number.reading.rule not in UNMARKED


def _mostly(rows: Sequence[Sequence[str]], read: Callable[[str], Any]) -> bool:
    """Return whether ``read`` makes something of all right answers of most rows, nine of ten."""
    known = sum(bool(texts) and all(read(text) is not None for text in texts) for texts in rows)
    return bool(rows) and known >= _MOST * len(rows)


def _odd_texts(rows: Sequence[Sequence[str]], read: Callable[[str], Any]) -> list[str]:
    """Return the different right answers of which ``read`` makes nothing."""
    return sorted({text.strip() for texts in rows for text in texts if read(text) is None})


def _words(odd: Sequence[str]) -> list[str]:
    """Return the odd golds that an answer may say as if they were labels; empty if they are too many."""
    words = [text for text in odd if len(text) <= LONGEST_LABEL and "\n" not in text]
    return words if len(words) <= MOST_LABELS else []


def _text(golds: Golds) -> Scoring | None:
    from ais_prompt.postprocess import xml_tag_postprocessor

    texts = [text for texts in golds.texts for text in texts]
    if texts and len(texts) == len(golds.texts) and all(xml_tag_postprocessor(text, _TAG) for text in texts):
        scoring = _scoring("ContainsEvaluator", None, "xml_tag_postprocessor")
        scoring["dataset_postprocessor"]["tag"] = _TAG
        return scoring
    return _scoring("ContainsEvaluator") if texts else None


def _date(golds: Golds) -> Scoring | None:
    from ais_prompt.postprocess import to_date

    if any(len(one) != 1 for one in golds.texts) or not _mostly(golds.texts, to_date):
        return None
    scoring = _scoring("AccEvaluator", "date_postprocess", "date_postprocess")
    if words := _words(_odd_texts(golds.texts, to_date)):
        scoring["pred_postprocessor"]["words"] = scoring["dataset_postprocessor"]["words"] = words
    return scoring


def _formula(golds: Golds) -> Scoring | None:
    texts = golds.texts
    if any(len(one) != 1 for one in texts):
        return None
    if all(last_boxed(one) for [one] in texts):
        return _scoring("MATHVerifyEvaluator", "math_postprocess_v2", "math_postprocess_v2")
    short = all(len(one) <= 200 and "\n" not in one for [one] in texts)
    written = short and any(_FORMULA.search(one) for [one] in texts) and not any(_PROSE.search(one) for [one] in texts)
    return _scoring("MATHVerifyEvaluator", "math_postprocess_v2") if written else None


KINDS: Final = (
    GoldKind("letter", "the letter of an option", ("B",), _letter),
    GoldKind("letters", "the letters of several options", ("AC",), _letters, "The correct options are %s."),
    GoldKind("object", "an object, equal as JSON", ({"city": "Rome"},), _object, "Here it is:\n```json\n%s\n```"),
    GoldKind("label", "one of few labels", ("positive", "yes", True), _label),
    GoldKind(
        "number", "a number", ("42", "$1,050", "3,5", "073", "12 cm", "6 + 7 = 13\n#### 13"), _number, share=_MOST
    ),
    GoldKind("date", "a date", ("2024-05-01", "May 1, 2024"), _date, "That was on %s.", _MOST),
    GoldKind(
        "formula",
        "a formula, equal by value",
        (r"2\sqrt{2}", r"So it is $\boxed{\frac{\pi}{7}}$."),
        _formula,
        r"So it is $\boxed{%s}$.",
        _MOST_FORMULAS,
    ),
    GoldKind(
        "text",
        "a text that is in the model's answer",
        ("Paris", ["Paris", "City of Light"]),
        _text,
        "Let me think. It is %s.",
    ),
    GoldKind(
        "exact",
        "a text that equals the model's answer",
        ("Paris",),
        lambda golds: _scoring("AccEvaluator") if any(golds.texts) else None,
        "%s",
    ),
)
"""The table; the first kind that fits is guessed, and the last one never."""


def guess(golds: Golds) -> tuple[GoldKind, Scoring] | None:
    """Return what golds are, and what scores them: the first kind whose scorer reads them; None without one.

    Raises:
        MissingExtra: a package that the scorer needs is not installed.
    """
    for kind in KINDS[:-1]:
        scoring = kind.scoring(golds)
        if scoring is None:
            continue
        if kind.name == "text":
            fit = len(unread_golds(kind, scoring, golds)) < len(golds.values)
        else:
            fit = fits(scoring, golds, kind.sentence, kind.share)
        if fit:
            return kind, scoring
    return None


def as_kind(name: Kind, golds: Golds) -> tuple[GoldKind, Scoring]:
    """Return a kind that the user names, and what scores it."""
    kind = next(one for one in KINDS if one.name == name)
    plain: Mapping[Kind, Scoring] = {
        "letter": _scoring("AccEvaluator", "first_option_postprocess", ignore_case=True),
        "letters": _scoring("AccEvaluator", "multiple_select_postprocess"),
        "label": _scoring(
            "AccEvaluator",
            "label_postprocess",
            ignore_case=True,
            extract_labels=sorted({text.strip() for texts in golds.texts for text in texts}),
        ),
        "number": _scoring("Gsm8kEvaluator", "gsm8k_postprocess"),
        "date": _scoring("AccEvaluator", "date_postprocess", "date_postprocess"),
        "formula": _scoring("MATHVerifyEvaluator", "math_postprocess_v2"),
        "object": _scoring("JsonEqualEvaluator", "json_postprocess", extract_lenient=True),
        "text": _scoring("ContainsEvaluator"),
        "exact": _scoring("AccEvaluator"),
    }
    return kind, kind.scoring(golds) or plain[name]


def fits(scoring: Scoring, golds: Golds, sentence: str, share: float = 1.0) -> bool:
    """Return whether a scorer reads golds: each alone and in a sentence must be right, and that of another row wrong.

    Args:
        scoring: an ``eval_cfg``.
        golds: are tried, as far as they differ.
        sentence: has ``%s`` in place of a gold.
        share: of the golds for which this must be so.

    Raises:
        MissingExtra: a package that it needs is not installed.
    """
    scorer = _Scorer(scoring)
    tried = _tried(golds.values, _TRIED)
    allowed = len(tried) * (1 - share)
    for place, gold in enumerate(tried):
        other = next(
            (one for one in tried[place + 1 :] + tried[:place] if _differ(scorer.read(one), scorer.read(gold))), None
        )
        is_right = (
            scorer.is_right(gold, gold)
            and scorer.is_right(gold, gold, sentence)
            and (other is None or not scorer.is_right(other, gold))
        )
        allowed -= not is_right
        if allowed < 0:
            return False
    return True


def odd_golds(kind: Kind, golds: Golds) -> list[int]:
    """Return the places of golds that are of another kind than the column: no numbers, or no dates."""
    rows: Sequence[Sequence[str]] = golds.numbers if kind == "number" else golds.texts
    read: Callable[[str], Any] = to_decimal
    if kind == "date":
        from ais_prompt.postprocess import to_date as read
    elif kind != "number":
        return []
    if not _mostly(rows, read):
        return []
    return [place for place, texts in enumerate(rows) if any(read(text) is None for text in texts)]


def unread_golds(kind: GoldKind, scoring: Scoring, golds: Golds) -> list[int]:
    """Return the places of golds that are wrong by themselves and in a sentence: no answer to them is right.

    Raises:
        MissingExtra: a package that the scorer needs is not installed.
    """
    scorer = _Scorer(scoring)
    tried = {_key(gold): gold for gold in _tried(golds.values, _MOST_TRIED)}
    unread = {
        key
        for key, gold in tried.items()
        if not (scorer.is_right(gold, gold, kind.sentence) or scorer.is_right(gold, gold))
    }
    return [place for place, gold in enumerate(golds.values) if unread and _key(gold) in unread]


class _Scorer:
    """Scores golds as if they were answers."""

    def __init__(self, scoring: Scoring) -> None:
        self.extracts = "pred_postprocessor" in scoring
        self.evaluator = make_evaluator(scoring["evaluator"]["type"], _args(scoring["evaluator"]))
        self.extract, self.of_gold = (
            _reader(scoring.get(key)) for key in ("pred_postprocessor", "dataset_postprocessor")
        )

    def read(self, gold: Any) -> Any:
        """Return what a gold says; one that the scorer cannot use as it is."""
        with suppress(AisPromptError):
            return self.of_gold(gold)
        return gold

    def is_right(self, answer: Any, gold: Any, sentence: str = "%s") -> bool:
        """Return whether an answer, a gold in a sentence, gets full marks; False if the scorer cannot use the gold.

        Raises:
            MissingExtra: a package that it needs is not installed.
        """
        try:
            right = self.of_gold(gold)
            extracted = self.extract(sentence.replace("%s", _shown(self.of_gold(answer))))
            if extracted is None:
                return False
            if extracted == right and self.extracts:  # which `MATHVerifyEvaluator` would find out slowly
                return True
            return self.evaluator.score(extracted, right)[self.evaluator.metrics[0]] == 1
        except MissingExtra:
            raise
        except AisPromptError:
            return False


def _reader(part: Mapping[str, Any] | None) -> Callable[[Any], Any]:
    """Return a postprocessor; without one the text stays as it is."""
    return (lambda value: value) if part is None else POSTPROCESSORS.function(part["type"], _args(part))


def _args(part: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in part.items() if key != "type"}


def _tried(values: Sequence[Any], most: int) -> list[Any]:
    """Return different golds, spread over the file."""
    different = list({_key(value): value for value in values}.values())
    step = max(1, len(different) // most)
    return different[::step][:most]


def _key(value: Any) -> str:
    return json.dumps(value, default=str, sort_keys=True)


def _differ(one: Any, other: Any) -> bool:
    """Return whether no right answer of a row is part of one of another row."""
    first, second = ({same_label(text) for text in _texts(value) or ()} for value in (one, other))
    return not any(a in b or b in a for a in first for b in second)


def _shown(gold: Any) -> str:
    """Return a gold as a model would write it: of several the first."""
    if isinstance(gold, bool):
        return str(gold).lower()
    texts = [] if is_missing(gold) else _texts(gold)
    return texts[0] if texts else gold if isinstance(gold, str) else json.dumps(gold, ensure_ascii=False)
