"""A role template as the format of local models: what is shown is what is sent, with one BOS."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.core.e2e.project import DATASET, MODEL, Project

pytestmark = pytest.mark.torch


DIALOGUE = DATASET.replace(
    "template='{question}\\nAnswer: {answer}'",
    """template=dict(
        begin=[dict(role='SYSTEM', fallback_role='HUMAN', prompt='Be brief.')],
        round=[dict(role='HUMAN', prompt='{question}'), dict(role='BOT', prompt='{answer}')])""",
)
TABLE = {"user": ("<s>[INST] ", " [/INST] "), "assistant": ("", "</s>")}
MODELS = f"""
    dict(type='HuggingFaceBaseModel', abbr='base', path='tiny', max_out_len=2,
         prompt_template='torchtune.models.mistral.MistralChatTemplate'),
    dict(type='HuggingFaceBaseModel', abbr='table', path='tiny', max_out_len=2, prompt_template={TABLE!r}),
    dict(type='HuggingFaceChatModel', abbr='chat', path='tiny', max_out_len=2, prompt_template='MistralChatTemplate')
"""
SAID = "[INST] Be brief.\n2+2=? [/INST] "


def write_tiny_model(folder: Path) -> None:
    """A random network whose tokenizer knows bytes and puts ``<s>`` in front of a text."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    tokens = ["<s>", "</s>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    backend = Tokenizer(models.BPE(vocab={token: number for number, token in enumerate(tokens)}, merges=[]))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    backend.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    PreTrainedTokenizerFast(tokenizer_object=backend, bos_token="<s>", eos_token="</s>").save_pretrained(folder)
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    LlamaForCausalLM(
        LlamaConfig(vocab_size=len(tokens), max_position_embeddings=128, bos_token_id=0, eos_token_id=1, **sizes)
    ).save_pretrained(folder)


def test_local_models_are_sent_what_the_template_makes_with_one_bos(project: Project) -> None:
    write_tiny_model(project.root / "tiny")
    project.write_config(models=MODELS, datasets=DIALOGUE)
    viewed = project.run("view-prompt", "eval.py", "-a", "-c", "3", "--json")
    assert viewed.returncode == 0, viewed.stderr
    done = project.run("run", "eval.py", "--num-prompts", "3")
    assert done.returncode == 0, done.stderr
    for model, text in {"base": SAID, "table": f"<s>{SAID}", "chat": f"<s>{SAID}"}.items():
        [shown] = [view for view in json.loads(viewed.stdout) if (view["model"], view["index"]) == (model, 2)]
        [*_, sent] = project.predictions(model)
        assert sent["origin_prompt"] == shown["prompt"] == text
        # A token is a byte here. The tokenizer adds the BOS that the first text lacks, and none to the others.
        assert sent["completions"][0]["usage"]["prompt_tokens"] == shown["tokens"] == len(SAID) + 1


def test_a_template_beside_the_config_is_found_by_its_path(project: Project) -> None:
    (project.root / "my_templates.py").write_text(
        "from ais_prompt.prompts.role_templates import Message\n"
        "from ais_prompt.prompts.role_templates import RoleTemplateInterface\n\n\n"
        "class Loud(RoleTemplateInterface):\n"
        "    def __call__(self, messages, inference=False):\n"
        "        return [Message(m.role, f'{m.role.upper()}: {m.text_content}\\n') for m in messages]\n"
    )
    model = MODEL.replace("abbr='fake'", "abbr='fake', prompt_style='text', prompt_template='my_templates.Loud'")
    project.write_config(models=model)
    viewed = project.run("view-prompt", "eval.py", "--json")
    assert viewed.returncode == 0, viewed.stderr
    assert json.loads(viewed.stdout)[0]["prompt"] == "USER: 0+0=?\nAnswer: \nASSISTANT: "


def test_faults_of_the_config_are_found_together(project: Project) -> None:
    assert faults(
        project,
        "prompt_template={}, meta_template=dict(begin='<s>')",
        "prompt_template=3",
        "prompttemplate='ChatMLTemplate'",
    ) == [
        ("models[0].prompt_template", "models[0] has a meta_template and a prompt_template"),
        (
            "models[1].prompt_template",
            "models[1].prompt_template is 3 (int), not a dict of role → (before, after), or a dotted path",
        ),
        ("models[2].prompttemplate", "'prompttemplate' looks like a misspelling of 'prompt_template'"),
    ]


def test_templates_that_cannot_be_used_are_found_together(project: Project) -> None:
    assert faults(
        project,
        "prompt_style='text', prompt_template='ChatML'",
        "prompt_style='text', prompt_template=dict(user='ab')",
        "prompt_template='ChatMLTemplate'",
    ) == [
        ("models[0].prompt_template", "there is no role template named 'ChatML'"),
        ("models[1].prompt_template", "the tags of role 'user' must be a pair (before, after), not 'ab'"),
        (
            "models[2].prompt_template",
            "ChatMLTemplate writes the format of a model, but this model is sent messages",
        ),
    ]


def faults(project: Project, *keys: str) -> list[tuple[str, str]]:
    """Place and cause of each fault that `check` finds in models with these keys."""
    models = (MODEL.replace("abbr='fake'", f"abbr='m{number}', {key}") for number, key in enumerate(keys))
    project.write_config(models=", ".join(models))
    done = project.run("check", "eval.py")
    assert done.returncode == 2, done.stderr
    lines = done.stderr.splitlines()
    causes = [line.partition(": ")[2] for line in lines if re.match(r"\w+Error: ", line)]
    places = [line.partition("where: ")[2].split()[0] for line in lines if "where: " in line]
    return list(zip(places, causes, strict=True))
