from __future__ import annotations

import pytest

from ais_prompt.scoring import bare, span, value


@pytest.mark.parametrize(
    ("number", "fraction", "shown", "beside"),
    [
        (0.9351, True, "93.5 %", "93.5"),
        (1.0, True, "100.0 %", "100.0"),
        (27.314, False, "27.31", "27.31"),
        (0.0, False, "0.00", "0.00"),
        (-1.5, False, "-1.50", "-1.50"),
        (0.00012345, False, "0.0001234", "0.0001234"),
        (123456789.0, False, "1.235e+08", "1.235e+08"),
    ],
)
def test_a_number_as_people_read_it(number: float, fraction: bool, shown: str, beside: str) -> None:
    assert value(number, fraction=fraction) == shown
    assert bare(number, fraction=fraction) == beside


def test_a_span_is_one_number_where_its_ends_are_shown_alike() -> None:
    assert span(0.901, 0.959, fraction=True) == "90.1–95.9"
    assert span(0.9011, 0.9012, fraction=True) == "90.1"
    assert span(-2.0, -1.0, fraction=False) == "-2.00 to -1.00"
    assert span(None, 0.5, fraction=True) == span(0.5, None, fraction=True) == ""
