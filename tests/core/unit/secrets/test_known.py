"""Which forms of a secret are found in a text, and that nothing else is changed."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.secrets import SecretRegistry, hide_in_url, hide_in_urls, secrets_in_url

SECRET = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=12, max_size=40)
FORMS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "upper case": str.upper,
    "lower case": str.lower,
    "URL": lambda secret: quote(secret, safe=""),
    "URL, slashes kept": quote,
    "URL, in part": lambda secret: "".join(quote(c, safe="") if n % 2 else c for n, c in enumerate(secret)),
    "form": quote_plus,
    "URL, lower case": lambda secret: quote(secret, safe="").lower(),
    "JSON": lambda secret: json.dumps(secret)[1:-1],
    "JSON in JSON": lambda secret: json.dumps(json.dumps(secret)[1:-1])[1:-1],
    "Python": lambda secret: repr(secret)[1:-1],
    "HTML": html.escape,
}


LAYERS: dict[str, Callable[[str], str]] = {
    "numeric entities": lambda text: "".join(f"&#{ord(one)};" for one in text),
    "hexadecimal entities": lambda text: "".join(f"&#x{ord(one):04X};" for one in text),
    "JSON, every letter": lambda text: "".join(f"\\u{ord(one):04x}" for one in text),
    "Python, every letter": lambda text: "".join(f"\\x{ord(one):02x}" for one in text),
    "URL, every letter": lambda text: "".join(f"%{ord(one):02X}" for one in text),
    "URL": lambda text: quote(text, safe=""),
    "HTML": html.escape,
    "JSON": lambda text: json.dumps(text)[1:-1],
}
"""Ways to write a text that can be applied one after the other."""
QUOTED = {"\\", '"', "'", "%", "&"}
"""Characters that a layer escapes with others of them; a key has none."""


def registry(*secrets: str) -> SecretRegistry:
    made = SecretRegistry()
    made.add(*secrets)
    return made


@pytest.mark.thorough
@pytest.mark.parametrize("form", FORMS)
@given(secret=SECRET)
def test_every_form_is_hidden(form: str, secret: str) -> None:
    written = FORMS[form](secret)
    hidden, number = registry(secret).hide_and_count(f"a key: {written}, no more")
    assert written not in hidden
    assert number >= 1


@given(SECRET, st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=5), st.booleans())
def test_base64_of_a_text_with_a_secret_is_hidden(secret: str, before: str, urlsafe: bool) -> None:
    encode = base64.urlsafe_b64encode if urlsafe else base64.b64encode
    encoded = encode(f"{before}{secret} and more".encode()).decode()
    hidden = registry(secret).hide(f"Authorization: Basic {encoded}")
    assert "***" in hidden
    left = hidden.removeprefix("Authorization: Basic ").partition("***")[0]
    assert len(left) <= len(before) * 4 / 3 + 1


@given(SECRET, st.text(max_size=30))
def test_json_stays_json(secret: str, around: str) -> None:
    values = {"text": f"{around}\n{secret}\\{around}", "b64": f"\n{base64.b64encode(f'x{secret}'.encode()).decode()}"}
    for indent in (None, 2):
        content = json.dumps(values, ensure_ascii=False, indent=indent).encode("utf-8", "surrogatepass")
        assert json.loads(registry(secret).hide_in_json(content)).keys() == values.keys()


KEYS = ["sk-wrong", "k3y!", "a/b=", "1234", "rosebud", 'q"uo', "p&ss<"]
WORDS = ("plain", "URL", "JSON", "HTML")


@pytest.mark.parametrize("key", KEYS)
def test_keys_of_servers_are_hidden_from_four_characters_on(key: str) -> None:
    known = SecretRegistry()
    known.add_key(key)
    for name in WORDS:
        written = FORMS[name](key)
        text = f"Incorrect API key provided: {written} in x{key}y and {key}z: \n{written}"
        assert known.hide(text) == f"Incorrect API key provided: *** in x{key}y and {key}z: \n***", name
    values = {"message": f"no key\n{key}", key: 1, "more": [key, 1234, f"{key}1"]}
    for indent in (None, 2):
        hidden = json.loads(known.hide_in_json(json.dumps(values, indent=indent).encode()))
        assert hidden == {"message": "no key\n***", key: 1, "more": ["***", 1234, f"{key}1"]}


def test_files_keep_words_and_numbers_of_their_own() -> None:
    known = SecretRegistry()
    for key in ("rosebud", "1234", "sk-wrong"):
        known.add_key(key)
    assert known.hide_in_bytes(b"let rosebud = 1234; // sk-wrong") == b"let rosebud = 1234; // ***"


@pytest.mark.parametrize("key", ["EMPTY", "none", "dummy", "not-needed", "abc", ""])
def test_placeholders_and_shorter_keys_change_no_free_text(key: str) -> None:
    known = SecretRegistry()
    known.add_key(key)
    assert known.hide(f"the set is {key}.") == f"the set is {key}."


@given(st.text(), st.lists(st.text(max_size=11)))
def test_short_secrets_change_no_free_text(text: str, secrets: list[str]) -> None:
    assert registry(*secrets).hide_and_count(text) == (text, 0)


def test_the_words_of_the_program_hide_short_secrets_too() -> None:
    words = "'abc' is no model, \"abc\" neither; abcd stays; http://me:pw@host/v1?sig=x&api-version=2#y"
    shown = "'***' is no model, \"***\" neither; abcd stays; http://***@host/v1?sig=***&api-version=2#y"
    assert registry("abc").hide_in_message(words) == shown


def test_a_secret_within_another_one() -> None:
    known = registry("abcdefghijklmnop", "Bearer abcdefghijklmnop")
    assert known.hide("Bearer abcdefghijklmnop, abcdefghijklmnop") == "***, ***"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (
            "https://u:p@host/a?sig=x%2F=&api-version=2024&flag&v=$SIG",
            "https://***@host/a?sig=***&api-version=2024&***&v=$SIG",
        ),
        ("https://key@host", "https://***@host"),
        ("https://u:p@ss@host", "https://***@host"),
        ("https://host/a@b", "https://host/a@b"),
        ("https://host/?a=", "https://host/?a="),
    ],
)
def test_a_url_without_secrets(url: str, shown: str) -> None:
    assert hide_in_url(url) == shown
    assert hide_in_urls(f"see <{url}> or '{url}'") == f"see <{shown}> or '{shown}'"


def test_what_is_secret_in_a_url() -> None:
    found = set(secrets_in_url("https://me:p%40ss@host/v1?sig=a%20b&api-version=1&x=$NAME&bare"))
    assert found == {"me", "p%40ss", "p@ss", base64.b64encode(b"me:p@ss").decode(), "a%20b", "a b", "bare"}


@given(SECRET.filter(lambda text: not set(text) & QUOTED), st.lists(st.sampled_from(sorted(LAYERS)), max_size=3))
def test_a_secret_is_found_however_often_it_was_escaped(secret: str, layers: list[str]) -> None:
    written = secret
    for layer in layers:
        written = LAYERS[layer](written)
    text = f"before {written} after"
    known = registry(secret)
    hidden, count = known.hide_and_count(text)
    assert (count >= 1, hidden[:7], hidden[-6:]) == (True, "before ", " after")
    assert "***" in hidden
    document = json.loads(known.hide_in_json(json.dumps({"text": text}).encode()))
    assert "***" in document["text"]


def test_escapes_of_other_texts_stay() -> None:
    text = "Let \\alpha = 50% &amp; &#65;\\u0041 %41 \\x41 %ZZ &#x110000; &nope; "
    assert registry("a-secret-of-20-letter").hide_and_count(text) == (text, 0)
    document = json.dumps({"text": "\n" + text}).encode()
    assert registry("nLet-a-secret-of-20").hide_in_json(document) == document


def test_another_process_hides_the_same() -> None:
    known, other = registry("abcdefghijklmnop", "abc"), SecretRegistry()
    known.add_key("sk-wrong")
    other.add_shared(*json.loads(json.dumps(known.shared())))
    text = "abcdefghijklmnop abc 'abc' sk-wrong"
    assert other.hide_in_message(text) == known.hide_in_message(text) == "*** abc '***' ***"
