"""Prompts as HTML: the exact text in the page, with the origin of each piece, and nothing that data could add."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ais_prompt.checks import MisspeltPlaceholder
from ais_prompt.preview import PromptView, preview_sample
from ais_prompt.report import asset, prompt_html, prompts_page, side_by_side
from ais_prompt.utils import printable
from tests.support.prompt_tasks import prompt_task

HOSTILE = (
    "</span></style><script>alert(1)</script><img src=x onerror=alert(1)>"
    "\" ' onfocus=alert(1) style=color:red &lt;b&gt;"
)
TURNS = [{"role": "HUMAN", "prompt": "{q}"}, {"role": "BOT", "prompt": "{a}"}]
ALLOWED = set(
    "article div p span h1 h2 h3 h4 details summary meter i b sub section main body html head meta title style".split()
)
ATTRIBUTES = {
    "class",
    "tabindex",
    "role",
    "aria-label",
    "data-from",
    "open",
    "min",
    "max",
    "value",
    "high",
    "lang",
    "data-dataset",
}


class Reader(HTMLParser):
    """Collects the tags, the attributes, and the texts of pieces."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.pieces: list[tuple[str, str]] = []
        self._open: list[dict[str, str | None]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag != "meta":
            self.attributes += attrs
            self._open.append(dict(attrs))

    def handle_endtag(self, tag: str) -> None:
        self._open.pop()

    def handle_data(self, data: str) -> None:
        if self._open and (source := self._open[-1].get("data-from")):
            self.pieces.append((data, source))


def view_of(prompt: Any, **more: Any) -> PromptView:
    [view] = preview_sample(prompt_task(prompt, **more), 1, origins=True, place=lambda where: f"{where} (eval.py:7)")
    return view


def text_of(page: str) -> str:
    return "".join(text for text, _ in Reader(page).pieces)


def test_each_piece_says_where_it_comes_from() -> None:
    shots = [{"q": "1+1", "a": "2"}]
    view = view_of("Sums.\n</E>{q} = {a}", ice="{q} = {a}", train=shots)
    found = dict(reversed(Reader(prompt_html(view)).pieces))
    where = "datasets[0].infer_cfg"
    assert found["3+3"] == f"data, column q of test row 0 · filled in at {where}.prompt_template.template (eval.py:7)"
    assert found["1+1"].startswith("data, column q of example 1 (train row 0) · filled in at")
    assert found["Sums."] == f"template · {where}.prompt_template.template (eval.py:7)"


def test_examples_are_folded_and_counted() -> None:
    shots = [{"q": "1+1", "a": "2"}, {"q": "2+2", "a": "4"}]
    page = prompt_html(
        view_of({"begin": ["</E>"], "round": TURNS}, ice={"round": TURNS}, train=shots, style="messages")
    )
    assert '<details class="examples"><summary>2 examples, 8 characters</summary>' in page
    inline = prompt_html(view_of("</E>{q}", ice="{q}: {a}", train=shots))
    assert '<details class="examples"><summary>2 examples, 14 characters</summary>' in inline


def test_the_wanted_answer_is_apart_and_the_length_beside_its_limit() -> None:
    view = replace(view_of("{q}"), max_seq_len=2_048)
    page = prompt_html(view)
    assert text_of(page) == "3+3"
    assert "Gold, not sent" in page
    assert "1 of 2,048 tokens (max_seq_len)" in page
    assert "too long" in prompt_html(replace(view, tokens=2_049))


def test_models_and_configs_are_side_by_side() -> None:
    view, other = view_of("{q}"), view_of("What is {q}?")
    questions = side_by_side([("a.py", [view, replace(view, model="large")]), ("b.py", [other])])
    [question] = questions
    assert [column.title for column in question.columns] == ["a.py · model", "a.py · large", "b.py · model"]
    page = prompts_page("Prompts", questions)
    assert page.count("The same prompt for a.py · large.") == 1
    assert page.count("<h3>") == 2
    assert "differs" not in page.partition("b.py · model")[0].partition("<body>")[2]
    assert 'class="piece template differs"' in page.partition("b.py · model")[2]
    two = prompts_page("Prompts", side_by_side([("a.py", [view]), ("b.py", [replace(other, prompt="", origins=None)])]))
    assert two.count(" differs") == two.partition("b.py")[0].count(" differs") == 1


def test_a_misspelt_placeholder_is_marked_and_named_above_the_prompt() -> None:
    mistake = MisspeltPlaceholder("{qq} is sent as it is", "datasets[0]", "did you mean {q}?", "{qq}")
    page = prompt_html(replace(view_of("Is it {qq}? {q}", rows=[{"q": "{qq}", "a": ""}]), warnings=(mistake,)))
    assert page.count("<mark>{qq}</mark>") == 1
    assert page.index('class="warning"') < page.index('class="bubbles"')


def test_the_policy_allows_the_own_style_only() -> None:
    page = prompts_page("Prompts", side_by_side([("a.py", [view_of("{q}")])]))
    [style] = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    own = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{own}'; base-uri 'none'; form-action 'none'" in page
    assert "url(" not in style
    assert "@import" not in style


@given(st.just(HOSTILE) | st.text(), st.sampled_from(["text", "messages"]))
def test_no_text_adds_a_tag_or_an_attribute(text: str, style: str) -> None:
    row = {"q": text, "a": text}
    view = replace(view_of({"round": TURNS}, rows=[row], style=style), title=text, model=text, dataset=text)
    page = prompts_page(text, side_by_side([(text, [view]), (text, [view])]))
    read = Reader(page)
    assert read.tags <= ALLOWED
    assert {name for name, _ in read.attributes} <= ATTRIBUTES
    assert text_of(prompt_html(view)) == printable(text)


def test_a_report_gives_no_class_of_the_prompts_another_look() -> None:
    def classes(name: str) -> set[str]:
        return set(re.findall(r"\.([a-z][a-z-]*)", re.sub(r"\{[^{}]*\}", "{}", asset(name))))

    prompts = classes("prompt_view.css") | classes("prompt_questions.css")
    assert len(prompts) > 20
    assert prompts & classes("style.css") == set()
