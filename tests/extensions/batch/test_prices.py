"""Prices from the table of a package, and what tokens cost that were cached, thought, or of a batch."""

from __future__ import annotations

import importlib.util
from typing import Any, Final

import pytest

from ais_prompt.config import Note
from ais_prompt.errors import MissingExtra
from ais_prompt.extensions.batch import prices
from ais_prompt.extensions.batch.costs import costs_of
from ais_prompt.store import RunFolder
from ais_prompt.types import Price, Usage
from tests.core.e2e.project import Project

PRICE: Final = Price(2, 10, per=1, cached_input=0.5, cache_write=3, reasoning=20, batch=0.5)
COSTS: Final[list[tuple[Usage, float]]] = [
    (Usage(), 100 * 2 + 10 * 10),
    (Usage(cached_tokens=40), 60 * 2 + 40 * 0.5 + 10 * 10),
    (Usage(cached_tokens=40, cache_write_tokens=10), 50 * 2 + 40 * 0.5 + 10 * 3 + 10 * 10),
    (Usage(reasoning_tokens=4), 100 * 2 + 6 * 10 + 4 * 20),
    (Usage(tier="batch"), (100 * 2 + 10 * 10) / 2),
]


def test_tokens_have_prices_of_their_own() -> None:
    for usage, cost in COSTS:
        assert PRICE.cost(100, 10, usage) == pytest.approx(cost), usage
    plain = Price(2, 10, per=1)
    for usage, _ in COSTS:  # without such a price they cost what all tokens cost
        assert plain.cost(100, 10, usage) == pytest.approx(300), usage


def test_a_package_that_is_missing_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    monkeypatch.setattr(prices, "find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match="genai-prices"):
        prices.with_price([], {"model": "m", "price": "auto"}, "models[0]")


def test_prices_of_a_table() -> None:
    pytest.importorskip("genai_prices")
    notes: list[Note] = []
    known = prices.with_price(notes, {"type": "OpenAIChatModel", "model": "gpt-4o", "price": "auto"}, "models[0]")
    assert known["price"]["input"] > known["price"]["cached_input"] > 0
    assert known["price"]["source"].startswith("genai-prices ")
    assert known["price"]["batch"] == 0.5
    assert not notes
    own: dict[str, Any] = {"type": "OpenAIChatModel", "model": "my-own", "base_url": "http://127.0.0.1:9/v1"}
    assert prices.with_price(notes, {**own, "price": "auto"}, "models[1]") == own
    assert "its cost is not known" in notes[0].what


def test_the_report_has_what_a_right_answer_costs(project: Project) -> None:
    price = "price=dict(input=1, output=2)"
    model = f"dict(type='ScriptedModel', abbr='fake', answers={{r'^3\\+3': '6'}}, default='4', {price})"
    project.write_config(models=model)
    assert project.run("run", "eval.py").returncode == 0
    [cost] = costs_of(RunFolder(project.folder()))
    assert (cost.answers, cost.in_batches, cost.right) == (8, 0, 2)
    report = (project.folder() / "report.html").read_text()
    assert '"costs": [{"model": "fake"' in report
    # A model without a price has no cost, and a run without prices no tab.
    project.write_config()
    assert project.run("run", "eval.py", "-r").returncode == 0
    assert costs_of(RunFolder(project.folder())) == []
