"""`aisprompt same`: servers, weights and runs that are the same model, and that are not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ais_prompt.extensions.same.compare import compare_answers, compare_likelihoods, compare_prompts
from ais_prompt.types import Completion, Likelihood, Prediction, Usage
from tests.support.cli import run_cli

PARTS = """
import threading
from collections import Counter

lock, calls = threading.Lock(), Counter()

def answer(name, prompt, letters):
    with lock:  # each model gives each answer equally often
        number = calls[name, prompt]
        calls[name, prompt] += 1
    words = prompt.split()
    return f'{words[number % len(words)]} {letters[number % 3]}'

def few(prompt):
    return answer('few', prompt, 'abc')

def few2(prompt):
    return answer('few2', prompt, 'abc')

def other(prompt):
    return answer('other', prompt[::-1].upper(), 'xyz')
"""
CONFIG = """
models = [dict(type='FunctionModel', abbr=name, function='parts.' + name) for name in ('few', 'few2', 'other')]
datasets = [dict(type='LocalDataset', abbr='words', rows=[dict(q='one two'), dict(q='three four'), dict(q='five six')],
    reader_cfg=dict(input_columns=['q'], output_column=None),
    infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{q}'),
                   inferencer=dict(type='GenInferencer', n=12)))]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "parts.py").write_text(PARTS)
    (tmp_path / "e.py").write_text(CONFIG)
    return tmp_path


def found(folder: Path, *arguments: str) -> tuple[int, dict[str, bool | None]]:
    done = run_cli("same", *arguments, "--json", "-q", folder=folder)
    assert done.stdout, done.stderr
    return done.returncode, {one["subject"]: one["differs"] for one in json.loads(done.stdout)["differences"]}


@pytest.mark.process
def test_a_model_is_the_same_as_itself_and_another_is_not(folder: Path) -> None:
    (folder / "prompts.txt").write_text("one two three\nfour five six\nseven eight\nnine ten\n")
    options = ["--prompts", "prompts.txt", "--samples", "12"]
    equal = found(folder, "e.py#few", "e.py#few2", *options)
    assert equal == (0, {"likelihoods": None, "prompts": None, "answers": False})
    assert found(folder, "e.py#few", "e.py#other", *options)[0] == 1


@pytest.mark.process
def test_two_runs_are_compared_without_asking(folder: Path) -> None:
    for number, model in enumerate(("few", "few", "other")):
        config = CONFIG.replace("('few', 'few2', 'other')", f"('{model}',)").replace("abbr=name", "abbr='m'")
        (folder / f"e{number}.py").write_text(config)
        assert run_cli("run", f"e{number}.py", "-m", "infer", folder=folder).returncode == 0
    assert found(folder, "e0", "e1") == (0, {"prompts": None, "answers": False})
    assert found(folder, "e0", "e2") == (1, {"prompts": None, "answers": True})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("e.py", "e.py#few"), "e.py has 3 models"),
        (("e.py#none", "e.py#few"), "e.py has 0 models 'none'"),
        (("nowhere", "e.py#few"), "nowhere"),
        (("e.py#few", "e.py#few2", "--samples", "1"), "--samples"),
        (("e.py#few", "e.py#few2", "--prompts", "one.txt"), "fewer than two prompts"),
    ],
)
def test_what_cannot_be_compared_is_refused(folder: Path, arguments: tuple[str, ...], words: str) -> None:
    (folder / "one.txt").write_text("one\n")
    done = run_cli("same", *arguments, folder=folder)
    assert done.returncode == 2
    assert words in done.stderr


def answers(tokens: int, *texts: str) -> Prediction:
    usage = Usage(prompt_tokens=tokens)
    return Prediction("s", 0, "", list(texts), None, tuple(Completion(text, "stop", usage) for text in texts))


def test_tokens_of_prompts_show_another_template() -> None:
    plain = {str(n): answers(10 + n, "a") for n in range(5)}
    assert compare_prompts(plain, plain).differs is False
    system = {str(n): answers(31 + n, "a") for n in range(5)}
    told = compare_prompts(plain, system)
    assert told.differs is True
    assert "+21 tokens: a template, system prompt or BOS differs" in told.text
    uneven = {str(n): answers(10 + 2 * n, "a") for n in range(5)}
    assert "+0 to +4 tokens: the tokenizers" in compare_prompts(plain, uneven).text
    assert compare_prompts(plain, {}).differs is None


def test_one_answer_to_a_prompt_shows_nothing() -> None:
    one = {str(n): answers(1, "a") for n in range(5)}
    assert compare_answers(one, one).differs is None


def texts(shift: float, noise: float = 0.0) -> list[dict[str, Prediction]]:
    def scored(number: int, more: float) -> Prediction:
        likelihood = Likelihood(10 * (number + 1 + shift + more), 10, 11, 40)
        return Prediction("s", 0, "", None, None, (Completion(likelihood=likelihood),))

    return [{str(n): scored(n, sign * noise * (n % 3 - 1)) for n in range(25)} for sign in (1, -1)]


def test_likelihoods_are_compared_beyond_their_noise() -> None:
    assert compare_likelihoods(texts(0), texts(0)).differs is False
    assert compare_likelihoods(texts(0), texts(1e-5)).differs is False
    assert compare_likelihoods(texts(0), texts(0.01)).differs is True
    assert compare_likelihoods(texts(0, noise=0.05), texts(0.001, noise=0.05)).differs is False
    assert compare_likelihoods([{}, {}], [{}, {}]).differs is None
