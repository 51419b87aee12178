"""Tiny models with media, made here: random weights, the ordinary networks and processors of transformers."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

TEMPLATE = (
    "{% for m in messages %}<{{ m['role'] }}>"
    "{% for p in m['content'] %}{% if p['type'] == 'text' %}{{ p['text'] }}{% else %}<{{ p['type'] }}>{% endif %}"
    "{% endfor %}\n{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
)
"""As templates of such models are: a content that is a text and not a list of parts is lost."""

TEXT_CONFIG: dict[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 256,
    "initializer_range": 0.4,
    "bos_token_id": 0,
    "eos_token_id": 1,
    "pad_token_id": 2,
}


def image_bytes(colour: str, size: tuple[int, int] = (20, 30)) -> bytes:
    """An image of one colour, as PNG."""
    from PIL import Image

    stream = io.BytesIO()
    Image.new("RGB", size, colour).save(stream, "png")
    return stream.getvalue()


def save_vision_model(folder: Path) -> None:
    """A LLaVA: CLIP and Llama, an image is 4 tokens."""
    import torch
    from transformers import CLIPImageProcessor, CLIPVisionConfig, LlamaConfig, LlavaConfig, LlavaProcessor
    from transformers import LlavaForConditionalGeneration as Llava

    tokenizer = _tokenizer("<image>")
    processor = LlavaProcessor(
        image_processor=CLIPImageProcessor(size={"shortest_edge": 16}, crop_size={"height": 16, "width": 16}),
        tokenizer=tokenizer,
        patch_size=8,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        image_token="<image>",
        chat_template=TEMPLATE,
    )
    vision = CLIPVisionConfig(
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        image_size=16,
        patch_size=8,
        projection_dim=16,
        initializer_range=0.4,
    )
    text = LlamaConfig(vocab_size=len(tokenizer), **TEXT_CONFIG)
    torch.manual_seed(1)
    image_token = tokenizer.convert_tokens_to_ids("<image>")
    network = Llava(LlavaConfig(vision_config=vision, text_config=text, image_token_index=image_token))
    network.save_pretrained(folder)
    processor.save_pretrained(folder)


def save_audio_model(folder: Path) -> None:
    """A Qwen2-Audio, which hears at most one second at 16 kHz."""
    import torch
    from transformers import Qwen2AudioConfig, Qwen2AudioProcessor, WhisperFeatureExtractor
    from transformers import Qwen2AudioForConditionalGeneration as Qwen2Audio

    tokenizer = _tokenizer("<audio>", "<|audio_bos|>", "<|audio_eos|>")
    extractor = WhisperFeatureExtractor(feature_size=8, sampling_rate=16_000, chunk_length=1)
    processor = Qwen2AudioProcessor(extractor, tokenizer, chat_template=TEMPLATE, audio_token="<audio>")
    audio = {
        "num_mel_bins": 8,
        "encoder_layers": 1,
        "encoder_attention_heads": 2,
        "encoder_ffn_dim": 16,
        "d_model": 16,
        "max_source_positions": 50,
    }
    text = {"model_type": "qwen2", "vocab_size": len(tokenizer), **TEXT_CONFIG}
    torch.manual_seed(1)
    audio_token = tokenizer.convert_tokens_to_ids("<audio>")
    network = Qwen2Audio(Qwen2AudioConfig(audio_config=audio, text_config=text, audio_token_index=audio_token))
    network.save_pretrained(folder)
    processor.save_pretrained(folder)


def _tokenizer(*special: str) -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    names = ["<s>", "</s>", "<pad>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=names, initial_alphabet=alphabet, show_progress=False)
    backend.train_from_iterator(["what is this"] * 4, trainer)
    known = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>"}
    # They come last, as in models that learned to see after they could read.
    return PreTrainedTokenizerFast(tokenizer_object=backend, extra_special_tokens=list(special), **known)
