"""`aisprompt same`: servers, weights and runs that are the same model, and that are not."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from ais_prompt.extensions.evidence.equal_outputs import (
    ModelFinding,
    by_sample,
    compare_answers,
    compare_formats,
    compare_likelihoods,
    compare_prompts,
    compare_tool_calls,
    decide,
)
from ais_prompt.types import ChatMessage, Completion, Likelihood, Prediction, ToolCall, Usage
from tests.support.cli import run_cli
from tests.support.servers import mock_server

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
    not_given = {"likelihoods": None, "prompts": None, "tool calls": None}
    assert equal == (0, {**not_given, "answers": False, "lengths": False})
    assert found(folder, "e.py#few", "e.py#other", *options)[0] == 1


def run_models(folder: Path, models: tuple[str, ...], config: str = CONFIG) -> None:
    """Make runs e0, e1, … of one config, each with another model under the same name."""
    for number, model in enumerate(models):
        text = config.replace("('few', 'few2', 'other')", f"('{model}',)").replace("abbr=name", "abbr='m'")
        (folder / f"e{number}.py").write_text(text)
        done = run_cli("run", f"e{number}.py", "-m", "infer", folder=folder)
        assert done.returncode == 0, done.stderr


@pytest.mark.process
def test_two_runs_are_compared_without_asking(folder: Path) -> None:
    run_models(folder, ("few", "few", "other"))
    assert found(folder, "e0", "e1") == (0, {"prompts": None, "answers": False, "lengths": False})
    assert found(folder, "e0", "e2") == (1, {"prompts": None, "answers": True, "lengths": False})


@pytest.mark.process
def test_runs_with_one_answer_to_a_prompt_show_what_all_answers_share(folder: Path) -> None:
    rows = ", ".join(f"dict(q='words {number} and {number + 1}')" for number in range(40))
    config = CONFIG.replace("n=12", "n=1").replace("dict(q='one two'), dict(q='three four'), dict(q='five six')", rows)
    run_models(folder, ("few", "few", "other"), config)
    assert found(folder, "e0", "e1")[0] == 0
    code, differences = found(folder, "e0", "e2")
    assert code == 1
    assert differences["answers"] is True


@pytest.mark.process
def test_runs_without_a_sample_in_common_are_refused(folder: Path) -> None:
    run_models(folder, ("few",))
    (folder / "o.py").write_text(
        (folder / "e0.py").read_text().replace("one two", "1").replace("three four", "2").replace("five six", "3")
    )
    assert run_cli("run", "o.py", "-m", "infer", folder=folder).returncode == 0
    done = run_cli("same", "e0", "o", folder=folder)
    assert done.returncode == 2
    assert "no answered sample in common" in done.stderr


@pytest.mark.process
def test_other_prompts_are_not_taken_for_another_model(folder: Path) -> None:
    run_models(folder, ("few",))
    (folder / "o.py").write_text((folder / "e0.py").read_text().replace("template='{q}'", "template='{q}!'"))
    assert run_cli("run", "o.py", "-m", "infer", folder=folder).returncode == 0
    done = run_cli("same", "e0", "o", folder=folder)
    assert done.returncode == 1
    assert "3 of 3 prompts are not the same in both" in " ".join(done.stdout.split())


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


def one_finding(evidence: object) -> ModelFinding:
    [finding] = decide([evidence])  # type: ignore[list-item]
    return finding


def test_tokens_of_prompts_show_another_template() -> None:
    plain = {str(n): answers(10 + n, "a") for n in range(5)}
    assert compare_prompts(plain, plain).differs is False
    system = {str(n): answers(31 + n, "a") for n in range(5)}
    told = compare_prompts(plain, system)
    assert told.differs is True
    assert "+21 tokens: a template, system prompt or BOS differs" in told.shown
    uneven = {str(n): answers(10 + 2 * n, "a") for n in range(5)}
    assert "+0 to +4 tokens: the tokenizers" in compare_prompts(plain, uneven).shown
    assert compare_prompts(plain, {}).differs is None


def test_one_prompt_shows_nothing() -> None:
    one = {"0": answers(1, "a", "b")}
    [finding] = decide(compare_answers(one, one))
    assert finding.differs is None


def texts(shift: float, noise: float = 0.0) -> list[dict[str, Prediction]]:
    def scored(number: int, more: float) -> Prediction:
        likelihood = Likelihood(10 * (number + 1 + shift + more), 10, 11, 40)
        return Prediction("s", 0, "", None, None, (Completion(likelihood=likelihood),))

    return [{str(n): scored(n, sign * noise * (n % 3 - 1)) for n in range(25)} for sign in (1, -1)]


def test_likelihoods_are_compared_beyond_their_noise() -> None:
    def differs(first: list[dict[str, Prediction]], second: list[dict[str, Prediction]]) -> bool | None:
        return one_finding(compare_likelihoods(first, second)).differs

    assert differs(texts(0), texts(0)) is False
    assert differs(texts(0), texts(1e-5)) is False
    assert differs(texts(0), texts(0.01)) is True
    assert differs(texts(0, noise=0.05), texts(0.001, noise=0.05)) is False
    assert differs([{}, {}], [{}, {}]) is None


def test_likelihoods_that_were_asked_once_are_equal_or_not_known() -> None:
    assert one_finding(compare_likelihoods(texts(0)[:1], texts(0)[:1])).differs is False
    assert one_finding(compare_likelihoods(texts(0)[:1], texts(0.01)[:1])).differs is None


def test_likelihoods_of_different_texts_are_not_compared() -> None:
    plain = texts(0)
    longer = [
        {
            name: replace(one, completions=(Completion(likelihood=Likelihood(20, 14, 15, 56)),))
            for name, one in side.items()
        }
        for side in texts(0)
    ]
    finding = one_finding(compare_likelihoods(plain, longer))
    assert finding.differs is None
    assert "25 of 25 texts have another length" in finding.text


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.process
def test_a_server_is_the_same_as_the_weights_that_it_has(folder: Path) -> None:
    demo = Path(__file__).parents[3] / "configs/data/demo_model"
    (folder / "sums.txt").write_text("17+9=?\n56+26=?\n38+47=?\n")
    with mock_server(model=demo) as server:
        options = ["--prompts", "sums.txt", "--samples", "2", "--max-out-len", "4"]
        assert found(folder, server.base_url, str(demo), *options)[1]["likelihoods"] is False
        sampled = [one["body"] for one in server.requests() if one["path"].endswith("/chat/completions")]
        assert {body.get("temperature") for body in sampled} == {1.0}


def called(share: float, arguments: str = '{"city": "Oslo"}', prompts: int = 60) -> dict[str, Prediction]:
    """Return one answer to each prompt, of which a share calls a tool."""
    calls = (ToolCall("get_weather", arguments),)
    completions = [Completion("", "stop", tool_calls=calls if n < share * prompts else ()) for n in range(prompts)]
    return {str(n): Prediction("s", n, "", None, None, (one,)) for n, one in enumerate(completions)}


def test_how_often_tools_are_called_is_compared() -> None:
    assert compare_tool_calls(called(0), called(0)) == []
    [equal] = decide(compare_tool_calls(called(0.5), called(0.5)))
    assert equal.differs is False
    assert equal.text.startswith("answers that call a tool: 50% and 50%, p 1: no difference is shown; a difference of ")
    assert equal.detectable is not None
    assert 0.01 < equal.detectable < 0.3
    [fewer] = decide(compare_tool_calls(called(0.9), called(0.4)))
    assert fewer.differs is True


def test_arguments_that_are_no_json_are_found_among_the_calls() -> None:
    found = {one.subject: one.differs for one in decide(compare_tool_calls(called(1), called(1, "city=Oslo")))}
    assert found == {"arguments": True}


def test_json_must_have_the_keys_that_were_asked_for() -> None:
    def side(text: str) -> dict[str, Prediction]:
        return {str(n): Prediction("s", n, "", None, ["a", "b"], (Completion(text, "stop"),) * 6) for n in range(8)}

    good, fenced, other = side('{"b": 1, "a": 2}'), side('```json\n{"a": 1, "b": 2}\n```'), side('{"a": 1}')
    assert compare_formats(good, fenced, with_keys=True) == []
    [finding] = decide(compare_formats(good, other, with_keys=True))
    assert finding.differs is True
    assert compare_formats(good, other, with_keys=False) == []


def test_cut_answers_and_longer_answers_are_found() -> None:
    def side(text: str, reason: str) -> dict[str, Prediction]:
        one = Completion(text, reason)  # type: ignore[arg-type]
        return {str(n): Prediction("s", n, "", None, None, (one, replace(one, text=text + "!"))) for n in range(20)}

    found = {one.subject: one.differs for one in decide(compare_answers(side("ab", "stop"), side("ab" * 9, "length")))}
    assert found == {"answers": True, "lengths": True, "endings": True}


def test_the_turns_of_a_dialogue_are_one_answer() -> None:
    prompts = tuple((ChatMessage("user", text),) for text in "ab")
    turns = (Completion("one", "stop"), Completion("two", "length"))
    [joined] = by_sample([Prediction("s", 0, prompts, ["one", "two"], None, turns)])["s"].completions
    assert joined.text == "one\ntwo"
    assert joined.truncated


@pytest.mark.thorough
def test_several_tests_find_a_difference_that_is_none_in_5_percent_together() -> None:
    draw = np.random.default_rng(0)

    def side() -> dict[str, Prediction]:
        def one() -> Completion:
            calls = (ToolCall("f", "{}" if draw.random() < 0.7 else "?"),) if draw.random() < 0.5 else ()
            text = "x" * int(draw.integers(1, 9)) + str(draw.integers(0, 9))
            return Completion(text, "stop" if draw.random() < 0.8 else "length", tool_calls=calls)

        return {str(n): Prediction("s", n, "", None, None, (one(), one(), one())) for n in range(8)}

    def alarm() -> bool:
        sides = side(), side()
        evidence = [replace(one, detectable=None) for one in compare_answers(*sides) + compare_tool_calls(*sides)]
        assert len(evidence) >= 4
        return any(one.differs for one in decide(evidence))

    assert sum(alarm() for _ in range(100)) <= 11  # more has a probability of 0.4 % at 5 %
