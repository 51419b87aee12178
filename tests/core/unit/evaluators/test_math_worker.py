"""Forms of mathematical answers: which are equal and which are not.

math-verify alone calls many of the pairs in `DIFFERENT` equal, and many in `SAME` different.
"""

from __future__ import annotations

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st


def is_equal(gold: str, answer: str) -> bool:
    from ais_prompt.evaluators import is_equal as decide  # it loads sympy

    return decide(gold, answer)


SAME = (
    (".5", "0.5"),
    ("1 1/2", "3/2"),
    ("6.63e-34", "6.63\\times10^{-34}"),
    ("2\\times10^{-7}", "0.0000002"),
    ("1e3", "1000"),
    ("yes", "yes"),
    ("yes", "Yes"),
    ("\\text{Evelyn}", "Evelyn"),
    ("pi/2", "\\frac{\\pi}{2}"),
    ("sin(x)", "\\sin x"),
    ("sqrt(2)", "\\sqrt{2}"),
    ("2**3", "8"),
    ("2*x+1", "2x+1"),
    ("x/2", "\\frac{x}{2}"),
    ("2*pi*r", "2\\pi r"),
    ("n*(n+1)/2", "\\frac{n(n+1)}{2}"),
    ("2^10", "1024"),
    ("log(2)", "\\log 2"),
    ("3*sqrt(5)", "3\\sqrt{5}"),
    ("pi", "\\pi"),
    ("2516_8", "2516_8"),
    ("2516_8", "2516"),
    ("1{,}000", "1000"),
    ("1,000", "1000"),
    ("1\\,000", "1000"),
    ("50%", "50"),
    ("50\\%", "0.5"),
    ("90^\\circ", "90"),
    ("\\$5", "5"),
    ("5\\text{ cm}", "5"),
    ("5 cm", "5"),
    ("[0,1]", "[0,1]"),
    ("\\{1,2\\}", "\\{2,1\\}"),
    ("x=3", "3"),
    ("3", "x=3"),
    ("1/2", "0.5"),
    ("\\frac12", "0.5"),
    ("-5", "−5"),
    ("–5", "-5"),
    ("3\\frac12", "3.5"),
    ("0.1", "0.10"),
    ("A", "A"),
    ("(A)", "A"),
    ("\\text{(A)}", "A"),
    ("1.0", "1"),
    ("\\frac{1}{2^{10}}", "0.0009765625"),
    ("1.60\\times10^{-19}", "1.6\\times10^{-19}"),
    ("x^2+1", "1+x^2"),
    ("12\\%", "12%"),
    ("7:30", "7:30"),
    ("2\\sqrt{3}", "\\sqrt{12}"),
    ("e^2", "e^{2}"),
    ("true", "True"),
    ("6", "\\text{6}"),
    ("9.11e-31", "9.11e-31"),
    ("9.11E-31", "9.11\\cdot10^{-31}"),
    ("sqrt(x)", "\\sqrt{x}"),
    ("1101_2", "1101"),
    ("13", "1101_2"),
    ("1 000", "1000"),
    ("\\frac{1}{3}", "0.333333"),
    ("xy", "yx"),
    ("e^(2*x)", "e^{2x}"),
    ("\\{10^{-8}, 1\\}", "\\{1, 10^{-8}\\}"),
    ("café", "café"),
    ("５", "5"),
    ("-1 1/2", "-\\frac{3}{2}"),
    ("北京", "北京"),
    ("red, blue", "blue, red"),
    # numbers as arguments of commands stand beside each other
    ("\\log_2 16", "4"),
    ("\\frac 3 4", "0.75"),
    # a word of two letters may be a product
    ("at", "a*t"),
    ("vwz", "v*w*z"),
    # percentages of decimals
    ("37.5%", "37.5"),
    ("37.5", "37.5\\%"),
    ("37.5\\%", "0.375"),
    ("16\\frac23\\%", "16\\frac{2}{3}"),
    # characters of Unicode
    ("√7", "\\sqrt{7}"),
    ("5√(x+2)", "5\\sqrt{x+2}"),
    ("y³", "y^3"),
    ("10⁻⁴", "0.0001"),
    ("2½", "5/2"),
    ("¾", "0.75"),
    ("3·x", "3x"),
    ("(-∞, 4]", "(-\\infty, 4]"),
    ("1101₂", "1101_2"),
    ("log₂8", "3"),
    ("7.1 x 10^4", "71000"),
    ("7.1 × 10⁴", "71000"),
    # functions of programming languages
    ("acos(x)", "\\arccos x"),
    ("log10(1000)", "3"),
    ("log2(x)", "\\log_2 x"),
    # what is no formula is compared as a text, whatever blanks and braces it has
    ("4\\text{ hours }10\\text{ minutes}", "4 hours 10 minutes"),
    ("x \\equiv 4 \\pmod 9", "x\\equiv 4\\pmod{9}"),
    ("8\\text{ m}^2", "8"),
    ("(1101)_2", "1101_2"),
    ("12{,}345.6", "12345.6"),
)

DIFFERENT = (
    (".5", "5"),
    ("5", ".5"),
    ("1 1/2", "11/2"),
    ("1 2", "12"),
    ("1, 2", "12"),
    ("1.5", "15"),
    ("6.63e-34", "6.63e-31"),
    ("1e-7", "0"),
    ("10^{-7}", "10^{-8}"),
    ("no", "on"),
    ("yes", "sey"),
    ("east", "seat"),
    ("\\text{east}", "\\text{seat}"),
    ("10_2", "10_3"),
    ("[0,1]", "(0,1)"),
    ("(1,2)", "(2,1)"),
    ("5", "-5"),
    ("A", "B"),
    ("\\frac{1}{2004!}", "\\frac{1}{2006!}"),
    ("\\frac{1}{1024}", "\\frac{1}{1025}"),
    ("0", "0.0000001"),
    ("5*10^-9", "3*10^-8"),
    ("x+y", "xy"),
    ("7:30", "730"),
    ("3:4", "34"),
    ("1.2.3", "123"),
    ("12-05", "1205"),
    ("None", "one"),
    ("1e400", "1e401"),
    ("Saturday", "Sunday"),
    ("1 2", "3"),
    ("1 2", "2"),
    ("1 000", "0"),
    ("\\{10^{-8}, 1\\}", "\\{10^{-9}, 1\\}"),
    ("(10^{-8}, 1)", "(10^{-9}, 1)"),
    ("dog", "god"),
    ("\\text{tea}", "\\text{eat}"),
    ("\\mathrm{was}", "\\mathrm{saw}"),
    ("(red, blue)", "(blue, red)"),
    ("so", "os"),
    ("no", "0"),
    ("2**3", "6"),
    ("1.6e-19", "-19"),
    ("pi", "ip"),
    ("北京", "京北"),
    ("1/2", "12"),
    ("-.5", "5"),
    ("$.5$", "5"),
    ("\\$.5", "5"),
    ("at", "ta"),
    ("37.5%", "375"),
    ("2%", "0.2"),
    ("2%", "0.02%"),
    ("y³", "y"),
    ("10⁻⁴", "10⁻⁵"),
    ("10⁻⁴", "10"),
    ("2½", "2⅓"),
    ("2½", "2"),
    ("2½", "21/2"),
    ("log10(1000)", "1000*log(10)"),
    # the library reads one number of these
    ("0.\\overline{7}", "0"),
    ("0.\\overline{7}", "0.\\overline{5}"),
    ("4\\text{ hours }10\\text{ minutes}", "4\\text{ hours }50\\text{ minutes}"),
    ("4\\text{ hours }10\\text{ minutes}", "4"),
    ("2\\text{ red and }5\\text{ green}", "2\\text{ red and }6\\text{ green}"),
    ("x \\equiv 4 \\pmod 9", "x \\equiv 5 \\pmod 9"),
    ("6\\sim 8", "6\\sim 9"),
    ("4月2日", "4月3日"),
    # these are no differences, fractions or products
    ("2021-03-04", "2014"),
    ("2021-03-04", "2021-03-05"),
    ("1:4:5", "1:5:4"),
    ("0x2A", "0x2B"),
    ("0b11", "0"),
    # units that cannot be the same
    ("8 m", "8 cm"),
    ("8\\text{ kg}", "8\\,\\mathrm{g}"),
    ("9 a.m.", "9 p.m."),
    ("20^\\circ\\text{C}", "20^\\circ\\text{F}"),
)

RESPONSES = (
    "1. She has 4 bags\n\n2. 3 more come to 12\n\nThe answer is ${}$.",
    "On 2021-03-04 there were 10 20 30 of them.\nSo it is \\boxed{{{}}}",
    "There are 3 boxes and 2 bags. The final answer is {}",
    "We have x² + y² and √9, of 1:2:3 parts. Therefore \\({}\\).",
    "答案是 {}",
    "**Answer:** {}",
)


@pytest.fixture(autouse=True)
def _quiet() -> None:
    logging.getLogger("math_verify").setLevel(logging.ERROR)


@pytest.mark.thorough
def test_the_same_in_another_form() -> None:
    for gold, answer in SAME:
        assert is_equal(gold, answer)


@pytest.mark.thorough
def test_not_the_same() -> None:
    for gold, answer in DIFFERENT:
        assert not is_equal(gold, answer)
        assert not is_equal(answer, gold)


@pytest.mark.thorough
def test_the_answer_of_a_whole_response_is_found_whatever_is_before_it() -> None:
    for gold in ["7", "12.5", "-3", "1,234"]:
        for response in RESPONSES:
            assert is_equal(gold, response.format(gold))
            assert not is_equal(gold, response.format("41"))


def test_a_gold_without_a_base_is_decimal_and_a_question_may_name_the_base_of_the_answer() -> None:
    assert is_equal("101_2", "101")
    assert not is_equal("101", "101_2")


DECIMALS = st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-999, max_value=999)


@given(DECIMALS, DECIMALS)
def test_decimals_are_equal_exactly_if_their_values_are(first: object, second: object) -> None:
    for one in (
        str(first),
        str(first).replace("0.", ".", 1) if str(first).lstrip("-").startswith("0.") else str(first),
    ):
        assert is_equal(one, str(second)) == (float(one) == float(str(second)))


@pytest.mark.thorough
@given(st.integers(-40, -7), st.integers(-40, -7))
def test_powers_of_ten_are_equal_exactly_if_their_exponents_are(first: int, second: int) -> None:
    assert is_equal(f"10^{{{first}}}", f"1e{second}") == (first == second)


@given(st.permutations("stable"), st.permutations("stable"))
def test_words_are_equal_exactly_if_their_letters_are_in_the_same_order(first: list[str], second: list[str]) -> None:
    assert is_equal("".join(first), "".join(second)) == (first == second)
