"""Samples and the results of inference: predictions, facts about a task, the speed of its server, and what was used."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Any, Final, Literal

from msgspec import Raw, Struct, ValidationError, convert, field, to_builtins
from msgspec.json import Decoder, decode
from msgspec.structs import asdict

from ais_prompt.types.request import ChatMessage, Completion, Prompts, plain, prompts_from_json, prompts_to_json
from ais_prompt.types.score import Stratum


class Sample(Struct, frozen=True):
    """One row of a split.

    Attributes:
        id: stable across runs and machines: 12 hex digits of a digest of the input columns. Rows with equal input
            columns get ``-2``, ``-3``, ... in the order of the split.
        index: row number in the split after the range of ``reader_cfg`` was applied, from 0.
        fields: all columns of the row, whether a template uses them or not.
        gold: the value of the output column; None if the dataset has none.
        row_id: an id of the same form, made from all columns. Run folders of version 1 identify samples by it.
        stratum: what it was drawn from (``sample`` of ``reader_cfg``); None if all samples are asked.
    """

    id: str
    index: int
    fields: Mapping[str, Any]
    gold: Any = None
    row_id: str = ""
    stratum: Stratum | None = None


class AgentStep(Struct, frozen=True):
    """What an agent did in one turn.

    Attributes:
        status: ``value``: a program returned one; ``error``: it did not; ``answer``: the final answer; ``unknown``: a
            tool that is not there; ``none``: neither a tool nor an answer.
        thought: what the model wrote before.
        action: the name of the tool, as the model wrote it; empty if there is none.
        input: what the tool was given: the text with the program, or the final answer.
        output: what the tool returned: the value or the error; the final answer.
    """

    status: Literal["value", "error", "answer", "unknown", "none"]
    thought: str = ""
    action: str = ""
    input: str = ""
    output: str = ""


class Prediction(Struct, frozen=True):
    """One line of ``predictions/<model>/<dataset>.jsonl``.

    If every turn of a dialogue is asked, the fields are lists: one prompt and one completion per request, one answer
    and one gold per turn. A question that is asked several times also has a list of answers.

    Attributes:
        sample_id, index: as in `Sample`.
        origin_prompt: the prompt exactly as it was sent.
        prediction: the answer before postprocessing; None if there is none.
        gold: the value of the output column.
        completions: the completions behind the prediction, in the order of the requests.
        failed_turn: number of the turn whose failure ended a dialogue, from 1; None if no turn failed.
        labels: label → its measured values, for a prediction that is chosen from labels; else empty.
        shots_used: in-context examples in the prompt: fewer than retrieved if ``max_seq_len`` leaves no room.
        row_id: as in `Sample`; empty in run folders of version 1, whose ``sample_id`` identifies the row.
        cluster: column and value that the question shares with others (``eval_cfg.cluster``); None without one.
        columns: numbers and short texts of the row, such as subject and level; empty in earlier run folders.
        earlier: while one turn of a dialogue is scored, the answers before it; it is not stored.
        repeat: while one of several answers is scored, its number from 0; it is not stored.
        stratum: as in `Sample`.
        steps: what an agent did, turn by turn; empty for all others.
    """

    sample_id: str
    index: int
    origin_prompt: Prompts
    prediction: Any
    gold: Any
    completions: tuple[Completion, ...]
    failed_turn: int | None = None
    labels: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    shots_used: int = 0
    row_id: str = ""
    cluster: tuple[str, str] | None = None
    columns: Mapping[str, Any] = field(default_factory=dict)
    earlier: tuple[Any, ...] = ()
    stratum: Stratum | None = None
    steps: tuple[AgentStep, ...] = ()
    repeat: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values, in a readable order."""
        values = {
            "id": self.sample_id,
            **({"row": self.row_id} if self.row_id else {}),
            "index": self.index,
            "origin_prompt": prompts_to_json(self.origin_prompt),
            "prediction": self.prediction,
            "gold": self.gold,
            **({"labels": {label: dict(found) for label, found in self.labels.items()}} if self.labels else {}),
            "shots_used": self.shots_used,
            **({"cluster": self.cluster} if self.cluster else {}),
            **({"columns": dict(self.columns)} if self.columns else {}),
            **({"stratum": asdict(self.stratum)} if self.stratum else {}),
            **({"steps": [asdict(step) for step in self.steps]} if self.steps else {}),
            "completions": [completion.to_json() for completion in self.completions],
        }
        return values if self.failed_turn is None else {**values, "failed_turn": self.failed_turn}

    @classmethod
    def from_json(cls, values: Mapping[str, Any], *, with_prompt: bool = True) -> Prediction:
        """Read back the values of `to_json`. ``with_prompt=False`` is faster and leaves the prompt empty."""
        line = convert(values, _Line)
        return cls._of(line, prompts_from_json(values["origin_prompt"]) if with_prompt else "")

    @classmethod
    def from_line(cls, content: bytes, *, with_prompt: bool = True) -> Prediction:
        """Do the same as `from_json` with JSON, in less than half of the time that decoding and `from_json` take.

        Raises:
            KeyError, TypeError, ValueError: it is no prediction, or it has NaN or a lone surrogate.
        """
        if not with_prompt:
            return cls._of(_LINE.decode(content), "")
        line = _WHOLE_LINE.decode(content)
        try:
            prompts = _PROMPT.decode(line.origin_prompt)
        except ValidationError:  # the prompts of a dialogue
            prompts = prompts_from_json(decode(line.origin_prompt))
        return cls._of(line, prompts)

    @classmethod
    def _of(cls, line: _Line, prompts: Prompts) -> Prediction:
        return cls(
            line.id,
            line.index,
            prompts,
            line.prediction,
            line.gold,
            tuple(map(Completion.from_json, line.completions)),
            line.failed_turn,
            line.labels,
            line.shots_used,
            line.row,
            line.cluster,
            line.columns,
            stratum=line.stratum,
            steps=line.steps,
        )

    @property
    def row_digest(self) -> str:
        """The id of the whole row, for predictions of every version."""
        return self.row_id or self.sample_id

    @property
    def failed(self) -> bool:
        """True if a request of this sample failed."""
        return any(map(_FAILURE, self.completions))

    @property
    def truncated(self) -> bool:
        """True if an answer was cut at ``max_out_len``."""
        return "length" in map(_FINISH_REASON, self.completions)

    @property
    def refused(self) -> bool:
        """True if the server marked an answer as a refusal."""
        return any(map(_REFUSED, self.completions))


class TaskFacts(Struct, frozen=True):
    """The facts about a task at the end of its inference, as stored in ``run.json``.

    Attributes:
        model: the model's `identity`.
        data_digest: digest of all data that was read.
        data_files: the files or hub names that the data came from.
        samples: number of samples asked.
        failed: samples without an answer.
        shortened: samples that show fewer in-context examples than were retrieved, to fit ``max_seq_len``.
        redacted: samples with an answer in which a secret was replaced.
        speed: the speed of a served model; None if nothing was asked, or the model runs in this process.
        of: number of samples in the dataset after its range, if not all were asked; else None.
        first_body: of a served model, the body of the first request that was sent, with long texts cut; else None.
    """

    model: Mapping[str, Any] = field(default_factory=dict)
    data_digest: str = ""
    data_files: tuple[str, ...] = ()
    samples: int = 0
    failed: int = 0
    shortened: int = 0
    speed: Speed | None = None
    redacted: int = 0
    of: int | None = None
    first_body: Mapping[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values; ``speed``, ``of`` and ``first_body`` are left out if they are None."""
        values = plain(self, "speed", "of", "first_body")
        return values if self.speed is None else {**values, "speed": self.speed.to_json()}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> TaskFacts:
        """The inverse of `to_json`.

        Raises:
            ValueError: the values are not those of a task.
        """
        return convert(values, cls)


class Activity(Struct, frozen=True):
    """The requests of a model at one moment, for progress displays.

    Attributes:
        in_flight: requests that are sent and not answered yet.
        waiting: requests that wait to be sent, or sent again.
        reason: why the first of them waits: its last failure, a rate limit, or an outage of the server.
        seconds: seconds until that request is sent.
        away: address and seconds of each server that does not answer now; the address is empty for an only server.
    """

    in_flight: int = 0
    waiting: int = 0
    reason: str = ""
    seconds: float = 0.0
    away: tuple[tuple[str, float], ...] = ()


class Times(Struct, frozen=True):
    """A distribution of times in seconds: mean, median, 90th and 99th percentile."""

    mean: float
    p50: float
    p90: float
    p99: float


class Speed(Struct, frozen=True):
    """Speed of one task in one session; answers from the journal or cache are not counted.

    Attributes:
        requests: number of requests.
        failed: requests without an answer.
        attempts: number of requests sent, retries included.
        input_tokens, output_tokens: tokens of the answered requests, as far as the server reports them.
        seconds: seconds from the first request to the last answer.
        concurrency: mean number of requests in flight (Little's law: sum of the latencies over ``seconds``).
        latency: seconds from sending a request to the end of its answer, of the last attempt of answered requests;
            None if nothing was answered.
        first_token: seconds to the first token of streamed answers.
        token: seconds between the tokens of streamed answers, one mean per answer.
        replicas: address → number of its answers, if the model has several servers; else empty.
        waited: seconds that requests waited for a place before their first attempt; None if none did.
    """

    requests: int
    failed: int
    attempts: int
    input_tokens: int
    output_tokens: int
    seconds: float
    concurrency: float
    latency: Times | None = None
    first_token: Times | None = None
    token: Times | None = None
    replicas: Mapping[str, int] = field(default_factory=dict)
    waited: Times | None = None

    @property
    def requests_per_second(self) -> float:
        """Answered requests per second."""
        return (self.requests - self.failed) / self.seconds if self.seconds else 0.0

    @property
    def output_tokens_per_second(self) -> float:
        """Generated tokens per second, over all requests."""
        return self.output_tokens / self.seconds if self.seconds else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values, including the rates; ``replicas`` is left out if it is empty."""
        values = to_builtins(plain(self, "replicas"))
        values["requests_per_second"] = self.requests_per_second
        values["output_tokens_per_second"] = self.output_tokens_per_second
        return values  # type: ignore[no-any-return]

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Speed:
        """Read back the values of `to_json`."""
        return convert(values, cls)


class _Line(Struct):
    """A line of the predictions file without its prompt."""

    id: str
    index: int
    prediction: Any
    gold: Any
    completions: list[dict[str, Any]]
    failed_turn: int | None = None
    labels: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    shots_used: int = 0
    row: str = ""
    cluster: tuple[str, str] | None = None
    columns: Mapping[str, Any] = field(default_factory=dict)
    stratum: Stratum | None = None
    steps: tuple[AgentStep, ...] = ()


class _WholeLine(_Line, kw_only=True):
    """A line of the predictions file; its prompt is decoded later."""

    origin_prompt: Raw


_FAILURE, _FINISH_REASON, _REFUSED = attrgetter("failure"), attrgetter("finish_reason"), attrgetter("refused")
_LINE: Final = Decoder(_Line)
_WHOLE_LINE: Final = Decoder(_WholeLine)
_PROMPT: Final[Decoder[Prompts]] = Decoder(str | tuple[ChatMessage, ...])


class Used(Struct, frozen=True):
    """How much was asked.

    Attributes:
        requests: requests that have ended.
        input_tokens, output_tokens: tokens of prompts and of answers, as the server counts them, else estimated.
        cost: currency → amount, for models with a price.
        attempts: how often they were sent, retries included.
        estimated: answers whose tokens the server did not count.
    """

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: Mapping[str, float] = field(default_factory=dict)
    attempts: int = 0
    estimated: int = 0

    def __add__(self, other: Used) -> Used:
        cost = dict(self.cost)
        for currency, amount in other.cost.items():
            cost[currency] = cost.get(currency, 0.0) + amount
        return Used(
            self.requests + other.requests,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            cost,
            self.attempts + other.attempts,
            self.estimated + other.estimated,
        )

    @property
    def tokens(self) -> int:
        """Tokens of prompts and answers together."""
        return self.input_tokens + self.output_tokens

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Used:
        """Read values as `msgspec.to_builtins` writes them.

        Raises:
            ValueError: they are not those of this class.
        """
        return convert(values, cls)
