"""Media parts through the chat formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ais_prompt.errors import DataError, PromptError
from ais_prompt.prompts import ApiFormat, LocalFilesFormat, PromptList, make_chat_format
from ais_prompt.types import ChatMessage, prompt_to_json
from tests.support.media import PNG

TEXT = {"type": "text", "text": "What is it?"}
IMAGE = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}


def dialogue(*parts: Any, begin: Any = ()) -> PromptList:
    turn = {"role": "HUMAN", "prompt_mm": list(parts)}
    return PromptList(begin).as_section("begin") + PromptList([turn]).as_section("round")


def sent(prompt: PromptList, meta: Any = None) -> Any:
    return make_chat_format("messages", meta, lambda: None).render(prompt, "gen")


def test_parts_become_the_content_of_a_message() -> None:
    assert sent(dialogue(TEXT, IMAGE)) == (ChatMessage("user", (TEXT, IMAGE)),)


def test_a_neighbour_of_the_same_role_becomes_a_text_part() -> None:
    kind = {"role": "SYSTEM", "fallback_role": "HUMAN", "prompt": "Be kind."}
    meta = {"round": [{"role": "HUMAN", "api_role": "HUMAN"}, {"role": "BOT", "api_role": "BOT", "generate": True}]}
    assert sent(dialogue(TEXT, IMAGE, begin=[kind]), meta) == (
        ChatMessage("user", ({"type": "text", "text": "Be kind."}, TEXT, IMAGE)),
    )


def test_a_default_prompt_of_the_role_hides_the_parts() -> None:
    meta = {"round": [{"role": "HUMAN", "api_role": "HUMAN", "prompt": "default"}]}
    assert sent(dialogue(IMAGE), meta) == (ChatMessage("user", "default"),)


def test_without_a_meta_template_media_alone_have_no_speaker() -> None:
    bare = ApiFormat(None)
    assert bare.turns(dialogue(TEXT, IMAGE), "gen") == (TEXT, IMAGE)
    with pytest.raises(PromptError, match="no role for the media"):
        bare.render(dialogue(TEXT, IMAGE), "gen")


def test_without_a_meta_template_texts_and_media_are_one_message() -> None:
    prompt = dialogue(TEXT, IMAGE, begin=["Hi", {"role": "SYSTEM", "prompt": "Be kind."}, ""])
    texts = ({"type": "text", "text": "Hi"}, {"type": "text", "text": "Be kind."})
    assert ApiFormat(None).render(prompt, "gen") == (ChatMessage("user", (*texts, TEXT, IMAGE)),)


@pytest.mark.parametrize("meta", [None, {"round": [{"role": "HUMAN"}]}])
def test_a_model_that_continues_text_takes_no_media(meta: Any) -> None:
    with pytest.raises(PromptError, match="no images"):
        make_chat_format("text", meta, lambda: None).render(dialogue(IMAGE), "gen")


def chat_template_model(*kinds: str) -> Any:
    return make_chat_format("chat_template", None, lambda: None, media_kinds=lambda: kinds)


@pytest.mark.parametrize("part", [TEXT, IMAGE])
def test_a_model_without_a_processor_takes_no_media(part: Any) -> None:
    with pytest.raises(PromptError, match="no images") as caught:
        chat_template_model().render(dialogue(part), "gen")
    assert caught.value.fix == "use OpenAIChatModel, or HuggingFaceChatModel with a model that has a processor"


def test_a_model_with_a_processor_is_given_messages(tmp_path: Path) -> None:
    path = tmp_path / "cat.png"
    path.write_bytes(PNG)
    local = {"type": "image_url", "image_url": {"url": str(path)}}
    begin = [{"role": "SYSTEM", "prompt": "Be kind."}]
    system, user = chat_template_model("image").render(dialogue(TEXT, local, begin=begin), "gen")
    assert system == ChatMessage("system", "Be kind.")
    assert user.content[0] == TEXT
    assert user.content[1]["file"] == {
        "mime": "image/png",
        "bytes": len(PNG),
        "sha256": user.content[1]["file"]["sha256"],
    }


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (IMAGE, "downloads nothing, but the prompt has the URL 'https://example.org/a.png'"),
        ({"type": "audio_url", "audio_url": {"url": "a.wav"}}, "takes image, but the prompt has audio"),
        ({"type": "video_url", "video_url": {"url": "a.mp4"}}, "takes image, but the prompt has video"),
        ({"type": "hologram", "hologram": "a"}, "not accept parts of the type 'hologram'"),
    ],
)
def test_what_a_local_model_is_not_given(part: Any, words: str) -> None:
    with pytest.raises(PromptError, match=words) as caught:
        chat_template_model("image").render(dialogue(TEXT, part), "gen")
    assert caught.value.fix


def test_prompts_with_media_state_no_label(tmp_path: Path) -> None:
    with pytest.raises(PromptError, match="log-likelihoods are not"):
        chat_template_model("image").render(dialogue(TEXT), "ppl")


def test_local_files_are_noted_beside_their_part(tmp_path: Path) -> None:
    path = tmp_path / "cat.jpg"
    path.write_bytes(PNG)
    local = {"type": "image_url", "image_url": {"url": f"file://{path}"}}
    assert LocalFilesFormat(ApiFormat(None)).render("x", "gen") == (ChatMessage("user", "x"),)
    chat = LocalFilesFormat(make_chat_format("messages", None, lambda: None))
    message = prompt_to_json(chat.render(dialogue(TEXT, local, IMAGE), "gen"))[0]
    assert isinstance(message, dict)
    text, noted, remote = message["content"]
    assert (text, remote) == (TEXT, IMAGE)
    assert noted.pop("file")["mime"] == "image/png"
    assert noted == local


def test_a_missing_file_and_an_empty_message_are_refused(tmp_path: Path) -> None:
    chat = LocalFilesFormat(make_chat_format("messages", None, lambda: None))
    with pytest.raises(DataError, match="cannot be read"):
        chat.render(dialogue({"type": "image_url", "image_url": {"url": f"{tmp_path}/no.png"}}), "gen")
    with pytest.raises(PromptError, match="has no parts"):
        chat.render(dialogue(), "gen")
    with pytest.raises(PromptError, match="the user message has 'text' in place of a part"):
        chat.render(dialogue("text", "image"), "gen")
