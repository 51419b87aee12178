"""Likelihoods of the mock server, as servers with ``echo`` and with vLLM's ``prompt_logprobs`` return them.

The numbers are those of a real language model: a small one that counts letters, or one in Hugging Face form.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Protocol
from zlib import crc32

_CORPUS: Final = (
    "One and two are three. Two and two are four, and four and three are seven. Is it so? It is so: A, B, C, D."
)
_TOKEN: Final = re.compile(r" ?\w+| ?[^\w\s]+|\s")
_CODE_POINTS: Final = 0x110000


@dataclass(frozen=True, slots=True)
class ScoredToken:
    """A token and its place in the text.

    Attributes:
        id: its number.
        text: its text.
        log_prob: in nats, given all before it; None for the first of a text.
    """

    id: int
    text: str
    log_prob: float | None


class LanguageModel(Protocol):
    """Computes how likely a text is."""

    def read(self, text: str) -> list[ScoredToken]:
        """The tokens of a text, special ones included."""

    def likeliest(self, text: str, number: int) -> list[ScoredToken]:
        """The tokens that most likely follow a text, the likeliest first."""

    def chat(self, messages: Sequence[Mapping[str, Any]], opens_turn: bool) -> str:
        """Messages as a text, with the beginning of the assistant's turn if it is to follow."""


class LetterModel:
    """Counts which letter follows which. A token is a word with the blank before it, as likely as its letters.

    All code points are letters, and each pair counts one more than it was seen. So the log-likelihood of a text after
    its first token does not depend on how it is cut into tokens.
    """

    def __init__(self) -> None:
        self._pairs = Counter(pairwise(_CORPUS))
        self._firsts = Counter(_CORPUS[:-1])
        self._words = sorted(set(_TOKEN.findall(_CORPUS)))

    def read(self, text: str) -> list[ScoredToken]:
        """Words, runs of signs, and white space."""
        words = _TOKEN.findall(text)
        return [self._token(word, last[-1:]) for word, last in zip(words, ["", *words], strict=False)]

    def likeliest(self, text: str, number: int) -> list[ScoredToken]:
        """Words of the corpus."""
        tokens = [self._token(word, text[-1:]) for word in self._words]
        return sorted(tokens, key=lambda token: -(token.log_prob or -math.inf))[:number]

    def chat(self, messages: Sequence[Mapping[str, Any]], opens_turn: bool) -> str:
        """A line for each message."""
        lines = [f"{message['role']}: {message['content']}\n" for message in messages]
        return "".join([*lines, "assistant: "] if opens_turn else lines)

    def letter(self, first: str, second: str) -> float:
        """The log-probability in nats of a letter after another."""
        return math.log((self._pairs[first, second] + 1) / (self._firsts[first] + _CODE_POINTS))

    def _token(self, word: str, before: str) -> ScoredToken:
        log_prob = math.fsum(self.letter(*pair) for pair in pairwise(before + word)) if before else None
        return ScoredToken(crc32(word.encode("utf-8", "replace")), word, log_prob)


class FolderModel:
    """A causal language model in Hugging Face form, computed directly: one text at a time, without a cache.

    Args:
        folder: where it is.
    """

    def __init__(self, folder: Path) -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        torch.set_num_threads(1)  # for a small model more of them only wait for each other
        self._tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        self._network = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True).eval()
        # What is asked about a text comes in one request, so the last text is the one that is wanted again.
        self._log_probs = lru_cache(maxsize=1)(self._compute)

    def read(self, text: str) -> list[ScoredToken]:
        """As the tokenizer says."""
        ids = self._ids(text)
        values = self._log_probs(ids)[range(len(ids) - 1), ids[1:]].tolist()
        return [self._token(token, value) for token, value in zip(ids, [None, *values], strict=True)]

    def likeliest(self, text: str, number: int) -> list[ScoredToken]:
        """Of the whole vocabulary."""
        values, ids = self._log_probs(self._ids(text))[-1].topk(number)
        return [self._token(token, value) for token, value in zip(ids.tolist(), values.tolist(), strict=True)]

    def chat(self, messages: Sequence[Mapping[str, Any]], opens_turn: bool) -> str:
        """As the tokenizer's chat template says."""
        text: str = self._tokenizer.apply_chat_template(
            list(messages), tokenize=False, add_generation_prompt=opens_turn
        )
        return text

    def _ids(self, text: str) -> tuple[int, ...]:
        """A text of a chat template has its BOS already."""
        bos = self._tokenizer.bos_token
        brings_bos = bool(bos) and text.startswith(bos)
        return tuple(self._tokenizer(text, add_special_tokens=not brings_bos)["input_ids"])

    def _token(self, number: int, log_prob: float | None) -> ScoredToken:
        return ScoredToken(number, self._tokenizer.decode([number], clean_up_tokenization_spaces=False), log_prob)

    def _compute(self, ids: tuple[int, ...]) -> Any:
        """Shape (tokens, vocabulary): after each token the log-probabilities of the next one, in float64."""
        import torch

        with torch.inference_mode():
            return self._network(torch.tensor([ids])).logits[0].double().log_softmax(-1)


def asks_for_log_probs(body: Mapping[str, Any]) -> bool:
    """Return whether a request asks for log-probabilities."""
    if body.get("prompt_logprobs") is not None:
        return True
    return "prompt" in body and (bool(body.get("echo")) or body.get("logprobs") is not None)


def scored_answer(answer: dict[str, Any], body: Mapping[str, Any], model: LanguageModel) -> dict[str, Any]:
    """An answer with log-probabilities. It is no more than one token long, the likeliest.

    Args:
        answer: the answer without them.
        body: the request.
        model: where they come from.
    """
    chat = "messages" in body
    prompt = model.chat(body["messages"], body.get("add_generation_prompt", True)) if chat else str(body["prompt"])
    tokens = model.read(prompt)
    new = model.likeliest(prompt, 1) if body.get("max_tokens", 1) else []
    generated = "".join(token.text for token in new)
    choice = answer["choices"][0]
    choice["finish_reason"] = "length"
    place = answer if chat else choice  # vLLM has it outside of the choice for a chat
    if body.get("prompt_logprobs") is not None:
        place["prompt_logprobs"] = [_entry(token) for token in tokens]
    if chat:
        choice["message"]["content"] = generated
    else:
        choice["text"] = prompt + generated if body.get("echo") else generated
        if body.get("logprobs") is not None:
            tops = [None] * len(tokens) + [model.likeliest(prompt, body["logprobs"]) for _ in new]
            shown = slice(None) if body.get("echo") else slice(len(tokens), None)
            choice["logprobs"] = _logprobs([*tokens, *new][shown], tops[shown])
    answer["usage"] = {
        "prompt_tokens": len(tokens),
        "completion_tokens": len(new),
        "total_tokens": len(tokens) + len(new),
    }
    return answer


def _entry(token: ScoredToken) -> dict[str, Any] | None:
    if token.log_prob is None:
        return None
    return {str(token.id): {"logprob": token.log_prob, "rank": 1, "decoded_token": token.text}}


def _logprobs(tokens: Sequence[ScoredToken], tops: Sequence[Sequence[ScoredToken] | None]) -> dict[str, Any]:
    """The lists of OpenAI; offsets as vLLM counts them."""
    return {
        "tokens": [token.text for token in tokens],
        "token_logprobs": [token.log_prob for token in tokens],
        "top_logprobs": [top and {token.text: token.log_prob for token in top} for top in tops],
        "text_offset": [sum(len(token.text) for token in tokens[:number]) for number in range(len(tokens))],
    }
