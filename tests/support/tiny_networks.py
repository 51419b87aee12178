"""Tiny random networks whose greedy answers vary with the whole prompt, and their plain answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

VOCABULARY: Final = 60


def network_of(kind: str, **changes: Any) -> Any:
    """A tiny random network whose greedy answers vary with the whole prompt."""
    import torch
    import transformers

    torch.manual_seed(3)
    heads = {"num_hidden_layers": 2, "num_attention_heads": 4}
    sizes = {"vocab_size": VOCABULARY, "hidden_size": 32, **heads}
    made = {
        "Llama": lambda: transformers.LlamaConfig(
            intermediate_size=64, num_key_value_heads=2, initializer_range=0.4, **sizes, **changes
        ),
        "GPT2": lambda: transformers.GPT2Config(vocab_size=VOCABULARY, n_embd=32, n_layer=2, n_head=4),
        "GPTNeoX": lambda: transformers.GPTNeoXConfig(intermediate_size=64, initializer_range=0.4, **sizes),
        "Bloom": lambda: transformers.BloomConfig(vocab_size=VOCABULARY, hidden_size=32, n_layer=2, n_head=4),
        "OPT": lambda: transformers.OPTConfig(ffn_dim=64, word_embed_proj_dim=32, **sizes),
        "Mistral": lambda: transformers.MistralConfig(
            intermediate_size=64, num_key_value_heads=2, sliding_window=4, initializer_range=0.4, **sizes
        ),
        "Mamba": lambda: transformers.MambaConfig(
            vocab_size=VOCABULARY, hidden_size=32, state_size=4, num_hidden_layers=2
        ),
        "Rwkv": lambda: transformers.RwkvConfig(
            vocab_size=VOCABULARY, hidden_size=32, attention_hidden_size=32, num_hidden_layers=2, context_length=256
        ),
    }
    config = made[kind]()
    config.eos_token_id = None  # answers are as long as they are allowed to be
    return transformers.AutoModelForCausalLM.from_config(config).eval()


def alone(network: Any, row: Sequence[int], length: int) -> tuple[int, ...]:
    """New tokens of plain ``generate`` for one prompt."""
    import torch

    ids = torch.tensor([list(row)])
    output = network.generate(
        ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=length, pad_token_id=0
    )
    return tuple(output[0, len(row) :].tolist())


@contextmanager
def tokens_read(network: Any) -> Iterator[list[int]]:
    """How many tokens go through a network, pass by pass, padding included."""
    seen: list[int] = []
    hook = network.get_input_embeddings().register_forward_hook(lambda _, given, __: seen.append(given[0].numel()))
    try:
        yield seen
    finally:
        hook.remove()
