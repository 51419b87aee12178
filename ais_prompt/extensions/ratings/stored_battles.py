"""The battles of a run: verdicts of judges on the answers of two models, with covariates of length and style."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.extensions.ratings.bradley_terry import Array, Battle
from ais_prompt.judges import FIRST, SECOND, TIE, round_of
from ais_prompt.plan import stored_spec
from ais_prompt.store import RunFolder, read_details
from ais_prompt.types import DatasetSpec, EvalSpec, ReferenceAnswersSpec, SampleScore

LENGTH: Final = "length"
"""Name of the covariate of `length_control`, in characters."""
STYLES: Final = (LENGTH, "headers", "lists", "bold")
"""Names of the covariates of `arena_hard_style`."""
POINTS: Final = {FIRST: 1.0, TIE: 0.5, SECOND: 0.0}
_FEWEST_MODELS: Final = 3


class Battles(Struct, frozen=True):
    """The battles of a dataset.

    Attributes:
        dataset: its ``abbr``, with the name of the evaluator if it has several.
        battles: one for each verdict, and two for each answer that lost because nothing was found in it.
        texts: the two answers of each battle.
    """

    dataset: str
    battles: tuple[Battle, ...]
    texts: tuple[tuple[str, str], ...]

    def with_length(self) -> tuple[Battle, ...]:
        """Return the battles with the length of the answers as a feature."""
        lengths = [(len(first), len(second)) for first, second in self.texts]
        return self._with((value,) for value in length_control(*zip(*lengths, strict=True)))

    def with_style(self) -> tuple[Battle, ...]:
        """Return the battles with `STYLES` as features."""
        counts = [(style_counts(first), style_counts(second)) for first, second in self.texts]
        return self._with(map(tuple, arena_hard_style(*zip(*counts, strict=True)).tolist()))

    def _with(self, features: Iterable[tuple[float, ...]]) -> tuple[Battle, ...]:
        return tuple(replace(one, features=each) for one, each in zip(self.battles, features, strict=True))


_CODE: Final = re.compile(r"```[^`]*```")
_MARKDOWN: Final = (
    re.compile(r"^#{1,6}\s", re.MULTILINE),
    re.compile(r"^[^\S\n]*(?:\d+\.|[-*+])\s", re.MULTILINE),
    re.compile(r"\*\*[^*\n]+\*\*"),
    re.compile(r"__[^_\n]+__"),
)


def length_control(first: Sequence[float], second: Sequence[float]) -> list[float]:
    """Return the covariate of AlpacaEval's length-controlled win rate: the tanh of the standardized difference.

    Source: Dubois, Galambosi, Liang and Hashimoto 2024, "Length-Controlled AlpacaEval: A Simple Way to Debias
    Automatic Evaluators", section 3. Its coefficient there is that of a model against the baseline; here it is one for
    all models, and there is no term for the difficulty of an instruction.

    Args:
        first, second: lengths of the answers of each battle.
    """
    differences = np.asarray(first, float) - np.asarray(second, float)
    spread = float(differences.std(ddof=1)) if len(differences) > 1 else 0.0
    return np.tanh(differences / spread).tolist() if spread else [0.0] * len(differences)


def arena_hard_style(first: Sequence[Sequence[float]], second: Sequence[Sequence[float]]) -> Array:
    """Return the covariates of the style control of Arena-Hard 2, standardized.

    The first is the relative difference of the lengths, ``(a - b) / (a + b)``. For the others, counts are divided by
    the length plus one; of these densities it is ``(a - b) / (a + b + 1)``. There is no prior. Each covariate is
    divided by its standard deviation over all battles; theirs is that of a sample, so theirs is smaller by a factor of
    ``sqrt(1 - 1 / battles)``, which changes no rating.

    Source: Arena-Hard-Auto, ``show_result.print_leaderboard_with_style_features``.

    Args:
        first, second: length and counts of the answers of each battle; shape (battles, 1 + counts).
    """
    a, b = np.asarray(first, float), np.asarray(second, float)
    lengths = a[:, :1] + b[:, :1]
    length = np.divide(a[:, :1] - b[:, :1], lengths, out=np.zeros_like(lengths), where=lengths > 0)
    a, b = a[:, 1:] / (a[:, :1] + 1), b[:, 1:] / (b[:, :1] + 1)
    values = np.hstack([length, (a - b) / (a + b + 1)])
    spread = values.std(axis=0)
    styles: Array = np.divide(values - values.mean(axis=0), spread, out=np.zeros_like(values), where=spread > 0)
    return styles


def style_counts(text: str) -> tuple[int, int, int, int]:
    """Return the length of an answer in characters, and its Markdown headers, list items and bold texts.

    Blocks of code have no Markdown. Source: Arena-Hard-Auto, ``utils/add_markdown_info.py``, which counts tokens in
    place of characters.

    >>> style_counts("# Plan\\n1. **first**\\n- second\\n```\\n# code\\n```")
    (46, 1, 2, 1)
    """
    prose = _CODE.sub("", text)
    headers, lists, *bold = (len(one.findall(prose)) for one in _MARKDOWN)
    return len(text), headers, lists, sum(bold)


class _Answer(NamedTuple):
    """Who answered what: model, sample, number of the turn or of the repeat."""

    model: str
    sample: str
    part: int


class _Verdict(NamedTuple):
    first: _Answer
    second: _Answer
    points: float


def battles_of(folder: RunFolder) -> list[Battles]:
    """Return the battles of each dataset of a run whose judge compared three models, a baseline included.

    Raises:
        AisPromptError: the run cannot be read.
    """
    spec = stored_spec(folder)
    models: dict[str, list[str]] = {}
    for task in spec.tasks:
        if folder.results(task.model.abbr, task.dataset.abbr).is_file():
            models.setdefault(task.dataset.abbr, []).append(task.model.abbr)
    found = []
    for dataset in spec.datasets:
        for scoring in dataset.eval.by_evaluator:
            if scoring.judge is None or scoring.judge.reference_answers is None:
                continue
            one = _of_scoring(folder, dataset, scoring, models.get(dataset.abbr, ()))
            if len({name for battle in one.battles for name in (battle.first, battle.second)}) >= _FEWEST_MODELS:
                found.append(one)
    return found


def _of_scoring(folder: RunFolder, dataset: DatasetSpec, scoring: EvalSpec, models: Sequence[str]) -> Battles:
    assert scoring.judge is not None
    references = scoring.judge.reference_answers
    assert references is not None
    judges = len(scoring.judge.models)
    texts: dict[_Answer, str] = {}
    clusters: dict[str, str] = {}
    unread: set[_Answer] = set()
    verdicts: list[_Verdict] = []
    for model in models:
        for sample in read_details(folder.results(model, dataset.abbr)):
            score = sample.by(scoring.name)
            clusters[score.sample_id] = score.cluster or score.sample_id
            for answer, text, own in _answers(model, score):
                texts[answer] = text
                if not own.is_read and own.status != "failed":
                    unread.add(answer)
            verdicts += _verdicts(model, score, references, judges)
    verdicts += _lost(unread, texts, references, {(one.first, one.second) for one in verdicts})
    battles = tuple(
        Battle(one.first.model, one.second.model, one.points, clusters[one.first.sample]) for one in verdicts
    )
    compared = tuple((texts.get(one.first, ""), texts.get(one.second, "")) for one in verdicts)
    name = f"{dataset.abbr} ({scoring.name})" if scoring.name else dataset.abbr
    return Battles(name, battles, compared)


def _answers(model: str, score: SampleScore) -> Iterator[tuple[_Answer, str, SampleScore]]:
    """Yield each turn or repeat of an answer, with its text."""
    if score.repeats:
        for number, one in enumerate(score.repeats):
            yield _Answer(model, score.sample_id, number), str(one.extracted or ""), one
    elif isinstance(score.extracted, list):
        for number, text in enumerate(score.extracted):
            yield _Answer(model, score.sample_id, number), str(text or ""), score
    else:
        yield _Answer(model, score.sample_id, 0), str(score.extracted or ""), score


def _verdicts(model: str, score: SampleScore, references: ReferenceAnswersSpec, judges: int) -> Iterator[_Verdict]:
    """Yield the verdicts on an answer.

    Of models that are compared with each other, each has the verdicts where its answer comes first; the other's has the
    rest.
    """
    for number, one in enumerate(score.repeats or (score,)):
        rivals = len({verdict.rival for verdict in one.verdicts}) or 1
        for place, verdict in enumerate(one.verdicts):
            part = number if score.repeats else place // (judges * rivals)
            rival = verdict.rival or references.model or references.column
            own, other = _Answer(model, score.sample_id, part), _Answer(rival, score.sample_id, part)
            orders = [(own, other), (other, own)][: 1 if verdict.rival else 2]
            for (first, second), said in zip(orders, verdict.orders, strict=False):
                if said is not None:
                    yield _Verdict(first, second, POINTS[said])


def _lost(
    unread: set[_Answer],
    texts: Mapping[_Answer, str],
    references: ReferenceAnswersSpec,
    known: set[tuple[_Answer, _Answer]],
) -> Iterator[_Verdict]:
    """Yield a loss in both orders for each answer in which nothing was found, against each model that has an answer."""
    for own in sorted(unread):
        for model in references.rivals(own.model):
            other = own._replace(model=model)
            meets = other in texts and other not in unread
            if meets and round_of(references, own.sample, own.model, model) is not None:
                if (own, other) not in known:
                    yield _Verdict(own, other, 0.0)
                if (other, own) not in known:
                    yield _Verdict(other, own, 1.0)
