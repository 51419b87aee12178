"""Local Hugging Face models: tiny random networks, made here, through the ordinary classes of transformers."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ais_prompt.errors import ConfigError, ModelError, PromptError
from ais_prompt.models import BatchModel, HuggingFaceBaseModel, HuggingFaceChatModel, continuation, decode
from ais_prompt.plan import argument_faults
from ais_prompt.prompts import make_chat_format
from ais_prompt.registry import MODELS
from ais_prompt.types import ChatMessage, Completion, Decoding, Request
from ais_prompt.utils import install_command

pytestmark = pytest.mark.torch


PROMPTS = ["one plus two", "a much longer question about the numbers of the world", "x", "seven is"]
DEMO_MODEL = Path(__file__).parents[5] / "configs" / "data" / "demo_model"
WORDS = ["one plus two is three", "the world of numbers", "seven and eight make fifteen"] * 4


def byte_level_tokenizer() -> Any:
    """A byte-level BPE tokenizer that puts <s> in front, as Llama 3 does."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    special = ["<s>", "</s>", "<pad>"]
    trainer = trainers.BpeTrainer(
        vocab_size=300, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    backend.train_from_iterator(WORDS, trainer)
    backend.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    return PreTrainedTokenizerFast(
        tokenizer_object=backend, bos_token="<s>", eos_token="</s>", pad_token="<pad>", model_max_length=64
    )


def metaspace_tokenizer() -> Any:
    """A tokenizer in the manner of SentencePiece: decoding drops the first space."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    backend = Tokenizer(models.BPE(unk_token="<unk>"))
    backend.pre_tokenizer = pre_tokenizers.Metaspace()
    backend.decoder = decoders.Metaspace()
    trainer = trainers.BpeTrainer(vocab_size=80, special_tokens=["<unk>", "</s>"], show_progress=False)
    backend.train_from_iterator(WORDS, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="<unk>", eos_token="</s>")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny random Llama; its shipped generation settings ask for wild sampling."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    folder = tmp_path_factory.mktemp("tiny")
    tokenizer = byte_level_tokenizer()
    torch.manual_seed(1)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=128,
        initializer_range=0.4,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=2,
    )
    network = LlamaForCausalLM(config)
    network.generation_config.update(do_sample=True, temperature=5.0, top_k=7, top_p=0.5)
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def model(folder: Path) -> HuggingFaceBaseModel:
    model = HuggingFaceBaseModel(str(folder), max_out_len=24)
    model.load()
    return model


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    """A copy of the tiny model that a test may damage."""
    return Path(shutil.copytree(folder, tmp_path / "copy"))


def requests(prompts: Sequence[Any], decoding: Decoding) -> list[Request]:
    return [Request(str(number), prompt, decoding) for number, prompt in enumerate(prompts)]


def ask(model: HuggingFaceBaseModel, prompts: Sequence[Any], **changes: Any) -> list[Completion]:
    """Answers of a loaded model under its own decoding, with fields of `Decoding` changed."""
    from msgspec.structs import replace

    return model.generate(requests(prompts, replace(model.decoding(None, ()), **changes)))


def texts(completions: Sequence[Completion]) -> list[str]:
    assert [completion.failure for completion in completions] == [None] * len(completions)
    return [completion.text for completion in completions]


# Decoding


def test_both_classes_are_registered_batch_models(folder: Path) -> None:
    for name, style in (("HuggingFaceBaseModel", "text"), ("HuggingFaceChatModel", "chat_template")):
        built = MODELS.get(name)(path=str(folder))
        assert isinstance(built, BatchModel)
        assert built.prompt_style == style


def test_greedy_decoding_drops_sampling_options() -> None:
    model = HuggingFaceBaseModel("x", generation_kwargs={"do_sample": False, "top_p": 0.5, "num_beams": 2}, seed=3)
    assert model.decoding(None, ()) == Decoding(256, temperature=0.0, extra={"num_beams": 2})
    assert HuggingFaceBaseModel("x", generation_kwargs={"temperature": 0, "top_k": 3}).decoding(9, ()) == Decoding(
        9, 0.0
    )


def test_sampling_settings_travel_in_the_decoding() -> None:
    options = {"temperature": 0.7, "top_p": 0.9, "top_k": 5, "seed": 1}
    decoding = HuggingFaceBaseModel("x", generation_kwargs=options, seed=3).decoding(4, ())
    assert decoding == Decoding(4, 0.7, 0.9, seed=1, extra={"top_k": 5, "do_sample": True})


VARIABLES = {"enable_thinking": False, "date": "2024-07-30"}


@pytest.mark.parametrize(
    "options",
    [
        {"chat_template_kwargs": VARIABLES},
        {"generation_kwargs": {"chat_template_kwargs": VARIABLES}},
        {"sampling": {"chat_template_kwargs": VARIABLES}},
        {"sampling": {"extra": {"chat_template_kwargs": VARIABLES}}},
    ],
)
def test_variables_of_the_chat_template_reach_it_and_are_no_options_of_generate(
    folder: Path, options: dict[str, Any]
) -> None:
    plain, model = HuggingFaceChatModel(str(folder)), HuggingFaceChatModel(str(folder), **options)
    template = "{{ date }}{% for m in messages %}{{ m.content }}{% endfor %}"
    template += "{% if not enable_thinking %}<think>{% endif %}"
    model.tokenizer().chat_template = template
    chat = make_chat_format("chat_template", None, model.tokenizer)
    assert chat.render("x", "gen") == "2024-07-30x<think>"
    assert model.decoding(4, ()) == plain.decoding(4, ())
    assert model.identity() == {**plain.identity(), "chat_template_kwargs": VARIABLES}


def test_stop_words_of_model_and_dataset_are_merged() -> None:
    decoding = HuggingFaceBaseModel("x", stop_words=["\n", "Q:"]).decoding(None, ["Q:", "", "END"])
    assert decoding.stop == ("\n", "Q:", "END")


def test_an_option_with_its_own_argument_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"max_new_tokens.*use max_out_len"):
        HuggingFaceBaseModel("x", generation_kwargs={"max_new_tokens": 3})


def test_annotations_take_what_a_config_holds() -> None:
    values = {"stop_words": ["a"], "generation_kwargs": {"seed": 1}, "max_seq_len": None, "batch_size": 2, "path": "x"}
    assert not list(argument_faults(HuggingFaceChatModel, values, "models[0]"))


# Generating


def test_answers_keep_their_order_and_count_their_tokens(model: HuggingFaceBaseModel) -> None:
    completions = ask(model, PROMPTS)
    assert texts(completions) == [texts(ask(model, [prompt]))[0] for prompt in PROMPTS]
    assert len(set(texts(completions))) == len(PROMPTS)
    assert [completion.usage.prompt_tokens for completion in completions] == [model.count_tokens(p) for p in PROMPTS]
    assert all(completion.seconds > 0 for completion in completions)


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=30), min_size=2, max_size=5))
@settings(max_examples=8)
def test_greedy_answers_do_not_depend_on_the_batch(model: HuggingFaceBaseModel, prompts: list[str]) -> None:
    together = ask(model, prompts, max_out_len=8)
    alone = [ask(model, [prompt], max_out_len=8)[0] for prompt in prompts]
    assert [(c.text, c.finish_reason, c.usage) for c in together] == [(c.text, c.finish_reason, c.usage) for c in alone]


@pytest.mark.skipif(not DEMO_MODEL.is_dir(), reason="the demo model is not there")
@pytest.mark.parametrize("kind", [HuggingFaceBaseModel, HuggingFaceChatModel])
def test_the_demo_model_answers_alike_in_every_batch(kind: type[HuggingFaceBaseModel]) -> None:
    demo = kind(str(DEMO_MODEL), max_out_len=8)
    prompts = [f"{a}+{a * 7 % 10}=" * (a % 3 + 1) for a in range(10)]
    assert texts(ask(demo, prompts)) == [texts(ask(demo, [prompt]))[0] for prompt in prompts]


def test_an_answer_that_is_cut_says_length(model: HuggingFaceBaseModel) -> None:
    [completion] = ask(model, ["one plus two"], max_out_len=5)
    assert (completion.finish_reason, completion.usage.completion_tokens) == ("length", 5)


def test_greedy_decoding_ignores_the_shipped_sampling_settings_silently(
    model: HuggingFaceBaseModel, copy: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (copy / "generation_config.json").unlink()
    assert texts(ask(HuggingFaceBaseModel(str(copy), max_out_len=24), PROMPTS)) == texts(ask(model, PROMPTS))
    assert capfd.readouterr() == ("", "")


def test_an_end_token_stops_the_answer_and_is_counted_but_not_shown(model: HuggingFaceBaseModel) -> None:
    free = new_tokens(model, "one plus two", 12)
    end = next(token for token in free if token > 2 and free.index(token) > 2)
    count = free.index(end)
    for prompts in (["one plus two"], PROMPTS):
        completion = ask(model, prompts, extra={"eos_token_id": end})[0]
        assert completion.finish_reason == "stop"
        assert completion.usage.completion_tokens == count + 1
        assert completion.text == decode(model.tokenizer(), free[:count])


def test_generation_ends_with_a_stop_text(model: HuggingFaceBaseModel) -> None:
    whole = texts(ask(model, PROMPTS))
    stop = whole[0][9:12]
    completions = ask(model, PROMPTS, stop=("never there", stop))
    assert texts(completions) == [text.partition(stop)[0] for text in whole]
    assert [c.finish_reason for c in completions] == ["stop" if stop in text else "length" for text in whole]
    alone = ask(model, PROMPTS[:1], stop=(stop,))[0]
    assert completions[0].usage == alone.usage
    tokens = new_tokens(model, PROMPTS[0], 24)
    count = completions[0].usage.completion_tokens or 0
    assert stop in decode(model.tokenizer(), tokens[:count])
    assert stop not in decode(model.tokenizer(), tokens[: count - 1])


def test_a_batch_ends_as_soon_as_every_row_has_stopped(model: HuggingFaceBaseModel) -> None:
    stop = texts(ask(model, PROMPTS[:1]))[0][3:5]
    steps: list[int] = []
    hook = model._network.register_forward_pre_hook(lambda *_: steps.append(1))
    try:
        [completion] = ask(model, PROMPTS[:1], stop=(stop,), max_out_len=100)
    finally:
        hook.remove()
    assert len(steps) == completion.usage.completion_tokens < 24


def test_a_stop_text_in_the_prompt_does_not_end_the_answer(model: HuggingFaceBaseModel) -> None:
    prompt = "Q: one\nQ: two\n"
    assert texts(ask(model, [prompt], stop=("Q: ", "two\n"))) == texts(ask(model, [prompt]))


def new_tokens(model: HuggingFaceBaseModel, prompt: str, count: int) -> list[int]:
    """Greedy tokens by a plain loop over the network's logits: an independent reference."""
    import torch

    ids = model.encode(prompt)
    for _ in range(count):
        with torch.no_grad():
            ids.append(int(model._network(torch.tensor([ids])).logits[0, -1].argmax()))
    return ids[-count:]


def test_greedy_is_the_argmax_of_the_logits(model: HuggingFaceBaseModel) -> None:
    expected = [decode(model.tokenizer(), new_tokens(model, prompt, 10)) for prompt in PROMPTS]
    assert texts(ask(model, PROMPTS, max_out_len=10)) == expected


# Sampling


def test_a_seed_makes_sampling_repeatable_and_repeats_differ(folder: Path) -> None:
    import torch

    model = HuggingFaceBaseModel(str(folder), max_out_len=16, generation_kwargs={"temperature": 2.0}, seed=5)
    first = texts(ask(model, PROMPTS))
    state = torch.get_rng_state()
    assert texts(ask(model, PROMPTS)) == first
    assert torch.equal(torch.get_rng_state(), state), "the process's own random numbers are left alone"
    assert texts(ask(model, PROMPTS, seed=6)) != first
    decoding = model.decoding(None, ())
    repeats = [model.generate([Request("0", PROMPTS[0], decoding, repeat=number)])[0].text for number in range(3)]
    assert len(set(repeats)) == 3


# Prompts


def test_bos_is_given_once(folder: Path) -> None:
    base, chat = HuggingFaceBaseModel(str(folder)), HuggingFaceChatModel(str(folder))
    assert base.encode("one") == base.encode("<s>one") == chat.encode("<s>one")
    assert base.encode("one").count(0) == 1
    assert chat.encode("one") == base.encode("one")[1:]
    assert base.count_tokens("one") == chat.count_tokens("one") + 1


def test_a_prompt_that_cannot_be_sent_fails_alone(folder: Path) -> None:
    chat = HuggingFaceChatModel(str(folder), max_seq_len=20, max_out_len=6)
    long = "seven is " * 30
    completions = ask(chat, ["x", long, "", "one"])
    assert [completion.failure and completion.failure.kind for completion in completions] == [
        None,
        "too_long",
        "empty_prompt",
        None,
    ]
    assert completions[1].failure is not None
    assert f"prompt has {chat.count_tokens(long)} tokens" in completions[1].failure.message
    assert [completions[0].text, completions[3].text] == texts(ask(chat, ["x", "one"]))


def test_the_length_of_the_model_itself_is_the_limit(model: HuggingFaceBaseModel) -> None:
    size = model.count_tokens("one plus two")
    [fits, fails] = [ask(model, ["one plus two"], max_out_len=limit - size)[0] for limit in (128, 129)]
    assert fits.failure is None
    assert fails.failure is not None
    assert fails.failure.kind == "too_long"


def test_a_text_model_refuses_messages(folder: Path) -> None:
    with pytest.raises(PromptError, match="takes text"):
        HuggingFaceChatModel(str(folder)).count_tokens((ChatMessage("user", "hi"),))


def test_the_space_in_front_of_an_answer_is_kept() -> None:
    tokenizer = metaspace_tokenizer()
    ids = tokenizer("one plus two")["input_ids"]
    prompt = tokenizer("one")["input_ids"]
    assert ids[: len(prompt)] == prompt
    assert continuation(tokenizer, prompt, ids[len(prompt) :]) == " plus two"
    assert decode(tokenizer, ids[len(prompt) :]) == "plus two", "what decoding alone would say"


@pytest.mark.parametrize("make", [byte_level_tokenizer, metaspace_tokenizer])
def test_prompt_and_continuation_make_up_the_whole_text(make: Callable[[], Any]) -> None:
    tokenizer = make()

    @given(st.text("abc one\n ", min_size=1), st.data())
    @settings(max_examples=60)
    def holds(text: str, data: st.DataObject) -> None:
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        cut = data.draw(st.integers(min(1, len(ids)), len(ids)))
        assert decode(tokenizer, ids[:cut]) + continuation(tokenizer, ids[:cut], ids[cut:]) == decode(tokenizer, ids)

    holds()


# Faults


def test_a_batch_too_big_for_memory_is_split(folder: Path) -> None:
    import torch

    model = HuggingFaceBaseModel(str(folder), max_out_len=6)
    expected = texts(ask(model, PROMPTS))

    def refuse(_network: Any, _args: Any, options: dict[str, Any]) -> None:
        rows = options["input_ids"]
        if len(rows) > 1 or 299 in rows:
            raise torch.OutOfMemoryError("CUDA out of memory")

    model._network.register_forward_pre_hook(refuse, with_kwargs=True)
    assert texts(ask(model, PROMPTS)) == expected
    token = model.tokenizer().convert_ids_to_tokens(299).replace("Ġ", " ")
    completions = ask(model, [PROMPTS[0], token, PROMPTS[2]])
    assert [completion.failure and completion.failure.kind for completion in completions] == [
        None,
        "out_of_memory",
        None,
    ]


def test_a_token_that_the_network_does_not_know_fails_alone(copy: Path, model: HuggingFaceBaseModel) -> None:
    tokenizer = byte_level_tokenizer()
    tokenizer.add_tokens(["<new>"])
    tokenizer.save_pretrained(copy)
    completions = ask(HuggingFaceBaseModel(str(copy), max_out_len=24), [*PROMPTS, "<new>"])
    assert texts(completions[:-1]) == texts(ask(model, PROMPTS))
    assert completions[-1].failure is not None
    assert completions[-1].failure.kind == "generation"


@pytest.mark.parametrize("kept", [0, 8192])
def test_a_prompt_for_which_the_network_computes_nan_fails_alone(folder: Path, kept: int) -> None:
    model = HuggingFaceBaseModel(str(folder), max_out_len=6, prefix_cache_tokens=kept)
    expected = texts(ask(model, PROMPTS))
    [broken] = model.tokenizer()("z", add_special_tokens=False)["input_ids"]
    model._network.model.embed_tokens.weight.data[broken] = float("nan")
    for _ in range(2):
        completions = ask(model, [*PROMPTS, "z"])
        assert texts(completions[:-1]) == expected
        assert completions[-1].failure is not None
        assert completions[-1].failure.kind == "not_a_number"


@pytest.mark.parametrize("path", ["./missing", "/missing", "~/missing", "a/b/c"])
def test_a_missing_folder_is_an_error_at_once(path: str) -> None:
    for action in (HuggingFaceBaseModel(path).tokenizer, HuggingFaceBaseModel(path).load):
        with pytest.raises(ModelError, match="does not exist") as caught:
            action()
        assert caught.value.where == path
        assert caught.value.fix


def test_a_hub_id_that_cannot_be_downloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError, match="cannot load the tokenizer") as caught:
        HuggingFaceBaseModel("example/no-such-model").load()
    assert "hub id" in caught.value.fix


def damage_weights(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"not weights")


def remove_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()


def lose_a_layer(folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    kept = {name: tensor for name, tensor in weights.items() if "layers.1" not in name}
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})


def damage_config(folder: Path) -> None:
    (folder / "config.json").write_text("{")


def damage_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").write_text('{"version": "1.0"}')


@pytest.mark.parametrize("damage", [damage_weights, remove_weights, lose_a_layer, damage_config, damage_tokenizer])
def test_a_damaged_folder_is_a_model_error(
    copy: Path, damage: Callable[[Path], None], capfd: pytest.CaptureFixture[str]
) -> None:
    damage(copy)
    with pytest.raises(ModelError) as caught:
        HuggingFaceBaseModel(str(copy)).load()
    assert caught.value.where == str(copy)
    assert caught.value.fix
    assert len(caught.value.lines()) == 3
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("kind", ["bart", "t5"])
def test_an_encoder_decoder_model_is_refused_as_one(kind: str, copy: Path) -> None:
    from transformers import AutoConfig

    AutoConfig.for_model(kind).save_pretrained(copy)
    with pytest.raises(ModelError, match=f"{kind} is an encoder–decoder model") as caught:
        HuggingFaceBaseModel(str(copy)).load()
    assert "causal language model" in caught.value.fix


def test_an_empty_folder_and_a_file_are_no_models(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot load the tokenizer"):
        HuggingFaceBaseModel(str(tmp_path)).tokenizer()
    file = tmp_path / "model.bin"
    file.touch()
    with pytest.raises(ModelError, match="is a file"):
        HuggingFaceBaseModel(str(file)).tokenizer()


def test_wrong_generation_options_are_found_when_loading(folder: Path) -> None:
    for options, message in (({"top_q": 1}, "'top_q'"), ({"early_stopping": "often"}, "early_stopping")):
        with pytest.raises(ModelError, match=message):
            HuggingFaceBaseModel(str(folder), generation_kwargs=options).load()


# Loading


def test_a_tokenizer_without_pad_token_borrows_one(copy: Path) -> None:
    settings_file = copy / "tokenizer_config.json"
    values = json.loads(settings_file.read_text())

    def with_tokens(**tokens: str) -> HuggingFaceBaseModel:
        rest = {name: value for name, value in values.items() if name not in ("pad_token", "eos_token")}
        settings_file.write_text(json.dumps({**rest, **tokens}))
        return HuggingFaceBaseModel(str(copy), max_out_len=24)

    assert with_tokens(eos_token="</s>").tokenizer().pad_token == "</s>"
    assert with_tokens(unk_token="<pad>").tokenizer().pad_token == "<pad>"
    with pytest.raises(ModelError, match="no pad, eos or unk token"):
        with_tokens().tokenizer()
    borrowed = with_tokens(eos_token="</s>")
    stop = texts(ask(borrowed, PROMPTS))[0][9:12]
    together, alone = ask(borrowed, PROMPTS, stop=(stop,))[0], ask(borrowed, PROMPTS[:1], stop=(stop,))[0]
    assert (together.text, together.usage) == (alone.text, alone.usage)


def test_a_tokenizer_without_bos_and_eos_answers_until_the_answer_is_long_enough(copy: Path) -> None:
    for name in ("tokenizer_config.json", "generation_config.json", "config.json"):
        values = json.loads((copy / name).read_text())
        kept = {key: value for key, value in values.items() if key not in ("bos_token", "eos_token", "eos_token_id")}
        (copy / name).write_text(json.dumps(kept))
    model = HuggingFaceBaseModel(str(copy), max_out_len=5)
    assert (model.tokenizer().bos_token, model.tokenizer().eos_token) == (None, None)
    completions = ask(model, PROMPTS)
    assert {(one.finish_reason, one.usage.completion_tokens) for one in completions} == {("length", 5)}


def test_a_local_model_needs_no_network(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    texts(ask(HuggingFaceBaseModel(str(folder), max_out_len=2), ["one"]))


def test_the_precision_is_that_of_the_options_and_close_frees_the_network(folder: Path) -> None:
    import torch

    expected = {"float32": {}, "bfloat16": {"torch_dtype": "torch.bfloat16"}, "float16": {"dtype": torch.float16}}
    for name, options in expected.items():
        model = HuggingFaceBaseModel(str(folder), model_kwargs=options)
        model.load()
        assert model._network.dtype == getattr(torch, name)
        assert not model._network.training
        model.close()
        model.close()
        assert model._network is None


def test_only_the_tokenizer_works_without_torch(folder: Path) -> None:
    script = f"""
import sys
sys.modules["torch"] = None  # as if it were not installed
from ais_prompt.errors import MissingExtra
from ais_prompt.models.huggingface.local_model import HuggingFaceBaseModel
assert "transformers" not in sys.modules
model = HuggingFaceBaseModel({str(folder)!r})
assert "transformers" not in sys.modules
print(model.count_tokens("one plus two"))
try:
    model.load()
except MissingExtra as error:
    print(error.fix)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    tokens = HuggingFaceBaseModel(str(folder)).count_tokens("one plus two")
    assert done.stdout.splitlines() == [str(tokens), install_command("local")]


# Identity


def test_identity_holds_what_decides_the_answers_and_no_secret(folder: Path, copy: Path) -> None:
    import torch

    options = {"token": "hf_secret", "dtype": torch.float16}
    model = HuggingFaceBaseModel(str(folder), model_kwargs=options, batch_size=2)
    identity = model.identity()
    assert identity == json.loads(json.dumps(identity))
    assert "hf_secret" not in str(identity)
    assert identity["model_kwargs"] == {"dtype": "torch.float16"}
    assert (identity["type"], identity["path"]) == ("HuggingFaceBaseModel", str(folder))
    assert HuggingFaceBaseModel(str(folder), model_kwargs=options, batch_size=9).identity() == identity
    assert HuggingFaceBaseModel(str(copy)).identity()["files"][str(copy)] == identity["files"][str(folder)]


def test_identity_tells_retrained_weights_and_changed_settings_apart(copy: Path) -> None:
    from safetensors.torch import load_file, save_file

    model, weights = HuggingFaceBaseModel(str(copy)), copy / "model.safetensors"
    before, size = model.identity(), weights.stat().st_size
    trained = {name: tensor * 1.01 for name, tensor in load_file(weights).items()}
    save_file(trained, weights, metadata={"format": "pt"})
    after = model.identity()
    assert weights.stat().st_size == size
    assert after != before
    (copy / "generation_config.json").write_text("{}")
    assert model.identity() != after
