"""Warnings are about templates: whatever the data says, it is never warned of."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.checks import probe_prompts, prompt_warnings
from ais_prompt.config import parse_meta_template
from ais_prompt.inferencers import GenInferencer, InferenceContext
from ais_prompt.models import ScriptedModel
from ais_prompt.prompts import PromptBuilder, PromptTemplate, make_chat_format
from ais_prompt.types import DatasetSpec, EvalSpec, InferSpec, ModelSpec, PartSpec, ReaderSpec, Sample, TaskSpec

ODD = st.sampled_from(
    ["{answer}", "{x}", "\n", "Human: ", "Question: ", "<s>", "<|im_start|>", "</E>", "[INST]", " ", "2", "\\n"]
)
VALUES = st.lists(ODD | st.text(max_size=5), min_size=1).map("".join).filter(str.strip)
ROUND = [{"role": "HUMAN", "prompt": "{question}"}, {"role": "BOT", "prompt": "{answer}"}]
META = {
    "round": [{"role": "HUMAN", "begin": "Question: ", "end": "\n"}, {"role": "BOT", "begin": "A: ", "generate": True}]
}
PART = PartSpec("", {}, "datasets[0]")


def warned(row: dict[str, str], shot: dict[str, str], style: Any, meta: Any) -> list[str]:
    """What is said of the prompt of a row with one example."""
    builder = PromptBuilder(
        PromptTemplate({"round": ROUND}),
        PromptTemplate({"begin": "</E>", "round": ROUND}, ice_token="</E>"),
        output_column="answer",
    )
    infer = InferSpec(prompt_template=PART, retriever=PART, inferencer=PartSpec("GenInferencer", {}, "datasets[0]"))
    task = TaskSpec(
        ModelSpec("m", PART, parse_meta_template(meta)),
        DatasetSpec("d", PART, ReaderSpec(("question",), "answer"), infer, EvalSpec()),
    )
    context = InferenceContext(
        builder, make_chat_format(style, meta, lambda: None), ScriptedModel(prompt_style=style), ()
    )
    samples = [Sample(name, 0, fields, fields["answer"]) for name, fields in (("q", row), ("s", shot))]
    [probe] = probe_prompts(task, GenInferencer(), context, samples[0], samples[1:])
    return [warning.what for warning in prompt_warnings(probe)]


@given(VALUES, VALUES, VALUES, st.sampled_from([("messages", None), ("text", META), ("text", None)]))
def test_data_is_never_warned_of(question: str, answer: str, other: str, model: tuple[str, Any]) -> None:
    assert warned({"question": question, "answer": answer}, {"question": other, "answer": answer}, *model) == []
