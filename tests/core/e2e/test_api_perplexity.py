"""Choosing by likelihood through a server, by the real program: the same as in this process, or a clear refusal."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ais_prompt.models import (
    HuggingFaceBaseModel,
    HuggingFaceChatModel,
    OpenAIChatModel,
    OpenAICompletionModel,
    OpenAIModel,
)
from ais_prompt.testing.scoring import LetterModel
from ais_prompt.types import ChatMessage, Completion, LikelihoodQuery, Request, prompt_to_json
from tests.core.e2e.project import Project, read_lines
from tests.support.servers import ROOT, MockServer, mock_server

pytestmark = pytest.mark.process


DEMO = ROOT / "configs" / "data" / "demo_model"
TEXTS = [
    ("Question: 1+2=?\nAnswer: 3", LikelihoodQuery()),
    ("Question: 1+2=?\nAnswer:", LikelihoodQuery(" 3")),
    ("x é", LikelihoodQuery("é中")),
    ("", LikelihoodQuery("Answer: 3")),
    ("a", LikelihoodQuery("")),
    ("Quest", LikelihoodQuery("ion")),
    ("Question: 1+2=?\nAnswer: ", LikelihoodQuery(choices=("3", "4", "5", "Q", "z"))),
    ("Question: 1+2=?\nAnswer:", LikelihoodQuery(choices=(" 3", " 4"))),
]
SERVED = """\"\"\"The demo model behind a server.\"\"\"

models = [dict(type='OpenAICompletionModel', abbr='served', model='demo', base_url='{url}', api_key=None)]
"""
CHOICE = """dict(
    abbr='sums', type='LocalDataset', path='data/sums.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(
        prompt_template=dict(type='PromptTemplate', template={'4': '{question} is 4', '6': '{question} is so'}),
        retriever=dict(type='ZeroRetriever'),
        inferencer=dict(type='PPLInferencer'),
    ),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator')),
)"""


@pytest.fixture(scope="module")
def demo_server() -> Iterator[MockServer]:
    with mock_server(model=DEMO) as running:
        yield running


@pytest.mark.slow
@pytest.mark.torch
def test_a_served_model_chooses_as_it_does_in_this_process(project: Project, demo_server: MockServer) -> None:
    demo_server.follow()
    config = project.root / "configs" / "models" / "served.py"
    config.parent.mkdir(parents=True)
    config.write_text(SERVED.format(url=demo_server.base_url))
    names = ["--models", str(config), "demo_base", "--datasets", "demo_choice", "--num-prompts", "30"]
    done = project.run("run", *names, "-w", str(project.root / "out"))
    assert done.returncode == 0, done.stderr
    served, local = (read_predictions(project.root / "out", abbr) for abbr in ("served", "demo-base"))
    assert len(served) == len(local) == 30
    assert [line["prediction"] for line in served] == [line["prediction"] for line in local]
    for one, other in zip(served, local, strict=True):
        for label in "ABCD":
            assert one["labels"][label]["prompt"] == other["labels"][label]["prompt"]
            for value in ("ppl", "nll", "tokens", "bpb"):
                assert one["labels"][label][value] == pytest.approx(other["labels"][label][value], rel=1e-5)


def read_predictions(root: Path, model: str) -> list[dict[str, Any]]:
    [file] = root.rglob(f"predictions/{model}/demo-choice.jsonl")
    return read_lines(file)


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("via", ["echo", "prompt_logprobs"])
def test_continuations_and_choices_are_scored_as_in_this_process(demo_server: MockServer, via: Any) -> None:
    demo_server.follow()
    asked = [Request(str(number), *text) for number, text in enumerate(TEXTS)]
    model = OpenAICompletionModel("demo", demo_server.base_url, api_key=None, logprobs_via=via)
    local = dict(HuggingFaceBaseModel(str(DEMO)).log_likelihoods(asked))
    for number, there in enumerate(asyncio.run(complete(model, asked))):
        here = local[number]
        assert here.failure == there.failure
        if here.likelihood is not None and there.likelihood is not None:
            mine, theirs = here.likelihood, there.likelihood
            assert theirs.nll == pytest.approx(mine.nll, rel=1e-4)
            assert theirs.choices == pytest.approx(mine.choices, rel=1e-4)
            assert replace(theirs, nll=0.0, choices=()) == replace(mine, nll=0.0, choices=())


@pytest.mark.slow
@pytest.mark.torch
def test_messages_are_scored_as_in_this_process(demo_server: MockServer) -> None:
    demo_server.follow()
    local = HuggingFaceChatModel(str(DEMO))
    messages = (ChatMessage("user", "1+2=?"), ChatMessage("assistant", "3"))
    text = local.tokenizer().apply_chat_template(prompt_to_json(messages), tokenize=False)
    [(_, here)] = local.log_likelihoods([Request("s", text, LikelihoodQuery())])
    model = OpenAIChatModel("demo", demo_server.base_url, api_key=None)
    [there] = asyncio.run(complete(model, [Request("s", messages, LikelihoodQuery())]))
    assert here.likelihood is not None
    assert there.likelihood is not None
    assert there.likelihood.nll == pytest.approx(here.likelihood.nll, rel=1e-4)
    assert (there.likelihood.tokens, there.likelihood.all_tokens) == (
        here.likelihood.tokens,
        here.likelihood.all_tokens,
    )


async def complete(model: OpenAIModel, requests: list[Request]) -> list[Completion]:
    await model.open()
    try:
        return [await model.complete(request) for request in requests]
    finally:
        await model.aclose()


def use(project: Project, server: MockServer, kind: str = "Completion") -> None:
    model = f"dict(type='OpenAI{kind}Model', abbr='fake', model='mock', base_url={server.base_url!r}, retry=0)"
    project.write_config(models=model, datasets=CHOICE)


def test_the_numbers_are_those_of_the_server_and_are_not_asked_twice(project: Project, server: MockServer) -> None:
    server.follow()
    use(project, server)
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    lines = project.predictions()
    for line in lines:
        for found in line["labels"].values():
            tokens = LetterModel().read(found["prompt"])
            assert found["nll"] == pytest.approx(-math.fsum(token.log_prob or 0.0 for token in tokens))
            assert found["tokens"] == len(tokens) - 1
    assert server.stats()["requests"] == 1 + 2 * len(lines)
    again = project.run("run", "eval.py", "-r")
    assert again.returncode == 0, again.stderr
    assert server.stats()["requests"] == 1 + 2 * len(lines)


@pytest.mark.parametrize("kind", ["Completion", "Chat"])
def test_a_server_that_cannot_score_ends_the_run_before_the_first_sample(
    project: Project, server: MockServer, kind: str
) -> None:
    server.follow({"ignore": ["echo", "prompt_logprobs"]})
    use(project, server, kind)
    done = project.run("run", "eval.py")
    assert done.returncode == 3
    assert "the server returns no log-likelihoods of prompts" in done.stderr
    assert "fix:" in done.stderr
    assert "Traceback" not in done.stderr
    assert project.journal() == []


def test_a_text_that_the_server_cannot_score_is_a_failed_sample(project: Project, server: MockServer) -> None:
    entries = [None, {"7": {"logprob": -9999.0}}]
    server.follow({"text": "3+3=? is so", "body": {"choices": [{"prompt_logprobs": entries}]}})
    use(project, server)
    done = project.run("run", "eval.py")
    assert done.returncode == 1, done.stderr
    assert [line["prediction"] is None for line in project.predictions()] == [number == 3 for number in range(8)]
    [row] = project.summary()
    assert (row["scored"], row["failed"]) == (7, 1)
