"""Prompts of the peers' configs are those that their own inferencers send, and the measure sees a difference."""

from __future__ import annotations

from pathlib import Path

import pytest

from ais_prompt.extensions.peers.peer_packages import peer_package
from tools.peer_configs import CONFIGS
from tools.peer_prompts import compared

FILES = (
    "opencompass: gsm8k/gsm8k_gen_1d7fe4.py",  # shots in the template
    "opencompass: ARC_c/ARC_c_ppl_2ef631.py",  # labels
    "opencompass: triviaqa/triviaqa_wiki_1shot_gen_eaf81e.py",  # retrieved shots
    "opencompass: winogrande/winogrande_5shot_ll_252f01.py",  # log-likelihoods of continuations
    "opencompass: jigsawmultilingual/jigsawmultilingual_clp_fe50d8.py",  # choices
    "opencompass: subjective/multiround/mtbench_single_judge_diff_temp.py",  # chats
    "opencompass: subjective/wildbench/wildbench_pair_judge_rawprompt.py",  # raw messages
    "ais_bench: docvqa/docvqa_gen.py",  # images
    "ais_bench: mtbench/mtbench_gen.py",  # dialogues
)
TEMPLATE = """
from opencompass.openicl.icl_inferencer import GenInferencer
from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.openicl.icl_retriever import FixKRetriever

shot = dict(type=PromptTemplate, template='{question}<S>{answer}', sep_token='<S>')
question = dict(type=PromptTemplate, template='</E>{question}', ice_token='</E>')
question_datasets = [
    dict(
        type='opencompass.datasets.GSM8KDataset',
        reader_cfg=dict(input_columns=['question'], output_column='answer'),
        infer_cfg=dict(
            ice_template=shot,
            prompt_template=question,
            retriever=dict(type=FixKRetriever, fix_id_list=[0]),
            inferencer=dict(type=GenInferencer),
        ),
    )
]
"""

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(not all(map(peer_package, CONFIGS)), reason="OpenCompass and AISBench are not there"),
]


@pytest.mark.parametrize("name", FILES)
def test_their_code_sends_the_same_prompts(name: str) -> None:
    package, _, file = name.partition(": ")
    folder = peer_package(package)
    assert folder is not None
    found = compared(folder / CONFIGS[package] / "datasets" / file, package)
    if any("ModuleNotFoundError" in one.why for one in found):  # their inferencers need more than their loaders
        pytest.skip(found[0].why)
    assert {(one.verdict, one.why) for one in found} == {("equal", "")}


def test_a_difference_is_found(tmp_path: Path) -> None:
    """Their code leaves the separator of an example in the prompt."""
    config = tmp_path / "question_gen.py"
    config.write_text(TEMPLATE)
    [found] = compared(config, "opencompass")
    if "ModuleNotFoundError" in found.why:
        pytest.skip(found.why)
    assert found.verdict == "different"
    assert "<S>" in found.why.partition(" here, ")[2]
