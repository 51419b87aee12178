"""Prompts made to a length: exact, solvable, the same everywhere."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ais_prompt.data import Row
from ais_prompt.errors import ConfigError, DataError
from ais_prompt.extensions.benchmarks.ruler.ruler_dataset import DEPTHS, RulerDataset, Task
from ais_prompt.extensions.benchmarks.ruler.tasks import NEEDLES
from ais_prompt.registry import READERS
from tests.extensions.benchmarks.long_context import save_tokenizer, solve

ANSWER = 64
TASKS = get_args(Task)
EXAMPLES = [(task, "en") for task in TASKS] + [(task, "zh") for task in NEEDLES]
KINDS = ("bytes", "words", "letters")


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folders = {kind: tmp_path_factory.mktemp(kind) for kind in KINDS}
    for kind, folder in folders.items():
        save_tokenizer(kind, folder)
    return {kind: str(folder) for kind, folder in folders.items()}


def rows(task: Any, length: int = 4096, **options: Any) -> list[Row]:
    return list(RulerDataset(task, length, **{"num_samples": 2, "max_out_len": ANSWER, **options}).read("test"))


def counted(tokenizer: Any, prompt: str) -> int:
    """Tokens as a model counts them that was given the prompt as a message, or as a text without a chat template."""
    if not tokenizer.chat_template:
        return len(tokenizer(prompt)["input_ids"])
    messages = [{"role": "user", "content": prompt}]
    return len(tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=False))


@pytest.mark.slow
@pytest.mark.torch
@settings(deadline=None)
@given(st.sampled_from(EXAMPLES), st.sampled_from(KINDS), st.integers(0, 10**6), st.integers(6000, 14000))
def test_prompt_and_answer_have_exactly_the_length(
    tokenizers: dict[str, str], example: tuple[Any, Any], kind: str, seed: int, length: int
) -> None:
    from transformers import AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(tokenizers[kind])
    task, language = example
    for row in rows(task, length, seed=seed, language=language, tokenizer=tokenizers[kind], depths=[seed % 101]):
        assert counted(tokenizer, row["prompt"]) == row["tokens"] == length - ANSWER
        assert row["tokens_by"] == "tokenizer"


@pytest.mark.thorough
@settings(deadline=None)
@given(st.sampled_from(EXAMPLES), st.integers(0, 10**6), st.integers(3000, 20000))
def test_without_a_tokenizer_four_bytes_are_a_token(example: tuple[Any, Any], seed: int, length: int) -> None:
    task, language = example
    for row in rows(task, length, seed=seed, language=language):
        assert math.ceil(len(row["prompt"].encode()) / 4) == row["tokens"] == length - ANSWER
        assert row["tokens_by"] == "estimate"


@pytest.mark.thorough
def test_the_text_has_the_answers_and_no_other() -> None:
    for task, language in EXAMPLES:
        for row in rows(task, 8192, num_samples=11, language=language, seed=3):
            assert sorted(solve(task, row["prompt"])) == sorted(row["answers"])
            assert (row["task"], row["length"], row["language"]) == (task, 8192, language)


@pytest.mark.thorough
@pytest.mark.parametrize("task", ["niah_single_1", "niah_single_3", "niah_multikey_2", "qa_1", "qa_2"])
def test_what_is_asked_for_is_at_its_depth(task: Any) -> None:
    found = rows(task, 16384, num_samples=11)
    assert [row["depth"] for row in found] == list(DEPTHS)
    for row in found:
        text = row["prompt"].split("\n\n", 1)[1].rsplit("\n\n", 1)[0]
        [answer] = row["answers"]
        assert text.rindex(answer) / len(text) == pytest.approx(row["depth"] / 100, abs=0.015)


@pytest.mark.parametrize("task", ["niah_multivalue", "niah_multiquery", "vt", "cwe", "fwe"])
def test_answers_in_many_places_have_no_depth(task: Any) -> None:
    assert {row["depth"] for row in rows(task)} == {None}


@pytest.mark.thorough
def test_the_seed_alone_decides() -> None:
    """Rows of a released version must stay as they are: a change of a text makes scores incomparable."""
    digests = {task: RulerDataset(task, 4096, num_samples=3, seed=7).read("test").digest[:12] for task in TASKS}
    assert digests == DIGESTS
    assert len({rows("cwe", seed=seed)[0]["prompt"] for seed in range(5)}) == 5


DIGESTS = {
    "niah_single_1": "dc4f1e4147b3",
    "niah_single_2": "c30f31bf44a2",
    "niah_single_3": "c79f327c7052",
    "niah_multikey_1": "6a1619a8b907",
    "niah_multikey_2": "1d7133391064",
    "niah_multikey_3": "8d3b654282b2",
    "niah_multivalue": "b343336f6d2c",
    "niah_multiquery": "b186fe4e4a55",
    "vt": "a92c292008e0",
    "cwe": "3b2e14c4e28b",
    "fwe": "95dcb8312021",
    "qa_1": "970e0bca4601",
    "qa_2": "eda2b67d6b10",
}


@pytest.mark.torch
def test_a_chat_template_counts_only_if_it_is_wanted(tokenizers: dict[str, str]) -> None:
    with_template = rows("qa_1", tokenizer=tokenizers["letters"])
    without = rows("qa_1", tokenizer=tokenizers["letters"], chat_template=False)
    assert len(without[0]["prompt"]) > len(with_template[0]["prompt"])
    with pytest.raises(ConfigError, match="no chat template"):
        rows("qa_1", tokenizer=tokenizers["bytes"], chat_template=True)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"task": "vt", "language": "zh"}, "English only"),
        ({"num_samples": 0}, "at least 1"),
        ({"length": 64}, "more than max_out_len"),
        ({"depths": [101]}, "depths cannot be"),
        ({"depths": []}, "depths cannot be"),
    ],
)
def test_arguments_that_cannot_be(arguments: dict[str, Any], error: str) -> None:
    with pytest.raises(ConfigError, match=error):
        READERS.make("RulerDataset", {"task": "niah_single_1", "length": 4096, "max_out_len": ANSWER, **arguments})


def test_a_length_without_room_names_the_least() -> None:
    with pytest.raises(DataError, match="no room for the task") as caught:
        rows("cwe", 512)
    assert "make length at least" in caught.value.fix


@pytest.mark.torch
def test_a_tokenizer_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be loaded"):
        rows("vt", tokenizer=str(tmp_path))
