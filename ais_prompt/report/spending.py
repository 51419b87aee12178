"""Show what a run would ask, and what it has asked."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from ais_prompt.engine.conversations import RequestEstimate
from ais_prompt.types import Used
from ais_prompt.utils.text import counted


def estimate_lines(estimates: Sequence[RequestEstimate]) -> list[str]:
    """Return a line for each task, and one for all of them."""
    lines = [f"{one.task}: {estimate_words([one])}" for one in estimates]
    judged: Counter[str] = Counter()
    for one in estimates:
        judged.update(dict.fromkeys(one.judges, one.samples * one.judgements))
    lines += [f"{judge}: gives up to {counted(n, 'verdict')}, not included below" for judge, n in judged.items()]
    return [*lines, f"in all: {estimate_words(estimates)}"]


def used_line(used: Used) -> str:
    """Return ``1,319 requests · 1,204,110 tokens in · 98,400 out · 0.43 USD``."""
    sent = counted(used.input_tokens, "token")
    parts = [counted(used.requests, "request"), f"{sent} in", f"{used.output_tokens:,} out"]
    return " · ".join([*parts, *(money(amount, currency) for currency, amount in used.cost.items())])


def money(amount: float, currency: str) -> str:
    """Return an amount with as many digits as it needs: ``12.34 USD``, ``0.0021 USD``."""
    digits = 2 if amount >= 1 or amount <= 0 else 1 - math.floor(math.log10(amount))
    return f"{amount:,.{max(2, digits)}f} {currency}".strip()


def estimate_words(estimates: Iterable[RequestEstimate]) -> str:
    """Return ``8 questions, 8 requests, about 96 tokens in, at most 2,048 out, 0.01 to 0.05 USD``."""
    found = list(estimates)
    samples, requests, sent, received = (
        sum(getattr(one, name) for one in found) for name in ("samples", "requests", "input_tokens", "output_tokens")
    )
    words = f"{counted(samples, 'question')}, {counted(requests, 'request')}, about {counted(sent, 'token')} in"
    words += f", at most {received:,} out"
    priced = [one for one in found if one.price is not None]
    for currency in {one.price.currency for one in priced if one.price}:  # one at most
        least, most = (math.fsum(getattr(one, name) or 0.0 for one in priced) for name in ("least_cost", "most_cost"))
        words += f", {money(least, '')} to {money(most, currency)}"
    return words
