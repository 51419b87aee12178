"""Limits that a config sets: what requests, tokens and costs a run may use, and what they cost."""

from typing import Annotated, Final

from msgspec import Struct

from ais_prompt.types.key import Amount, Count, Key, Text
from ais_prompt.types.request import BATCH_TIER, Usage

MILLION: Final = 1_000_000
_NO_DETAILS: Final = Usage()


class Price(Struct, frozen=True):
    """With it, `check` and `--dry-run` show the cost of a run, and `budget` can limit it.

    Attributes:
        input: price of the tokens of prompts.
        output: price of the tokens of answers, thoughts included.
        currency: the same for all models.
        per: for how many tokens these prices are.
        cached_input: price of tokens that the server had in its cache; without it that of `input`.
        cache_write: price of tokens that the server put into its cache; without it that of `input`.
        reasoning: price of the tokens of thoughts; without it that of `output`.
        batch: the part of all these prices that answers of a batch cost, 0.5 for half; without it all of them.
        source: where the prices come from, such as a package with its version.
    """

    input: Annotated[Amount, Key("an amount from 0 on")]
    output: Annotated[Amount, Key("an amount from 0 on")]
    currency: Annotated[Text, Key("a name such as 'USD'")] = "USD"
    per: Annotated[Count, Key("a number of tokens", fix="write 1_000_000")] = MILLION
    cached_input: Annotated[Amount | None, Key("an amount from 0 on", default="`input`")] = None
    cache_write: Annotated[Amount | None, Key("an amount from 0 on", default="`input`")] = None
    reasoning: Annotated[Amount | None, Key("an amount from 0 on", default="`output`")] = None
    batch: Annotated[Amount | None, Key("a part such as 0.5", default="1")] = None
    source: Annotated[str, Key("a text", default="none")] = ""

    def cost(self, input_tokens: float, output_tokens: float, usage: Usage = _NO_DETAILS) -> float:
        """Return the cost of so many tokens.

        Args:
            input_tokens, output_tokens: of the prompt and of the answer.
            usage: says which of them were cached or thoughts, and whether they are of a batch.
        """
        read, written = usage.cached_tokens or 0, usage.cache_write_tokens or 0
        thoughts = usage.reasoning_tokens or 0
        amounts = (
            (input_tokens - read - written, self.input),
            (read, _or(self.cached_input, self.input)),
            (written, _or(self.cache_write, self.input)),
            (output_tokens - thoughts, self.output),
            (thoughts, _or(self.reasoning, self.output)),
        )
        part = _or(self.batch, 1.0) if usage.tier == BATCH_TIER else 1.0
        return part * sum(tokens * price for tokens, price in amounts) / self.per


def _or(price: float | None, other: float) -> float:
    return other if price is None else price


class Budget(Struct, frozen=True):
    """How much one session may ask. When it is used up, the run is paused and can be taken up with `-r`.

    Attributes:
        max_requests: requests; retries do not count.
        max_tokens_total: tokens of prompts and answers together.
        max_cost: cost, in the currency of the prices; every model needs a `price`.
    """

    max_requests: Annotated[Count | None, Key("a number of requests from 1", default="no limit")] = None
    max_tokens_total: Annotated[Count | None, Key("a number of tokens from 1", default="no limit")] = None
    max_cost: Annotated[Amount | None, Key("an amount from 0 on", default="no limit")] = None

    def over(self, other: "Budget") -> "Budget":
        """Return these limits, and those of another budget where this one has none."""
        return Budget(
            other.max_requests if self.max_requests is None else self.max_requests,
            other.max_tokens_total if self.max_tokens_total is None else self.max_tokens_total,
            other.max_cost if self.max_cost is None else self.max_cost,
        )
