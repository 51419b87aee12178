"""The demo model as it is shipped: small, plain Hugging Face files, good at held-out sums and not perfect."""

from __future__ import annotations

import json
import re
from random import Random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from demo.documents import EOS, FORMS, TURN_END
from demo.evaluation import EVALUATIONS, DemoModel, Evaluation, load_model
from demo.tokenizer import CHAT_TEMPLATE
from demo.train import MODEL_DIR
from demo.training import Recipe, build_model, encode, train

pytestmark = pytest.mark.torch


MEGABYTE = 1_000_000
PERPLEXITY_ROWS = 40  # four passes a row take their time
TINY = Recipe(hidden_size=16, layers=1, heads=2, steps=40, tokens_per_batch=256, warmup_steps=4)


@pytest.fixture(scope="module")
def demo() -> DemoModel:
    return load_model(MODEL_DIR)


def test_all_files_together_are_small() -> None:
    assert sum(path.stat().st_size for path in MODEL_DIR.iterdir()) <= 4 * MEGABYTE


def test_the_files_need_no_code_of_their_own() -> None:
    names = {path.name for path in MODEL_DIR.iterdir()}
    assert names == {
        "README.md",
        "chat_template.jinja",
        "config.json",
        "generation_config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
    }
    assert "auto_map" not in json.loads((MODEL_DIR / "config.json").read_text())


def test_weights_are_loaded_for_float32(demo: DemoModel) -> None:
    assert {weight.dtype for weight in demo.model.parameters()} == {torch.float32}


def test_answers_end_at_the_end_of_a_text_or_of_a_turn(demo: DemoModel) -> None:
    ends = demo.tokenizer.convert_tokens_to_ids([EOS, TURN_END])
    assert demo.model.generation_config.eos_token_id == ends


@given(text=st.text())
@settings(max_examples=300)
def test_any_text_round_trips_through_the_tokenizer(demo: DemoModel, text: str) -> None:
    ids = demo.tokenizer(text, add_special_tokens=False)["input_ids"]
    assert demo.tokenizer.decode(ids) == text


@given(left=st.text(alphabet="Answer: 0123456789\n"), right=st.text(alphabet="0123456789\n=?"))
@settings(max_examples=200)
def test_tokens_of_a_prompt_do_not_depend_on_what_follows(demo: DemoModel, left: str, right: str) -> None:
    def tokens(text: str) -> list[int]:
        return list(demo.tokenizer(text, add_special_tokens=False)["input_ids"])

    assert tokens(left + right) == tokens(left) + tokens(right)


@pytest.mark.parametrize("form", [form for form, _, _ in FORMS], ids=lambda form: form.__name__)
def test_documents_are_encoded_as_their_whole_text_would_be(demo: DemoModel, form: object) -> None:
    assert callable(form)
    rng = Random(2)
    for _ in range(50):
        document = form(rng, 2)
        ids, weights = encode(demo.tokenizer, document)
        assert ids == demo.tokenizer(document.text, add_special_tokens=False)["input_ids"]
        assert len(weights) == len(ids)


def test_the_chat_template_writes_what_the_training_documents_hold(demo: DemoModel) -> None:
    messages = [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "1+1=?"},
        {"role": "assistant", "content": "2"},
    ]
    text = demo.tokenizer.apply_chat_template(messages, tokenize=False)
    assert demo.tokenizer.chat_template == CHAT_TEMPLATE
    assert text == (
        "<s><|im_start|>system\nBe short.<|im_end|>\n<|im_start|>user\n1+1=?<|im_end|>\n"
        "<|im_start|>assistant\n2<|im_end|>\n"
    )
    opened = demo.tokenizer.apply_chat_template(messages[:2], tokenize=False, add_generation_prompt=True)
    assert text.startswith(opened)


@pytest.mark.parametrize("evaluation", EVALUATIONS, ids=lambda evaluation: evaluation.name)
def test_held_out_rows_are_answered_well_and_not_perfectly(demo: DemoModel, evaluation: Evaluation) -> None:
    few = PERPLEXITY_ROWS if evaluation.data_set == "choice" else None
    measured = evaluation.run(demo, few)
    assert measured >= 0.8
    assert few or measured < 1


def test_mean_nll_is_the_mean_over_the_tokens_after_bos(demo: DemoModel) -> None:
    text = "Question: 23+45=?\nAnswer: 68"
    ids = demo.tokenizer(text)["input_ids"]
    with torch.inference_mode():
        log_probabilities = demo.model(torch.tensor([ids])).logits[0].log_softmax(-1)
    by_hand = [-log_probabilities[place - 1, ids[place]].item() for place in range(1, len(ids))]
    assert demo.mean_nll([text])[0] == pytest.approx(sum(by_hand) / len(by_hand), rel=1e-4)


def test_the_model_card_states_a_figure_for_each_evaluation() -> None:
    card = (MODEL_DIR / "README.md").read_text(encoding="utf-8")
    assert "license: apache-2.0" in card
    for evaluation in EVALUATIONS:
        assert re.search(rf"^\| {re.escape(evaluation.name)} \| \d+\.\d % \|$", card, re.MULTILINE)


def test_training_learns_and_a_seed_decides_it(demo: DemoModel) -> None:
    runs = []
    for _ in range(2):
        model = build_model(demo.tokenizer, TINY)
        losses = train(model, demo.tokenizer, TINY)
        runs.append((losses, model.state_dict()))
    (losses, weights), (same_losses, same_weights) = runs
    assert len(losses) == TINY.steps
    assert sum(losses[-5:]) < 0.8 * sum(losses[:5])
    assert losses == same_losses
    assert all(torch.equal(weights[name], same_weights[name]) for name in weights)
