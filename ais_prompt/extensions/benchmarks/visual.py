"""Metrics of questions about images: ANLS, VQA accuracy, relaxed accuracy, OCRBench, MathVista and MMMU."""

from __future__ import annotations

import math
import re
from typing import Any, Final

from ais_prompt.errors import DataError
from ais_prompt.evaluators import MeanEvaluator, edit_distance, golds_of
from ais_prompt.postprocess import to_decimal
from ais_prompt.registry import EVALUATORS


@EVALUATORS.register_module()
class AnlsEvaluator(MeanEvaluator):
    """Average normalized Levenshtein similarity (ANLS) of DocVQA and InfographicVQA; of several golds the best counts.

    The value of a sample is 1 minus the edit distance divided by the length of the longer text; below the threshold it
    is 0. Upper and lower case are alike, and so is white space.

    Source: Biten et al. 2019, "Scene Text Visual Question Answering" (arXiv:1905.13648), section 3.2; the published
    program of the Robust Reading Competition, which divides by the length of the texts as they are written.

    Args:
        threshold: the smallest similarity that counts.
    """

    metrics = ("anls",)

    def __init__(self, threshold: float = 0.5) -> None:
        self.threshold = threshold

    def value(self, answer: str, gold: Any) -> float:
        """Return the similarity, from 0 to 1."""
        best = max(_similarity(answer, one) for one in golds_of(gold))
        return best if best >= self.threshold else 0.0


def _similarity(answer: str, gold: str) -> float:
    distance = edit_distance(*(" ".join(text.lower().split()) for text in (answer, gold)))
    return 1 - distance / max(len(answer), len(gold))


@EVALUATORS.register_module()
class RelaxedAccuracyEvaluator(MeanEvaluator):
    """Accuracy of ChartQA and PlotQA: numbers may differ by a share of the gold, texts must be equal.

    ``5%`` is 0.05. The gold 0, and whatever is no number, must be equal; upper and lower case are alike. Numbers with
    commas or units are texts. Of several golds the best counts.

    Source: Masry et al. 2022, "ChartQA" (arXiv:2203.10244), section 5.1; pix2struct, ``relaxed_correctness``.

    Args:
        tolerance: the largest relative difference.
    """

    metrics = ("relaxed_accuracy",)

    def __init__(self, tolerance: float = 0.05) -> None:
        self.tolerance = tolerance

    def value(self, answer: str, gold: Any) -> float:
        """Return 1 if the answer is near enough to a gold, else 0."""
        return float(any(self._is_near(answer.strip(), one) for one in golds_of(gold)))

    def _is_near(self, answer: str, gold: str) -> bool:
        number, target = _float(answer), _float(gold)
        if number is not None and target:
            return abs(number - target) / abs(target) <= self.tolerance
        return answer.lower() == gold.strip().lower()


def _float(text: str) -> float | None:
    try:
        return float(text.rstrip("%")) / 100 if text.endswith("%") else float(text)
    except ValueError:
        return None


@EVALUATORS.register_module()
class VqaAccuracyEvaluator(MeanEvaluator):
    """VQA accuracy of TextVQA and VQAv2: an answer is right if three of the people who were asked gave it.

    The gold is the list of their answers, usually ten. Each is left out in turn; with n of the others equal to the
    answer, the value is n / 3, at most 1; the mean of these values counts. Texts are compared in small letters,
    without punctuation and articles, with number words as digits and apostrophes in contractions.

    Source: Antol et al. 2015, "VQA: Visual Question Answering" (arXiv:1505.00468); the published ``vqaEval.py``. Golds
    are normalized even if all are equal, as VLMEvalKit and AISBench do.
    """

    def value(self, answer: str, gold: Any) -> float:
        """Return the accuracy, from 0 to 1.

        Raises:
            DataError: there is no gold, or only one.
        """
        known = golds_of(gold)
        golds = [vqa_normal(str(one)) for one in gold] if isinstance(gold, list | tuple) else known
        if len(golds) < 2:
            raise DataError(
                f"VQA accuracy needs the answers of several people, and the gold has one: {golds[0]!r:.60}",
                fix="name the column with all of them as output_column, or use AccEvaluator",
            )
        said = vqa_normal(answer)
        found = sum(one == said for one in golds)
        # Each gold that equals the answer misses itself among the others.
        values = (min(1.0, (found - (one == said)) / 3) for one in golds)
        return math.fsum(values) / len(golds)  # `sum` rounds in another way since Python 3.12


_CONTRACTED: Final = (
    "ain't aren't can't could've couldn't couldn't've didn't doesn't don't hadn't hadn't've hasn't haven't he'd "
    "he'd've he's how'd how'll how's isn't it'd it'd've it'll ma'am mightn't mightn't've might've mustn't must've "
    "needn't not've o'clock oughtn't 'ow's'at shan't she'd've should've shouldn't shouldn't've somebody'd "
    "somebody'd've somebody'll somebody's someone'd someone'd've someone'll someone's something'd something'd've "
    "something'll that's there'd there'd've there're there's they'd they'd've they'll they're they've 'twas "
    "wasn't we'd've we've weren't what'll what're what's what've when's where'd where's where've who'd who'd've "
    "who'll who's who've why'll why're why's won't would've wouldn't wouldn't've y'all y'all'll y'all'd've you'd "
    "you'd've you'll you're you've"
)
_CONTRACTIONS: Final = {
    word[:place] + word[place + 1 :]: word
    for word in _CONTRACTED.split()
    for place, character in enumerate(word)
    if character == "'"
}
"""A contraction with one apostrophe left out → the contraction."""
_NUMBERS: Final = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_WORDS: Final = {**_CONTRACTIONS, "none": "0", **{word: str(number) for number, word in enumerate(_NUMBERS)}}
_ARTICLES: Final = frozenset(("a", "an", "the"))
_PUNCTUATION: Final = ';/[]"{}()=+\\_-><@`,?!'
_GROUPED: Final = re.compile(r"\d,\d")
_FULL_STOP: Final = re.compile(r"\.(?!\d)")


def vqa_normal(text: str) -> str:
    """Return a text as VQA accuracy compares it.

    >>> vqa_normal("The two dogs, and a cat.")
    '2 dogs and cat'
    """
    text = " ".join(text.split("\n")).replace("\t", " ").strip()
    plain, is_grouped = text, _GROUPED.search(text)
    for sign in _PUNCTUATION:
        is_at_word_end = sign + " " in text or " " + sign in text
        plain = plain.replace(sign, "" if is_at_word_end or is_grouped else " ")
    words = _FULL_STOP.sub("", plain).lower().split()
    return " ".join(_WORDS.get(word, word) for word in words if word not in _ARTICLES)


@EVALUATORS.register_module()
class OcrBenchEvaluator(MeanEvaluator):
    """Accuracy of OCRBench: 1 if a gold is in the answer, also inside of a longer word. A newline counts as a blank.

    So a long answer that lists many words can be right by chance. Source: Liu et al. 2023,
    "OCRBench" (arXiv:2305.07895); its published ``example.py``.

    Args:
        formulas: whether blanks are left out, and upper and lower case differ, as for handwritten formulas.
    """

    def __init__(self, formulas: bool = False) -> None:
        self.formulas = formulas

    def value(self, answer: str, gold: Any) -> float:
        """Return 1 if a gold is in the answer, else 0."""
        text = self._plain(answer)
        return float(any(self._plain(one) in text for one in golds_of(gold)))

    def _plain(self, text: str) -> str:
        plain = text.strip().replace("\n", " ")
        return plain.replace(" ", "") if self.formulas else plain.lower()


@EVALUATORS.register_module()
class RoundedNumberEvaluator(MeanEvaluator):
    """Accuracy of MathVista's numbers: the answer is rounded to the precision of the question, then compared.

    Source: Lu et al. 2023, "MathVista" (arXiv:2310.02255); its published ``calculate_score.py``, which asks a model to
    find the number in the answer. Here a postprocessor does, such as ``gsm8k_postprocess``.

    Args:
        decimals: digits behind the point; with 0 they are cut off, not rounded.
    """

    def __init__(self, decimals: int = 0) -> None:
        self.decimals = decimals

    def value(self, answer: str, gold: Any) -> float:
        """Return 1 if the answer is a gold, rounded like it, else 0.

        Raises:
            DataError: there is no gold, or none is a number.
        """
        golds = [number for one in golds_of(gold) if (number := self._rounded(one)) is not None]
        if not golds:
            raise DataError(f"the gold answer {gold!r:.60} is not a number", fix="use AccEvaluator for texts")
        return float(self._rounded(answer) in golds)

    def _rounded(self, text: str) -> float | None:
        number = to_decimal(text)
        if number is None:
            return None
        return round(float(number), self.decimals) if self.decimals else float(int(number))


_CONCLUDING: Final = ("could be ", "so ", "is ", "thus ", "therefore ", "final ", "answer ", "result ")
_TRIVIAL: Final = frozenset(":,.!?;'")
_WRITTEN_NUMBERS: Final = (
    re.compile(r"-?\b\d{1,3}(?:,\d{3})+\b"),
    re.compile(r"-?\d+(?:\.\d+)?e[+-]?\d+"),
    re.compile(r"-?(?:\d+\.\d+|\.\d+|\d+\b)(?!e[+-]?\d)(?![,\d])"),
)
"""With thousands separators, with an exponent, and all others, in small letters."""


@EVALUATORS.register_module()
class MmmuOpenEvaluator(MeanEvaluator):
    """Accuracy of MMMU's open questions: 1 if a gold is in a conclusion of the answer, or is a number in it.

    The conclusion of a line is what follows words such as ``is`` or ``therefore``, or ``=`` in the last line; without
    any, the whole answer is the conclusion. Upper and lower case are alike. Numbers are rounded to two digits behind
    the point, so units and thousands separators do not count; a gold that is a number must equal one of them. A gold
    of one letter must have a blank beside it.

    Source: Yue et al. 2023, "MMMU" (arXiv:2311.16502); its published ``eval_utils.py``, ``parse_open_response`` and
    ``eval_open``.
    """

    def value(self, answer: str, gold: Any) -> float:
        """Return 1 if a conclusion has a gold, else 0."""
        conclusions = _conclusions(answer)
        numbers = [found for text in conclusions for form in _WRITTEN_NUMBERS for found in form.findall(text)]
        said = [form for text in (*conclusions, *numbers) for form in _mmmu_forms(text)]
        texts = [form for form in said if isinstance(form, str)]
        golds = [form for one in golds_of(gold) for form in _mmmu_forms(one)]
        return float(any(any(one in text for text in texts) if isinstance(one, str) else one in said for one in golds))


def _conclusions(answer: str) -> list[str]:
    """Return the shortest conclusion of each line that has one, in small letters; the answer if none has."""
    text = answer.strip().strip(".").lower()
    lines = text.split("\n")
    found = []
    for place, line in enumerate(lines, start=1):
        shortest = ""
        for sign in (*_CONCLUDING, "=") if place == len(lines) else _CONCLUDING:
            tail = line.rpartition(sign)[2].strip()
            if sign in line and (not shortest or len(tail) < len(shortest)):
                shortest = tail
        if shortest and shortest not in _TRIVIAL:
            found.append(shortest)
    return found or [text]


def _mmmu_forms(text: str) -> list[float | str]:
    """Return what of a text is compared: its number, or the text in small letters."""
    plain = text.strip().lower()
    try:
        return [round(float(plain.replace(",", "")), 2)]
    except ValueError:
        return [f" {plain}", f"{plain} "] if len(plain) == 1 else [plain]
