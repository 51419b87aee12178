"""Limits that a config sets: budgets for requests, tokens and costs, and gates that a run must meet to pass CI."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from msgspec import Struct, convert, field

from ais_prompt.types.key import Amount, Count, Key, Text

MILLION: Final = 1_000_000


class Price(Struct, frozen=True):
    """With it, `check` and `--dry-run` show the cost of a run, and `budget` can limit it.

    Attributes:
        input: price of the tokens of prompts.
        output: price of the tokens of answers, thoughts included.
        currency: the same for all models.
        per: for how many tokens `input` and `output` are.
    """

    input: Annotated[Amount, Key("an amount from 0 on")]
    output: Annotated[Amount, Key("an amount from 0 on")]
    currency: Annotated[Text, Key("a name such as 'USD'")] = "USD"
    per: Annotated[Count, Key("a number of tokens", fix="write 1_000_000")] = MILLION

    def cost(self, input_tokens: float, output_tokens: float) -> float:
        """Return the cost of so many tokens."""
        return (input_tokens * self.input + output_tokens * self.output) / self.per


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

    def __add__(self, other: "Used") -> "Used":
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
    def from_json(cls, values: Mapping[str, Any]) -> "Used":
        """Read values as `msgspec.to_builtins` writes them.

        Raises:
            ValueError: they are not those of this class.
        """
        return convert(values, cls)
