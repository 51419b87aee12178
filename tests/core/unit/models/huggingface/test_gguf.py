"""Models in GGUF files: the same numbers as from the folder, and clear errors."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from ais_prompt.errors import MissingExtra, ModelError
from ais_prompt.models import HuggingFaceBaseModel, HuggingFaceChatModel, tokenizer_digests
from ais_prompt.types import LikelihoodQuery, Request
from tests.support.gguf_files import DEMO_MODEL, write_gguf

pytestmark = pytest.mark.torch

SUMS = ["23+45=?", "What is 7 plus 8?", "9-4=?"]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_gguf(tmp_path_factory.mktemp("gguf") / "demo.gguf")


def chat_answers(model: HuggingFaceChatModel) -> list[str]:
    prompts = [
        model.tokenizer().apply_chat_template(
            [{"role": "user", "content": text}], tokenize=False, add_generation_prompt=True
        )
        for text in SUMS
    ]
    completions = model.generate([Request(text, text, model.decoding(8, ())) for text in prompts])
    assert all(completion.failure is None for completion in completions)
    return [completion.text for completion in completions]


def likelihoods(model: HuggingFaceBaseModel) -> list[float]:
    requests = [Request(text, f"Question: {text}\nAnswer: 15", LikelihoodQuery()) for text in SUMS]
    found = dict(model.log_likelihoods(requests))
    return [found[number].likelihood.nll for number in range(len(SUMS))]


def test_answers_and_likelihoods_are_those_of_the_folder(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert chat_answers(HuggingFaceChatModel(str(file))) == chat_answers(HuggingFaceChatModel(str(DEMO_MODEL)))
    folder = likelihoods(HuggingFaceBaseModel(str(DEMO_MODEL)))
    assert likelihoods(HuggingFaceBaseModel(str(file))) == pytest.approx(folder, abs=1e-4)
    assert capfd.readouterr().err == ""  # no progress bars


def test_a_folder_with_gguf_file_is_that_file(file: Path) -> None:
    named = HuggingFaceChatModel(str(file.parent), gguf_file=file.name)
    assert named.identity() == HuggingFaceChatModel(str(file)).identity()
    assert named.count_tokens("23+45=?") == HuggingFaceChatModel(str(DEMO_MODEL)).count_tokens("23+45=?")


def test_a_file_needs_no_suffix(file: Path, tmp_path: Path) -> None:
    blob = shutil.copy(file, tmp_path / "sha256-0123")
    assert likelihoods(HuggingFaceBaseModel(str(blob))) == likelihoods(HuggingFaceBaseModel(str(file)))


def test_a_tokenizer_of_its_own_replaces_that_of_the_file(file: Path) -> None:
    model = HuggingFaceBaseModel(str(file.parent), gguf_file=file.name, tokenizer_path=str(DEMO_MODEL))
    assert model.tokenizer().name_or_path == str(DEMO_MODEL)


def test_a_file_in_a_package_is_found_without_importing_it(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "holds_a_model"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('imported')", "utf-8")
    shutil.copy(file, package / "demo.gguf")
    monkeypatch.syspath_prepend(str(tmp_path))
    model = HuggingFaceChatModel("package:holds_a_model/demo.gguf")
    model.preflight()
    assert model.count_tokens("23+45=?") == HuggingFaceChatModel(str(file)).count_tokens("23+45=?")


@pytest.mark.parametrize(
    ("path", "what", "fix"),
    [
        (
            "package:llm-nowhere/x.gguf",
            "'llm_nowhere', which holds the model, is not installed",
            "--no-deps llm-nowhere",
        ),
        ("package:ais_prompt/x.gguf", "does not exist", "check the path"),
        ("nowhere.gguf", "does not exist", "check the path"),
        (__file__, "no GGUF file", "give a GGUF file"),
    ],
)
def test_a_wrong_path_says_what_is_wrong(path: str, what: str, fix: str) -> None:
    with pytest.raises(ModelError, match=what) as caught:
        HuggingFaceChatModel(path).preflight()
    assert fix in str(caught.value.fix)


def test_a_missing_package_is_named_with_its_command(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gguf", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "gguf" else object())
    with pytest.raises(MissingExtra, match=r"demo\.gguf needs the package 'gguf'") as caught:
        HuggingFaceChatModel(str(file)).preflight()
    assert "[gguf]" in str(caught.value.fix)


@pytest.mark.parametrize("kept", [8, 3000, 30_000])
def test_a_file_that_was_cut_off_cannot_be_loaded(file: Path, tmp_path: Path, kept: int) -> None:
    short = tmp_path / "short.gguf"
    short.write_bytes(file.read_bytes()[:kept])
    with pytest.raises(ModelError, match=r"cannot load the (model|tokenizer)") as caught:
        HuggingFaceBaseModel(str(short)).load()
    assert "GGUF" in str(caught.value.fix)


def test_another_chat_template_or_other_weights_change_the_identity(file: Path, tmp_path: Path) -> None:
    content = file.read_bytes()
    changed = {"template": content.replace(b"im_start", b"im_begin", 1), "weights": content[:-4] + b"\0\0\0\1"}
    known = HuggingFaceBaseModel(str(file)).identity()["files"][str(file)][file.name]
    for name, other in changed.items():
        (tmp_path / name).mkdir()
        copy = tmp_path / name / file.name
        copy.write_bytes(other)
        assert HuggingFaceBaseModel(str(copy)).identity()["files"][str(copy)][file.name] != known
    assert tokenizer_digests(str(tmp_path / "template" / file.name)) != tokenizer_digests(str(file))
