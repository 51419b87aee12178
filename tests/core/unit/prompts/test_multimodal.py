"""Dialogues with images, audio and video."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.errors import PromptError
from ais_prompt.prompts import END, STARTS, MMPromptTemplate, PromptBuilder, PromptTemplate
from ais_prompt.types import Sample

PARTS: dict[str, Any] = {
    "text": {"type": "text", "text": "{question}"},
    "image": {"type": "image_url", "image_url": {"url": "file://{image}"}},
    "video": {"type": "video_url", "video_url": {"url": "file://{video}"}},
    "audio": {"type": "audio_url", "audio_url": "file://{audio}"},
}


def template(**parts: Any) -> MMPromptTemplate:
    return MMPromptTemplate({"round": [{"role": "HUMAN", "prompt_mm": {**PARTS, **parts}}]})


def piece(modality: str, value: str) -> str:
    return STARTS[modality] + value + END


def parts_of(asked: MMPromptTemplate, content: str, **columns: Any) -> Any:
    [turn] = asked.render({"content": content, **columns})
    return turn["prompt_mm"]  # type: ignore[index]


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def image(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}


def test_pieces_become_parts_in_their_order() -> None:
    content = piece("image", "a b.png") + piece("text", "比较") + piece("audio", "c.wav") + piece("video", "d.mp4")
    assert parts_of(template(), content) == [
        image("file://a b.png"),
        text("比较"),
        {"type": "audio_url", "audio_url": "file://c.wav"},
        {"type": "video_url", "video_url": {"url": "file://d.mp4"}},
    ]


def test_the_last_piece_may_be_open() -> None:
    assert parts_of(template(), STARTS["text"] + "open end") == [text("open end")]


@pytest.mark.parametrize("value", ["https://example.org/a.png", "file:///a.png", "data:image/png;base64,AAAA"])
def test_a_value_with_a_scheme_is_used_as_it_is(value: str) -> None:
    assert parts_of(template(), piece("image", value)) == [image(value)]


def test_base64_comes_behind_the_prefix_of_the_template() -> None:
    asked = template(image=image("data:image/png;base64,{image}"))
    assert parts_of(asked, piece("image", "iVBORw==")) == [image("data:image/png;base64,iVBORw==")]


def test_input_audio_has_its_data_filled_and_its_format_kept() -> None:
    entry = {"type": "input_audio", "input_audio": {"data": "{audio}", "format": "wav"}}
    filled = parts_of(template(audio=entry), piece("audio", "UklGRg=="))
    assert filled == [{"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}]


def test_other_columns_are_filled_in_texts() -> None:
    asked = MMPromptTemplate(
        {
            "begin": ["{hint}", {"role": "SYSTEM", "prompt": "Hint: {hint}"}],
            "round": [{"role": "HUMAN", "prompt_mm": {"text": text("{hint}\nQuestion: {question} {image}")}}],
        }
    )
    filled = asked.render({"content": piece("text", "What {hint}?"), "hint": "an animal"})
    assert filled == [
        "an animal",
        {"role": "SYSTEM", "prompt": "Hint: an animal"},
        {"role": "HUMAN", "prompt_mm": [text("an animal\nQuestion: What {hint}? {image}")]},
    ]


def test_the_markers_may_stand_in_another_column() -> None:
    [turn] = template().render({"content": "plain", "question": piece("text", "q")})
    assert turn == {"role": "HUMAN", "prompt_mm": [text("q")]}


def test_markers_in_two_columns_are_refused_unless_one_is_content() -> None:
    both = {"question": piece("text", "q"), "options": piece("text", "o")}
    with pytest.raises(PromptError, match="question, options have markers"):
        template().render(both)
    [turn] = template().render({**both, "content": piece("text", "c")})
    assert turn == {"role": "HUMAN", "prompt_mm": [text("c")]}


def test_a_row_without_markers_and_without_content_is_refused() -> None:
    with pytest.raises(PromptError, match=r"no column has markers.*question, answer"):
        template().render({"question": "q", "answer": "a"})


def test_text_that_no_marker_introduces_is_lost_and_that_is_said(caplog: pytest.LogCaptureFixture) -> None:
    content = "Look: " + piece("image", "lost.png") + piece("text", "q")
    with caplog.at_level(logging.WARNING):
        assert parts_of(template(), content) == [text("q")]
    assert "Look: <AIS_IMAGE_START>lost.png" in caplog.text


def test_the_gold_is_withheld() -> None:
    asked = MMPromptTemplate({"round": [{"role": "HUMAN", "prompt_mm": PARTS}, {"role": "BOT", "prompt": "{answer}"}]})
    builder = PromptBuilder(None, asked, output_column="answer")
    row = {"content": piece("text", "q"), "answer": piece("text", "gold")}
    assert builder.generation(Sample("s", 0, row, row["answer"]), []) == [
        {"role": "HUMAN", "prompt_mm": [text("q")]},
        {"role": "BOT", "prompt": "{answer}"},
    ]


def test_its_media_are_all_parts_but_the_texts() -> None:
    row = {"content": piece("text", "q") + piece("image", "a.png")}
    assert template().media(row) == [image("file://a.png")]


def test_a_modality_that_the_template_lacks_is_refused() -> None:
    asked = MMPromptTemplate({"round": [{"role": "HUMAN", "prompt_mm": {"text": text("{question}")}}]})
    with pytest.raises(PromptError, match="a piece of image, but prompt_mm has only text"):
        parts_of(asked, piece("image", "a.png"))


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ("text", "must be a mapping"),
        ({"round": [{"role": "HUMAN", "prompt": "{question}"}]}, "no turn has prompt_mm"),
        ({"round": [{"role": "HUMAN", "prompt": "x", "prompt_mm": PARTS}]}, "both prompt and prompt_mm"),
        ({"round": [{"role": "HUMAN", "prompt_mm": {"smell": {}}}]}, "'smell', which is not a modality"),
        ({"round": [{"role": "HUMAN", "prompt_mm": {"text": {"type": "text"}}}]}, "no 'type' with a value"),
        ({"round": [{"role": "HUMAN", "prompt_mm": "{image}"}]}, "must be a mapping from modality"),
    ],
)
def test_a_template_of_the_wrong_shape_is_refused(shape: Any, words: str) -> None:
    with pytest.raises(PromptError, match=words):
        MMPromptTemplate(shape)


MARKS = [END, *STARTS.values()]
VALUES = st.text().filter(lambda value: not any(mark in value for mark in MARKS))


@given(st.lists(st.tuples(st.sampled_from(["text", "image"]), VALUES), min_size=1))
def test_every_value_appears_exactly_as_it_is(pieces: list[tuple[str, str]]) -> None:
    asked = template(image=image("{image}"))
    content = "".join(piece(modality, value) for modality, value in pieces)
    expected = [text(value) if modality == "text" else image(value) for modality, value in pieces]
    assert parts_of(asked, content) == expected


PICTURE = {"role": "HUMAN", "prompt_mm": PARTS}
CAT = {"content": piece("image", "cat.png") + piece("text", "What?"), "animal": "a cat"}
DOG = {"content": piece("text", "And this?") + piece("image", "dog.png"), "animal": "a dog"}


def few_shot(ice: Any) -> PromptBuilder:
    asked = MMPromptTemplate({"begin": ["</E>"], "round": [PICTURE]}, ice_token="</E>")
    return PromptBuilder(ice, asked, output_column="animal")


def test_examples_are_shown_with_their_media_and_answers() -> None:
    ice = MMPromptTemplate({"round": [PICTURE, {"role": "BOT", "prompt": "{animal}"}]})
    assert few_shot(ice).generation(Sample("d", 1, DOG), [Sample("c", 0, CAT)]) == [
        {"role": "HUMAN", "prompt_mm": [image("file://cat.png"), text("What?")]},
        {"role": "BOT", "prompt": "a cat"},
        "",
        {"role": "HUMAN", "prompt_mm": [text("And this?"), image("file://dog.png")]},
    ]


def test_examples_without_media_are_shown_too() -> None:
    ice = PromptTemplate({"round": [{"role": "HUMAN", "prompt": "Say {animal}"}]})
    filled = few_shot(ice).generation(Sample("d", 1, DOG), [Sample("c", 0, CAT)])
    assert filled[0] == {"role": "HUMAN", "prompt": "Say a cat"}


def test_examples_that_are_text_fit_into_the_prompt_of_a_turn() -> None:
    asked = MMPromptTemplate(
        {"begin": [{"role": "SYSTEM", "prompt": "For instance </E>Now:"}], "round": [PICTURE]}, ice_token="</E>"
    )
    builder = PromptBuilder(PromptTemplate("{animal}"), asked, output_column="animal")
    filled = builder.generation(Sample("d", 1, DOG), [Sample("c", 0, CAT)])
    assert filled[0] == {"role": "SYSTEM", "prompt": "For instance a cat\nNow:"}


def test_media_of_examples_are_known_before_anything_is_asked() -> None:
    ice = MMPromptTemplate({"round": [PICTURE]})
    assert list(few_shot(ice).example_media(Sample("c", 0, CAT))) == [image("file://cat.png")]
    only_in_examples = PromptBuilder(ice, PromptTemplate("</E>", ice_token="</E>"), output_column=None)
    assert only_in_examples.may_hold_media


def test_a_template_without_its_token_is_refused() -> None:
    asked = MMPromptTemplate({"round": [PICTURE]}, ice_token="</E>")
    PromptBuilder(None, asked, output_column=None, shots_expected=False)
    with pytest.raises(PromptError, match="is not in 'template': the examples would be lost"):
        PromptBuilder(None, asked, output_column=None)
