from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.postprocess import NUMBER, plain_number, to_decimal


def last_number(text: str) -> str | None:
    found = NUMBER.findall(text)
    return plain_number(found[-1]) if found else None


def test_the_last_number_of_a_text() -> None:
    cases = [
        ("18", "18"),
        ("It is 18.", "18"),
        ("It is 18.00 dollars", "18.00"),
        ("first 3, then 18", "18"),
        ("1,000", "1000"),
        ("they pay $1,234,567.89.", "1234567.89"),
        ("1,2,3", "3"),
        (r"they pay \$1{,}234.50", "1234.50"),
        (r"1\,000\,000 and 10,\!080", "10080"),
        (r"-\$5", "-5"),
        ("3,14", "3.14"),
        ("1,0000", "1.0000"),
        ("2024,100", "2024.100"),
        ("-3", "-3"),
        ("−3", "-3"),
        ("a loss of -$3", "-3"),
        ("a loss of $-3", "-3"),
        ("5-3", "3"),
        ("答案是-3。", "-3"),
        ("答えは−3", "-3"),
        ("16 - 3 = 13", "13"),
        ("x=-7", "-7"),
        ("1/2", "2"),
        (".5", ".5"),
        ("Rs.500", "500"),
        ("...18", "18"),
        ("1e3", "1e3"),
        ("v1.2.3", None),
        ("x2", None),
        ("–5", "-5"),
        ("2–3", "3"),
        ("negative 4", "-4"),
        ("it is minus 4", "-4"),
        ("10 minus 4", "4"),
        ("负4", "-4"),
        ("1 234 567", "1234567"),
        ("1.2 million", "1200000"),
        ("12万元", "120000"),
        ("**18**", "18"),
        (r"\boxed{\$18}", "18"),
        ("25%", "25"),
        ("€18", "18"),
        ("١٢ then ٣", "٣"),
        ("答案是１８。", "１８"),
        ("x²", None),
        ("no number", None),
        ("", None),
    ]
    for text, number in cases:
        assert last_number(text) == number


@pytest.mark.parametrize("value", [18, 18.0, "18", "18.00", "$18", " 18. ", "018", "+18", "１８", "١٨", "1.8e1"])
def test_one_value_in_many_forms(value: Any) -> None:
    assert to_decimal(value) == 18


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,000", "1000"),
        (r"\$1{,}000", "1000"),
        (r"1\,000", "1000"),
        ("-$3", "-3"),
        ("−3", "-3"),
        ("0.1", "0.1"),
        ("-3/4", "-0.75"),
        ("2 1/2", "2.5"),
        ("-0", "0"),
    ],
)
def test_values_are_read_exactly(text: str, value: str) -> None:
    assert to_decimal(text) == Decimal(value)


@pytest.mark.parametrize(
    "value", [None, True, "", "$", "18 apples", "1/0", "nan", "inf", "sNaN", "1e99999999999999999999"]
)
def test_what_is_not_a_number(value: Any) -> None:
    assert to_decimal(value) is None


@given(st.text())
def test_every_number_found_can_be_read(text: str) -> None:
    number = last_number(text)
    assert number is None or to_decimal(number) is not None


@given(number=st.integers(), before=st.text(), after=st.text(st.characters(exclude_categories=["Nd"])))
def test_a_whole_number_is_found_with_thousands_commas_in_any_text(number: int, before: str, after: str) -> None:
    assert to_decimal(last_number(f"{before} {number:,} {after}")) == number


@given(st.decimals(allow_nan=False, allow_infinity=False, places=4))
def test_decimals_are_found_exactly(number: Decimal) -> None:
    assert to_decimal(last_number(f"so it is ${number:,f}.")) == number
