"""What gold answers are, and what scores them: `KINDS`, a table.

A kind is a guess. It counts only if its scorer gives full marks to the golds of the file, alone and in an ordinary
sentence, and none to the gold of another row (`fits`): a scorer that cannot read the answers of a file is never chosen.
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
from ais_prompt.postprocess import last_boxed, option_dataset_postprocess, same_label, to_decimal
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
_TRIED: Final = 20
"""Different golds that a scorer is tried on."""
_LABEL_NAMES: Final = late(r"labels?|class|category|sentiment|intent|.*_label|标签|类别|情感", re.IGNORECASE)
_VERDICT: Final = late(
    r"\s*(yes|no|true|false|正确|错误|对|错|是|否)的?(?:\s*[,.:;!，。：；！—–-].*)?", re.IGNORECASE | re.DOTALL
)
"""A truth value, and what it says of it: "No, it is not so."."""
_CODE: Final = late(r"[-+]?0\d+")
"""Digits that are a code: 00701 is not 701."""
_THREE_DIGITS: Final = late(r"\d{3}")
"""An answer of the AIME, a number from 000 to 999: 073 is 73."""
_FORMULA: Final = late(r"\\[A-Za-z]+|\$[^$]+\$|[\w)]\^[\w({-]|√|π|\bsqrt\b")
_PROSE: Final = late(r"(?<![\\A-Za-z{])[A-Za-z]{3,}\s+[A-Za-z]{2,}\s+[A-Za-z]{2,}")
_LETTERS: Final = ascii_uppercase[:18]
"""Options of a question; those of BBH go to R."""
_LAST_RARE: Final = _LETTERS.index("J")
"""The last letter that a file may have without most of those before it."""


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


class GoldKind(Struct, frozen=True):
    """What golds are.

    Attributes:
        name: as ``--kind`` of `aisprompt init` takes it.
        about: in a few words, for the line that says what was recognised.
        examples: golds.
        scoring: returns the ``eval_cfg``; None if the golds are something else.
        sentence: how a model may say one, for the trial.
    """

    name: Kind
    about: str
    examples: Sequence[Any]
    scoring: Callable[[Golds], Scoring | None]
    sentence: str = "The answer is %s."


def has_gold(value: Any) -> bool:
    """Return whether a row has a gold: an empty list, or one of empty answers, is none."""
    return _texts(value) != []


def _texts(value: Any) -> list[str] | None:
    """Return the right answers of a gold as texts; None for an object of another form."""
    if isinstance(value, bool):
        return [str(value).lower()]
    try:
        return golds_of(value)
    except MissingGoldError:
        return []
    except AisPromptError:
        return None


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
    return _scoring("JsonEqualEvaluator", "json_postprocess") if are_objects else None


def _parsed_object(value: Any) -> Any:
    """Return the object, or the list of objects, that a text is in JSON; any other value as it is."""
    if isinstance(value, str) and value.strip().startswith(("{", "[{")):
        with suppress(ValueError):
            return parse_text(value)
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
    if all("####" in text for text in texts):
        if all(to_decimal(text.rpartition("####")[2]) is not None for text in texts):
            return _scoring("Gsm8kEvaluator", "gsm8k_postprocess", "gsm8k_dataset_postprocess")
        return None
    if texts and all((box := last_boxed(text)) and to_decimal(box) is not None for text in texts):
        return _scoring("Gsm8kEvaluator", "gsm8k_postprocess", "math_postprocess_v2")
    codes = any(_CODE.fullmatch(text.strip()) for text in texts)
    if codes and not all(_THREE_DIGITS.fullmatch(text.strip()) for text in texts):
        return None
    if texts and all(to_decimal(text) is not None for text in texts):
        return _scoring("Gsm8kEvaluator", "gsm8k_postprocess")
    return None


def _date(golds: Golds) -> Scoring | None:
    from ais_prompt.postprocess import to_date

    texts = golds.texts
    is_date = texts and all(len(one) == 1 and to_date(one[0]) for one in texts)
    return _scoring("AccEvaluator", "date_postprocess", "date_postprocess") if is_date else None


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
    GoldKind("number", "a number", ("42", "$1,050", "3,5", "073", "6 + 7 = 13\n#### 13"), _number),
    GoldKind("date", "a date", ("2024-05-01", "May 1, 2024"), _date, "That was on %s."),
    GoldKind(
        "formula",
        "a formula, equal by value",
        (r"2\sqrt{2}", r"So it is $\boxed{\frac{\pi}{7}}$."),
        _formula,
        r"So it is $\boxed{%s}$.",
    ),
    GoldKind(
        "text",
        "a text that is in the model's answer",
        ("Paris", ["Paris", "City of Light"]),
        lambda golds: _scoring("ContainsEvaluator") if any(golds.texts) else None,
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
        if scoring is not None and (kind.name == "text" or fits(scoring, golds, kind.sentence)):
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
        "object": _scoring("JsonEqualEvaluator", "json_postprocess"),
        "text": _scoring("ContainsEvaluator"),
        "exact": _scoring("AccEvaluator"),
    }
    return kind, kind.scoring(golds) or plain[name]


def fits(scoring: Scoring, golds: Golds, sentence: str) -> bool:
    """Return whether a scorer reads golds: each alone and in a sentence must be right, and that of another row wrong.

    Raises:
        MissingExtra: a package that it needs is not installed.
    """
    evaluator = make_evaluator(scoring["evaluator"]["type"], _args(scoring["evaluator"]))
    extract, of_gold = (_reader(scoring.get(key)) for key in ("pred_postprocessor", "dataset_postprocessor"))
    tried = _tried(golds.values)
    try:
        for place, gold in enumerate(tried):
            right = of_gold(gold)
            other = next((one for one in tried[place + 1 :] + tried[:place] if _differ(of_gold(one), right)), None)
            text = _shown(right)
            wanted = [
                (text, 1.0),
                (sentence % text, 1.0),
                *([(_shown(of_gold(other)), 0.0)] if other is not None else []),
            ]
            for answer, value in wanted:
                extracted = extract(answer)
                found = 0.0 if extracted is None else evaluator.score(extracted, right)[evaluator.metrics[0]]
                if found != value:
                    return False
    except MissingExtra:
        raise
    except AisPromptError:
        return False
    return True


def _reader(part: Mapping[str, Any] | None) -> Callable[[Any], Any]:
    """Return a postprocessor; without one the text stays as it is."""
    return (lambda value: value) if part is None else POSTPROCESSORS.function(part["type"], _args(part))


def _args(part: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in part.items() if key != "type"}


def _tried(values: Sequence[Any]) -> list[Any]:
    """Return different golds, spread over the file."""
    different = list({json.dumps(value, default=str, sort_keys=True): value for value in values}.values())
    step = max(1, len(different) // _TRIED)
    return different[::step][:_TRIED]


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
