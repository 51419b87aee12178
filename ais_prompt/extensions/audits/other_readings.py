"""What the scores of a task say about how its answers are read.

`audit_reading` is ``aisprompt score RUN --audit``: every answer is scored again with every postprocessor that could
stand in the place of the configured one (`find_sensitivity`); where none is configured, wrong answers that contain
their gold answer are counted (`find_lost_golds`).
"""

from __future__ import annotations

import inspect
import logging
import random
import re
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from msgspec import Struct

from ais_prompt.checks import LONGEST
from ais_prompt.errors import AisPromptError
from ais_prompt.evaluators import BatchEvaluator, JudgeEvaluator
from ais_prompt.metrics import mean_scores
from ais_prompt.plan import Task, build_postprocessor
from ais_prompt.postprocess import to_decimal
from ais_prompt.registry import POSTPROCESSORS
from ais_prompt.scoring import value
from ais_prompt.store import read_predictions
from ais_prompt.types import OtherReading, PartSpec, Prediction, SampleScore, Score, Sensitivity
from ais_prompt.utils import Spilled

logger = logging.getLogger(__name__)
MOST: Final = 1_000
"""Samples that are read again; of more, so many are drawn, always the same samples."""
SEED: Final = 0
OPTIONS: Final = ("first_option_postprocess", "last_option_postprocess")
NUMBERS: Final = ("gsm8k_postprocess", "math_postprocess_v2")
LAST_NUMBER: Final = "last_number_postprocess"
ONE_FORM: Final = (
    *("after_phrase_postprocess", "bbh_freeform_postprocess", "bbh_mcq_postprocess", "first_line_postprocess"),
    *("general_postprocess", "gsm100_postprocess", "match_answer_pattern", "mathbench_postprocess"),
    *("mgsm_postprocess", "strategyqa_pred_postprocess", "xml_tag_postprocessor"),
)
"""Postprocessors that know one form of an answer, such as a phrase or a tag, and read nothing else."""
WORDS: Final = ("strategyqa_pred_postprocess", "first_line_postprocess")
PLAUSIBLE: Final[Mapping[str, Sequence[str]]] = {
    **dict.fromkeys((*OPTIONS, "first_capital_postprocess", "last_capital_postprocess"), OPTIONS),
    **dict.fromkeys(("first-capital", "last-capital"), OPTIONS),
    **dict.fromkeys((*NUMBERS, "first_number_postprocess", LAST_NUMBER), (*NUMBERS, LAST_NUMBER)),
    **dict.fromkeys(ONE_FORM, (*NUMBERS, LAST_NUMBER, *OPTIONS, *WORDS)),
    "label_postprocess": WORDS,
    "multiple_select_postprocess": ("first_capital_postprocess_multi",),
}
"""Configured postprocessor → those that could be in its place: of options, of numbers and mathematics, of labels.

Those of programs and objects have none: no other one finds a program or an object where they find nothing."""
ScorerOf: TypeAlias = Callable[[PartSpec], Callable[[Prediction], SampleScore]]
"""Makes what scores one sample with a postprocessor."""
LEAST_SHARE: Final = 0.5
LEAST: Final = 3
"""Share and number of wrong answers with the gold in them from which on it is said. Some have it by chance."""
_LETTER: Final = re.compile(r"[A-Z]")


def audit_reading(
    task: Task, samples: Spilled[SampleScore], score: Score, path: Path, scorer_of: ScorerOf, *, level: int
) -> dict[str, Any]:
    """Audit a task, log what is found, and return it for the results.

    Args:
        task: which model answered what.
        samples: their scores.
        score: in the main metric.
        path: of the predictions.
        scorer_of: as in `ScorerOf`.
        level: of the messages.

    Returns:
        ``extraction``: a `Sensitivity`; ``doubt``: a sentence; each only if there is something to say.
    """
    found: dict[str, Any] = {}
    if isinstance(task.dataset.evaluator, JudgeEvaluator):
        return found
    if (configured := task.spec.dataset.eval.pred_postprocessor) is not None:
        if isinstance(task.dataset.evaluator, BatchEvaluator):
            return found
        predictions = read_predictions(path, with_prompts=False)
        if read := find_sensitivity(configured, predictions, len(samples), scorer_of, score.metric):
            found["extraction"] = read.to_json()
            less = bool(score.lower_is_better)
            if warning := warning_of(read, fraction=score.fraction, lower_is_better=less):
                logger.log(level, "[%s] %s", task.name, warning)
    elif doubt := _doubt_of(task, samples, score, path, scorer_of):
        found["doubt"] = doubt
        logger.log(level, "[%s] %s", task.name, doubt)
    return found


def _doubt_of(task: Task, samples: Spilled[SampleScore], score: Score, path: Path, scorer_of: ScorerOf) -> str:
    """Return how many wrong answers contain the gold answer, and what extracts it; empty if they are few."""
    if score.lower_is_better:  # an answer with the value 0 is right
        return ""
    if (lost := find_lost_golds(samples, score.metric)) is None:
        return ""
    best = None
    if lost.extractors and not isinstance(task.dataset.evaluator, BatchEvaluator):
        predictions = read_predictions(path, with_prompts=False)
        best = best_extractor(lost.extractors, predictions, len(samples), scorer_of, score.metric)
    return lost.warning(best, score.value or 0.0, fraction=score.fraction)


class BestReading(Struct, frozen=True):
    """The postprocessor that gives the highest score.

    Attributes:
        spec: the postprocessor.
        score: mean of the main metric.
        samples, of: number of samples that were read again, and number of samples that could be.
    """

    spec: PartSpec
    score: float
    samples: int
    of: int


def others_than(spec: PartSpec) -> list[PartSpec]:
    """Return the postprocessors that could replace the configured one.

    Arguments such as ``options`` go along where they are understood. There is none for a postprocessor of the user's
    own, nor for a postprocessor of programs and objects.
    """
    own = getattr(POSTPROCESSORS.get(spec.type), "variant_of", spec.type)
    names = [name for name in PLAUSIBLE.get(own, ()) if name != spec.type]
    return [PartSpec(name, _understood(name, spec.args), spec.where) for name in names]


def find_sensitivity(
    configured: PartSpec, predictions: Iterator[Prediction], count: int, scorer_of: ScorerOf, metric: str
) -> Sensitivity | None:
    """Score a task again with other postprocessors; None if there is none, or no sample can be read again.

    Args:
        configured: the postprocessor of the dataset.
        predictions: of the task, as many as ``count``.
        count: how many samples there are.
        scorer_of: as in `ScorerOf`.
        metric: the main metric of the evaluator.
    """
    specs = [configured, *others_than(configured)]
    if len(specs) == 1:
        return None
    rows = _read(specs, predictions, count, scorer_of, metric)
    if len(rows) < 2:
        return None
    own, *others = zip(*rows, strict=True)
    found = [
        OtherReading(spec.type, statistics.fmean(values), sum(a != b for a, b in zip(own, values, strict=True)))
        for spec, values in zip(specs[1:], others, strict=True)
    ]
    best = 1.0 if all(0 <= value <= 1 for value in own) else None
    [mean] = mean_scores((metric,), (SampleScore("", "scored", values={metric: value}) for value in own), best)
    return Sensitivity(configured.type, statistics.fmean(own), mean.stderr or 0.0, len(rows), count, tuple(found))


def best_extractor(
    specs: Sequence[PartSpec], predictions: Iterator[Prediction], count: int, scorer_of: ScorerOf, metric: str
) -> BestReading | None:
    """Return which postprocessor gives the highest score, the first of equal ones; None if no sample can be read.

    Args:
        specs: the postprocessors to try.
        predictions, count, scorer_of, metric: as for `sensitivity`.
    """
    rows = _read(specs, predictions, count, scorer_of, metric)
    if not rows:
        return None
    means = [statistics.fmean(values) for values in zip(*rows, strict=True)]
    best = max(range(len(specs)), key=means.__getitem__)
    return BestReading(specs[best], means[best], len(rows), count)


def warning_of(found: Sensitivity, *, fraction: bool, lower_is_better: bool = False) -> str | None:
    """Say which postprocessors give a better score; None if none is more than a standard error better.

    Those that give a worse score find fewer of the answers, about which nothing is to be done.
    """
    if not (better := [other for other in found.far if (other.score < found.score) == lower_is_better]):
        return None
    scale, unit = (100, " points") if fraction else (1, "")
    far = [
        f"{other.postprocessor} {scale * (other.score - found.score):+.1f}{unit} ({other.changed} samples)"
        for other in better
    ]
    drawn = "" if found.samples == found.of else f" of {found.of:,}, drawn at random"
    return (
        f"the score is {'lower' if lower_is_better else 'higher'} if answers are read in another way: "
        f"{', '.join(far)}; {found.postprocessor} has "
        f"{scale * found.score:.1f} with a standard error of {scale * found.stderr:.1f} "
        f"({found.samples:,} samples{drawn})"
    )


def _read(
    specs: Sequence[PartSpec], predictions: Iterator[Prediction], count: int, scorer_of: ScorerOf, metric: str
) -> list[list[float]]:
    """Return the values of each sample, or of `MOST` samples drawn at random, with each postprocessor."""
    drawn = set(random.Random(SEED).sample(range(count), MOST)) if count > MOST else None
    scorers = [scorer_of(spec) for spec in specs]
    rows: list[list[float]] = []
    for number, prediction in enumerate(predictions):
        if (drawn is None or number in drawn) and (row := _values(scorers, prediction, metric)):
            rows.append(row)
    return rows


def _values(
    scorers: Sequence[Callable[[Prediction], SampleScore]], prediction: Prediction, metric: str
) -> list[float] | None:
    """Return the value of a sample with each postprocessor; None if it failed, or its gold is unusable."""
    try:
        samples = [scorer(prediction) for scorer in scorers]
    except AisPromptError:
        return None
    return None if samples[0].status == "failed" else [sample.values.get(metric, 0.0) for sample in samples]


def _understood(name: str, args: Mapping[str, Any]) -> dict[str, Any]:
    parameters = inspect.signature(build_postprocessor(PartSpec(name, {}, ""))).parameters
    return {key: value for key, value in args.items() if key in parameters}


class LostGolds(Struct, frozen=True):
    """Wrong answers that contain their gold answer.

    Attributes:
        wrong: number of wrong answers.
        lost: number of wrong answers that contain their gold answer.
        extractors: the shipped postprocessors of such golds, the most likely first; none for free text.
    """

    wrong: int
    lost: int
    extractors: tuple[PartSpec, ...] = ()

    def warning(self, best: BestReading | None, score: float, *, fraction: bool) -> str:
        """Say how many there are, and what extracts them.

        Args:
            best: the best of ``extractors``; None if the answers cannot be read again.
            score: without a postprocessor.
            fraction: whether scores are fractions, to be shown in percent.
        """
        found = f"{self.lost} of {self.wrong} wrong answers contain the gold answer: "
        if not self.extractors:
            return f"{found}try evaluator=dict(type='ContainsEvaluator')"
        if best is None:
            return f"{found}is a pred_postprocessor missing? Try pred_postprocessor={_dict(self.extractors[0])}"
        if best.score <= score:
            return f"{found}the shipped postprocessors do not extract it; write a pred_postprocessor of your own"
        about = "" if best.samples == best.of else "about "
        return f"{found}pred_postprocessor={_dict(best.spec)} would give {about}{value(best.score, fraction=fraction)}"


def find_lost_golds(samples: Iterable[SampleScore], metric: str) -> LostGolds | None:
    """Count the wrong answers that contain their gold answer; None if they are few.

    Args:
        samples: of a task without a postprocessor, whose answers are whole texts. Long golds are left out.
        metric: the main metric; a value of 0 is a wrong answer.
    """
    wrong = 0
    golds: list[str] = []
    for sample in samples:
        gold = "" if isinstance(sample.gold, bool | None) else str(sample.gold).strip()
        if isinstance(sample.extracted, str) and 0 < len(gold) <= LONGEST and sample.values.get(metric) == 0:
            wrong += 1
            if _contains(sample.extracted, gold):
                golds.append(gold)
    if len(golds) < max(LEAST, LEAST_SHARE * wrong):
        return None
    return LostGolds(wrong, len(golds), _extractors(set(golds)))


def _contains(answer: str, gold: str) -> bool:
    """Return whether an answer has the gold as a word; a letter counts as a capital only."""
    flags = 0 if _LETTER.fullmatch(gold) else re.IGNORECASE
    return re.search(rf"(?<![A-Za-z0-9]){re.escape(gold)}(?![A-Za-z0-9])", answer, flags) is not None


def _extractors(golds: set[str]) -> tuple[PartSpec, ...]:
    if all(map(_LETTER.fullmatch, golds)):
        letters = "".join(map(chr, range(ord("A"), ord(max(golds)) + 1)))
        return tuple(PartSpec(name, {} if max(golds) <= "D" else {"options": letters}, "") for name in OPTIONS)
    if all(to_decimal(gold) is not None for gold in golds):
        return tuple(PartSpec(name, {}, "") for name in NUMBERS)
    return ()


def _dict(spec: PartSpec) -> str:
    """Return a part as it is written in a config."""
    return f"dict({', '.join(f'{key}={value!r}' for key, value in {'type': spec.type, **spec.args}.items())})"
