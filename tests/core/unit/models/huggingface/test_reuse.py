"""Reuse of keys and values in generation: the same tokens as `generate` for each prompt alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ais_prompt.models import (
    ROOM,
    CachedPrefix,
    Generator,
    HuggingFaceBaseModel,
    HuggingFaceChatModel,
    Reuse,
    block_of,
    cache_for_generate,
    growing_cache,
    why_not_joined,
)
from ais_prompt.types import Completion, Decoding, Request
from tests.support.tiny_networks import VOCABULARY, alone, network_of, tokens_read

pytestmark = pytest.mark.torch


DEMO_MODEL = Path(__file__).parents[5] / "configs" / "data" / "demo_model"
SHOTS = tuple(range(1, 41))


@pytest.fixture(scope="module")
def llama() -> Any:
    return network_of("Llama")


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
    if reuse:
        block = block_of([(row + answer)[:-1] for row, answer in zip(rows, answers, strict=True)], cache)
        for number, text in enumerate(block.texts):
            reuse.keep(CachedPrefix(block, number, len(text)))
    return answers


TURN = st.lists(st.integers(1, VOCABULARY - 1), min_size=1, max_size=12).map(tuple)


@pytest.mark.slow
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
def test_other_networks_give_the_plain_tokens(kind: str) -> None:
    """Those whose caches hold something else than all keys and values compute everything anew."""
    network = network_of(kind)
    reason = why_not_joined(network, {})
    assert bool(reason) == (kind in ("Mistral", "Mamba"))
    reuse = None if reason else Reuse(network, 1000)
    prompts = [(*SHOTS, 30, 31), (*SHOTS, 32), SHOTS[:5]]
    for _ in range(2):
        answers = together(network, prompts, 4, reuse)
        if kind != "Mamba":  # transformers' own answers of this one depend on the padding
            assert answers == [alone(network, prompt, 4) for prompt in prompts]
        prompts = [prompt + answer + (33,) for prompt, answer in zip(prompts, answers, strict=True)]


def test_the_common_beginning_of_a_batch_is_read_once(llama: Any) -> None:
    prompts = [(*SHOTS, 30 + number) for number in range(4)]
    with tokens_read(llama) as seen:
        together(llama, prompts, 2, Reuse(llama, 1000))
    assert seen == [len(SHOTS), 4, 4]


def test_little_is_not_worth_to_be_reused(llama: Any) -> None:
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


@pytest.mark.slow
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
    generator = Generator(llama, tokenizer, {}, batch_size=8, cache_tokens=1000)
    decoding = Decoding(max_out_len=3, temperature=0.0)
    rows = [[*SHOTS, 30], [*SHOTS, 31]]

    def texts() -> list[str]:
        return [completion.text for _, completion in sorted(generator.answers(rows, decoding, None))]

    def refuse(_network: Any, _args: Any) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    first = texts()
    hook = llama.register_forward_pre_hook(refuse)
    failures = [completion.failure for _, completion in generator.answers(rows, decoding, None)]
    assert [failure and failure.kind for failure in failures] == ["out_of_memory"] * 2
    hook.remove()
    with tokens_read(llama) as seen:
        assert texts() == first
    assert seen[0] == len(SHOTS)
