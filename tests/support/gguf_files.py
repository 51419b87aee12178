"""GGUF files of a model folder, as llama.cpp writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DEMO_MODEL = Path(__file__).parents[2] / "configs" / "data" / "demo_model"
END_OF_TURN = 4


def write_gguf(file: Path, folder: Path = DEMO_MODEL) -> Path:
    """Write a Llama with a byte-level tokenizer as GGUF, in float32; the answer ends with the end of a turn."""
    import gguf
    from safetensors.numpy import load_file

    config = json.loads((folder / "config.json").read_text("utf-8"))
    writer = gguf.GGUFWriter(file, "llama")
    writer.add_name("demo")
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_rope_dimension_count(config["head_dim"])
    writer.add_rope_freq_base(config["rope_parameters"]["rope_theta"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    _add_tokenizer(writer, folder)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config["num_hidden_layers"])
    for name, weights in load_file(folder / "model.safetensors").items():
        if name.endswith(("q_proj.weight", "k_proj.weight")):
            weights = _interleaved(weights, config["num_attention_heads"])
        writer.add_tensor(names.get_name(name, try_suffixes=(".weight",)), weights)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


def _add_tokenizer(writer: Any, folder: Path) -> None:
    from gguf import TokenType

    tokenizer = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    special = {token["id"] for token in tokenizer["added_tokens"]}
    tokens = sorted(tokenizer["model"]["vocab"], key=tokenizer["model"]["vocab"].get)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types([TokenType.CONTROL if id in special else TokenType.NORMAL for id in range(len(tokens))])
    writer.add_token_merges([" ".join(pair) for pair in tokenizer["model"]["merges"]])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(END_OF_TURN)
    writer.add_pad_token_id(2)
    writer.add_add_bos_token(True)
    writer.add_chat_template((folder / "chat_template.jinja").read_text("utf-8"))


def _interleaved(weights: Any, heads: int) -> Any:
    """Order the rows of each head as GGUF does: both halves of a rotary pair side by side."""
    rows, columns = weights.shape
    return weights.reshape(heads, 2, rows // heads // 2, columns).swapaxes(1, 2).reshape(rows, columns)
