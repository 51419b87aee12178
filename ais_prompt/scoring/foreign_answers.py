"""Turn answers that were made elsewhere into predictions, and report every answer that does not fit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from ais_prompt.engine import columns_of
from ais_prompt.errors import DataError
from ais_prompt.models import has_thoughts
from ais_prompt.store import reading
from ais_prompt.types import ChatMessage, Completion, Failure, Prediction, Prompts, Sample
from ais_prompt.utils import counted, decode, open_regular, read_objects

_FORM: Final = 'one object a line: {"id": "2d9e80bf2b1f", "prediction": "29"}, or with "index": 0 in place of the id'
_SENT_ROLES: Final = {"HUMAN": "user", "BOT": "assistant", "SYSTEM": "system"}
"""Role in a prompt that OpenCompass or AISBench wrote → the role that their models send."""
_NAMED: Final = 5
"""Most answers that a remark names."""


class Answer(Struct, frozen=True):
    """One answer of a file.

    Attributes:
        where: its place in the file.
        values: its content.
        is_measured: the prediction is no text of a model: a label, which can be a number, or the values of choices.
    """

    where: str
    values: Mapping[str, Any]
    is_measured: bool = False


class Matched(Struct):
    """The question of each answer, and the answers without one.

    Attributes:
        answers: sample id → its answer.
        foreign: places of answers that belong to no question.
        doubled: ids of questions that have several answers, none of which can be trusted.
        other_gold: ids of questions with a different gold in the file.
    """

    answers: dict[str, Answer] = field(default_factory=dict)
    foreign: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    other_gold: list[str] = field(default_factory=list)

    def remarks(self, samples: Sequence[Sample], *, cuts_thoughts: bool = False) -> list[str]:
        """Return what a user must know about the match, one line each.

        Args:
            samples: the questions.
            cuts_thoughts: whether thoughts in a text are cut when it is scored.
        """
        missing = [sample.id for sample in samples if sample.id not in self.answers]
        texts = {name: one.values.get("prediction") for name, one in self.answers.items() if not one.is_measured}
        thoughts = {name: text for name, text in texts.items() if isinstance(text, str) and has_thoughts(text)}
        thinking = [] if cuts_thoughts else [*thoughts]
        found = {
            "questions have no answer, and count as failed": missing,
            "questions have several answers, and count as failed": self.doubled,
            "answers belong to no question, and are left out": self.foreign,
            "answers come with another gold than the data's, which counts": self.other_gold,
            "answers have thoughts in their text, and are scored with them": thinking,
        }
        return [
            f"{len(names)} {what}: {', '.join(names[:_NAMED])}{', …' if len(names) > _NAMED else ''}"
            for what, names in found.items()
            if names
        ]


def read_answers(path: Path) -> Iterator[Answer]:
    """Read the answers of a file: JSONL, or JSON (``.json``) as OpenCompass writes it: row number → answer.

    Raises:
        DataError: it cannot be read; the error names the line.
    """
    with reading(path, fix="check the path"), open_regular(path) as lines:
        if path.suffix != ".json":
            yield from (Answer(f"{path}:{number}", values) for number, values in read_objects(lines, str(path)))
            return
        content = lines.read()
    try:
        table = decode(content.decode("utf-8-sig"))
    except ValueError as error:
        raise DataError(f"the file is not JSON: {error}", where=str(path), fix="if it is JSONL, call it so") from None
    items = table.items() if isinstance(table, dict) else enumerate(table) if isinstance(table, list) else ()
    for key, values in items:
        if not isinstance(values, dict) or not str(key).isdecimal():
            raise DataError("it is no answer", where=f"{path}, {key!r}", fix='write {"0": {"prediction": "29"}, ...}')
        yield Answer(f"{path}, {key}", {"index": int(key), **values})


def match(answers: Iterable[Answer], samples: Sequence[Sample]) -> Matched:
    """Find the question of each answer, by its ``id``, or by ``index`` where it has none.

    Raises:
        DataError: an answer has neither, or not one belongs to a question, or there are no answers or questions.
    """
    if not samples:
        raise DataError("the dataset has not one question", fix="check test_split and test_range of reader_cfg")
    # Predictions of version 1 have ids of whole rows.
    by_id = {sample.row_id: sample for sample in samples} | {sample.id: sample for sample in samples}
    matched = Matched()
    for answer in answers:
        sample = _sample_of(answer, by_id, samples)
        if sample is None:
            matched.foreign.append(answer.where)
        elif sample.id in matched.answers:
            matched.doubled.append(sample.id)
        else:
            matched.answers[sample.id] = answer
            gold = answer.values.get("gold")
            if gold is not None and _comparable(gold) != _comparable(sample.gold):
                matched.other_gold.append(sample.id)
    matched.doubled = list(dict.fromkeys(matched.doubled))
    if matched.answers:
        return matched
    if not matched.foreign:
        raise DataError("there is not one answer in the file", fix=f"write {_FORM}")
    what = f"none of {counted(len(matched.foreign), 'answer')} belongs to a question of the dataset"
    fix = f"ids look like {samples[0].id}, and index counts from 0; or it is another dataset, or test_range"
    raise DataError(what, where=matched.foreign[0], fix=fix)


def predictions(matched: Matched, samples: Iterable[Sample], gold: str | None) -> Iterator[Prediction]:
    """Yield a prediction for every question, in order; without a usable answer it is failed.

    Args:
        matched: the answers.
        samples: the questions.
        gold: the column with the gold answer, which is not stored; None if there is none.

    Raises:
        DataError: an answer has no ``prediction``, or ``completions`` that cannot be read.
    """
    doubled = set(matched.doubled)
    given = (answer.values.get("prediction") for answer in matched.answers.values())
    repeats = next((len(one) for one in given if isinstance(one, list)), None)
    for sample in samples:
        answer = matched.answers.get(sample.id)
        if answer is None:
            found = _failed(sample, Failure("missing", "the file has no answer to this question"), repeats)
        elif sample.id in doubled:
            found = _failed(sample, Failure("doubled", "the file has several answers to this question"), repeats)
        else:
            found = _prediction(sample, answer)
        yield replace(found, columns=columns_of(sample, gold))


def _sample_of(answer: Answer, by_id: Mapping[str, Sample], samples: Sequence[Sample]) -> Sample | None:
    if "id" in answer.values:
        return by_id.get(str(answer.values["id"]))
    index = answer.values.get("index")
    if not isinstance(index, int):
        raise DataError("the answer has neither 'id' nor 'index'", where=answer.where, fix=f"write {_FORM}")
    return samples[index] if 0 <= index < len(samples) else None


def _prediction(sample: Sample, answer: Answer) -> Prediction:
    if "prediction" not in answer.values:
        raise DataError("the answer has no 'prediction'", where=answer.where, fix=f"write {_FORM}")
    given = answer.values["prediction"]
    completions: tuple[Completion, ...] = (Completion(str(given), "unknown"),)
    if not answer.is_measured:
        found = [_text(one) for one in (given if isinstance(given, list) else [given])]
        texts = [one if isinstance(one, str) else None for one in found]
        given, completions = texts if isinstance(given, list) else texts[0], _completions(answer, found)
    return Prediction(
        sample_id=sample.id,
        index=sample.index,
        origin_prompt=_prompt(answer.values.get("origin_prompt")),
        prediction=given,
        gold=sample.gold,
        completions=completions,
        row_id=sample.row_id,
    )


def _failed(sample: Sample, failure: Failure, repeats: int | None) -> Prediction:
    """Return the failed prediction of a question that lacks answers."""
    texts = None if repeats is None else [None] * repeats
    failures = (Completion(failure=failure),) * (repeats or 1)
    return Prediction(sample.id, sample.index, "", texts, sample.gold, failures, row_id=sample.row_id)


def _comparable(gold: Any) -> Any:
    """Return a gold in a form that is equal for equal golds: neither the order of keys nor absent columns matter."""
    if isinstance(gold, Mapping):
        return {str(key): _comparable(value) for key, value in gold.items() if value is not None}
    if isinstance(gold, list | tuple):
        return [_comparable(one) for one in gold]
    return str(gold)


def _text(value: Any) -> str | Failure:
    """An answer, or why it is none: a number that a table program or NaN made of it is not what the model said."""
    if isinstance(value, str):
        return value
    if value is None:
        return Failure("missing", "the file has null in place of an answer")
    return Failure("not_text", f"the file has {value!r:.60} ({type(value).__name__}) in place of a text")


def _completions(answer: Answer, found: Sequence[str | Failure]) -> tuple[Completion, ...]:
    """Return the completions of an answer if the file has them in this program's format; otherwise only its text."""
    told = answer.values.get("completions")
    if told is None:
        return tuple(map(_completion, found))
    try:
        completions = tuple(Completion.from_json(one) for one in told)
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(f"completions cannot be read: {error!r}", where=answer.where, fix="leave them out") from None
    if len(completions) != len(found):  # the requests of one answer
        return tuple(map(_completion, found)) if any(isinstance(one, Failure) for one in found) else completions
    pairs = zip(completions, found, strict=True)
    return tuple(one if one.failure or isinstance(text, str) else _completion(text) for one, text in pairs)


def _completion(found: str | Failure) -> Completion:
    return Completion(failure=found) if isinstance(found, Failure) else Completion(found, "unknown")


def _prompt(value: Any) -> Prompts:
    """Return the prompt if its form is known: text, messages, or turns of OpenCompass; or a list of these."""
    turns = value if isinstance(value, list) else []
    if turns and all(isinstance(turn, list) for turn in turns):
        return tuple(tuple(map(_message, turn)) for turn in turns)
    if turns and all(isinstance(turn, dict) and isinstance(turn.get("role"), str) for turn in turns):
        return tuple(_message(turn) for turn in turns)
    return value if isinstance(value, str) else ""


def _message(turn: Mapping[str, Any]) -> ChatMessage:
    """Return a message; a turn of OpenCompass has the role that its models send."""
    if "content" in turn:
        return ChatMessage(turn["role"], str(turn["content"]))
    return ChatMessage(_SENT_ROLES.get(turn["role"], turn["role"]), str(turn.get("prompt", "")))
