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


def save_smol_model(folder: Path) -> None:
    """An Idefics3, the network of SmolVLM-256M: SigLIP and Llama, an image is 4 tokens between 3 marks."""
    import torch
    from transformers import Idefics3Config, Idefics3ImageProcessor, Idefics3Processor
    from transformers import Idefics3ForConditionalGeneration as Idefics3

    tiles = [f"<row_{row}_col_{column}>" for row in (1, 2) for column in (1, 2)]
    tokenizer = _tokenizer("<fake_token_around_image>", "<image>", "<end_of_utterance>", "<global-img>", *tiles)
    size = {"longest_edge": 32}
    images = Idefics3ImageProcessor(size=size, max_image_size=size, do_image_splitting=False)
    processor = Idefics3Processor(images, tokenizer, image_seq_len=4, chat_template=TEMPLATE)
    vision = {
        "hidden_size": 16,
        "intermediate_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "image_size": 32,
        "patch_size": 8,
        "initializer_range": 0.4,
    }
    text = {"model_type": "llama", "vocab_size": len(tokenizer), **TEXT_CONFIG}
    image = tokenizer.convert_tokens_to_ids("<image>")
    torch.manual_seed(1)
    network = Idefics3(
        Idefics3Config(vision_config=vision, text_config=text, image_token_id=image, scale_factor=2, pad_token_id=2)
    )
    network.save_pretrained(folder)
    processor.save_pretrained(folder)


def save_qwen_model(folder: Path) -> None:
    """A Qwen2-VL, whose images keep their shape; needs torchvision, as its processor of videos does."""
    import torch
    from transformers import Qwen2VLConfig, Qwen2VLImageProcessor, Qwen2VLProcessor, Qwen2VLVideoProcessor
    from transformers import Qwen2VLForConditionalGeneration as Qwen2VL

    names = {"image": "<|image_pad|>", "video": "<|video_pad|>", "start": "<|vision_start|>", "end": "<|vision_end|>"}
    tokenizer = _tokenizer(*names.values())
    sizes: dict[str, Any] = {"size": {"shortest_edge": 28 * 28, "longest_edge": 56 * 56}}
    shape: dict[str, Any] = {"patch_size": 14, "temporal_patch_size": 2}
    template = TEMPLATE.replace("<{{ p['type'] }}>", "<|vision_start|><|{{ p['type'] }}_pad|><|vision_end|>")
    processor = Qwen2VLProcessor(
        Qwen2VLImageProcessor(**sizes, **shape, merge_size=2),
        tokenizer,
        Qwen2VLVideoProcessor(**sizes, **shape, merge_size=2),
        chat_template=template,
    )
    rope = {"rope_type": "default", "rope_theta": 10_000.0, "mrope_section": [1, 1, 2]}
    text = {"vocab_size": len(tokenizer), "rope_parameters": rope, **TEXT_CONFIG}
    vision = {"depth": 2, "embed_dim": 16, "hidden_size": 32, "num_heads": 2, "mlp_ratio": 2, "spatial_merge_size": 2}
    ids = {name: tokenizer.convert_tokens_to_ids(token) for name, token in names.items()}
    torch.manual_seed(1)
    network = Qwen2VL(
        Qwen2VLConfig(
            text_config=text,
            vision_config={**vision, **shape, "initializer_range": 0.4},
            image_token_id=ids["image"],
            video_token_id=ids["video"],
            vision_start_token_id=ids["start"],
            vision_end_token_id=ids["end"],
        )
    )
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
