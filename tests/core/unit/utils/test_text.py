from __future__ import annotations

import json
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.evaluators import contains
from ais_prompt.utils import VARIES, counted, encode, kind_of, listed, printable

INVISIBLE = [
    *map(chr, range(0x80, 0xA0)),
    *map(chr, [*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x061C]),
    *map(chr, [0xAD, 0x2028, 0x2029, 0x2060, 0xFEFF, *range(0xE0001, 0xE0080)]),
]


def test_one_thing_is_singular() -> None:
    assert [counted(number, "question") for number in (0, 1, 1319)] == ["0 questions", "1 question", "1,319 questions"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\n\ttext 你好 🙂", "plain\n\ttext 你好 🙂"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("over\rwritten", "over\\rwritten"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("lone \ud800", "lone \\ud800"),
    ],
)
def test_what_a_terminal_would_obey_is_escaped(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(st.text())
def test_the_result_can_be_printed(text: str) -> None:
    shown = printable(text)
    shown.encode()
    assert "\x1b" not in shown


@given(st.text(st.characters() | st.sampled_from(INVISIBLE), max_size=30))
def test_json_for_review_is_read_back_as_it_was(text: str) -> None:
    written = encode({"text": text}, indent=2).decode()
    assert not set(written) & set(INVISIBLE)
    assert json.loads(written) == {"text": text}
    assert not set(printable(text)) & set(INVISIBLE)


def test_a_long_list_of_names_is_cut_and_counted() -> None:
    names = [f"column{number}" for number in range(1500)]
    assert listed(names) == ", ".join(names[:12]) + ", … and 1,488 more"
    assert listed(names[:12]) == ", ".join(names[:12])
    assert listed([]) == ""


def test_a_part_is_whole_words_and_numbers() -> None:
    cases = [
        ("15", "5", False),
        ("5.5", "5", False),
        ("1,500", "500", False),
        ("1,00,000", "000", False),
        ("12'500", "500", False),
        ("3,5", "5", False),
        ("1,2,3", "2", True),
        ("1234567,7654321", "7654321", True),
        ("1234567,7654321", "1234567", True),
        ("1234567, 7654321", "7654321", True),
        ("5, b", "5", True),
        ("it is -5", "5", False),
        ("it is 5.", "5", True),
        ("5%", "5", True),
        ("3-5", "5", True),
        ("1000 people", "1,000", False),
        ("i do not know", "no", False),
        ("no, never", "no", True),
        ("know no one", "no", True),
        ("descartes", "art", False),
        ("他在北京工作", "北京", True),
        ("서울입니다", "서울", True),
        ("ในกรุงเทพมี", "กรุงเทพ", True),
        ("第5章", "5", True),
        ("第15章", "5", False),
        ("café", "caf", False),
        ("", "a", False),
    ]
    for text, part, found in cases:
        assert contains(text, part) == found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3 of 40 samples failed", "1,297.5 of 1,319 samples failed"),
        ("[m/gsm8k] no answer", "[m/arc] no answer"),
        ("no column 'answer' in it", "no column 'gold\\nanswer' in it"),
        ('"a" is no option', '"b c" is no option'),
        ("HTTP 500: request req_0a1b-7 failed", "HTTP 500: request req_f93-77c failed"),
        ("timeout · http://host:8000/v1/chat?id=a", "timeout · http://host:8000/v1/completions"),
    ],
)
def test_messages_that_differ_in_values_are_of_one_kind(one: str, other: str) -> None:
    assert kind_of(one) == kind_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("HTTP 401: refused", "HTTP 429: refused"),
        ("timeout · http://host:8000/v1", "timeout · http://host:8001/v1"),
        ("ModelError: no answer", "DataError: no answer"),
        ("can't read it, don't ask", "can't write it, don't ask"),
        ("x needs a package · pip install peft", "x needs a package · pip install janus"),
    ],
)
def test_messages_that_differ_in_status_host_or_words_are_not(one: str, other: str) -> None:
    assert kind_of(one) != kind_of(other)


def test_the_page_takes_the_same_for_values() -> None:
    script = files("ais_prompt.report.web").joinpath("assets/run.js").read_text("utf-8")
    assert f"const VARIES = /{VARIES.pattern}/g;" in script
