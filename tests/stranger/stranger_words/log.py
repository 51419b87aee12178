"""A format of logs: a JSON list of questions, each with its answer and whether that is right."""

import json
from collections.abc import Iterator

from ais_prompt.store import Log, LogFormat
from ais_prompt.types import Completion, LoggedAnswer, LoggedTask


def _recognizes(log: Log) -> bool:
    return log.path.suffix == ".words"


def _read(log: Log) -> Iterator[LoggedTask]:
    yield LoggedTask("Words", "somebody", log.path.stem, lambda: _answers(log), str(log.path), scorer="right")


def _answers(log: Log) -> Iterator[LoggedAnswer]:
    for number, one in enumerate(json.loads(log.path.read_text("utf-8"))):
        answer = Completion(one["answer"], finish_reason="stop")
        yield LoggedAnswer(str(number), answer, one["gold"], one["question"], values={"right": float(one["right"])})


FORMAT = LogFormat("Words", _recognizes, _read)
