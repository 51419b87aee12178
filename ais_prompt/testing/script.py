"""The script of the mock server: rules. The first rule that fits a request decides the reply.

A script is a JSON list of rules. A rule says which requests it is for and what happens to them; all fields may be left
out::

    [{"text": "capital", "times": 2, "status": 429, "headers": {"Retry-After": "0.1"}, "body": {"error": "slow down"}},
     {"requests": [5, 6], "drop": "before"},
     {"text": "poem", "answer": "Shall I", "finish_reason": "length"}]
"""

from __future__ import annotations

import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(slots=True)
class ReplyRule:
    """One rule of a script.

    Attributes:
        text: for requests whose question holds this text.
        requests: for requests of these numbers, counted from 1 in order of arrival.
        times: only for so many requests.
        asks: for requests whose body has this field.
        latency: seconds until the reply; long ones make a stall.
        drop: the connection is cut, ``before`` any reply or ``midway`` through it.
        status, headers: of the reply.
        body: JSON of the reply, instead of an answer; ``{authorization}`` in it becomes the header of the request,
            ``{request}`` its address and all of its headers, escaped for JSON.
        raw: the same as text that need not be JSON.
        answer, finish_reason: of the answer.
        tool_calls: calls of tools, ``{"name": ..., "arguments": text}``, in a chat, response or message; without an
            ``answer`` there is no text beside them.
        reasoning: what was thought before it, told in a field of its own.
        alternatives: word of the answer, without the blanks around it → log-probability of each token in its place, for
            a chat that asks for ``top_logprobs``.
        share: only for this share of the requests, drawn with a fixed seed.
        over: [n, seconds]: only for requests that come when n others were let through in the last seconds.
        pause: seconds between the pieces of a streamed answer.
        pieces, stall: after so many pieces a streamed answer stalls for so many seconds, and then ends without an end.
        events: what is streamed instead of an answer, one text for each event.
        ignore: fields of the body that are not looked at, as a server does that does not know them.
        used: how often it has been applied.
    """

    text: str = ""
    requests: Sequence[int] = ()
    times: int | None = None
    asks: str = ""
    latency: float | None = None
    drop: Literal["before", "midway"] | None = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    raw: str | None = None
    answer: str | None = None
    finish_reason: str = "stop"
    tool_calls: Sequence[Mapping[str, str]] = ()
    reasoning: str = ""
    alternatives: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    share: float = 1.0
    over: tuple[int, float] | None = None
    pause: float = 0.0
    pieces: int | None = None
    stall: float = 0.0
    events: Sequence[str] | None = None
    ignore: Sequence[str] = ()
    used: int = 0

    def fits(self, number: int, question: str, body: Mapping[str, Any]) -> bool:
        """Is it for this request?"""
        if self.times is not None and self.used >= self.times:
            return False
        asked = not self.asks or body.get(self.asks) is not None
        return asked and (not self.requests or number in self.requests) and self.text in question

    def heard(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The body as far as it is looked at."""
        return {name: value for name, value in body.items() if name not in self.ignore}


class Script:
    """The rules in force.

    Args:
        rules: the script as plain JSON values.

    Raises:
        TypeError: a rule has a field that does not exist.
    """

    def __init__(self, rules: Sequence[Mapping[str, Any]] = ()) -> None:
        self._rules = [ReplyRule(**rule) for rule in rules]
        self._random = random.Random(0)
        self._let_through: list[float] = []

    def rule_for(self, number: int, question: str, body: Mapping[str, Any]) -> ReplyRule:
        """The first rule that fits, marked as used; an empty one, which means an ordinary answer, if none does."""
        fitting = (rule for rule in self._rules if rule.fits(number, question, body) and self._is_meant(rule))
        rule = next(fitting, ReplyRule())
        rule.used += 1
        if rule.over is None:
            self._let_through.append(time.monotonic())
        return rule

    def _is_meant(self, rule: ReplyRule) -> bool:
        """Whether it is the turn of a rule that is only for some of the requests that it fits."""
        if rule.over is not None:
            number, seconds = rule.over
            recent = [moment for moment in self._let_through[-number:] if time.monotonic() - moment < seconds]
            return len(recent) >= number
        return rule.share >= 1.0 or self._random.random() < rule.share
