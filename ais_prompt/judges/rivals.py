"""Compare the answers of several models of a run with each other (``baseline='all'``): who meets whom, and when.

Each pair of models meets on a question in both orders, and the judge is asked about each order once: with the answer of
a model first in the questions about its answers, and with it second in those about the other's. So both scores have
both verdicts, and a model that is added to a run adds only questions about itself. Of several answers to a question,
the first ones of two models meet, then the second ones, and so on.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from msgspec import Struct

from ais_prompt.judges.questions import JudgedAnswer, Question, pair_fields, shown_answer
from ais_prompt.judges.reference_answers import answers_of_file
from ais_prompt.plan import Task
from ais_prompt.store import RunFolder
from ais_prompt.types import Prediction, ReferenceAnswersSpec, SampleScore
from ais_prompt.utils import digest


class RivalAnswer(Struct, frozen=True):
    """The answer of another model to the same question.

    Attributes:
        model: its ``abbr``.
        round: in which round the judge compares it, from 0.
        answer: what it said.
    """

    model: str
    round: int
    answer: JudgedAnswer


class Rivals:
    """The answers of the other models of a run that those of a task are compared with.

    Args:
        task: whose answers are compared.
        folder: of the run.
    """

    def __init__(self, task: Task, folder: RunFolder) -> None:
        judge = task.dataset.spec.eval.judge
        assert judge is not None
        assert judge.reference_answers is not None
        self._references = judge.reference_answers
        self._task = task
        self._folder = folder

    def of(self, prediction: Prediction) -> Iterator[RivalAnswer]:
        """Yield the answers that one answer is compared with; none of a model that gave none.

        A turn is compared with the same turn, and of several answers to a question each with that of the same number.

        Raises:
            StoreError: the answers cannot be read.
        """
        own, number = self._task.spec.model.abbr, len(prediction.earlier) or prediction.repeat
        for model, answers in self._answers.items():
            meets = round_of(self._references, prediction.sample_id, own, model)
            given = answers.get(prediction.sample_id, ())
            if meets is not None and number < len(given) and (answer := given[number]) is not None:
                yield RivalAnswer(model, meets, answer)

    def questions(self, sample: SampleScore, prediction: Prediction) -> Iterator[Question]:
        """Yield the questions about an answer of the task, in which it comes first.

        Raises:
            StoreError: the answers of the other models cannot be read.
        """
        own = shown_answer(sample.extracted, prediction.origin_prompt)
        for rival in self.of(prediction):
            name, _ = self.question_ids(sample, prediction, rival)
            fields = pair_fields({}, own, rival.answer, sample.gold)
            yield Question(name, sample.sample_id, fields, sample.gold, rival.round)

    def question_ids(self, sample: SampleScore, prediction: Prediction, rival: RivalAnswer) -> tuple[str, str]:
        """Return the ids of the questions with the own answer first, and with that of the rival first.

        The second is a question about the rival's answer.
        """
        pair = [[self._task.spec.model.abbr, str(sample.extracted)], [rival.model, str(rival.answer.answer)]]
        first, second = (
            f"{sample.sample_id}-{digest([both, sample.gold, len(prediction.earlier)])}" for both in (pair, pair[::-1])
        )
        return first, second

    @cached_property
    def _answers(self) -> dict[str, dict[str, list[JudgedAnswer | None]]]:
        """Model → sample → its answers, as `answers_of_file`; models whose task failed are left out."""
        dataset = self._task.dataset
        files = {
            model: self._folder.predictions(model, dataset.spec.abbr)
            for model in self._references.rivals(self._task.spec.model.abbr)
        }
        return {model: answers_of_file(path, dataset) for model, path in files.items() if path.is_file()}


def round_of(references: ReferenceAnswersSpec, sample_id: str, model: str, other: str) -> int | None:
    """Return in which round two models are compared on a question, from 0; None if they are not.

    In each round, each model is compared with one of those before it in the config, with another one on the next
    question. So what was asked when a budget ends connects all models, and all pairs about equally; and models that are
    added at the end of a config leave the pairs of the others as they are.

    Args:
        references: which models are compared.
        sample_id: the question.
        model, other: two models that the judge compares.
    """
    earlier, later = sorted((model, other), key=references.among.index)
    before = references.among[: references.among.index(later)]
    rivals = [one for one in references.rivals(later) if one in before]
    found = (rivals.index(earlier) - int(digest(sample_id, 8), 16)) % len(rivals)
    return None if references.rounds and found >= references.rounds else found


def pairs_per_question(references: ReferenceAnswersSpec, model: str) -> float:
    """Return how many models an answer of a model is compared with, on average over the questions."""
    total = 0.0
    for other in references.rivals(model):
        later = max(model, other, key=references.among.index)
        before = references.among[: references.among.index(later)]
        number = sum(one in before for one in references.rivals(later))
        total += min(1.0, (references.rounds or number) / number)
    return total
