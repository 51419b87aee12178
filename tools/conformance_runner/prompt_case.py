"""Cases of readers, retrieval, templates, labels and meta templates: from rows to the prompt that is sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from ais_prompt.plan import build_inferencer, build_part, build_prompts, build_retriever
from ais_prompt.prompts import Filled, PromptBuilder
from ais_prompt.registry import TEMPLATES
from ais_prompt.types import Sample
from tools.conformance_runner.case_data import dataset_spec, read_rows
from tools.conformance_runner.case_model import CaseModel, make_model
from tools.conformance_runner.cases import Case
from tools.conformance_runner.outcome import Outcome, ending_in, stage
from tools.conformance_runner.truncation import kept_shots

Question: TypeAlias = "tuple[Sample, Sequence[Sample]]"
"""A test row and its shots."""


def run_prompt_case(case: Case) -> Outcome:
    """What becomes of the rows, as far as the case has parts for it."""
    outcome: Outcome = {}
    with ending_in(outcome):
        _run(case, outcome)
    return outcome


def _run(case: Case, outcome: Outcome) -> None:
    with stage("reader"):
        spec = dataset_spec(case)
    with stage("construct"):
        given = [part for part in (spec.infer.ice_template, spec.infer.prompt_template) if part is not None]
        templates = [build_part(TEMPLATES, part) for part in given]
    with stage("reader"):
        data = read_rows(case, spec.reader)
        for column in spec.reader.input_columns[:1]:
            outcome["rows"] = [sample.fields.get(column) for sample in data.test]
    with stage("retrieve"):
        retriever = build_retriever(spec)
        shot_ids = retriever.retrieve(data.train, data.test)
        outcome["ice_indices"] = [list(ids) for ids in shot_ids]
    if not templates and "mode" not in case.config:
        return
    with stage("model"):
        model = make_model(case.config["model"]) if case.config.get("model") else None
    with stage("prompt"):
        builder = build_prompts(spec, retriever, build_inferencer(spec))
    questions = [(row, [data.train[number] for number in ids]) for row, ids in zip(data.test, shot_ids, strict=True)]
    with stage("ice"):
        outcome["ice"] = [_plain(builder.examples(shots)) for _, shots in questions]
    with stage("truncate"):
        kept = kept_shots(case, builder, questions)
    if case.config.get("mode", "gen") == "gen":
        _generation(builder, model, kept, outcome)
    else:
        _labelled(builder, model, kept, case.config.get("labels"), outcome)


def _generation(
    builder: PromptBuilder, model: CaseModel | None, questions: Sequence[Question], outcome: Outcome
) -> None:
    with stage("prompt"):
        prompts = [builder.generation(row, shots) for row, shots in questions]
        outcome["prompts"] = outcome["prompts_clean"] = [_plain(prompt) for prompt in prompts]
    if model is not None:
        with stage("parse"):
            outcome["final"] = [model.final(prompt, "gen") for prompt in prompts]
        with stage("messages"):
            messages = [model.openai_messages(prompt, "gen") for prompt in prompts]
            outcome["openai_messages"] = messages
            outcome["parts"] = [_last_of_user(row_messages) for row_messages in messages]


def _labelled(
    builder: PromptBuilder,
    model: CaseModel | None,
    questions: Sequence[Question],
    wanted: Sequence[Any] | None,
    outcome: Outcome,
) -> None:
    prompts: dict[Any, list[Filled]] = {}
    with stage("prompt"):
        labels = list(wanted or builder.labels(row for row, _ in questions))
        outcome["labels"] = labels
        outcome["prompts"] = outcome["prompts_clean"] = {}
        for label in labels:
            prompts[label] = [builder.labelled(row, shots, label) for row, shots in questions]
            outcome["prompts"][label] = [_plain(prompt) for prompt in prompts[label]]
    if model is not None:
        with stage("parse"):
            outcome["final"] = {label: [model.final(prompt, "ppl") for prompt in prompts[label]] for label in labels}


def _last_of_user(messages: Sequence[Mapping[str, Any]] | None) -> Any:
    """The content of the last message of the user, where media stand."""
    contents = [message["content"] for message in messages or () if message["role"] == "user"]
    return contents[-1] if contents else None


def _plain(filled: Filled) -> Any:
    return filled if isinstance(filled, str) else list(filled)
