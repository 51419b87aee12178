"""How much an agent may need for one sample."""

from __future__ import annotations

from msgspec import Struct

STEPS, SECONDS = 50, 600.0


class SampleLimits(Struct, frozen=True):
    """SampleLimits of a sample. One that is reached ends the sample as a failure, which says the limit.

    Attributes:
        max_steps: requests to the model.
        max_tokens_total: tokens of all prompts and answers together; None for no limit.
        max_cost: in the currency of the model's ``price``; None for no limit.
        timeout: seconds from the start of the agent to its end.
    """

    max_steps: int = STEPS
    max_tokens_total: int | None = None
    max_cost: float | None = None
    timeout: float = SECONDS

    def reached(self, steps: int, tokens: int, cost: float) -> str:
        """Return the limit that allows no further request, and what was used; empty if none does."""
        if steps >= self.max_steps:
            return f"max_steps={self.max_steps:,}: the agent sent {steps + 1:,} requests"
        if self.max_tokens_total is not None and tokens >= self.max_tokens_total:
            return f"max_tokens_total={self.max_tokens_total:,}: {tokens:,} tokens were used"
        if self.max_cost is not None and cost >= self.max_cost:
            return f"max_cost={self.max_cost:,}: {cost:.4g} was spent"
        return ""
