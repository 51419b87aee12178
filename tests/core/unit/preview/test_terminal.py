"""Prompts for the eye: in colour, side by side where there is room, and nothing lost."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from msgspec.structs import replace
from rich.cells import cell_len
from rich.console import Console

from ais_prompt.checks import MisspeltPlaceholder, PromptWarning
from ais_prompt.preview import PromptView, preview_sample, print_sample
from ais_prompt.prompts import PromptList
from ais_prompt.types import ChatMessage
from tests.support.prompt_tasks import prompt_task

CHINESE = "中国的首都是哪座城市？请用一句话回答。" * 3
TEXT = PromptView("m", "d", "id", 0, "", "What?  ", "What?  ", (), "4", 3)
WARNING = PromptWarning("mind this", "datasets[0]", "do that")


def shown(*views: PromptView, width: int = 80, terminal: bool = True) -> str:
    """What is printed, with colours if to a terminal."""
    stream = io.StringIO()
    print_sample(views, Console(file=stream, width=width, force_terminal=terminal, color_system="standard"))
    return stream.getvalue()


def plain(*views: PromptView, width: int = 80, terminal: bool = True) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", shown(*views, width=width, terminal=terminal))


def messages(*said: tuple[str, Any]) -> PromptView:
    return replace(TEXT, prompt=tuple(ChatMessage(role, content) for role, content in said))


def test_a_text_ends_where_it_ends() -> None:
    lines = plain(TEXT).splitlines()
    assert lines[1:6] == [
        "row 0, sample id · no shots",
        "As sent: one text, 3 tokens",
        "What?  ⟨end⟩",
        "Gold, not sent",
        "4⟨end⟩",
    ]


def test_each_role_has_its_colour() -> None:
    said = [("system", "be kind"), ("user", "1+1=?"), ("assistant", "2"), ("ipython", "3")]
    text = shown(messages(*said))
    found = [re.search(rf"\x1b\[1;(\d+)m\[{role}\] \x1b\[0m\x1b\[(\d+)m{re.escape(what)}", text) for role, what in said]
    colours = [match.groups() for match in found if match]
    assert [label == words for label, words in colours] == [True] * 4
    assert len(set(colours)) == 4


def test_who_says_what_and_which_turns_are_examples() -> None:
    shot = PromptList([{"role": "HUMAN", "prompt": "a"}, {"role": "BOT", "prompt": "b"}]).as_section("ice")
    filled = (PromptList(["Hello!"]) + shot).as_section("begin") + PromptList([{"role": "HUMAN", "prompt": "c"}])
    lines = plain(replace(TEXT, filled=filled, prompt="all in one")).splitlines()
    assert lines[2:9] == [
        "Who says what",
        "[text] Hello!⟨end⟩",
        "[1 example, in full below]",
        "[HUMAN] c⟨end⟩",
        "As sent: one text, 3 tokens",
        "all in one⟨end⟩",
        "Gold, not sent",
    ]


def test_what_the_format_writes_is_dim_and_what_is_said_has_the_colour_of_its_role() -> None:
    meta = {
        "round": [{"role": "HUMAN", "begin": "H: ", "end": "\n"}, {"role": "BOT", "begin": "B: ", "generate": True}]
    }
    task = prompt_task({"round": [{"role": "HUMAN", "prompt": "{q}?"}, {"role": "BOT", "prompt": "{a}"}]}, meta=meta)
    text = shown(*preview_sample(task, 1, origins=True))
    sent = text[text.index("As sent") :]
    assert "\x1b[2mH: \x1b[0m\x1b[36m3+3\x1b[0m\x1b[36m?\x1b[0m" in sent
    assert "\x1b[2mB: \x1b[0m\x1b[2m⟨end⟩" in sent
    assert "\x1b[2m6\x1b[0m" in sent  # the gold is not sent


def test_a_misspelt_placeholder_comes_first_and_stands_out_in_the_prompt() -> None:
    mistake = MisspeltPlaceholder("{qq} is sent as it is", "datasets[0]", "did you mean {q}?", "{qq}")
    view = replace(TEXT, prompt="Is it {qq}?", warnings=(WARNING, mistake))
    assert "\x1b[1;7;33m{qq}" in shown(view)
    text = plain(view)
    assert text.index("{qq} is sent") < text.index("As sent") < text.index("mind this")


def test_media_are_told_in_a_few_words() -> None:
    note = {"mime": "image/png", "bytes": 2048, "sha256": "0123456789abcdef" * 4}
    url = {"type": "image_url", "image_url": {"url": "file://cat.png"}, "file": note}
    data = {"type": "audio_url", "audio_url": {"url": "data:audio/wav;base64," + "A" * 4000}}
    text = plain(messages(("user", ({"type": "text", "text": "What?"}, url, data))), terminal=False)
    shown = "  What?⟨end⟩\n  ⟨image, image/png, 2048 bytes, sha256 0123456789ab: file://cat.png⟩\n"
    assert shown + "  ⟨audio, audio/wav, 2.9 KiB: data:" in text
    assert len(text) < 500


def test_data_cannot_reach_the_terminal() -> None:
    evil = "[bold]x[/bold] \x1b[31m\r"
    text = plain(messages((evil, evil), ("user", ({"type": "text", "text": evil},))), terminal=False)
    assert text.count("[bold]x[/bold] \\x1b[31m\\r") == 3
    assert "\x1b" not in text


def test_labels_stand_side_by_side_where_there_is_room() -> None:
    views = [replace(TEXT, title=f"label {name}", prompt=f"Is it {name}?") for name in "AB"]
    wide = plain(*views).splitlines()
    assert any("label A" in line and "label B" in line for line in wide)
    assert any("Is it A?⟨end⟩" in line and "Is it B?⟨end⟩" in line for line in wide)
    for narrow in (plain(*views, width=60), plain(*views, terminal=False)):
        assert narrow.index("label A") < narrow.index("Is it A?") < narrow.index("label B") < narrow.index("Is it B?")
    assert all(text.count("Gold, not sent") == 1 for text in (narrow, "\n".join(wide)))


@pytest.mark.parametrize("width", [80, 160])
def test_columns_keep_every_character(width: int) -> None:
    text = f"{CHINESE}  x\n\n  {'long' * 60}\t."
    views = [replace(TEXT, title=name, filled=text, prompt=text) for name in "AB"]
    lines = plain(*views, width=width).splitlines()
    assert all(cell_len(line) <= width for line in lines)
    left = [line.partition("│")[0][1:] for line in lines if "│" in line][2:]
    said = "".join(left).replace(" ", "")
    assert said == text.replace(" ", "").replace("\n", "").replace("\t", "") + "⟨end⟩"


def test_warnings_are_printed_once_below_the_prompts() -> None:
    views = [replace(TEXT, title=name, warnings=(WARNING,)) for name in "AB"]
    text = plain(*views)
    assert text.count("Warning: mind this\n  where: datasets[0]\n  fix:   do that\n") == 1
    assert text.index("Gold, not sent") < text.index("Warning")
    assert "Warning" not in plain(TEXT)


def test_a_chat_model_is_shown_with_the_roles_of_the_template_and_their_fallback() -> None:
    filled = PromptList(
        [{"role": "SYSTEM", "fallback_role": "HUMAN", "prompt": "Be kind."}, {"role": "HUMAN", "prompt": "Hi"}]
    )
    lines = plain(replace(messages(("user", "Be kind.\nHi")), filled=filled)).splitlines()
    assert lines[2:7] == [
        "Who says what",
        "[SYSTEM, else HUMAN] Be kind.⟨end⟩",
        "[HUMAN] Hi⟨end⟩",
        "As sent: messages, 3 tokens",
        "[user] Be kind.",
    ]


def test_messages_in_openai_form_are_shown_once() -> None:
    filled = PromptList([{"role": "user", "content": "Hi"}])
    assert "Who says what" not in plain(replace(messages(("user", "Hi")), filled=filled))


@pytest.mark.parametrize(
    ("sent", "title"),
    [
        (("none", "none"), "Gold, not sent"),
        (("none", "earlier turns"), "Gold; that of earlier turns is sent, the last one is not"),
        (("every label", "every label"), "Gold; every label is sent in turn"),
        (("every label", "all"), "Gold, sent too"),
    ],
)
def test_the_title_of_the_gold_says_how_much_of_it_is_sent(sent: tuple[Any, Any], title: str) -> None:
    views = [replace(TEXT, title=f"turn {number}", gold_sent=use) for number, use in enumerate(sent)]
    assert title in plain(*views, terminal=False).splitlines()
