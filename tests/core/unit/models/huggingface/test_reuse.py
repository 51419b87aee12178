"""Reuse of keys and values in generation: the same tokens as `generate` for each prompt alone."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ais_prompt.models import (
    ROOM,
    Generator,
    HuggingFaceBaseModel,
    HuggingFaceChatModel,
    Reuse,
    cache_for_generate,
    growing_cache,
    reuse_of,
)
from ais_prompt.types import Completion, Decoding, Request

pytestmark = pytest.mark.torch


DEMO_MODEL = Path(__file__).parents[5] / "configs" / "data" / "demo_model"
VOCABULARY = 60
SHOTS = tuple(range(1, 41))


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
    }
    config = made[kind]()
    config.eos_token_id = None  # answers are as long as they are allowed to be
    return transformers.AutoModelForCausalLM.from_config(config).eval()


@pytest.fixture(scope="module")
def llama() -> Any:
    return network_of("Llama")


def alone(network: Any, row: Sequence[int], length: int) -> tuple[int, ...]:
    """New tokens of plain ``generate`` for one prompt."""
    import torch

    ids = torch.tensor([list(row)])
    output = network.generate(
        ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=length, pad_token_id=0
    )
    return tuple(output[0, len(row) :].tolist())


def together(network: Any, rows: Sequence[tuple[int, ...]], length: int, reuse: Reuse | None) -> list[tuple[int, ...]]:
    """New tokens of a left-padded batch that goes on from what was read before."""
    import torch

    width = max(map(len, rows))
    cache = reuse.cache_for(rows) if reuse else None
    output = network.generate(
        torch.tensor([(0,) * (width - len(row)) + row for row in rows]),
        attention_mask=torch.tensor([(0,) * (width - len(row)) + (1,) * len(row) for row in rows]),
        **cache_for_generate(cache),
        do_sample=False,
        max_new_tokens=length,
        pad_token_id=0,
    )
    answers = [tuple(new) for new in output[:, width:].tolist()]
    if reuse and cache is not None:
        reuse.keep(rows, answers, cache)
    return answers


@contextmanager
def tokens_read(network: Any) -> Iterator[list[int]]:
    """How many tokens go through a network, pass by pass, padding included."""
    seen: list[int] = []
    hook = network.get_input_embeddings().register_forward_hook(lambda _, given, __: seen.append(given[0].numel()))
    try:
        yield seen
    finally:
        hook.remove()


TURN = st.lists(st.integers(1, VOCABULARY - 1), min_size=1, max_size=12).map(tuple)


@given(
    turns=st.lists(st.lists(TURN, min_size=3, max_size=3), min_size=1, max_size=3),
    shots=st.sampled_from([(), SHOTS]),
    limit=st.sampled_from([10, 60, 1000]),
    cut=st.integers(0, 3),
)
@settings(max_examples=6, suppress_health_check=list(HealthCheck))
def test_dialogues_get_the_tokens_of_each_prompt_alone(
    llama: Any, turns: list[list[tuple[int, ...]]], shots: tuple[int, ...], limit: int, cut: int
) -> None:
    """Also if the end of an answer comes back as other tokens, and if memory is short."""
    reuse = Reuse(llama, limit)
    histories = [shots] * len(turns)
    for turn in range(3):
        prompts = [history + own[turn] for history, own in zip(histories, turns, strict=True)]
        answers = together(llama, prompts, 5, reuse)
        assert answers == [alone(llama, prompt, 5) for prompt in prompts]
        histories = [prompt + answer[: 5 - cut] for prompt, answer in zip(prompts, answers, strict=True)]


@pytest.mark.parametrize("kind", ["GPT2", "GPTNeoX", "Bloom", "OPT", "Mistral", "Mamba"])
def test_other_networks_give_the_plain_tokens(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    """Those whose caches hold something else than all keys and values say so once, and read everything anew."""
    network = network_of(kind)
    caplog.set_level(logging.INFO)
    reuse = reuse_of(network, {}, 1000)
    prompts = [(*SHOTS, 30, 31), (*SHOTS, 32), SHOTS[:5]]
    for _ in range(2):
        answers = together(network, prompts, 4, reuse)
        if kind != "Mamba":  # transformers' own answers of this one depend on the padding
            assert answers == [alone(network, prompt, 4) for prompt in prompts]
        prompts = [prompt + answer + (33,) for prompt, answer in zip(prompts, answers, strict=True)]
    cannot = kind in ("Mistral", "Mamba")
    assert (reuse is None) == cannot
    assert len([record for record in caplog.records if "nothing is reused" in record.message]) == cannot


@pytest.mark.parametrize(
    "options",
    [{"num_beams": 2}, {"use_cache": False}, {"cache_implementation": "static"}, {"prompt_lookup_num_tokens": 2}],
)
def test_other_generation_modes_reuse_nothing(
    llama: Any, options: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    assert reuse_of(llama, options, 1000) is None
    assert "nothing is reused" in caplog.text


def test_nothing_is_kept_and_nothing_said_where_the_limit_is_zero(llama: Any, caplog: pytest.LogCaptureFixture) -> None:
    assert reuse_of(llama, {}, 0) is None
    assert not caplog.text


def test_the_common_beginning_of_a_batch_is_read_once(llama: Any) -> None:
    prompts = [(*SHOTS, 30 + number) for number in range(4)]
    with tokens_read(llama) as seen:
        together(llama, prompts, 2, Reuse(llama, 1000))
    assert seen == [len(SHOTS), 4, 4]


def test_short_prompts_use_no_cache(llama: Any) -> None:
    reuse = Reuse(llama, 1000)
    for _ in range(2):
        with tokens_read(llama) as seen:
            together(llama, [(1, 2, 3, 4), (1, 2, 3, 5)], 3, reuse)
        assert seen == [8, 2, 2]


def test_a_turn_computes_only_its_new_tokens(llama: Any) -> None:
    reuse = Reuse(llama, 1000)
    prompts = [(*SHOTS, 30, 31), SHOTS[3:]]
    answers = together(llama, prompts, 4, reuse)
    further = [prompt + answer + (32, 33) for prompt, answer in zip(prompts, answers, strict=True)]
    with tokens_read(llama) as seen:
        together(llama, further, 3, reuse)
    # The last token of an answer was written but not read, then come the two new ones.
    assert seen == [2 * 3, 2, 2]


def test_tokens_that_change_at_the_seam_are_read_again(llama: Any) -> None:
    reuse = Reuse(llama, 1000)
    prompt = (*SHOTS, 30, 31)
    answer = together(llama, [prompt], 4, reuse)[0]
    merged = (*prompt[:-1], 40, *answer)
    with tokens_read(llama) as seen:
        assert together(llama, [merged], 3, reuse) == [alone(llama, merged, 3)]
    assert seen[0] == 1 + len(answer)


@given(st.lists(st.integers(1, 50), min_size=1, max_size=6))
@settings(max_examples=20)
def test_a_growing_cache_holds_what_a_dynamic_one_holds(steps: list[int]) -> None:
    import torch
    from transformers import DynamicCache, LlamaConfig

    config = LlamaConfig(num_hidden_layers=1)
    growing, dynamic = growing_cache(config), DynamicCache(config=config)
    for columns in steps:
        keys, values = torch.rand(2, 3, columns, 4), torch.rand(2, 3, columns, 5)
        pairs = zip(growing.update(keys, values, 0), dynamic.update(keys, values, 0), strict=True)
        assert all(torch.equal(one, other) for one, other in pairs)
    assert growing.get_seq_length() == dynamic.get_seq_length() == sum(steps)
    assert sum(steps) <= growing.layers[0].capacity <= sum(steps) + ROOM


# Models


def requests(prompts: Sequence[str], decoding: Decoding, turn: int) -> list[Request]:
    return [Request(str(number), prompt, decoding, turn=turn) for number, prompt in enumerate(prompts)]


def hold(model: HuggingFaceBaseModel, opening: str, questions: Sequence[str], turns: int, batch: int) -> list[Any]:
    """Dialogues in which each question is asked again and again, after the model's own answers."""
    decoding = replace(model.decoding(None, ()), stop=("\n",))
    said: list[Completion] = []
    histories = [opening] * len(questions)
    for turn in range(turns):
        prompts = [f"{history}Question: {one}\nAnswer:" for history, one in zip(histories, questions, strict=True)]
        asked = requests(prompts, decoding, turn)
        completions = [one for at in range(0, len(asked), batch) for one in model.generate(asked[at : at + batch])]
        histories = [f"{prompt}{one.text}\n" for prompt, one in zip(prompts, completions, strict=True)]
        said += completions
    assert [completion.failure for completion in said] == [None] * len(said)
    return [(completion.text, completion.finish_reason, completion.usage) for completion in said]


OPENING = "Question: 43+88=?\nAnswer: 131\n"
QUESTIONS = tuple(f"{a}+{a * 7 % 10}=?" for a in range(5, 90, 17))


@pytest.fixture(scope="module")
def said_alone() -> list[Any]:
    return hold(HuggingFaceBaseModel(str(DEMO_MODEL), max_out_len=6, prefix_cache_tokens=0), OPENING, QUESTIONS, 3, 1)


@pytest.mark.parametrize(("batch", "kept"), [(1, 8192), (2, 8192), (3, 50), (5, 8192)])
def test_the_demo_model_answers_alike_in_dialogues(said_alone: list[Any], batch: int, kept: int) -> None:
    reusing = HuggingFaceBaseModel(str(DEMO_MODEL), max_out_len=6, prefix_cache_tokens=kept)
    assert hold(reusing, OPENING, QUESTIONS, 3, batch) == said_alone


def test_a_chat_reuses_its_last_answer() -> None:
    model = HuggingFaceChatModel(str(DEMO_MODEL), max_out_len=8)
    model.load()
    chat = "<s><|im_start|>user\n" + "Add 75 and 47. " * 5 + "<|im_end|>\n<|im_start|>assistant\n"
    [first] = model.generate(requests([chat], model.decoding(None, ()), 0))
    further = chat + first.text + "<|im_end|>\n<|im_start|>user\nand 5 more?<|im_end|>\n<|im_start|>assistant\n"
    with tokens_read(model._network) as seen:
        model.generate(requests([further], model.decoding(1, ()), 1))
    assert seen == [len(model.encode(further)) - len(model.encode(chat + first.text))]


def test_sampling_with_a_seed_is_repeatable_in_dialogues() -> None:
    held = []
    for kept in (0, 8192, 8192):
        options = {"temperature": 1.5, "seed": 5}
        model = HuggingFaceBaseModel(
            str(DEMO_MODEL), max_out_len=8, generation_kwargs=options, prefix_cache_tokens=kept
        )
        held.append(hold(model, "", ["43+88=?", "15+6=?"], 3, 2))
    assert held[1] == held[2]
    # The same random numbers are drawn, whether something is reused or not.
    assert held[0] == held[1]


def test_the_cache_is_dropped_when_memory_runs_out(llama: Any) -> None:
    import torch

    tokenizer = HuggingFaceBaseModel(str(DEMO_MODEL)).tokenizer()
    generator = Generator(llama, tokenizer, {}, cache_tokens=1000)
    decoding = Decoding(max_out_len=3, temperature=0.0)
    rows = [[*SHOTS, 30], [*SHOTS, 31]]
    first = generator.answer(rows, decoding, None)

    def refuse(_network: Any, _args: Any) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    hook = llama.register_forward_pre_hook(refuse)
    with pytest.raises(torch.OutOfMemoryError):
        generator.answer(rows, decoding, None)
    hook.remove()
    with tokens_read(llama) as seen:
        assert generator.answer(rows, decoding, None) == first
    assert seen[0] == len(SHOTS)
