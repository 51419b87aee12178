"""The options of a budget, as they are written for another command."""

from __future__ import annotations

from typing import Any

import click
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.cli.options import with_options
from ais_prompt.extensions.shards.by_runner import budget_arguments
from ais_prompt.types import Budget

limits = st.fixed_dictionaries(
    {
        "max_requests": st.none() | st.integers(min_value=1),
        "max_tokens_total": st.none() | st.integers(min_value=1),
        "max_cost": st.none() | st.floats(min_value=0, allow_infinity=False),
    }
)


@given(limits)
def test_a_command_reads_the_limits_that_another_writes(values: dict[str, Any]) -> None:
    command = with_options("budget")(click.Command("ask"))
    assert command.make_context("ask", budget_arguments(Budget(**values))).params == values
