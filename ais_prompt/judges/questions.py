"""Make the questions to judges: a dataset of the same rows with the judge's prompt, and the answers shown in it.

A judge is a model like any other; its samples are made of rows and answers. Its requests have a journal of their own,
so judging resumes where it stopped, and an answer is judged again only if the answer, the prompt or the judge has
changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.data import Dataset
from ais_prompt.errors import DataError
from ais_prompt.evaluators import AsksInParts, Evaluator, HasJudgePrompt, JudgeQuestion, ReadsTokens
from ais_prompt.plan import PlannedDataset, Task, built_once
from ais_prompt.registry import EVALUATORS
from ais_prompt.types import (
    ChatMessage,
    Content,
    DatasetSpec,
    EvalSpec,
    InferSpec,
    JudgeSpec,
    PartSpec,
    Prediction,
    Prompts,
    Sample,
    SampleScore,
)
from ais_prompt.utils import canonical, digest

ANSWER: Final = "prediction"

OTHER_ANSWER: Final = "prediction2"

CONVERSATION: Final = "conversation"

OTHER_CONVERSATION: Final = "conversation2"

GOLD: Final = "gold"
"""Columns of a judge's prompt, next to those of the row; they hide a row's own of these names."""

INPUT: Final = "{input}"
"""In a `HasJudgePrompt`, the input columns of the dataset."""

ORDERS: Final = (False, True)
"""Whether the reference answer comes first, for each question about a pair of answers."""


class JudgedAnswer(Struct, frozen=True):
    """An answer as a judge sees it.

    Attributes:
        answer: after postprocessing.
        conversation: what was said before it; None if it is not the turn of a dialogue.
    """

    answer: Any
    conversation: str | None = None


class Question(Struct, frozen=True):
    """A question to a judge.

    Attributes:
        id: its name among those about the answers of a task.
        sample_id: the sample whose answer it is about.
        fields: columns of the judge's prompt, next to those of the row; they hide a row's own of these names.
        gold: of the sample.
        round: lower rounds are asked first.
    """

    id: str
    sample_id: str
    fields: Mapping[str, Any]
    gold: Any = None
    round: int = 0


AnswersToJudge: TypeAlias = Callable[[Task], Sequence[Question]]


class JudgeQuestions(PlannedDataset):
    """The questions to judges about the answers of a task. Equal answers to one question are judged once.

    Args:
        task: whose answers are judged.
        answers_of: returns what the judges are asked.

    Attributes:
        asked_by: the name of the evaluator that asks them, of several.
    """

    def __init__(self, task: Task, answers_of: AnswersToJudge) -> None:
        judge = task.dataset.spec.eval.judge
        assert judge is not None
        super().__init__(judge_dataset(judge, task.dataset))
        self.asked_by: str = task.dataset.spec.eval.name
        self._judged = task
        self._answers_of = answers_of

    @built_once
    def data(self) -> Dataset:
        """The answers that need a verdict, each with its row."""
        noted = self._answers_of(self._judged)
        # Predictions of version 1 know samples by their whole rows.
        rows = {name: row for row in self._judged.data.test for name in (row.row_id, row.id)} if noted else {}
        samples = [self._question(index, sample, rows) for index, sample in enumerate(noted)]
        return Dataset(train=(), test=samples, columns=tuple(samples[0].fields) if samples else (), tables={})

    def _question(self, index: int, asked: Question, rows: Mapping[str, Sample]) -> Sample:
        if asked.sample_id not in rows:
            raise DataError(
                f"the row of sample {asked.sample_id} is no longer in the data, and the judge's prompt needs it",
                where=self.spec.where,
                fix="score with the data that was asked about, and the same test_range",
            )
        row = rows[asked.sample_id]
        row_id = f"{row.row_id}{asked.id.removeprefix(asked.sample_id)}"
        return Sample(asked.id, index, {**_shown_columns(row.fields), **asked.fields}, asked.gold, row_id=row_id)


def fields_of_questions(
    sample: SampleScore,
    prediction: Prediction,
    reference: Callable[[str, int], JudgedAnswer | None] | None,
    evaluator: Evaluator | None = None,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield id and columns of each question about an answer; none if there is nothing to compare it with."""
    own = shown_answer(sample.extracted, prediction.origin_prompt)
    other = None if reference is None else reference(sample.sample_id, len(prediction.earlier))
    if reference is not None and other is None:
        return
    if other is None or isinstance(evaluator, AsksInParts):
        fields = judge_fields({}, own, sample.gold) if other is None else pair_fields({}, own, other, sample.gold)
        for part in parts_of(evaluator, sample.gold):
            yield question_id(sample, prediction.earlier, part=part), {**fields, **part}
        return
    for swapped in ORDERS:
        pair = (other, own) if swapped else (own, other)
        yield question_id(sample, prediction.earlier, swapped=swapped), pair_fields({}, *pair, sample.gold)


def questions_about(
    sample: SampleScore,
    earlier: Sequence[Any] = (),
    *,
    compares: bool,
    evaluator: Evaluator | AsksInParts | None = None,
) -> list[str]:
    """Return the ids of the questions to a judge about an answer: one for each of `ORDERS` if two are compared."""
    if compares:
        return [question_id(sample, earlier, swapped=swapped) for swapped in ORDERS]
    return [question_id(sample, earlier, part=part) for part in parts_of(evaluator, sample.gold)]


def parts_of(evaluator: Evaluator | AsksInParts | None, gold: Any) -> Sequence[Mapping[str, Any]]:
    """Return the further columns of each question about an answer; most evaluators ask one, without any.

    Raises:
        DataError: the gold cannot be used.
    """
    return evaluator.parts(gold) if isinstance(evaluator, AsksInParts) else [{}]


def evaluator_in_parts(part: PartSpec | None) -> AsksInParts | None:
    """Return the shipped evaluator of a config that asks in parts; None for others, whose code is not imported.

    Raises:
        ConfigError: its arguments cannot be used.
    """
    if part is None or part.type not in EVALUATORS.shipped:
        return None
    kind = EVALUATORS.get(part.type)
    asks_in_parts = isinstance(kind, type) and issubclass(kind, AsksInParts)
    return EVALUATORS.make(part.type, part.args) if asks_in_parts else None


def question_id(
    sample: SampleScore, earlier: Sequence[Any] = (), *, swapped: bool = False, part: Mapping[str, Any] | None = None
) -> str:
    """Return the id of a judge's question, from the sample's id, its answer and its gold.

    Args:
        sample: whose answer it is about.
        earlier: the answers of earlier turns of a dialogue, which the judge may be shown.
        swapped: whether the reference answer comes first.
        part: the columns that it has beside those of all questions.
    """
    more = [*([list(earlier)] if earlier else []), *(["swapped"] if swapped else []), *([dict(part)] if part else [])]
    return f"{sample.sample_id}-{digest([sample.extracted, sample.gold, *more])}"


def batch_question_id(sample_id: str, question: JudgeQuestion) -> str:
    """Return the id of a judge's question about an answer of a batch."""
    return f"{sample_id}-{digest(dict(question.fields))}"


def judge_prompt(judge: JudgeSpec, dataset: PlannedDataset) -> PartSpec:
    """Return the prompt of the judges: that of the config, or that of the evaluator."""
    if judge.prompt_template is not None:
        return judge.prompt_template
    evaluator = dataset.evaluator
    assert isinstance(evaluator, HasJudgePrompt)  # `build_evaluator` refuses others
    columns = "\n".join(f"{{{column}}}" for column in dataset.spec.reader.input_columns)
    return PartSpec("PromptTemplate", {"template": evaluator.judge_prompt.replace(INPUT, columns)}, judge.where)


def judge_dataset(judge: JudgeSpec, judged: PlannedDataset) -> DatasetSpec:
    """Return the judges' questions as a dataset: the same rows with the judge's prompt template."""
    dataset, evaluator = judged.spec, judged.evaluator
    # What the evaluator needs of the judges beside their text.
    of_replies: dict[str, Any] = {}
    if isinstance(evaluator, ReadsTokens) and evaluator.top_logprobs is not None:
        of_replies["top_logprobs"] = evaluator.top_logprobs
    asking = InferSpec(
        ice_template=None,
        prompt_template=judge_prompt(judge, judged),
        retriever=PartSpec("ZeroRetriever", where=judge.where),
        inferencer=PartSpec("GenInferencer", of_replies, where=judge.where),
        where=judge.where,
    )
    # Without an output column nothing is hidden: the judge may see the gold.
    reader = replace(dataset.reader, output_column=None)
    return replace(dataset, reader=reader, infer=asking, eval=EvalSpec())


def judge_fields(fields: Mapping[str, Any], shown: JudgedAnswer, gold: Any) -> dict[str, Any]:
    """Return the columns of a judge's template: those of the row, the answer and the gold."""
    before = {} if shown.conversation is None else {CONVERSATION: shown.conversation}
    return {**_shown_columns(fields), **before, ANSWER: shown.answer, GOLD: gold}


def pair_fields(fields: Mapping[str, Any], first: JudgedAnswer, second: JudgedAnswer, gold: Any) -> dict[str, Any]:
    """Return the columns of a template that compares two answers."""
    before = {} if second.conversation is None else {OTHER_CONVERSATION: second.conversation}
    return {**judge_fields(fields, first, gold), **before, OTHER_ANSWER: second.answer}


def shown_answer(answer: Any, prompt: Prompts) -> JudgedAnswer:
    """Return an answer with the prompt of its turn, if it is one of a dialogue: else the prompt is empty.

    A judge sees who says what, up to the question that the answer is about.
    """
    if not prompt:
        return JudgedAnswer(answer)
    if isinstance(prompt, str):
        return JudgedAnswer(answer, prompt)
    messages = (message for message in prompt if isinstance(message, ChatMessage))
    return JudgedAnswer(answer, _messages_text((message.role, message.content) for message in messages))


def _shown_columns(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a row as a judge sees them: lists of messages as conversations, others as they are."""
    shown = dict(fields)
    for name, value in fields.items():
        if not isinstance(value, list | tuple) or not value:
            continue
        if all(isinstance(one, Mapping) and {"role", "content"} <= one.keys() for one in value):
            shown[name] = _messages_text((str(one["role"]), one["content"] or "") for one in value)
    return shown


def _messages_text(messages: Iterable[tuple[str, Content]]) -> str:
    texts = []
    for role, content in messages:
        if not isinstance(content, str):
            parts = (str(part["text"]) if "text" in part else canonical(dict(part)) for part in content)
            content = "\n".join(parts)
        texts.append(f"{role.capitalize()}: {content}")
    return "\n\n".join(texts)
