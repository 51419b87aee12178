"""Images and audio for local models: tiny random networks with the real processors of their families."""

from __future__ import annotations

import base64
import io
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from msgspec.structs import replace

from ais_prompt.errors import MissingExtra, ModelError, PromptError
from ais_prompt.models import HuggingFaceChatModel, MediaModel, MediaProcessor, video_decoder
from ais_prompt.prompts import note_files
from ais_prompt.types import ChatMessage, Completion, LikelihoodQuery, Prompt, Request
from tests.support.media import wav
from tests.support.vision_model import (
    image_bytes,
    save_audio_model,
    save_qwen_model,
    save_smol_model,
    save_vision_model,
)

pytestmark = pytest.mark.torch


COLOURS = ("red", "blue", "green")


@pytest.fixture(scope="session")
def vision(tmp_path_factory: pytest.TempPathFactory) -> HuggingFaceChatModel:
    folder = tmp_path_factory.mktemp("vision")
    save_vision_model(folder)
    return HuggingFaceChatModel(str(folder), max_out_len=8, batch_size=8)


@pytest.fixture(scope="session")
def hearing(tmp_path_factory: pytest.TempPathFactory) -> HuggingFaceChatModel:
    folder = tmp_path_factory.mktemp("hearing")
    save_audio_model(folder)
    return HuggingFaceChatModel(str(folder), max_out_len=8)


@pytest.fixture(scope="session")
def images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("images")
    for colour in COLOURS:
        (folder / f"{colour}.png").write_bytes(image_bytes(colour))
    return folder


def image(source: str | Path) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": str(source)}}


def video(path: Path) -> dict[str, Any]:
    return {"type": "video_url", "video_url": {"url": f"file://{path}"}}


def said(*parts: str | dict[str, Any]) -> Prompt:
    content = tuple({"type": "text", "text": part} if isinstance(part, str) else part for part in parts)
    return note_files([ChatMessage("system", "look"), ChatMessage("user", content)])


def ask(model: HuggingFaceChatModel, prompts: Sequence[Prompt], **changes: Any) -> list[Completion]:
    decoding = replace(model.decoding(None, ()), **changes)
    return model.generate([Request(str(number), prompt, decoding) for number, prompt in enumerate(prompts)])


def texts(completions: Sequence[Completion]) -> list[str]:
    assert [completion.failure for completion in completions] == [None] * len(completions)
    return [completion.text for completion in completions]


def library_answer(model: HuggingFaceChatModel, parts: Sequence[dict[str, Any]]) -> str:
    """What transformers itself answers, by the recipe of its documentation."""
    from transformers import AutoModelForMultimodalLM, AutoProcessor

    processor = AutoProcessor.from_pretrained(model.path)
    network = AutoModelForMultimodalLM.from_pretrained(model.path)
    messages = [
        {"role": "system", "content": [{"type": "text", "text": "look"}]},
        {"role": "user", "content": list(parts)},
    ]
    inputs = processor.apply_chat_template(
        messages, add_generation_prompt=True, tokenize=True, return_dict=True, return_tensors="pt"
    )
    new = network.generate(**inputs, max_new_tokens=8, do_sample=False)[0, inputs["input_ids"].shape[1] :]
    text: str = processor.decode(new, skip_special_tokens=True)
    return text


def test_an_image_is_answered_as_by_the_library(vision: HuggingFaceChatModel, images: Path) -> None:
    assert isinstance(vision, MediaModel)
    assert vision.media_kinds() == {"image"}
    for colour in COLOURS:
        [answer] = texts(ask(vision, [said("what is", image(images / f"{colour}.png"), "this")]))
        text = [{"type": "text", "text": word} for word in ("what is", "this")]
        path = {"type": "image", "path": str(images / f"{colour}.png")}
        assert answer == library_answer(vision, [text[0], path, text[1]])


@pytest.mark.parametrize("save", [save_smol_model, save_qwen_model])
def test_other_networks_answer_as_by_the_library(save: Callable[[Path], None], images: Path, tmp_path: Path) -> None:
    from PIL import Image

    if save is save_qwen_model:
        pytest.importorskip("torchvision")
    save(tmp_path)
    model = HuggingFaceChatModel(str(tmp_path), max_out_len=8, batch_size=2)
    assert "image" in model.media_kinds()
    answers = texts(ask(model, [said("what is this", image(images / f"{colour}.png")) for colour in COLOURS]))
    assert len(set(answers)) > 1
    for colour, answer in zip(COLOURS, answers, strict=True):
        picture = Image.open(images / f"{colour}.png").convert("RGB")
        parts = [{"type": "text", "text": "what is this"}, {"type": "image", "image": picture}]
        assert answer == library_answer(model, parts)


def test_the_image_decides_the_answer(vision: HuggingFaceChatModel, images: Path) -> None:
    prompts = [said("what is this", image(images / f"{colour}.png")) for colour in COLOURS]
    assert len(set(texts(ask(vision, prompts)))) == len(COLOURS)


def test_answers_do_not_depend_on_the_batch(vision: HuggingFaceChatModel, images: Path) -> None:
    """No image, one or two; long and short texts; plain text next to messages."""
    red, blue, green = (image(images / f"{colour}.png") for colour in COLOURS)
    prompts = [
        said("what is this", red),
        "<user>what is this\n<assistant>",
        said("this is a much longer question about", blue, "and", green),
        said("no image"),
        said(green, "?"),
    ]
    together = ask(vision, prompts)
    assert texts(together) == [texts(ask(vision, [prompt]))[0] for prompt in prompts]
    assert [one.usage.prompt_tokens for one in together] == [vision.count_tokens(prompt) for prompt in prompts]


def test_media_do_not_change_later_answers_to_text(images: Path, vision: HuggingFaceChatModel) -> None:
    fresh = HuggingFaceChatModel(vision.path, max_out_len=8)
    prompts = ["<user>what is this\n<assistant>" + "and this " * 12, "<user>hi\n<assistant>"]
    before = texts(ask(fresh, prompts))
    texts(ask(fresh, [said("what is this", image(images / "red.png"))]))
    assert texts(ask(fresh, prompts)) == before


def test_equal_tokens_with_other_images_reuse_nothing(vision: HuggingFaceChatModel, images: Path) -> None:
    """The prompts are long enough that texts would go on from what was read before."""
    model = HuggingFaceChatModel(vision.path, max_out_len=8, prefix_cache_tokens=8192)
    prompts = [said(image(images / f"{colour}.png"), "what is this " * 8) for colour in COLOURS]
    assert len({tuple(model.encode(prompt)) for prompt in prompts}) == 1
    one_by_one = [texts(ask(model, [prompt]))[0] for prompt in prompts]
    without = HuggingFaceChatModel(vision.path, max_out_len=8, prefix_cache_tokens=0)
    assert one_by_one == [texts(ask(without, [prompt]))[0] for prompt in prompts]
    assert len(set(one_by_one)) == len(COLOURS)


def test_data_urls_and_files_are_the_same_image(vision: HuggingFaceChatModel, images: Path) -> None:
    inline = "data:image/png;base64," + base64.b64encode((images / "red.png").read_bytes()).decode()
    sources = [f"file://{images / 'red.png'}", str(images / "red.png"), inline]
    assert len(set(texts(ask(vision, [said("what", image(source)) for source in sources])))) == 1


def test_the_key_holds_the_digest_of_the_file(images: Path, tmp_path: Path) -> None:
    path = tmp_path / "x.png"
    contents = []
    for colour in ("red", "blue"):
        path.write_bytes(image_bytes(colour))
        contents.append(Request("s", said("what", image(path)), LikelihoodQuery()).content())
    assert contents[0] != contents[1]


def test_a_broken_file_fails_alone(vision: HuggingFaceChatModel, images: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.png"
    broken.write_bytes(image_bytes("red", (300, 300))[:60])
    good = said("what is this", image(images / "red.png"))
    first, bad, last = ask(vision, [good, said("what", image(broken)), good])
    assert texts([first, last]) == texts(ask(vision, [good])) * 2
    assert bad.failure is not None
    assert (bad.failure.kind, "broken.png" in bad.failure.message) == ("generation", True)
    with pytest.raises(PromptError, match=r"broken\.png"):
        vision.count_tokens(said("what", image(broken)))


def test_a_prompt_that_is_too_long_fails_alone(vision: HuggingFaceChatModel, images: Path) -> None:
    red = image(images / "red.png")
    fine, long = ask(vision, [said("what", red), said("what is this " * 90, red)])
    assert texts([fine]) == texts(ask(vision, [said("what", red)]))
    assert long.failure is not None
    assert long.failure.kind == "too_long"


def test_prompts_with_media_have_no_likelihood(vision: HuggingFaceChatModel, images: Path) -> None:
    request = Request("s", said("what", image(images / "red.png")), LikelihoodQuery(choices=("a", "b")))
    [(_, completion)] = vision.log_likelihoods([request])
    assert completion.failure is not None
    assert completion.failure.kind == "cannot_score"


def test_audio_is_answered_as_by_the_library(hearing: HuggingFaceChatModel, tmp_path: Path) -> None:
    import numpy
    import soundfile

    assert hearing.media_kinds() == {"audio"}
    files = []
    for pitch in (300, 900):
        path = tmp_path / f"{pitch}.wav"
        wave = numpy.sin(numpy.arange(4000) * 2 * numpy.pi * pitch / 8000)
        soundfile.write(path, numpy.stack([wave, wave], axis=1), 8000)
        files.append(path)
    inline = {"data": base64.b64encode(files[1].read_bytes()).decode(), "format": "wav"}
    parts = [
        {"type": "audio_url", "audio_url": {"url": str(files[0])}},
        {"type": "input_audio", "input_audio": inline},
        {"type": "input_audio", "input_audio": {"data": f"file://{files[1]}", "format": "wav"}},
    ]
    answers = texts(ask(hearing, [said("what is this", part) for part in parts]))
    assert answers[1] == answers[2] != answers[0]
    text = {"type": "text", "text": "what is this"}
    try:
        expected = [library_answer(hearing, [text, {"type": "audio", "path": str(file)}]) for file in files]
    except ImportError as error:  # the lowest versions of the library itself need librosa; ours does not
        pytest.skip(str(error).strip().splitlines()[0])
    assert answers[:2] == expected


def test_unsupported_media_are_known_before_the_run(
    vision: HuggingFaceChatModel, hearing: HuggingFaceChatModel, tmp_path: Path
) -> None:
    from tests.core.unit.models.huggingface.test_model import DEMO_MODEL

    assert HuggingFaceChatModel(str(DEMO_MODEL)).media_kinds() == frozenset()
    assert HuggingFaceChatModel("owner/name").media_kinds(offline=True) == {"image", "audio", "video"}
    assert vision.media_kinds(offline=True) == {"image"}
    with pytest.raises(PromptError, match="takes text, not messages"):
        HuggingFaceChatModel(str(DEMO_MODEL)).encode(said("what"))


def test_a_video_without_a_decoder_names_the_extra(
    vision: HuggingFaceChatModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("torchcodec", "torchcodec.decoders", "av"):
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr(MediaProcessor, "kinds", frozenset({"image", "video"}), raising=False)
    (tmp_path / "a.mp4").write_bytes(b"\0\0\0\x18ftypmp42" + bytes(16))
    with pytest.raises(MissingExtra, match="needs the package 'av'") as error:
        ask(vision, [said("what is this", video(tmp_path / "a.mp4"))])
    assert "[video]" in str(error.value.fix)
    without_ffmpeg, pyav = ModuleType("torchcodec"), ModuleType("av")
    monkeypatch.setitem(sys.modules, "torchcodec", without_ffmpeg)
    monkeypatch.setitem(sys.modules, "torchcodec.decoders", ModuleType("torchcodec.decoders"))
    monkeypatch.setitem(sys.modules, "av", pyav)
    without_ffmpeg.ffmpeg_major_version = None  # type: ignore[attr-defined]
    assert video_decoder() == "pyav"
    without_ffmpeg.ffmpeg_major_version = 7  # type: ignore[attr-defined]
    assert video_decoder() == "torchcodec"


def test_a_torchvision_of_another_build_is_named(
    vision: HuggingFaceChatModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "torchvision.py").write_text("raise RuntimeError('operator torchvision::nms does not exist')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "torchvision", raising=False)
    with pytest.raises(ModelError, match="beside this torch: operator torchvision::nms") as error:
        HuggingFaceChatModel(vision.path).media_kinds()
    assert "'+cpu'" in str(error.value.fix)


def test_a_video_is_decoded(tmp_path: Path) -> None:
    av = pytest.importorskip("av")
    pytest.importorskip("torchvision")
    from PIL import Image

    for colour in COLOURS:
        with av.open(str(tmp_path / f"{colour}.mp4"), "w") as file:
            stream = file.add_stream("mpeg4", rate=8)
            stream.width = stream.height = 56
            for _ in range(16):
                file.mux(stream.encode(av.VideoFrame.from_image(Image.new("RGB", (56, 56), colour))))
            file.mux(stream.encode())
    save_qwen_model(tmp_path / "model")
    model = HuggingFaceChatModel(str(tmp_path / "model"), max_out_len=8, batch_size=3)
    (tmp_path / "broken.mp4").write_bytes(b"\0\0\0\x18ftypmp42" + bytes(16))
    names = (*COLOURS, "broken")
    *answers, broken = ask(model, [said("what is this", video(tmp_path / f"{name}.mp4")) for name in names])
    assert len(set(texts(answers))) == len(COLOURS)
    assert broken.failure is not None


def test_an_image_is_rotated_as_its_exif_data_says(vision: HuggingFaceChatModel) -> None:
    from PIL import Image

    turned = Image.new("RGB", (16, 16), "red")
    turned.paste("blue", (0, 0, 16, 8))
    upright = turned.rotate(180)
    sources = []
    for picture, orientation in ((turned, 3), (upright, 1), (turned, 1)):
        stream, exif = io.BytesIO(), Image.Exif()
        exif[0x0112] = orientation
        picture.save(stream, "png", exif=exif)
        sources.append("data:image/png;base64," + base64.b64encode(stream.getvalue()).decode())
    first, second, third = texts(ask(vision, [said("what", image(source)) for source in sources]))
    assert first == second != third


def test_broken_audio_fails_alone(hearing: HuggingFaceChatModel) -> None:
    broken = base64.b64encode(wav()[:20]).decode()
    [bad] = ask(hearing, [said({"type": "input_audio", "input_audio": {"data": broken, "format": "wav"}})])
    assert bad.failure is not None
    assert "cannot be decoded as audio" in bad.failure.message
