"""Dates in the forms in which people and models write them."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.postprocess import date_postprocess, to_date

FORMS = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d %B %Y", "%B %d, %Y", "%b %d %Y", "%d %b. %Y", "%Y年%m月%d日")


@given(st.dates(date(1000, 1, 1)), st.sampled_from(FORMS), st.sampled_from(["%s", "It was on %s.", "**%s**", "是%s。"]))
def test_a_date_is_read_back_in_every_form(day: date, form: str, sentence: str) -> None:
    written = day.strftime(form)
    assert to_date(written) == day.isoformat()
    assert date_postprocess(sentence.replace("%s", written)) == day.isoformat()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It was the 1st of May, 2024.", "2024-05-01"),
        ("13/04/2024", "2024-04-13"),
        ("04/13/2024", "2024-04-13"),
        ("Not on May 1, 2024, but on May 2, 2024.", "2024-05-02"),
        ("First I thought of 1 May 2024. The answer is 2 May 2024.", "2024-05-02"),
        ("2024-05-01 00:00:00", "2024-05-01"),
        ("Das war am 10. Mai 2024.", "2024-05-10"),
        ("5. März 2021", "2021-03-05"),
        ("le 1er août 2020", "2020-08-01"),
        ("el 5 de mayo de 2021", "2021-05-05"),
    ],
)
def test_the_date_that_an_answer_gives(text: str, found: str) -> None:
    assert date_postprocess(text) == found


@pytest.mark.parametrize(
    "text",
    ["03/04/2024", "Either 1 May 2024 or 2 May 2024.", "In May 2024.", "31.02.2024", "version 1.2.2024.3", "2024"],
)
def test_what_is_no_date_or_may_be_two_is_unparsed(text: str) -> None:
    assert date_postprocess(text) is None
