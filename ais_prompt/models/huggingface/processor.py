"""Images, audio and video for a local model, with the processor that belongs to it."""

from __future__ import annotations

import importlib
import io
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from ais_prompt.errors import ModelError
from ais_prompt.models.huggingface.library import first_line, hub_options, loading, local_path, media_class, quiet
from ais_prompt.types import ChatMessage, Prompt
from ais_prompt.utils import KINDS, local_file, part_bytes, require, require_installed

_FILES: Final = ("processor_config.json", "preprocessor_config.json")
"""A model folder with media has one of them."""
_READERS: Final[Mapping[str, Sequence[str]]] = {
    "image": ("image_processor",),
    "audio": ("feature_extractor", "audio_processor"),
    "video": ("video_processor",),
}
"""Kind of media → parts of a processor of transformers that read it."""


class MediaProcessor:
    """Turns messages with media into the inputs of a network.

    Args:
        processor: a processor of transformers.
        tokenizer: the model's tokenizer, padding on the left; it replaces that of the processor.
        path: folder or hub id of the processor.
        variables: further variables of its chat template.

    Raises:
        ModelError: neither has a chat template.
    """

    def __init__(self, processor: Any, tokenizer: Any, path: str, variables: Mapping[str, Any]) -> None:
        processor.tokenizer = tokenizer
        self._processor = processor
        self._variables = variables
        self._template = None if processor.chat_template else getattr(tokenizer, "chat_template", None)
        if not (processor.chat_template or self._template):
            raise ModelError(
                "neither the processor nor the tokenizer has a chat template",
                where=path,
                fix="use a model for chats, or add its chat_template.jinja to the folder",
            )
        if (reader := getattr(processor, "video_processor", None)) is not None:
            reader.fetch_videos = _frames
        self.kinds = frozenset(
            kind for kind, names in _READERS.items() if any(getattr(processor, name, None) for name in names)
        )

    def inputs(self, prompts: Sequence[Sequence[ChatMessage]]) -> Any:
        """Render prompts with the chat template, and read their media.

        Args:
            prompts: messages of each prompt; all prompts have the same kinds of media, any number of each.

        Returns:
            The inputs of the network as tensors: ``input_ids`` and ``attention_mask``, shape (prompts, longest prompt),
            padded on the left, and those of the media.

        Raises:
            ValueError: a file cannot be decoded, or the processor refuses the messages.
            DataError: a file cannot be read.
            MissingExtra: there is a video, and no package that decodes it.
        """
        conversations = [[self._message(message) for message in prompt] for prompt in prompts]
        try:
            with quiet():
                return self._processor.apply_chat_template(
                    conversations,
                    **self._variables,
                    chat_template=self._template,
                    add_generation_prompt=True,
                    tokenize=True,
                    return_dict=True,
                    return_tensors="pt",
                    padding=True,
                )
        except Exception as error:  # processors and templates can raise anything
            raise ValueError(f"the processor refuses the prompt: {first_line(error)}") from error

    def rows(self, inputs: Mapping[str, Any]) -> list[list[int]]:
        """Return the token ids of each prompt, without padding; a place in an image counts as a token."""
        pairs = zip(inputs["input_ids"], inputs["attention_mask"], strict=True)
        return [ids[mask.bool()].tolist() for ids, mask in pairs]

    def _message(self, message: ChatMessage) -> dict[str, Any]:
        # Templates of such models expect parts: some of them lose a content that is a text.
        content = message.content
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else map(self._part, content)
        return {"role": message.role, "content": list(parts)}

    def _part(self, part: Mapping[str, Any]) -> dict[str, Any]:
        kind = KINDS.get(str(part["type"]))
        if kind is None:
            return dict(part)
        if kind == "video":
            video_decoder()
            return {"type": kind, "path": _video(part)}
        content = part_bytes(part)
        assert content is not None  # the chat format refuses URLs
        name = str(part.get(str(part["type"])))[:100]
        read = _image if kind == "image" else self._audio
        try:
            return {"type": kind, kind: read(content)}
        except Exception as error:  # decoders can raise anything for a broken file
            raise ValueError(f"{name} cannot be decoded as {kind}: {first_line(error)}") from error

    def _audio(self, content: bytes) -> Any:
        """Read audio as one channel at the processor's sampling rate, float32, shape (samples,)."""
        import soundfile
        import soxr

        wave, rate = soundfile.read(io.BytesIO(content), dtype="float32", always_2d=True)
        reader = next(filter(None, (getattr(self._processor, name, None) for name in _READERS["audio"])))
        return soxr.resample(wave.mean(axis=1), rate, getattr(reader, "sampling_rate", 16_000))


_PACKAGES: Final = {"image": ("PIL",), "audio": ("soundfile", "soxr")}
"""Kind of media → the packages that read it."""


def load_processor(
    path: str,
    tokenizer: Callable[[], Any],
    options: Mapping[str, Any],
    template_variables: Mapping[str, Any],
    *,
    trust_remote_code: bool,
) -> MediaProcessor | None:
    """Load the processor of a model; None if the model takes text only.

    Args:
        path: a folder, a GGUF file (which has no processor), or else a hub id.
        tokenizer: returns the model's tokenizer, called if there is a processor.
        options: arguments of the model's ``from_pretrained``; those that choose a version count here too.
        template_variables: further variables of the chat template.
        trust_remote_code: run code that comes with the model.

    Raises:
        ModelError: the processor cannot be loaded.
        MissingExtra: a package that reads media is not installed.
    """
    folder = local_path(path)
    if folder is not None and not any((folder / name).exists() for name in _FILES):
        return None
    require("torch", extra="local", why="a local model with media")
    _check_torchvision(path)
    of_hub = hub_options(path, options, trust_remote_code=trust_remote_code)
    with loading("processor", path, local=folder is not None):
        from transformers import AutoProcessor

        source = str(folder or path)
        if media_class(source, of_hub) is None:
            return None
        try:
            made = AutoProcessor.from_pretrained(source, **of_hub)
        except ImportError as error:
            raise ModelError(
                f"the processor needs a package that is not installed: {first_line(error)}",
                where=path,
                fix="pip install 'ais-prompt[video]', or install the package that it names",
            ) from error
    if not hasattr(made, "tokenizer"):  # it is a tokenizer, or reads images without text
        return None
    processor = MediaProcessor(made, tokenizer(), path, template_variables)
    for kind in sorted(processor.kinds):
        for package in _PACKAGES.get(kind, ()):
            require_installed(package, extra="local", why="a local model with media")
    return processor


def _check_torchvision(path: str) -> None:
    """Raise a `ModelError` if torchvision is of another build than torch: transformers hides its error."""
    with suppress(ModuleNotFoundError):
        try:
            importlib.import_module("torchvision")
        except (RuntimeError, OSError) as error:
            raise ModelError(
                f"torchvision cannot be loaded beside this torch: {first_line(error)}",
                where=path,
                fix="install both from the same index; a torch '+cpu' needs a torchvision '+cpu'",
            ) from error


def video_decoder() -> str:
    """Return the decoder of transformers' ``load_video``: torchcodec, or PyAV, whose wheel holds FFmpeg.

    Raises:
        MissingExtra: neither can be loaded. torchcodec 0.16 loads without FFmpeg, but decodes nothing.
    """
    with suppress(Exception):  # without FFmpeg the import of older versions raises RuntimeError or OSError
        importlib.import_module("torchcodec.decoders")
        if getattr(importlib.import_module("torchcodec"), "ffmpeg_major_version", 0) is not None:
            return "torchcodec"
    require("av", extra="video", why="video for a local model")
    return "pyav"


def _frames(names: Any, sample_indices_fn: Callable[..., Any] | None = None) -> Any:
    """Decode the files of nested lists; replaces ``fetch_videos`` of a video processor, which knows torchcodec only."""
    from transformers.video_utils import load_video

    if isinstance(names, list):
        return list(zip(*(_frames(name, sample_indices_fn) for name in names), strict=True))
    return load_video(names, backend=video_decoder(), sample_indices_fn=sample_indices_fn)


def media_in(prompt: Prompt) -> frozenset[str] | None:
    """Return the kinds of media in messages, possibly none; None for a prompt that is one text."""
    if isinstance(prompt, str):
        return None
    parts = (part for message in prompt if not isinstance(message.content, str) for part in message.content)
    return frozenset(KINDS[part["type"]] for part in parts if part["type"] in KINDS)


def _image(content: bytes) -> Any:
    """Read an image in RGB, rotated as its EXIF data says."""
    from PIL import Image, ImageOps

    with Image.open(io.BytesIO(content)) as image:
        return ImageOps.exif_transpose(image).convert("RGB")


def _video(part: Mapping[str, Any]) -> str:
    file = local_file(part)
    if file is None:
        raise ValueError("a local model reads video from files only: write the video to a file, and give its path")
    return str(file.path)
