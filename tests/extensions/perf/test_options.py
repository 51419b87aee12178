"""The numbers of a load: what makes no sense is refused before a server is asked."""

from __future__ import annotations

import pytest

from tests.support.cli import run_cli

LOAD = ("run", "--url", "http://127.0.0.1:1", "--input-tokens", "64", "-m", "perf")


@pytest.mark.thorough
def test_a_load_of_nothing_is_one_error_that_names_the_option() -> None:
    cases = [
        *(("--num-prompts", value) for value in ("0", "-1")),
        *(("--request-rate", value) for value in ("0", "-1", "nan", "inf")),
        *((f"--{side}-tokens", value) for side in ("input", "output") for value in ("0", "0-5", "10-5", "-3", "1.5")),
        *(("--pressure", "--pressure-time", value) for value in ("0", "-1", "nan", "86401")),
        ("--num-warmups", "-1"),
    ]
    for options in cases:
        done = run_cli(*LOAD, *options)
        assert done.returncode == 2
        assert done.stderr.count("Error") == 1
        assert f"'{options[-2]}'" in done.stderr


@pytest.mark.parametrize("value", ["nan", "inf", "-1"])
def test_a_cost_without_an_end_is_refused(value: str) -> None:
    assert run_cli("run", "--url", "http://127.0.0.1:1", "--max-cost", value).returncode == 2
