"""Say in words what a run used, and what one will use and cost."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from ais_prompt.engine import RequestEstimate
from ais_prompt.report.tally import MANY, money
from ais_prompt.types import Used
from ais_prompt.utils import counted, listed


def estimate_lines(estimates: Sequence[RequestEstimate]) -> list[str]:
    """Return a line for each task, or of many tasks for each model, and one for all of them."""
    lines = [f"{one.task}: {estimate_words([one])}" for one in estimates]
    if len(estimates) > MANY:
        models: dict[str, list[RequestEstimate]] = {}
        for one in estimates:
            models.setdefault(one.task.rpartition("/")[0], []).append(one)
        lines = [f"{name}: {counted(len(of), 'dataset')}, {estimate_words(of)}" for name, of in models.items()]
    return [*lines, f"in all: {estimate_words(estimates)}"]


def used_line(used: Used) -> str:
    """Return ``1,319 requests, 1,402 with retries · 1,204,110 tokens in · 98,400 out · 0.43 USD``.

    Estimates are marked: ``about 1,204,110 tokens in · about 98,400 out``.
    """
    about = "about " if used.estimated else ""
    sent = about + counted(used.input_tokens, "token")
    retries = f", {used.attempts:,} with retries" if used.attempts > used.requests else ""
    tokens = [f"{sent} in", f"{about}{used.output_tokens:,} out"] if used.input_tokens or used.output_tokens else []
    parts = [counted(used.requests, "request") + retries, *tokens]
    return " · ".join([*parts, *(money(amount, currency) for currency, amount in used.cost.items())])


def estimate_words(estimates: Iterable[RequestEstimate]) -> str:
    """Return ``8 questions, 8 requests, about 96 tokens in, at most 2,048 out, 0.01 to 0.05 USD (in batches 0.005 to
    0.025 USD)``.

    Requests to judges follow: ``and up to 8 requests to the judge gpt, whose tokens are not counted``. With agents the
    numbers are the least: ``at least 8 requests, at least 96 tokens in, at least 0.01 USD``.
    """
    found = list(estimates)
    samples, requests, sent, received = (
        sum(getattr(one, name) for one in found) for name in ("samples", "requests", "input_tokens", "output_tokens")
    )
    if is_least := any(one.is_least for one in found):
        words = f"{counted(samples, 'question')}, at least {counted(requests, 'request')}"
        words += f", at least {counted(sent, 'token')} in"
    else:
        words = f"{counted(samples, 'question')}, {counted(requests, 'request')}, about {counted(sent, 'token')} in"
        words += f", at most {received:,} out"
    priced = [one for one in found if one.price is not None]
    words += _cost_words(priced, is_least=is_least)
    if unpriced := len(found) - len(priced) if priced else 0:
        words += f", and {counted(unpriced, 'task')} whose price is not known"
    if verdicts := sum(one.judge_requests for one in found):
        judges = list(dict.fromkeys(judge for one in found for judge in one.judges))
        named = f"the judge{'s' * (len(judges) > 1)} {listed(judges)}"
        words += f", and up to {counted(verdicts, 'request')} to {named}, whose tokens are not counted"
    if is_least:
        words += ": what an agent asks is known only when it runs"
    return words


def _cost_words(priced: Sequence[RequestEstimate], *, is_least: bool) -> str:
    """Return what the costs add to `estimate_words`; empty if there are none."""
    currency = next((one.price.currency for one in priced if one.price), None)  # all have the same
    if currency is None:
        return ""
    costs = [(one.least_cost or 0.0, one.most_cost or 0.0, one.batch_part) for one in priced]
    least, most = math.fsum(cost[0] for cost in costs), math.fsum(cost[1] for cost in costs)
    if is_least:
        return f", at least {money(least, currency)}"
    words = f", {money(least, '')} to {money(most, currency)}"
    if all(part is not None for *_, part in costs):
        least = math.fsum(cost[0] * (cost[2] or 0.0) for cost in costs)
        most = math.fsum(cost[1] * (cost[2] or 0.0) for cost in costs)
        words += f" (in batches {money(least, '')} to {money(most, currency)})"
    return words
