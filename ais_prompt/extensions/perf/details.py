"""Every request of a load in the form of AISBench: ``<dataset>_details.jsonl``, and ``<dataset>_failed.jsonl``.

Source: `base_handler.py` and `models/output.py` in AISBench, 2026-08. There ``time_points`` refers to a database; here
the times are in the line: when the client turned to the request, and each event of the stream, in seconds from the
beginning of the load. An answer that was not streamed has the time of its end. The prompts are those of the
predictions, without the line that ``unique=True`` puts in front; without predictions they are empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

from msgspec import Raw, Struct
from msgspec.json import Decoder

from ais_prompt.extensions.perf.exchange import Exchange
from ais_prompt.store import RunFolder, reading, replacing, writing
from ais_prompt.types import Completion, TaskSpec
from ais_prompt.utils import decode_own, digest, encode_plain, open_regular

END_OF_REASONING: Final = "</think>"
"""Between reasoning and answer, as AISBench joins them."""


class _Line(Struct):
    completion: Raw


class _Asked(Struct):
    id: str
    origin_prompt: Raw = Raw(b'""')


_LINE: Final = Decoder(_Line)
_ASKED: Final = Decoder(_Asked)
_COMPLETION: Final = Decoder(Completion)


def write_details(task: TaskSpec, sample_ids: Sequence[str], folder: RunFolder) -> None:
    """Write every request of a load, and its failures apart, in the order in which they ended.

    The journal is read line by line: memory holds where the prompt of each row is, and no answers.

    Args:
        task: a model and a dataset.
        sample_ids: the rows in the order of asking; the place of a row is its ``id``.
        folder: of the run.

    Raises:
        StoreError: a file cannot be read or written.
    """
    names = task.model.abbr, task.dataset.abbr
    numbers = {sample_id: number for number, sample_id in enumerate(sample_ids)}
    failed, failures = folder.load_file(*names, "_failed.jsonl"), 0
    with ExitStack() as stack:
        prompt_of = stack.enter_context(_prompts(folder.predictions(*names)))
        details = stack.enter_context(replacing(folder.load_file(*names, "_details.jsonl"), json=True))
        apart = stack.enter_context(replacing(failed, json=True))
        for exchange, completion in _answers(folder.journal(*names)):
            prompt = prompt_of(exchange.sample_id, exchange.turn)
            row = _row(exchange, completion, prompt, task.dataset.abbr, numbers)
            details.write(encode_plain(row))
            if completion.failure is not None:
                apart.write(encode_plain({key: row[key] for key in ("data_abbr", "id", "input", "error_info")}))
                failures += 1
    if not failures:
        with writing(failed):
            failed.unlink()


def _row(
    exchange: Exchange, completion: Completion, prompt: Any, dataset: str, numbers: Mapping[str, int]
) -> dict[str, Any]:
    failure, thoughts = completion.failure, completion.reasoning
    end = [] if exchange.kinds or failure is not None else [round(exchange.end, 6)]
    return {
        "data_abbr": dataset,
        "id": numbers.get(exchange.sample_id, exchange.sample_id),
        "success": failure is None,
        "error_info": "" if failure is None else f"{failure.kind}: {failure.message}",
        "time_points": [round(exchange.taken, 6), *exchange.events.tolist(), *end],
        "input_tokens": exchange.input_tokens or 0,
        "output_tokens": exchange.output_tokens or 0,
        "input": prompt,
        "uuid": digest([exchange.sample_id, exchange.repeat]),
        "turn_id": exchange.turn,
        "prediction": END_OF_REASONING.join(filter(None, [thoughts, completion.text])),
    }


def _answers(journal: Path) -> Iterator[tuple[Exchange, Completion]]:
    """Yield the requests of a journal with their answers or failures; lines that cannot be read are left out."""
    with reading(journal, fix="measure again, with a new run"), open_regular(journal) as lines:
        for line in lines:
            try:
                exchange = Exchange.from_line(line)
                completion = _completion(line)
            except ValueError:  # `read_load` has said it
                continue
            if exchange is not None:
                yield exchange, completion


def _completion(line: bytes) -> Completion:
    try:
        return _COMPLETION.decode(_LINE.decode(line).completion)
    except ValueError:  # a lone surrogate or NaN
        return Completion.from_json(decode_own(line)["completion"])


@contextmanager
def _prompts(predictions: Path) -> Iterator[Callable[[str, int], Any]]:
    """Yield what returns the prompt of a row and turn, as JSON values; an empty text if it is not known."""
    if not predictions.exists():
        yield lambda _sample_id, _turn: ""
        return
    starts: dict[str, int] = {}
    with reading(predictions, fix="remove the file: answers are in the journal"), open_regular(predictions) as lines:
        start = 0
        for line in lines:
            starts[_asked(line).id] = start
            start += len(line)

        def prompt_of(sample_id: str, turn: int) -> Any:
            if sample_id not in starts:
                return ""
            lines.seek(starts[sample_id])
            prompt = decode_own(bytes(_asked(lines.readline()).origin_prompt))
            if isinstance(prompt, str) or not prompt or isinstance(prompt[0], dict):
                return prompt
            return prompt[turn] if turn < len(prompt) else ""  # one prompt for each turn

        yield prompt_of


def _asked(line: bytes) -> _Asked:
    try:
        return _ASKED.decode(line)
    except ValueError:  # a lone surrogate or NaN
        values = decode_own(line)
        return _Asked(str(values.get("id")), Raw(encode_plain(values.get("origin_prompt", ""))))
