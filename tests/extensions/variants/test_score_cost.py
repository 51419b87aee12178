"""Score against cost: the front, and its plot."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.extensions.variants.compared_variants import on_front
from ais_prompt.extensions.variants.variant_group import Spent, Variant, VariantGroup
from ais_prompt.extensions.variants.variant_page import front_plot, variants_html
from ais_prompt.extensions.variants.variant_table import cost_cell, cost_units

amounts = st.integers(0, 5).map(float)


def variant(score: float | None, tokens: float | None, *, front: bool = False) -> Variant:
    front_of = ("tokens",) if front else ()
    low, high = (None, None) if score is None else (max(0.0, score - 0.1), min(1.0, score + 0.1))
    return Variant({"prompt": "<a> & b"}, "m", "d+a", score, low, high, 10, spent=Spent(tokens), front=front_of)


def group(*variants: Variant) -> VariantGroup:
    return VariantGroup("m <1>", "d", "accuracy", True, False, variants, 0)


@given(st.lists(st.tuples(amounts, amounts), min_size=1, max_size=8))
def test_the_front_is_what_nothing_dominates(points: list[tuple[float, float]]) -> None:
    spent = [(score, Spent(tokens)) for score, tokens in points]
    front = {
        point for point, (score, one) in zip(points, spent, strict=True) if "tokens" in on_front(score, one, spent)
    }
    assert max(points, key=lambda one: (one[0], -one[1])) in front, "the best score for the least"
    for score, tokens in points:
        beats = [(s, t) for s, t in front if s >= score and t <= tokens]
        assert beats, "each point is on the front, or one of the front is better"
        assert ((score, tokens) in front) == (not any((s, t) != (score, tokens) for s, t in beats))


def test_what_is_not_known_is_on_no_front() -> None:
    assert on_front(1.0, Spent(), [(1.0, Spent())]) == ()
    assert cost_units([group(variant(0.5, None))]) == []


def test_a_plot_is_well_formed_and_shows_every_variant() -> None:
    one = group(variant(0.5, 10, front=True), variant(0.9, 2000), variant(None, 5))
    plot = ElementTree.fromstring(front_plot([one], "tokens"))
    assert len(plot.findall("g/circle")) == 2
    assert plot.find("g/title").text == "m <1>, <a> & b, 50, 10 tokens"  # type: ignore[union-attr]
    assert front_plot([group(variant(0.5, 1))], "tokens") == ""
    page = variants_html([one])
    ElementTree.fromstring(page)
    assert "<a>" not in page


def test_cells_mark_the_front_and_estimates() -> None:
    assert cost_cell(variant(0.5, 1234, front=True), "tokens") == "1,234*"
    estimated = Variant({}, "m", "d", 0.5, None, None, 1, spent=Spent(2.0, estimated=True, cost=0.00012))
    assert cost_cell(estimated, "tokens") == "~2 "
    assert cost_cell(estimated, "cost") == "~0.12 "
