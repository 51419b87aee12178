"""Trains the demo model, a Llama of well under a million weights that can add, subtract and choose; about TIME.

    python -m tools.train_demo_model               # train, write configs/data/demo_model, evaluate
    python -m tools.train_demo_model --evaluate    # evaluate the shipped model only

The model, its tokenizer and its chat template are plain Hugging Face files, without code of their own.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from tools.demo_documents import BOS, EOS, PAD, TURN_END, TURN_START, Document, draw_document

MODEL_DIR = Path(__file__).parents[1] / "configs" / "data" / "demo_model"
SEED = 7
THREADS = 2
VOCAB_SIZE = 512
MAX_POSITIONS = 8192

STEPS = 3000
TOKENS_PER_BATCH = 2048
POOL_BATCHES = 16
PEAK_LR = 3e-3
MUON_LR = 0.02

CHAT_TEMPLATE = (
    "{{ bos_token }}"
    "{% for message in messages %}"
    "{% if message['role'] not in ('system', 'user', 'assistant') %}"
    "{{ raise_exception('unknown role: ' ~ message['role']) }}"
    "{% endif %}"
    "{{ '<|im_start|>' ~ message['role'] ~ '\n' ~ message['content'] ~ '<|im_end|>\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def build_tokenizer() -> PreTrainedTokenizerFast:
    """A byte-level BPE tokenizer: any text round-trips; each digit, blank, newline and sign is a token of its own.

    Only letters are merged. So the tokens of a prompt do not depend on what follows: "A:" + " 68", "A: " + "68"
    and "A: 68" are the same tokens, and a label is the same token in front of its option and behind "Answer:".
    """
    tokenizer = Tokenizer(models.BPE())
    pieces = pre_tokenizers.Split(Regex(r"\p{L}+|[^\p{L}]"), behavior="isolated")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pieces, pre_tokenizers.ByteLevel(False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCAB_SIZE,
        special_tokens=[BOS, EOS, PAD, TURN_START, TURN_END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    rng = Random(SEED)
    tokenizer.train_from_iterator((draw_document(rng).text for _ in range(2000)), trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{BOS} $A", pair=f"{BOS} $A $B", special_tokens=[(BOS, tokenizer.token_to_id(BOS))]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=BOS,
        eos_token=EOS,
        pad_token=PAD,
        additional_special_tokens=[TURN_START, TURN_END],
        chat_template=CHAT_TEMPLATE,
        model_max_length=MAX_POSITIONS,
        padding_side="left",
        clean_up_tokenization_spaces=False,
    )


def build_model(vocab_size: int) -> LlamaForCausalLM:
    config = LlamaConfig(
        vocab_size=vocab_size,
        hidden_size=128,
        intermediate_size=384,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=MAX_POSITIONS,
        tie_word_embeddings=True,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=2,
    )
    return LlamaForCausalLM(config)


def encode(tokenizer, document):
    ids, weights = [], []
    for piece in document.pieces:
        t = tok(tokenizer, piece.text)
        ids += t
        weights += [piece.weight] * len(t)
    return ids, weights

@lru_cache(100000)
def tok(tokenizer, text):
    return tokenizer.encode(text, add_special_tokens=False)


def batches(tokenizer, rng):
    while True:
        docs = []
        total = 0
        while total < TOKENS_PER_BATCH * POOL_BATCHES:
            d = encode(tokenizer, draw_document(rng))
            docs.append(d)
            total += len(d[0])
        docs.sort(key=lambda d: len(d[0]))
        out, cur = [], []
        for d in docs:
            if cur and (len(cur) + 1) * len(d[0]) > TOKENS_PER_BATCH:
                out.append(cur)
                cur = []
            cur.append(d)
        out.append(cur)
        rng.shuffle(out)
        for b in out:
            n = max(len(d[0]) for d in b)
            ids = torch.tensor([d[0] + [2] * (n - len(d[0])) for d in b])
            w = torch.tensor([d[1] + [0.0] * (n - len(d[0])) for d in b])
            yield ids, w
