"""Log-likelihoods of local models, against a forward pass in float64, with and without shared beginnings."""

from __future__ import annotations

import copy
import functools
import logging
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ais_prompt.models.huggingface.local_likelihood as hf_prefixes
from ais_prompt.models import (
    HuggingFaceBaseModel,
    HuggingFaceChatModel,
    LikelihoodComputer,
    LikelihoodModel,
    TokenRow,
    decode,
    log_probs_of_batch,
    log_probs_of_tree,
)
from ais_prompt.types import Completion, Likelihood, LikelihoodQuery, Request

pytestmark = pytest.mark.torch


WORDS = ["one plus two is three", "the world of numbers", "seven and eight make fifteen"] * 4
VOCABULARY = 40
SHOTS = "one plus two is three. seven and eight make fifteen. the numbers of the world. "


def tokenizer() -> Any:
    """Byte-level BPE that puts <s> in front; a blank belongs to the word after it."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=["<s>", "</s>", "<pad>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    backend.train_from_iterator(WORDS, trainer)
    backend.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    return PreTrainedTokenizerFast(tokenizer_object=backend, bos_token="<s>", eos_token="</s>", pad_token="<pad>")


def llama(vocabulary: int = VOCABULARY, **changes: Any) -> Any:
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(1)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    options = {"num_key_value_heads": 2, "max_position_embeddings": 128, "initializer_range": 0.4, **changes}
    return LlamaForCausalLM(LlamaConfig(vocab_size=vocabulary, **sizes, **options)).eval()


def other(kind: str) -> Any:
    """A tiny network of another architecture."""
    import torch
    import transformers

    torch.manual_seed(2)
    size = {"vocab_size": VOCABULARY, "num_hidden_layers": 2, "num_attention_heads": 4}
    made = {
        "GPT2": lambda: transformers.GPT2Config(vocab_size=VOCABULARY, n_embd=32, n_layer=2, n_head=4),
        "GPTNeoX": lambda: transformers.GPTNeoXConfig(hidden_size=32, intermediate_size=64, **size),
        "Bloom": lambda: transformers.BloomConfig(vocab_size=VOCABULARY, hidden_size=32, n_layer=2, n_head=4),
        "Mistral": lambda: transformers.MistralConfig(
            hidden_size=32, intermediate_size=64, num_key_value_heads=2, sliding_window=4, **size
        ),
        "Mamba": lambda: transformers.MambaConfig(
            vocab_size=VOCABULARY, hidden_size=32, state_size=4, num_hidden_layers=2
        ),
    }
    return transformers.AutoModelForCausalLM.from_config(made[kind]()).eval()


@pytest.fixture(scope="module")
def network() -> Any:
    return llama()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scoring")
    words = tokenizer()
    llama(len(words), bos_token_id=0, eos_token_id=1, pad_token_id=2).save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def model(folder: Path) -> HuggingFaceBaseModel:
    return HuggingFaceBaseModel(str(folder))


@functools.cache
def in_float64(network: Any) -> Any:
    return copy.deepcopy(network).double()


def exact(network: Any, tokens: Sequence[int]) -> list[float]:
    """Log-probability of each token but the first, in float64, the text being alone."""
    import torch

    with torch.inference_mode():
        logits = in_float64(network)(torch.tensor([list(tokens)])).logits[0, :-1]
    ids = torch.tensor(tokens[1:])[:, None]
    return logits.log_softmax(-1).gather(-1, ids)[:, 0].tolist()


def whole(tokens: Sequence[int]) -> TokenRow:
    """All tokens but the first."""
    return TokenRow(tuple(tokens[:-1]), tuple(enumerate(tokens[1:])))


def in_order(found: Iterable[tuple[int, Any]]) -> list[Any]:
    """What was found of each, once."""
    answers = dict(found)
    return [answers[number] for number in range(len(answers))]


def ask(model: HuggingFaceBaseModel, *asked: tuple[str, LikelihoodQuery]) -> list[Completion]:
    requests = [Request(str(number), prompt, scoring) for number, (prompt, scoring) in enumerate(asked)]
    return in_order(model.log_likelihoods(requests))


def likelihoods(completions: Sequence[Completion]) -> list[Likelihood]:
    found = [completion.likelihood for completion in completions]
    assert None not in found, [completion.failure for completion in completions]
    return [likelihood for likelihood in found if likelihood is not None]


def nlls(completions: Sequence[Completion]) -> list[float]:
    return [likelihood.nll for likelihood in likelihoods(completions)]


# Log-probabilities of rows of tokens

TEXTS = st.lists(st.lists(st.integers(0, 5), min_size=2, max_size=12), min_size=1, max_size=8)


@pytest.mark.slow
@given(TEXTS, st.lists(st.integers(0, 5), max_size=9), st.integers(1, 20), st.integers(0, 12))
@settings(max_examples=25, suppress_health_check=list(HealthCheck))
def test_shared_and_plain_values_are_those_of_each_text_alone(
    network: Any, monkeypatch: pytest.MonkeyPatch, texts: list[list[int]], shots: list[int], pack: int, cached: int
) -> None:
    monkeypatch.setattr(hf_prefixes, "PACK_TOKENS", pack)  # small packs, so that there are many of them
    texts = [shots + text for text in texts]
    rows = [whole(text) for text in texts]
    wanted = [exact(network, text) for text in texts]
    for found in (in_order(log_probs_of_tree(network, rows, cached)), log_probs_of_batch(network, rows, 0)):
        assert found == [pytest.approx(values, rel=1e-4, abs=1e-5) for values in wanted]


def test_every_beginning_is_computed_once(network: Any) -> None:
    """Three samples with four labels that differ in their last token, which is only predicted."""
    shots, questions, labels = list(range(30)), [[31, 32], [31, 33], [34]], [35, 36, 37, 38]
    rows = [whole([*shots, *question, label]) for question in questions for label in labels]
    seen: list[int] = []
    hook = network.model.embed_tokens.register_forward_hook(lambda _, given, __: seen.append(given[0].numel()))
    try:
        list(log_probs_of_tree(network, rows, 1000))
    finally:
        hook.remove()
    assert sum(seen) == len(shots) + 4  # 31 is shared by two questions
    assert max(seen) == len(shots) - 1


def test_no_pass_is_larger_than_a_pack_unless_one_branch_is(network: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hf_prefixes, "PACK_TOKENS", 8)
    rows = [whole([1] * 20 + [2 + number, *range(branch)]) for number, branch in enumerate((3, 3, 3, 3, 12))]
    seen: list[int] = []
    hook = network.model.embed_tokens.register_forward_hook(lambda _, given, __: seen.append(given[0].numel()))
    try:
        list(log_probs_of_tree(network, rows, 1000))
    finally:
        hook.remove()
    assert sorted(seen)[-1] == 13
    assert all(size <= 8 for size in seen if size != 13)


@pytest.mark.parametrize("kind", ["GPT2", "GPTNeoX", "Bloom", "Mistral", "Mamba"])
def test_other_networks_give_the_plain_values(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    """Those that cannot share beginnings say so once, and compute each text anew."""
    network = other(kind)
    caplog.set_level(logging.INFO)
    scorer = LikelihoodComputer(network, 0, batch_size=2, cache_tokens=1000)
    texts = [[1, 2, 3, 4, 5, *range(6, 6 + more), 7] for more in (1, 5, 3)] + [[9, 8]]
    found = [in_order(scorer.log_probs([whole(text) for text in texts])) for _ in range(2)]
    assert found[0] == [pytest.approx(exact(network, text), rel=1e-4, abs=1e-5) for text in texts]
    assert found[1] == found[0]
    notices = [record for record in caplog.records if "cannot be shared" in record.message]
    assert len(notices) == (kind in ("Bloom", "Mistral", "Mamba"))


@pytest.mark.parametrize("cache_tokens", [0, 1000])
def test_values_arrive_before_all_texts_are_computed(
    network: Any, monkeypatch: pytest.MonkeyPatch, cache_tokens: int
) -> None:
    monkeypatch.setattr(hf_prefixes, "PACK_TOKENS", 8)
    scorer = LikelihoodComputer(network, 0, batch_size=2, cache_tokens=cache_tokens)
    passes: list[Any] = []
    hook = network.register_forward_hook(lambda *_: passes.append(None))
    try:
        computed = [len(passes) for _ in scorer.log_probs([whole([1, 2, 3, number, 4, 5, 6]) for number in range(8)])]
    finally:
        hook.remove()
    assert computed[0] <= 2 < computed[-1]


def test_a_row_that_breaks_the_network_fails_alone(network: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    texts = [[1, 2, 3], [1, VOCABULARY + 5, 3], [1, 2, 4]]
    found = in_order(
        LikelihoodComputer(network, 0, batch_size=4, cache_tokens=1000).log_probs([whole(text) for text in texts])
    )
    assert [isinstance(values, list) for values in found] == [True, False, True]
    assert found[2] == pytest.approx(exact(network, texts[2]), rel=1e-4)
    assert "without shared beginnings" in caplog.text


# Requests to a model


def test_it_is_a_likelihood_model(model: HuggingFaceBaseModel) -> None:
    assert isinstance(model, LikelihoodModel)


def test_the_special_token_that_a_chat_template_writes_first_is_not_counted(folder: Path) -> None:
    chat = HuggingFaceChatModel(str(folder))
    [likelihood] = likelihoods(ask(chat, ("<s>one plus two", LikelihoodQuery())))
    assert likelihood.bytes == len("one plus two")


def test_a_whole_prompt(model: HuggingFaceBaseModel) -> None:
    text = "one plus two é"
    tokens = model.encode(text)
    [likelihood] = likelihoods(ask(model, (text, LikelihoodQuery())))
    model.load()
    assert likelihood.nll == pytest.approx(-sum(exact(model._network, tokens)), rel=1e-5)
    assert (likelihood.tokens, likelihood.all_tokens) == (len(tokens) - 1, len(tokens))
    assert likelihood.bytes == len(text.encode()) - len(decode(model.tokenizer(), tokens[:1]))


def test_a_continuation_counts_from_the_end_of_the_prompt(model: HuggingFaceBaseModel) -> None:
    prompt, more = "one plus two", " is three"
    [before], [both], [after] = (
        likelihoods(ask(model, asked))
        for asked in [(prompt, LikelihoodQuery()), (prompt + more, LikelihoodQuery()), (prompt, LikelihoodQuery(more))]
    )
    assert after.nll == pytest.approx(both.nll - before.nll, rel=1e-5)
    assert after.tokens == after.all_tokens == both.tokens - before.tokens
    assert after.bytes == len(more)
    assert not after.merged


def test_a_prompt_that_tokenizes_differently_when_it_is_continued(model: HuggingFaceBaseModel) -> None:
    """The blank at the end of the prompt becomes part of the word: it is scored with the word, and noted."""
    [joined], [apart] = (
        likelihoods(ask(model, asked))
        for asked in [("one ", LikelihoodQuery("plus")), ("one", LikelihoodQuery(" plus"))]
    )
    assert joined.merged
    assert not apart.merged
    assert (joined.nll, joined.tokens) == pytest.approx((apart.nll, apart.tokens))


def test_choices_are_log_probabilities_after_the_prompt(model: HuggingFaceBaseModel) -> None:
    """Single letters are one token each."""
    [found] = likelihoods(ask(model, ("one plus", LikelihoodQuery(choices=("z", "y")))))
    tokens = model.encode("one plus")
    for value, choice in zip(found.choices, "zy", strict=True):
        [token] = model.tokenizer()(choice, add_special_tokens=False)["input_ids"]
        assert value == pytest.approx(exact(model._network, [*tokens, token])[-1], rel=1e-4)


ASKED = [
    *[
        (f"{SHOTS}{question}", LikelihoodQuery(f" {label}"))
        for question in ("one", "seven and")
        for label in ("two", "x", "é")
    ],
    *[(f"{SHOTS}the {word}", LikelihoodQuery()) for word in ("world", "numbers of", "")],
    ("x", LikelihoodQuery()),
    ("of", LikelihoodQuery(choices=("a", "b"))),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [{"batch_size": 1}, {"batch_size": 3}, {"prefix_cache_tokens": 0}, {"prefix_cache_tokens": 5}]
)
def test_values_do_not_depend_on_batch_or_cache(
    model: HuggingFaceBaseModel, folder: Path, options: dict[str, Any]
) -> None:
    changed = HuggingFaceBaseModel(str(folder), **options)
    together = ask(model, *ASKED)
    apart = [ask(changed, asked)[0] for asked in ASKED]
    assert nlls(ask(changed, *ASKED)) == pytest.approx(nlls(together), rel=1e-5)
    assert nlls(apart) == pytest.approx(nlls(together), rel=1e-5)


def test_each_text_without_a_log_likelihood_has_a_failure(model: HuggingFaceBaseModel) -> None:
    completions = ask(
        model,
        ("one", LikelihoodQuery()),
        ("", LikelihoodQuery()),
        ("one", LikelihoodQuery("")),
        ("one " * 200, LikelihoodQuery()),
        ("one", LikelihoodQuery(" two" * 200)),
        ("one", LikelihoodQuery(choices=("a", "a longer one"))),
    )
    kinds = [completion.failure.kind if completion.failure else None for completion in completions]
    assert kinds == [None, "no_tokens", "no_tokens", "too_long", "too_long", "long_choice"]


def test_without_bos_the_first_token_has_no_log_probability(folder: Path, tmp_path: Path) -> None:
    llama(300, bos_token_id=None, eos_token_id=None).save_pretrained(tmp_path)
    words = tokenizer()
    words.backend_tokenizer.post_processor = None
    words.bos_token = words.eos_token = None
    words.save_pretrained(tmp_path)
    model = HuggingFaceBaseModel(str(tmp_path))
    assert model.tokenizer().bos_token is None
    whole_text, single, after = ask(
        model, ("one plus", LikelihoodQuery()), ("one", LikelihoodQuery()), ("", LikelihoodQuery("one plus"))
    )
    tokens = model.encode("one plus")
    assert likelihoods([whole_text])[0].nll == pytest.approx(-sum(exact(model._network, tokens)), rel=1e-5)
    assert single.failure is not None
    assert single.failure.kind == "no_tokens"
    assert (likelihoods([after])[0].tokens, likelihoods([after])[0].bytes) == (
        len(tokens) - 1,
        likelihoods([whole_text])[0].bytes,
    )


def test_a_text_of_the_longest_length_has_a_log_likelihood(model: HuggingFaceBaseModel) -> None:
    text = "x" * 127  # and <s>: 128 tokens
    assert model.count_tokens(text) == 128
    assert likelihoods(ask(model, (text, LikelihoodQuery())))[0].tokens == 127
    assert ask(model, (text + "x", LikelihoodQuery()))[0].failure is not None


def test_a_network_that_computes_nan_gives_failures(folder: Path) -> None:
    broken = HuggingFaceBaseModel(str(folder))
    broken.load()
    broken._network.lm_head.weight.data.fill_(float("nan"))
    [completion] = ask(broken, ("one plus", LikelihoodQuery()))
    assert completion.failure is not None
    assert completion.failure.kind == "not_a_number"


def test_a_closed_model_loads_again(folder: Path) -> None:
    model = HuggingFaceBaseModel(str(folder))
    first = nlls(ask(model, *ASKED))
    model.close()
    assert nlls(ask(model, *ASKED)) == first
