"""A number in any spelling of one table is read back as its value: from a gold, and from an ordinary sentence."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ais_prompt.evaluators import Gsm8kEvaluator
from ais_prompt.postprocess import gsm8k_dataset_postprocess, gsm8k_postprocess, to_decimal

Spelling = Callable[[int, int], tuple[str, Decimal]]
"""Write a whole number and hundredths, from 0 to 99; not every spelling writes the second."""


def grouped(separator: str, point: str = "") -> Spelling:
    def write(number: int, hundredths: int) -> tuple[str, Decimal]:
        whole = f"{number:,}".replace(",", separator)
        return (f"{whole}{point}{hundredths:02}", value(number, hundredths)) if point else (whole, Decimal(number))

    return write


def indian(number: int, _hundredths: int) -> tuple[str, Decimal]:
    head, tail = divmod(number, 1000)
    pairs = []
    while head:
        head, pair = divmod(head, 100)
        pairs.insert(0, f"{pair:02}" if head else str(pair))
    return ",".join([*pairs, f"{tail:03}" if pairs else str(tail)]), Decimal(number)


def around(before: str, after: str, inner: Spelling) -> Spelling:
    def write(number: int, hundredths: int) -> tuple[str, Decimal]:
        text, wanted = inner(number, hundredths)
        return f"{before}{text}{after}", wanted

    return write


def value(number: int, hundredths: int) -> Decimal:
    return number + Decimal(hundredths) / 100


def scientific(form: str) -> Spelling:
    def write(number: int, hundredths: int) -> tuple[str, Decimal]:
        digits = f"{number % 9 + 1}.{hundredths:02}"
        return form.format(digits), Decimal(digits) * 10**3

    return write


UNGROUPED = grouped("")
SPELLINGS: dict[str, Spelling] = {
    "digits": UNGROUPED,
    "decimal point": grouped("", "."),
    "decimal comma": grouped("", ","),
    "1,234": grouped(","),
    "1,234.56": grouped(",", "."),
    "1.234,56": grouped(".", ","),
    "1 234": grouped(" "),
    "1 234,56": grouped(" ", ","),
    "1\u202f234": grouped("\u202f"),
    "12'000": grouped("'"),
    "12’000.50": grouped("’", "."),
    "1{,}234": grouped("{,}"),
    r"1\,234": grouped(r"\,"),
    "1,00,000": indian,
    "$": around("$", "", grouped(",", ".")),
    r"\$": around(r"\$", "", grouped(",", ".")),
    "€": around("€", "", grouped(".", ",")),
    " €": around("", " €", grouped("", ",")),
    "£": around("£", "", UNGROUPED),
    "￥": around("￥", "", UNGROUPED),
    "%": around("", "%", UNGROUPED),
    " %": around("", " %", grouped("", ",")),
    "½": lambda number, _: (f"{number}½", number + Decimal("0.5")),
    "¾": lambda number, _: (f"{number} ¾", number + Decimal("0.75")),
    r"\frac34": lambda _number, _: (r"\frac34", Decimal("0.75")),
    r"\frac{3}{8}": lambda number, _: (rf"\frac{{{number}}}{{8}}", Decimal(number) / 8),
    "3/8": lambda number, _: (f"{number}/8", Decimal(number) / 8),
    "2 1/2": lambda number, _: (f"{number} 1/2", number + Decimal("0.5")),
    "1.5e3": scientific("{}e3"),
    "5×10³": scientific("{}×10³"),
    r"5 \times 10^3": scientific(r"{} \times 10^{{3}}"),
    "10^6": lambda number, _: (f"10^{number % 13}", Decimal(10) ** (number % 13)),
    "10⁶": lambda _number, _: ("10⁶", Decimal(10) ** 6),
    "1011_2": lambda number, _: (f"{number:b}_2", Decimal(number)),
    "1011₂": lambda number, _: (f"{number:b}₂", Decimal(number)),
    "−": around("−", "", lambda number, _: (str(number + 1), Decimal(-number - 1))),
    "万": lambda number, _: (f"{number}万", Decimal(number) * 10**4),
    "million": lambda number, _: (f"{number} million", Decimal(number) * 10**6),
    "full width": lambda number, _: (str(number).translate(FULL_WIDTH), Decimal(number)),
}
FULL_WIDTH = {ord("0") + digit: ord("０") + digit for digit in range(10)}
SENTENCES = (
    "{}",
    "The answer is {}.",
    "I think it is {}.",
    "You have {} left.",
    "It was {} in total.",
    r"So it is \boxed{{{}}}.",
    "#### {}",
    "答案是{}。",
    "一共是{}。",
)


@pytest.mark.parametrize("spelling", SPELLINGS)
@settings(max_examples=10)
@given(number=st.integers(0, 10**8), hundredths=st.integers(0, 99))
def test_a_spelling_is_read_back_as_its_value(spelling: str, number: int, hundredths: int) -> None:
    written, wanted = SPELLINGS[spelling](number, hundredths)
    assert to_decimal(written) == wanted
    for sentence in SENTENCES:
        answer = gsm8k_postprocess(sentence.format(written))
        for gold in (written, str(wanted)):
            assert Gsm8kEvaluator().score(answer, gold) == {"accuracy": 1.0}, sentence


@settings(max_examples=300)
@given(st.text("0123456789012345..,,' -/^_½²₂%$€kx×eE+", min_size=1, max_size=8))
def test_an_answer_in_the_spelling_of_its_gold_is_never_wrong(written: str) -> None:
    wanted = to_decimal(written)
    answer = gsm8k_postprocess(f"The answer is {written.strip()}.")
    assert wanted is None or answer is None or to_decimal(answer) == wanted


@pytest.mark.parametrize(
    "written", ["1,2,3", "1234567,7654321", "1.2.3", "10^99999", "x_2", "5 or 6", "7:30", "(3, 5)", "2^n", r"2\sqrt{3}"]
)
def test_what_is_no_one_number_is_not_read_at_all(written: str) -> None:
    assert to_decimal(written) is None
    assert gsm8k_postprocess(rf"So it is \boxed{{{written}}}.") is None


@pytest.mark.parametrize(
    ("gold", "value"), [("#### 3,5", "3.5"), ("#### 1,234", "1234"), ("#### $18", "18"), ("#### 1.234,5", "1234.5")]
)
def test_a_gold_of_gsm8k_has_the_same_spellings(gold: str, value: str) -> None:
    assert to_decimal(gsm8k_dataset_postprocess(gold)) == Decimal(value)


@given(st.fractions(0, 100, max_denominator=9))
def test_a_fraction_is_its_quotient(fraction: Fraction) -> None:
    over, under = fraction.numerator, fraction.denominator
    for written in (f"{over}/{under}", rf"\dfrac{{{over}}}{{{under}}}"):
        assert to_decimal(gsm8k_postprocess(f"It is {written}.")) == Decimal(over) / Decimal(under)
