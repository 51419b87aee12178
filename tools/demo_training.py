"""The demo model and its training: a Llama of under a million weights, and a plain loop on the processor."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch.nn.utils import clip_grad_norm_
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from tools.demo_documents import Document, draw_document

MAX_POSITIONS = 8192
POOL_BATCHES = 16  # documents are sorted by length within so many batches, so that little of a batch is padding


@dataclass(frozen=True)
class Recipe:
    """What decides the result of a training, besides the documents."""

    seed: int = 7
    steps: int = 3000
    tokens_per_batch: int = 4096
    warmup_steps: int = 50
    matrix_lr: float = 0.02  # Muon, the weight matrices of the layers
    vector_lr: float = 0.003  # AdamW, the embedding and the norms
    weight_decay: float = 0.1
    hidden_size: int = 128
    layers: int = 4
    heads: int = 4


@dataclass(frozen=True)
class Batch:
    """Token ids and the weight of each token in the loss; both of shape (documents, tokens), padded on the right."""

    ids: Tensor
    weights: Tensor


def build_model(tokenizer: PreTrainedTokenizerFast, recipe: Recipe) -> LlamaForCausalLM:
    torch.manual_seed(recipe.seed)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=recipe.hidden_size,
        intermediate_size=3 * recipe.hidden_size,
        num_hidden_layers=recipe.layers,
        num_attention_heads=recipe.heads,
        num_key_value_heads=recipe.heads,
        max_position_embeddings=MAX_POSITIONS,
        tie_word_embeddings=True,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    return LlamaForCausalLM(config)


def encode(tokenizer: PreTrainedTokenizerFast, document: Document) -> tuple[list[int], list[float]]:
    """The tokens of a document and the weight of each; piece by piece, which gives the tokens of the whole text."""
    pieces = tokenizer([piece.text for piece in document.pieces if piece.text], add_special_tokens=False)["input_ids"]
    weights = [piece.weight for piece in document.pieces if piece.text]
    ids = [token for piece in pieces for token in piece]
    return ids, [weight for piece, weight in zip(pieces, weights, strict=True) for _ in piece]


def draw_batches(tokenizer: PreTrainedTokenizerFast, recipe: Recipe) -> Iterator[Batch]:
    """Batches without end, of documents of similar length and at most `tokens_per_batch` tokens with the padding."""
    rng = Random(recipe.seed)
    while True:
        pool: list[tuple[list[int], list[float]]] = []
        total = 0
        while total < recipe.tokens_per_batch * POOL_BATCHES:
            pool.append(encode(tokenizer, draw_document(rng)))
            total += len(pool[-1][0])
        batches = list(_group(sorted(pool, key=lambda row: len(row[0])), recipe.tokens_per_batch))
        rng.shuffle(batches)
        for rows in batches:
            yield _pad(rows, tokenizer.pad_token_id)


def _group(rows, most_tokens):
    group = []
    for row in rows:
        if group and (len(group) + 1) * len(row[0]) > most_tokens:
            yield group
            group = []
        group.append(row)
    yield group


def _pad(rows, pad_id: int) -> Batch:
    longest = max(len(ids) for ids, _ in rows)
    ids = torch.tensor([ids + [pad_id] * (longest - len(ids)) for ids, _ in rows])
    weights = torch.tensor([weights + [0.0] * (longest - len(weights)) for _, weights in rows])
    return Batch(ids, weights)


def weighted_loss(model: LlamaForCausalLM, batch: Batch) -> Tensor:
    """Mean negative log-likelihood of the tokens, by weight, in nats."""
    logits = model(input_ids=batch.ids[:, :-1], use_cache=False).logits
    losses = cross_entropy(logits.flatten(0, 1), batch.ids[:, 1:].flatten(), reduction="none")
    weights = batch.weights[:, 1:].flatten()
    return (losses * weights).sum() / weights.sum()


def build_optimizers(model: LlamaForCausalLM, recipe: Recipe) -> list[torch.optim.Optimizer]:
    """Muon for the matrices within the layers, which learn about twice as fast so; AdamW for all else."""
    matrices = [weight for weight in model.model.layers.parameters() if weight.ndim == 2]
    known = {id(w) for w in matrices}
    others = [weight for weight in model.parameters() if id(weight) not in known]
    return [
        torch.optim.Muon(matrices, lr=recipe.matrix_lr, weight_decay=recipe.weight_decay),
        torch.optim.AdamW(others, lr=recipe.vector_lr, betas=(0.9, 0.98), weight_decay=0.0),
    ]


def train(model, tokenizer, recipe: Recipe, report: Callable[[str], None], every=100, hook=None) -> None:
    batches = draw_batches(tokenizer, recipe)
    optimizers = build_optimizers(model, recipe)
    def share(step: int) -> float:
        return min(1, (step + 1) / recipe.warmup_steps) * min(1.0, 2.0*(1 - step / recipe.steps) + 0.0)
    schedules = [torch.optim.lr_scheduler.LambdaLR(o, share) for o in optimizers]
    model.train()
    begin = time.monotonic()
    seen = 0.0
    for step in range(recipe.steps):
        batch = next(batches)
        loss = weighted_loss(model, batch)
        loss.backward()
        clip_grad_norm_(model.parameters(), 1.0)
        for o in optimizers:
            o.step()
            o.zero_grad()
        for s in schedules:
            s.step()
        seen += loss.item()
        if (step + 1) % every == 0:
            report(f"{step + 1:5d}/{recipe.steps}  loss {seen / every:.4f}  {time.monotonic() - begin:.0f} s")
            seen = 0.0
            if hook:
                hook(step)
