"""One sample as the report shows it: requests, answers, scores, and the requests to judges about it.

Samples that a browser reads together hold each line of text once, and finite numbers only.
Requests to judges are found by the bytes where their lines begin; each is shown with its part in the score.
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from glob import escape
from itertools import zip_longest
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from msgspec import Struct
from msgspec.json import Decoder
from msgspec.structs import asdict, replace

from ais_prompt.errors import AisPromptError, DataError, StoreError
from ais_prompt.preview import prompts_of, text_or_json
from ais_prompt.store import RunFolder, read_prediction, reading, safe_name
from ais_prompt.types import (
    Completion,
    Failure,
    JudgeVerdict,
    ModelCall,
    Prediction,
    Reading,
    SampleScore,
)
from ais_prompt.utils import (
    FILE_NOTE,
    KINDS,
    counted,
    decode_own,
    describe_call,
    describe_part,
    local_file,
    open_regular,
    shown_content,
    source_of,
)

if TYPE_CHECKING:
    from ais_prompt.evaluators import AsksInParts


logger = logging.getLogger(__name__)

Text: TypeAlias = list[int]
"""A text as the numbers of its lines in `Lines`; joined with newlines they are the text again."""

SHOWN_MEDIA: Final = frozenset(
    [
        *("image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"),
        *("audio/mpeg", "audio/wav", "audio/x-wav", "audio/ogg", "audio/flac", "audio/mp4"),
        *("video/mp4", "video/webm", "video/ogg"),
    ]
)
"""Media types that a browser only shows."""
MOST_MEDIA: Final = 4_000_000
"""Characters of a ``data:`` URL, or bytes of a file, that a report holds at most."""
_DATA: Final = re.compile(r"data:([a-z0-9.+-]+/[a-z0-9.+-]+);base64,[A-Za-z0-9+/=\s]*\Z", re.IGNORECASE)


class Lines:
    """Lines of texts, each kept once: prompts with the same shots, turns and labels share most of theirs.

    Attributes:
        size: characters of all different lines.
    """

    def __init__(self) -> None:
        self.size = 0
        self._numbers: dict[str, int] = {}

    def add(self, text: str) -> Text:
        """Return the numbers of the lines of a text; add new lines."""
        numbers = []
        for line in text.split("\n"):
            if line not in self._numbers:
                self._numbers[line] = len(self._numbers)
                self.size += len(line)
            numbers.append(self._numbers[line])
        return numbers

    def to_json(self) -> list[str]:
        """Return the lines in order of their numbers."""
        return list(self._numbers)


class SampleChunk:
    """Samples as JSON values that share the lines of their texts: what a page reads to show one of them.

    `write_report` embeds chunks in the file, and `ServedReport` makes the chunk of a sample when it is opened.

    Args:
        asking: folder of an evaluator that asks judges in parts → the evaluator, of the dataset of the samples.
    """

    def __init__(self, asking: Mapping[str, AsksInParts] = MappingProxyType({})) -> None:
        self._asking = asking
        self.lines = Lines()
        self.samples: list[dict[str, Any]] = []

    def add(self, prediction: Prediction, detail: SampleScore | None, judged: Iterable[tuple[Path, int]] = ()) -> None:
        """Add a sample.

        Args:
            prediction: its requests and answers.
            detail: its score; None if it was not scored.
            judged: from `judgement_places`: where the requests to judges about it begin.
        """
        lines, further = self.lines, detail.further if detail else {}
        said = prediction.prediction
        texts = [completion.text for completion in prediction.completions]
        is_answer = said in (None, texts, *texts) or prediction.labels  # others are such as probabilities
        reasons = [f"{name}: {one.status}, {one.reason}" for name, one in further.items() if one.reason]
        self.samples.append(
            {
                "requests": _requests(prediction, lines),
                "labels": _labels(prediction, lines) if prediction.labels else [],
                "prediction": None if is_answer else lines.add(text_or_json(said)),
                "verdicts": _verdicts(prediction, detail, lines),
                "further": [
                    {"evaluator": name, "status": one.status, "verdicts": _verdicts(prediction, one, lines)}
                    for name, one in further.items()
                ],
                "values": {metric: finite(value) for metric, value in (detail.all_values if detail else {}).items()},
                "reason": "; ".join(filter(None, (detail.reason if detail else "", *reasons))),
                "failed_turn": prediction.failed_turn,
                "shots": prediction.shots_used,
                "columns": dict(prediction.columns),
                "judgements": [
                    request
                    for one in read_judgements(judged)
                    for request in _judgement(one, detail, prediction, lines, self._asking.get(one.evaluator))
                ],
            }
        )

    def to_json(self) -> dict[str, Any]:
        """Return ``lines``, and ``samples`` with finite numbers, whose texts are the numbers of their lines."""
        return {"lines": self.lines.to_json(), "samples": self.samples}


def _judgement(
    judgement: Judgement,
    detail: SampleScore | None,
    prediction: Prediction,
    lines: Lines,
    asking: AsksInParts | None,
) -> list[dict[str, Any]]:
    """Return what a judge was asked, with its name, its verdict and whether the reference answer came first.

    Of an evaluator that asks in parts, ``criteria`` has what the reply says of each.
    """
    verdict, swapped = judgement.verdict_of(detail, prediction)
    criteria = [] if asking is None else judgement.said_of_parts(detail, prediction, asking)
    said = [{"criterion": lines.add(text), "said": one} for text, one in criteria]
    names = {"judge": judgement.judge, "evaluator": judgement.evaluator}
    more = {**names, "verdict": verdict, "swapped": swapped, "criteria": said}
    return [{**request, **more} for request in _requests(judgement.said, lines)]


def _requests(prediction: Prediction, lines: Lines) -> list[dict[str, Any]]:
    """Return each request with its answers. Prompts of labels are part of the labels instead."""
    pairs: Iterable[tuple[Any, Sequence[Completion] | None]]
    if any("prompt" in found for found in prediction.labels.values()):
        failed = [completion for completion in prediction.completions if completion.failure]
        pairs = [(None, failed)] if failed else []
    elif len(prompts := prompts_of(prediction)) == 1:
        pairs = [(prompts[0], prediction.completions)]
    else:  # a dialogue that lacks turns has one completion, a failure, more than prompts
        pairs = zip_longest(prompts, ([completion] for completion in prediction.completions), fillvalue=None)
    return [
        {
            "prompt": None if prompt is None else _prompt(prompt, lines),
            "answers": [_answer(completion, lines) for completion in answers or ()],
        }
        for prompt, answers in pairs
    ]


def _prompt(prompt: Any, lines: Lines) -> Text | list[dict[str, Any]]:
    """Return a prompt in the form of `prompt_to_json`: one text, or the parts of each message."""
    if isinstance(prompt, str):
        return lines.add(prompt)
    messages = []
    for message in prompt:
        content = shown_content(message)
        parts = [{"text": lines.add(content)}] if isinstance(content, str) else [_part(part, lines) for part in content]
        messages.append({"role": message["role"], "parts": parts})
    return messages


def _part(part: Mapping[str, Any], lines: Lines) -> dict[str, Any]:
    """Return a text; or a line about an image, audio or video, with its content if that is known and not too large."""
    if described := describe_part(part):
        url = media_url(part)
        return {"media": described, "kind": KINDS[part["type"]], **({"url": lines.add(url)} if url else {})}
    text = part["text"] if isinstance(part.get("text"), str) else describe_call(part) or text_or_json(dict(part))
    return {"text": lines.add(text)}


def finite(value: float | None) -> float | None:
    """Return the number, or None for NaN and infinity, which browsers cannot read."""
    return value if value is not None and math.isfinite(value) else None


def media_url(part: Mapping[str, Any]) -> str:
    """Return the content of a media part as a ``data:`` URL; "" if it may not be shown.

    A local file is shown only if it is the one that was sent. SVG is not: it can hold scripts.
    """
    source = source_of(part)
    if found := _DATA.match(source):
        return source if found[1].lower() in SHOWN_MEDIA and len(source) <= MOST_MEDIA else ""
    try:
        file = local_file(part) if FILE_NOTE in part else None
        if file is None or file.mime not in SHOWN_MEDIA or file.size > MOST_MEDIA or file.note() != part[FILE_NOTE]:
            return ""
        return f"data:{file.mime};base64,{file.base64()}"
    except DataError:  # it was removed or changed meanwhile
        return ""


def _answer(completion: Completion, lines: Lines) -> dict[str, Any]:
    likelihood, usage = completion.likelihood, completion.usage
    values = {
        "text": None if completion.failure or completion.unclosed or likelihood else lines.add(completion.text),
        "thinking": lines.add(completion.reasoning) if completion.reasoning else None,
        "unclosed": completion.unclosed,
        "finish_reason": completion.finish_reason,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "seconds": finite(completion.seconds),
        "first_token_seconds": finite(completion.first_token_seconds),
        "attempts": completion.attempts,
        "retried_with": completion.retried_with or None,
        "failure": asdict(completion.failure) if completion.failure else None,
        "nll": finite(likelihood.nll) if likelihood else None,
        "refused": completion.refused,
        "tool_calls": [{"name": call.name, "arguments": lines.add(call.arguments)} for call in completion.tool_calls],
        "steps": [_step(call, lines) for call in completion.trajectory],
        "files": [
            {"name": file.name, "size": file.size, "text": lines.add(file.text) if file.text else None}
            for file in completion.files
        ],
    }
    return {name: value for name, value in values.items() if value not in (None, False, [])}


def _step(call: ModelCall, lines: Lines) -> dict[str, Any]:
    """Return a request of an agent: the messages and options that are new in it, and its answer."""
    return {
        "shared": call.shared,
        "messages": _prompt(list(call.messages), lines),
        "fields": lines.add(text_or_json(dict(call.fields))) if call.fields else None,
        "answer": _answer(call.completion, lines),
        "began": finite(call.began),
        "cost": finite(call.cost),
    }


def _labels(prediction: Prediction, lines: Lines) -> list[dict[str, Any]]:
    """Return each label with its figures, and its prompt if it has its own."""
    chosen = None if prediction.prediction is None else text_or_json(prediction.prediction)
    return [
        {
            "label": label,
            "chosen": label == chosen,
            "prompt": _prompt(found["prompt"], lines) if "prompt" in found else None,
            "figures": {name: finite(value) for name, value in found.items() if isinstance(value, int | float)},
        }
        for label, found in prediction.labels.items()
    ]


def _verdicts(prediction: Prediction, detail: SampleScore | None, lines: Lines) -> list[dict[str, Any]]:
    """Return what was extracted beside the gold: once, or for each turn of a dialogue and each repeated answer.

    Each verdict has ``extracted``, ``gold`` (None where a dialogue has fewer) and ``reading``, if known: which rule
    read which part of the answer. Each of several answers also has ``status``, ``reason`` and ``value``.
    """
    if detail is None:
        return [_verdict(None, prediction.gold, None, lines)]
    if detail.repeats:
        return [
            {
                **_verdict(one.extracted, one.gold, next(iter(one.readings), None), lines),
                "status": one.status,
                "reason": one.reason,
                "value": finite(next(iter(one.values.values()), None)),
            }
            for one in detail.repeats
        ]
    extracted, gold, readings = detail.extracted, detail.gold, detail.readings
    if isinstance(extracted, list) and isinstance(gold, list) and len(prediction.completions) == len(extracted):
        each = zip_longest(extracted, gold[: len(extracted)], readings[: len(extracted)])
        return [_verdict(*one, lines) for one in each]
    return [_verdict(extracted, gold, next(iter(readings), None), lines)]


def _verdict(extracted: Any, gold: Any, reading: Reading | None, lines: Lines) -> dict[str, Any]:
    texts = {"extracted": extracted, "gold": gold}
    found = {name: None if value is None else lines.add(text_or_json(value)) for name, value in texts.items()}
    return {**found, "reading": asdict(reading)} if reading else found


class _Head(Struct):
    id: str


_HEADS: Final = Decoder(_Head)


class Judgement(Struct, frozen=True):
    """What a judge was asked about an answer, and what it said.

    Attributes:
        judge: the name of its folder.
        said: its reply, with the prompt.
        evaluator: the folder of the evaluator that asked, of several.
    """

    judge: str
    said: Prediction
    evaluator: str = ""

    def verdict_of(self, score: SampleScore | None, prediction: Prediction) -> tuple[str | float | None, bool]:
        """Return the verdict in the reply as far as the score has it, and whether the reference answer came first.

        Args:
            score: of the sample; None if it was not scored.
            prediction: the answers to it.
        """
        if (found := self._found(score, prediction)) is None:
            return None, False
        one, _, place = found
        return (one.orders[place] if one.orders else one.vote), bool(place)

    def said_of_parts(
        self, score: SampleScore | None, prediction: Prediction, asking: AsksInParts
    ) -> Sequence[tuple[str, Any]]:
        """Return each part that the reply is about, with what it says of it as far as the score has it.

        That is as in `AsksInParts.said`; none if the score is of another reply.
        """
        with suppress(AisPromptError):  # the gold cannot be used
            if found := self._found(score, prediction, asking):
                one, answer, place = found
                said = asking.said(one.vote, answer.gold)
                return said if len(asking.parts(answer.gold)) == 1 else said[place : place + 1]
        return []

    def _found(
        self, score: SampleScore | None, prediction: Prediction, asking: AsksInParts | None = None
    ) -> tuple[JudgeVerdict, SampleScore, int] | None:
        """Return the verdict of the judge, the answer that it is about, and the place of the reply in it."""
        from ais_prompt.judges import questions_about

        if score is not None:
            score = next((one for name, one in score.further.items() if safe_name(name) == self.evaluator), score)
        for answer, earlier in _judged_answers(score, prediction) if score else ():
            for one in answer.verdicts:
                names = questions_about(answer, earlier, compares=bool(one.orders), evaluator=asking)
                if safe_name(one.judge) == self.judge and self.said.sample_id in names:
                    return one, answer, names.index(self.said.sample_id)
        return None


def _judged_answers(score: SampleScore, prediction: Prediction) -> Iterator[tuple[SampleScore, Sequence[Any]]]:
    """Yield each answer that was judged: of repeats, or of the turns of a dialogue with the answers before them."""
    extracted, gold, said = score.extracted, score.gold, prediction.prediction
    if score.repeats or not (isinstance(extracted, list) and isinstance(gold, list) and isinstance(said, list)):
        yield from ((answer, ()) for answer in score.repeats or (score,))
        return
    turns = [number for number, answer in enumerate(extracted) if answer is not None]
    judges = len(score.verdicts) // (len(turns) or 1)
    for place, number in enumerate(turns):
        verdicts = score.verdicts[place * judges : (place + 1) * judges]
        yield replace(score, extracted=extracted[number], gold=gold[number], verdicts=verdicts), said[:number]


def judgement_places(folder: RunFolder, model: str, dataset: str) -> Iterator[tuple[str, Path, int]]:
    """Yield each request to a judge about a task: the id of the sample, the file, and the byte where its line begins.

    What is broken in the files of judges is left out, with a warning: the answers and scores can be shown without it.

    Args:
        folder: of the run.
        model, dataset: ``abbr`` of the judged task.
    """
    first, *named = folder.judges(model)
    if not first.root.exists():  # most tasks have no judge
        return
    name = first.predictions("", dataset).name
    for path in (path for one in named or [first] for path in sorted(one.root.glob(f"predictions/*/{escape(name)}"))):
        try:
            with reading(path, fix=""), open_regular(path) as lines:
                yield from _places(path, lines)
        except StoreError as error:
            logger.warning("the report leaves out a file of a judge: %s (%s)", error.what, path)


def read_judgements(places: Iterable[tuple[Path, int]]) -> list[Judgement]:
    """Return the requests to judges about a sample, from their files and the bytes where their lines begin.

    A line that is broken is a failed request.
    """
    found = []
    for path, start in places:
        try:
            reply = read_prediction(path, start)
        except AisPromptError as error:
            reply = Prediction("", 0, "", None, None, (Completion(failure=Failure("broken", error.what)),))
        # Only the replies to one of several evaluators are in a folder of it.
        *_, by, evaluator, _, _, _ = path.parts
        found.append(Judgement(path.parent.name, reply, evaluator if by == "by" else ""))
    return found


def _places(path: Path, lines: Iterable[bytes]) -> Iterator[tuple[str, Path, int]]:
    start = broken = 0
    for line in lines:
        question = _id_in(line)
        if question is None:
            broken += 1
        else:
            # The name of a question is that of the sample, "-" and a digest.
            yield question.rpartition("-")[0], path, start
        start += len(line)
    if broken:
        logger.warning("the report leaves out %s of a judge: %s", counted(broken, "broken line"), path)


def _id_in(line: bytes) -> str | None:
    with suppress(ValueError):
        return _HEADS.decode(line).id
    with suppress(KeyError, TypeError, ValueError):  # a lone surrogate or NaN
        return str(decode_own(line)["id"])
    return None
