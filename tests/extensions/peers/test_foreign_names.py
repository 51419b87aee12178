"""The import lines of OpenCompass, AISBench and torchtune are answered with the line to write here."""

from __future__ import annotations

from pathlib import Path

import pytest

import ais_prompt
from ais_prompt.config import load_config
from ais_prompt.errors import AisPromptError, ConfigError
from ais_prompt.extensions.peers.foreign_names import OUR_NAMES
from ais_prompt.prompts import GrammarErrorCorrectionTemplate, parse_role_template
from ais_prompt.registry import EVALUATORS, INFERENCERS, MODELS, RETRIEVERS, TEMPLATES, PartRegistry

LINES = [
    (TEMPLATES, "opencompass.openicl.icl_prompt_template", "PromptTemplate", "PromptTemplate"),
    (RETRIEVERS, "opencompass.openicl.icl_retriever", "FixKRetriever", "FixKRetriever"),
    (INFERENCERS, "opencompass.openicl.icl_inferencer", "PPLInferencer", "PPLInferencer"),
    (EVALUATORS, "opencompass.openicl.icl_evaluator", "AccEvaluator", "AccEvaluator"),
    (MODELS, "opencompass.models", "HuggingFacewithChatTemplate", "HuggingFaceChatModel"),
    (TEMPLATES, "ais_bench.benchmark.openicl.icl_prompt_template", "MMPromptTemplate", "MMPromptTemplate"),
    (INFERENCERS, "ais_bench.benchmark.openicl.icl_inferencer", "MultiTurnGenInferencer", "MultiTurnGenInferencer"),
    (MODELS, "ais_bench.benchmark.models", "VLLMCustomAPIChat", "OpenAIChatModel"),
]


@pytest.mark.parametrize(("registry", "module", "name", "ours"), LINES)
def test_the_line_to_write_is_named_and_works(
    tmp_path: Path, registry: PartRegistry, module: str, name: str, ours: str
) -> None:
    config = tmp_path / "eval.py"
    config.write_text(f"from {module} import {name}\npart = dict(type={name})\n")
    path = load_config(config).values["part"]["type"]
    assert path == f"{module}.{name}"
    with pytest.raises(ConfigError) as caught:
        registry.get(path)
    line = f"from ais_prompt import {ours}"
    assert caught.value.fix == f"write `{line}`, or type={ours!r}"

    config.write_text(f"{line}\npart = dict(type={ours})\n")
    assert registry.get(load_config(config).values["part"]["type"]) is registry.get(ours)


def test_the_parts_in_the_place_of_theirs_are_there() -> None:
    assert set(OUR_NAMES.values()) <= set(ais_prompt.__all__)


def test_a_part_that_we_do_not_have_is_answered_with_those_that_we_have() -> None:
    with pytest.raises(ConfigError, match="VotekRetriever is a part of OpenCompass") as caught:
        RETRIEVERS.get("opencompass.openicl.icl_retriever.VotekRetriever")
    assert "BM25Retriever" in caught.value.fix


def test_other_modules_that_are_missing_are_not_taken_for_those_of_peers() -> None:
    with pytest.raises(ConfigError, match="no module 'opencompassion'"):
        TEMPLATES.get("opencompassion.PromptTemplate")


def test_a_ready_made_template_is_known_by_its_path_in_torchtune(tmp_path: Path) -> None:
    config = tmp_path / "eval.py"
    config.write_text(
        "from torchtune.data import GrammarErrorCorrectionTemplate\nprompt_template = GrammarErrorCorrectionTemplate\n"
    )
    path = load_config(config).values["prompt_template"]
    assert path == "torchtune.data.GrammarErrorCorrectionTemplate"
    assert isinstance(parse_role_template(path), GrammarErrorCorrectionTemplate)


def test_a_template_that_imports_torchtune_is_told_what_to_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "written_for_torchtune.py").write_text(
        "from torchtune.data import Message, PromptTemplateInterface\n"
        "class EurekaTemplate(PromptTemplateInterface):\n    pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(AisPromptError, match="needs the package 'torchtune'") as caught:
        parse_role_template("written_for_torchtune.EurekaTemplate")
    line = caught.value.fix.split("`")[1]
    names: dict[str, object] = {}
    exec(line, names)
    assert {"Message", "PromptTemplate", "PromptTemplateInterface"} <= set(names)


def test_custom_imports_of_a_module_that_imports_a_peer(tmp_path: Path) -> None:
    (tmp_path / "my_peer_parts.py").write_text("from opencompass.openicl import BaseEvaluator\n")
    config = tmp_path / "eval.py"
    config.write_text("custom_imports = dict(imports=['my_peer_parts'])\n")
    with pytest.raises(ConfigError, match="No module named 'opencompass'") as caught:
        load_config(config)
    assert "from ais_prompt import" in caught.value.fix
    assert "my_peer_parts.py:1" in caught.value.where
