"""The shipped encoders: one that counts characters, and a tiny random network made here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.data import CharacterNgramEncoder, HuggingFaceEncoder
from ais_prompt.errors import ConfigError, ModelError

pytestmark = pytest.mark.torch


TEXTS = ["one two", "", "three four five six seven eight", "one", "五 six", "two two two"]


@given(st.lists(st.text(st.characters(), max_size=12), min_size=1, max_size=6))
def test_character_vectors_have_length_one_and_depend_on_their_text_only(texts: list[str]) -> None:
    vectors = CharacterNgramEncoder(n=2, dimensions=64).encode(texts)
    assert vectors.shape == (len(texts), 64)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), [1.0 if text else 0.0 for text in texts], atol=1e-6)
    for text, vector in zip(texts, vectors, strict=True):
        assert np.array_equal(CharacterNgramEncoder(2, 64).encode([text])[0], vector)


def test_texts_that_share_characters_are_near() -> None:
    cat, cats, stock = CharacterNgramEncoder().encode(["The cat sat", "the cats sat", "stock prices"])
    assert cat @ cats > 0.5 > cat @ stock


def test_character_vectors_are_the_same_in_every_process() -> None:
    program = "from ais_prompt.data import CharacterNgramEncoder as E; print(E(2, 8).encode(['北京 abc']).tolist())"
    runs = {subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout for _ in range(2)}
    assert runs == {f"{CharacterNgramEncoder(2, 8).encode(['北京 abc']).tolist()}\n".encode()}


@pytest.mark.parametrize("arguments", [{"n": 0}, {"dimensions": 0}])
def test_character_runs_need_a_length(arguments: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match="must be at least 1, not 0"):
        CharacterNgramEncoder(**arguments)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of two layers with random weights and a tokenizer of a few words."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    words = ["[PAD]", "[UNK]", "one", "two", "three", "four", "five", "six", "seven", "eight"]
    backend = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, unk_token="[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, pad_token="[PAD]", unk_token="[UNK]")
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=32,
    )
    path = tmp_path_factory.mktemp("encoder")
    BertModel(config).save_pretrained(path)
    tokenizer.save_pretrained(path)
    return path


def mean_of_states(folder: Path, text: str) -> Any:
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokens = AutoTokenizer.from_pretrained(folder)(text, return_tensors="pt")
    with torch.inference_mode():
        return AutoModel.from_pretrained(folder).eval()(**tokens).last_hidden_state[0].mean(dim=0).numpy()


@pytest.mark.parametrize("batch_size", [1, 2, 6])
def test_an_embedding_is_the_mean_state_whatever_the_batch(folder: Path, batch_size: int) -> None:
    texts = [text for text in TEXTS if text]
    vectors = HuggingFaceEncoder(str(folder), batch_size=batch_size, device="cpu").encode(texts)
    assert vectors.dtype == np.float32
    for text, vector in zip(texts, vectors, strict=True):
        assert np.allclose(vector, mean_of_states(folder, text), atol=1e-5), text


def test_an_empty_text_has_an_embedding(folder: Path) -> None:
    assert np.isfinite(HuggingFaceEncoder(str(folder), device="cpu").encode(TEXTS)).all()


def test_a_long_text_is_cut_and_a_vector_may_be_normalized(folder: Path) -> None:
    encoder = HuggingFaceEncoder(str(folder), max_length=2, normalize=True, device="cpu")
    vectors = encoder.encode(["one two three four", "one two", "three one two"])
    assert np.allclose(vectors[0], vectors[1], atol=1e-6)
    assert not np.allclose(vectors[0], vectors[2], atol=1e-3)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)


def test_what_cannot_be_loaded_is_a_model_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="folder does not exist"):
        HuggingFaceEncoder(str(tmp_path / "nowhere"))
    with pytest.raises(ModelError, match="cannot load the encoder"):
        HuggingFaceEncoder(str(tmp_path)).encode(["text"])
    with pytest.raises(ConfigError, match="at least 1"):
        HuggingFaceEncoder(str(tmp_path), batch_size=0)
