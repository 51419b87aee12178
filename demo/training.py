"""The demo model and its training: a small Llama, and a plain loop on the processor.

Most of what is learned is learned at once: for some hundred steps the answers look like guesses, then the loss falls
within a few hundred more. Muon gets there in a fraction of the steps that AdamW needs, and a small step size
(`matrix_lr`) sooner than a large one; both were tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from random import Random
from statistics import fmean

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch.nn.utils import clip_grad_norm_
from torch.optim.lr_scheduler import LambdaLR
from tqdm import tqdm
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from demo.documents import TURN_END, Document, draw_document

MAX_POSITIONS = 8192
POOL_BATCHES = 16  # documents are sorted by length within so many batches, so that little of a batch is padding


@dataclass(frozen=True)
class Recipe:
    """What, besides the documents, decides the result of a training."""

    seed: int = 7
    hidden_size: int = 64
    layers: int = 4
    heads: int = 4
    head_size: int = 32  # the attention of vLLM on CPUs needs a multiple of 32
    initial_deviation: float = 0.05
    steps: int = 1450
    tokens_per_batch: int = 2048
    warmup_steps: int = 50
    matrix_lr: float = 0.005  # Muon, for the weight matrices of the layers
    other_lr: float = 0.003  # AdamW, for the embedding and the norms
    report_every: int = 100  # steps


@dataclass(frozen=True)
class Batch:
    """Token ids and the weight of each token in the loss; both of shape (documents, tokens), padded on the right."""

    ids: Tensor
    weights: Tensor


Encoded = tuple[list[int], list[float]]  # the tokens of a document, and the weight of each


def build_model(tokenizer: PreTrainedTokenizerFast, recipe: Recipe) -> LlamaForCausalLM:
    """An untrained Llama, which ends its answers at the end of a text or of a turn."""
    torch.manual_seed(recipe.seed)
    special_ids = {
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": [tokenizer.eos_token_id, tokenizer.convert_tokens_to_ids(TURN_END)],
        "pad_token_id": tokenizer.pad_token_id,
    }
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=recipe.hidden_size,
        intermediate_size=3 * recipe.hidden_size,
        num_hidden_layers=recipe.layers,
        num_attention_heads=recipe.heads,
        num_key_value_heads=recipe.heads,
        head_dim=recipe.head_size,
        max_position_embeddings=MAX_POSITIONS,
        initializer_range=recipe.initial_deviation,
        tie_word_embeddings=True,
        **special_ids,
    )
    model = LlamaForCausalLM(config)
    model.generation_config = GenerationConfig(**special_ids)
    return model


def train(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, recipe: Recipe) -> list[float]:
    """Trains the model in place, with the progress on the terminal; returns the loss of each step (nats per token)."""
    optimizers = _build_optimizers(model, recipe)
    schedules = [LambdaLR(optimizer, lambda step: _lr_share(step, recipe)) for optimizer in optimizers]
    losses: list[float] = []
    model.train()
    batches = islice(_draw_batches(tokenizer, recipe), recipe.steps)
    for batch in tqdm(batches, "training", total=recipe.steps, unit="step", mininterval=10):
        loss = weighted_loss(model, batch)
        loss.backward()
        clip_grad_norm_(model.parameters(), 1.0)
        for optimizer, schedule in zip(optimizers, schedules, strict=True):
            optimizer.step()
            optimizer.zero_grad()
            schedule.step()
        losses.append(loss.item())
        if len(losses) % recipe.report_every == 0:
            tqdm.write(f"step {len(losses)}: loss {fmean(losses[-recipe.report_every :]):.3f}")
    model.eval()
    return losses


def weighted_loss(model: LlamaForCausalLM, batch: Batch) -> Tensor:
    """Mean negative log-likelihood of the tokens, by weight, in nats per token."""
    logits = model(input_ids=batch.ids[:, :-1], use_cache=False).logits
    losses = cross_entropy(logits.flatten(0, 1), batch.ids[:, 1:].flatten(), reduction="none")
    weights = batch.weights[:, 1:].flatten()
    return (losses * weights).sum() / weights.sum()


def encode(tokenizer: PreTrainedTokenizerFast, document: Document) -> Encoded:
    """Piece by piece, which gives the same tokens as the whole text would."""
    pieces = [piece for piece in document.pieces if piece.text]
    encoded = tokenizer([piece.text for piece in pieces], add_special_tokens=False)["input_ids"]
    ids = [token for tokens in encoded for token in tokens]
    weights = [piece.weight for piece, tokens in zip(pieces, encoded, strict=True) for _ in tokens]
    return ids, weights


def _draw_batches(tokenizer: PreTrainedTokenizerFast, recipe: Recipe) -> Iterator[Batch]:
    """Batches without end, each of documents of similar length."""
    rng = Random(recipe.seed)
    while True:
        pool: list[Encoded] = []
        while sum(len(ids) for ids, _ in pool) < recipe.tokens_per_batch * POOL_BATCHES:
            pool.append(encode(tokenizer, draw_document(rng)))
        pool.sort(key=lambda encoded: len(encoded[0]))
        groups = list(_group(pool, recipe.tokens_per_batch))
        rng.shuffle(groups)
        for group in groups:
            yield _pad(group, tokenizer.pad_token_id)


def _group(pool: list[Encoded], most_tokens: int) -> Iterator[list[Encoded]]:
    """Splits documents sorted by length into groups that hold at most `most_tokens` tokens, padding included."""
    group: list[Encoded] = []
    for encoded in pool:
        if group and (len(group) + 1) * len(encoded[0]) > most_tokens:
            yield group
            group = []
        group.append(encoded)
    yield group


def _pad(group: list[Encoded], pad_id: int) -> Batch:
    longest = max(len(ids) for ids, _ in group)
    ids = torch.tensor([ids + [pad_id] * (longest - len(ids)) for ids, _ in group])
    weights = torch.tensor([weights + [0.0] * (longest - len(weights)) for _, weights in group])
    return Batch(ids, weights)


def _build_optimizers(model: LlamaForCausalLM, recipe: Recipe) -> list[torch.optim.Optimizer]:
    matrices = [weight for weight in model.model.layers.parameters() if weight.ndim == 2]
    others = [model.model.embed_tokens.weight, *(weight for weight in model.parameters() if weight.ndim == 1)]
    return [
        torch.optim.Muon(matrices, lr=recipe.matrix_lr, weight_decay=0.0),
        torch.optim.AdamW(others, lr=recipe.other_lr, betas=(0.9, 0.98), weight_decay=0.0),
    ]


def _lr_share(step: int, recipe: Recipe) -> float:
    """The share of the learning rate at a step: a short rise, constant to the middle, then down to zero in a line."""
    return min(1.0, (step + 1) / recipe.warmup_steps, 2 * (1 - step / recipe.steps))
