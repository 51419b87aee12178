"""Continuous batching: answers of prompts side by side are those of each prompt alone."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ais_prompt.models import Generator, HuggingFaceBaseModel, Stops, completion_of, why_alone, why_not_joined
from ais_prompt.types import Completion, Decoding
from tests.support.tiny_networks import VOCABULARY, alone, network_of, tokens_read

pytestmark = pytest.mark.torch

DEMO_MODEL = Path(__file__).parents[5] / "configs" / "data" / "demo_model"
LENGTHS = (3, 40, 2, 9, 22, 5)
PROMPTS = [tuple((start * 7 + step) % 12 for step in range(length)) for start, length in enumerate(LENGTHS)]
LIMIT = 9


@pytest.fixture(scope="module")
def llama() -> Any:
    return network_of("Llama")


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return HuggingFaceBaseModel(str(DEMO_MODEL)).tokenizer()


def generator(network: Any, tokenizer: Any, batch_size: int, cache_tokens: int = 0, **options: Any) -> Generator:
    return Generator(network, tokenizer, options, batch_size=batch_size, cache_tokens=cache_tokens)


def decoding(limit: int = LIMIT, end: int | None = None, stop: tuple[str, ...] = ()) -> Decoding:
    return Decoding(limit, temperature=0.0, stop=stop, extra={} if end is None else {"eos_token_id": end})


def plain(network: Any, tokenizer: Any, prompt: tuple[int, ...], asked: Decoding) -> Completion:
    """The completion of the tokens of ``generate`` for a prompt alone, without any end."""
    ends = {tokenizer.eos_token_id, asked.extra.get("eos_token_id")}
    stops = Stops(tokenizer, asked.stop)
    new = alone(network, prompt, asked.max_out_len)
    lengths = range(1, len(new) + 1)
    said = (completion_of(stops, prompt, new[:length], ends) for length in lengths)
    return next((one for one in said if one.finish_reason == "stop"), completion_of(stops, prompt, new, ends))


def seen(completion: Completion) -> Any:
    return completion.text, completion.finish_reason, completion.usage, completion.failure


@contextmanager
def before_each_step(network: Any, watch: Any) -> Iterator[None]:
    hook = network.register_forward_pre_hook(lambda _network, _args, options: watch(options), with_kwargs=True)
    try:
        yield
    finally:
        hook.remove()


@pytest.mark.thorough
@given(
    prompts=st.lists(
        st.lists(st.integers(0, VOCABULARY - 1), min_size=1, max_size=50).map(tuple), min_size=1, max_size=12
    ),
    limit=st.integers(1, 14),
    batch_size=st.integers(1, 4),
    cache_tokens=st.sampled_from([0, 60, 1000]),
    end=st.none() | st.integers(0, VOCABULARY - 1),
    stop=st.sampled_from([(), ("e",), ("1", "a ")]),
)
@settings(max_examples=8, suppress_health_check=list(HealthCheck))
def test_any_mix_of_prompts_gets_the_answers_of_each_prompt_alone(
    llama: Any,
    tokenizer: Any,
    prompts: list[tuple[int, ...]],
    limit: int,
    batch_size: int,
    cache_tokens: int,
    end: int | None,
    stop: tuple[str, ...],
) -> None:
    asked = decoding(limit, end, stop)
    found = dict(generator(llama, tokenizer, batch_size, cache_tokens).answers(prompts, asked, None))
    assert {number: seen(one) for number, one in found.items()} == {
        number: seen(plain(llama, tokenizer, prompt, asked)) for number, prompt in enumerate(prompts)
    }


def test_every_place_of_a_step_becomes_a_token_and_answers_come_when_they_end(llama: Any, tokenizer: Any) -> None:
    end = alone(llama, PROMPTS[0], LIMIT)[3]
    asked = decoding(end=end)
    places: list[int] = []

    def count(options: dict[str, Any]) -> None:
        rows, columns = options["input_ids"].shape
        places.append(rows if columns == 1 else 0)

    model = generator(llama, tokenizer, 2)
    with before_each_step(llama, count):
        answers = [(number, one, sum(places)) for number, one in model.answers(PROMPTS, asked, None)]
    lengths = [one.usage.completion_tokens or 0 for _, one, _ in answers]
    assert len(set(lengths)) > 1
    assert sum(places) == sum(lengths) - len(PROMPTS)  # the first token of an answer comes from reading its prompt
    first = next(steps for number, _, steps in answers if number == 0)
    assert first < sum(places)


@pytest.mark.thorough
@pytest.mark.parametrize("batch_size", [2])
def test_more_rows_than_a_batch_take_no_more_memory_than_a_batch_of_full_answers(
    llama: Any, tokenizer: Any, batch_size: int
) -> None:
    limit = 60
    asked = decoding(limit, end=alone(llama, PROMPTS[0], LIMIT)[3])
    rows: list[int] = []

    def watch(options: dict[str, Any]) -> None:
        count, columns = options["input_ids"].shape
        rows.append(count)
        known = next(options[name] for name in ("cache", "past_key_values") if name in options).get_seq_length()
        assert count * (known + columns - 1) <= batch_size * (max(map(len, PROMPTS)) + limit)

    model = generator(llama, tokenizer, batch_size)
    with before_each_step(llama, watch):
        found = dict(model.answers(PROMPTS * 3, asked, None))
    assert max(rows) <= 2 * batch_size
    assert (max(rows) > batch_size) == (batch_size > 1)
    expected = [seen(plain(llama, tokenizer, prompt, asked)) for prompt in PROMPTS]
    assert [seen(found[number]) for number in range(len(found))] == expected * 3


def test_a_step_that_fails_costs_only_the_row_to_blame(llama: Any, tokenizer: Any) -> None:
    whole = [prompt + alone(llama, prompt, LIMIT) for prompt in PROMPTS]
    read = [{*text[:-1]} for text in whole]  # the last token is not read
    broken, bad = next(
        (number, token)
        for number, text in enumerate(whole)
        for token in text[len(PROMPTS[number]) + 1 : -1]
        if [token in tokens for tokens in read].count(True) == 1
    )

    def refuse(options: dict[str, Any]) -> None:
        if bad in options["input_ids"]:
            raise RuntimeError("this token breaks the network")

    model = generator(llama, tokenizer, 4)
    with before_each_step(llama, refuse):
        found = dict(model.answers(PROMPTS, decoding(), None))
    failure = found.pop(broken).failure
    assert failure is not None
    assert (failure.kind, failure.message) == ("generation", "this token breaks the network")
    expected = {number: seen(plain(llama, tokenizer, PROMPTS[number], decoding())) for number in found}
    assert {number: seen(one) for number, one in found.items()} == expected


@pytest.mark.parametrize("most", [1, 2, 3])
def test_rows_that_do_not_fit_into_memory_wait(llama: Any, tokenizer: Any, most: int) -> None:
    import torch

    def refuse(options: dict[str, Any]) -> None:
        if len(options["input_ids"]) > most:
            raise torch.OutOfMemoryError("CUDA out of memory")

    model = generator(llama, tokenizer, 4, 1000)
    with before_each_step(llama, refuse):
        found = dict(model.answers(PROMPTS, decoding(), None))
    assert [seen(found[number]) for number in range(len(PROMPTS))] == [
        seen(plain(llama, tokenizer, prompt, decoding())) for prompt in PROMPTS
    ]


def test_answers_that_have_ended_are_there_when_a_run_is_stopped(llama: Any, tokenizer: Any) -> None:
    steps: list[int] = []

    def stop(_options: dict[str, Any]) -> None:
        steps.append(1)
        if len(steps) > 2 * LIMIT:
            raise KeyboardInterrupt

    model = generator(llama, tokenizer, 2)
    found: dict[int, Completion] = {}
    with before_each_step(llama, stop), pytest.raises(KeyboardInterrupt):
        for number, one in model.answers(PROMPTS, decoding(), None):
            found[number] = one
    assert 0 < len(found) < len(PROMPTS)
    found = dict(model.answers(PROMPTS, decoding(), None))
    assert seen(found[5]) == seen(plain(llama, tokenizer, PROMPTS[5], decoding()))


@pytest.mark.parametrize("kind", ["Llama", "Mistral", "Rwkv"])
def test_a_model_that_is_disturbed_by_other_prompts_is_asked_one_at_a_time(
    kind: str, tokenizer: Any, caplog: pytest.LogCaptureFixture
) -> None:
    network = network_of(kind)
    is_disturbed = kind == "Rwkv"
    assert bool(why_alone(network)) == is_disturbed
    found = dict(generator(network, tokenizer, 4).answers(PROMPTS, decoding(4), None))
    assert [seen(found[number]) for number in range(len(PROMPTS))] == [
        seen(plain(network, tokenizer, prompt, decoding(4))) for prompt in PROMPTS
    ]
    warned = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert [("one prompt at a time" in record.message) for record in warned] == [True] * is_disturbed


@pytest.mark.parametrize(
    "options",
    [
        {"num_beams": 2},
        {"use_cache": False},
        {"cache_implementation": "static"},
        {"prompt_lookup_num_tokens": 2},
        {"min_new_tokens": 3},
        {"max_time": 10.0},
    ],
)
def test_options_of_whole_answers_keep_a_batch_together(llama: Any, tokenizer: Any, options: dict[str, Any]) -> None:
    [name] = options
    assert name in why_not_joined(llama, options) or name in ("num_beams", "prompt_lookup_num_tokens")
    asked = Decoding(4, temperature=0.0, extra=options)
    model = generator(llama, tokenizer, 2, **options)
    found = dict(model.answers(PROMPTS, asked, None))
    assert {number: one.failure for number, one in found.items()} == dict.fromkeys(range(len(PROMPTS)))
    lengths = {one.usage.completion_tokens for one in found.values()}
    assert lengths == {4}


def test_what_prompts_have_in_common_is_read_once_whatever_stands_between_them(llama: Any, tokenizer: Any) -> None:
    first, second = tuple(range(50)), tuple(range(49, -1, -1))
    prompts = [(*shots, number, number + 1) for number in range(6) for shots in (first, second)]
    model = generator(llama, tokenizer, 2, 1000)
    with tokens_read(llama) as tokens:
        found = dict(model.answers(prompts, decoding(2), None))
    assert sum(tokens) < 2 * len(first) + 12 * 5
    for number, prompt in enumerate(prompts):
        assert seen(found[number]) == seen(plain(llama, tokenizer, prompt, decoding(2)))
