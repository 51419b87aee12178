"""Cases of dialogues: every request of every row, as an inferencer makes it of what the fake model answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from ais_prompt.inferencers import InferenceContext, Inferencer, RunningConversation
from ais_prompt.models import ScriptedModel
from ais_prompt.plan import build_inferencer, build_prompts, build_retriever
from ais_prompt.prompts import ApiFormat, Filled, Mode, PromptBuilder
from ais_prompt.types import (
    DatasetSpec,
    Decoding,
    PartSpec,
    Prediction,
    Prompt,
    Request,
    Sample,
    prompt_from_json,
    prompt_to_json,
)
from tools.conformance_runner.case_data import dataset_spec, read_rows
from tools.conformance_runner.case_model import CaseModel, make_model
from tools.conformance_runner.cases import Case
from tools.conformance_runner.outcome import Outcome, ending_in, stage
from tools.drive import drive

INFERENCERS: Final = ("ChatInferencer", "MultiTurnGenInferencer")
MAX_OUT_LEN: Final = 16
"""That of the fake model."""

ANSWERS: Final = 99
"""How many answers it has ready for a row."""


def is_dialogue_case(case: Case) -> bool:
    """Whether the case holds dialogues."""
    return (case.config.get("inferencer") or {}).get("type") in INFERENCERS


def run_dialogue_case(case: Case) -> Outcome:
    """What is asked about the rows, and what is stored of them."""
    outcome: Outcome = {}
    with ending_in(outcome):
        _run(case, outcome)
    return outcome


def _run(case: Case, outcome: Outcome) -> None:
    with stage("reader"):
        spec = _spec(case)
        rows = read_rows(case, spec.reader).test
    with stage("model"):
        model = make_model(case.config["model"])
    with stage("infer"):  # where the peers look at the options of an inferencer
        inferencer = build_inferencer(spec)
    with stage("prompt"):
        builder = build_prompts(spec, build_retriever(spec), inferencer)
        whole = [list(builder.dialogue(row).whole) for row in rows]
        outcome["prompts"] = outcome["prompts_clean"] = whole
    with stage("infer"):
        held = [_hold(row, inferencer, builder, model, case.fake_model) for row in rows]
    predictions = [prediction for prediction, _ in held]
    outcome["requests"] = _as_recorded([requests for _, requests in held], case.target.get("requests"))
    outcome["requests_messages"] = [[request["messages"] for request in requests] for _, requests in held]
    outcome["max_out_lens"] = [[request["max_out_len"] for request in requests] for _, requests in held]
    outcome["saved"] = {str(prediction.index): _saved(prediction, requests) for prediction, requests in held}
    _note_failure(case, predictions, outcome)


def _spec(case: Case) -> DatasetSpec:
    spec = dataset_spec(case)
    options = dict(case.config["inferencer"])
    if "max_out_len" in case.config:
        options["max_out_len"] = case.config["max_out_len"]
    inferencer = PartSpec(options.pop("type"), options, "inferencer")
    return replace(spec, infer=replace(spec.infer, inferencer=inferencer))


class _Recorder:
    """The chat format of a case's model; it keeps what it has made."""

    def __init__(self, model: CaseModel) -> None:
        self._model = model
        self.requests: list[dict[str, Any]] = []

    def render(self, prompt: Filled, mode: Mode) -> Prompt:
        final, messages = self._model.final(prompt, mode), self._model.openai_messages(prompt, mode)
        history = prompt_to_json(ApiFormat(None).render(prompt, mode))
        self.requests.append({"prompt": final, "final": final, "messages": messages, "history": history})
        return prompt_from_json(final if messages is None else messages)


def _hold(
    row: Sample, inferencer: Inferencer, builder: PromptBuilder, model: CaseModel, fake: Mapping[str, Any]
) -> tuple[Prediction, list[dict[str, Any]]]:
    """Hold the dialogue of a row: what is stored of it, and its requests."""
    recorder = _Recorder(model)
    answers: list[Any] = [f"answer{number + 1}" for number in range(ANSWERS)]
    if "fails_at_request" in fake:
        answers[fake["fails_at_request"] - 1] = {"failure": "http_500"}
    scripted = ScriptedModel(answers, max_concurrency=1, max_out_len=MAX_OUT_LEN)
    dialogue = RunningConversation(
        inferencer.converse(row, [], InferenceContext(builder, recorder, scripted, [row])), lambda _: None
    )
    asked: list[Request] = []
    drive(
        scripted,
        iter([dialogue]),
        lambda request, _: asked.append(request),
        lambda _: None,
        has_answered=True,  # a model that fails at once is not given up here
    )
    assert dialogue.prediction is not None  # the dialogue is over
    lengths = [request.decoding.max_out_len for request in asked if isinstance(request.decoding, Decoding)]
    requests = [{**seen, "max_out_len": length} for seen, length in zip(recorder.requests, lengths, strict=True)]
    return dialogue.prediction, requests


def _as_recorded(rows: Sequence[Sequence[Mapping[str, Any]]], wanted: Any) -> list[list[Any]]:
    """The requests in the form of the target: some of their values, or in a document the turns alone."""
    forms = [request for row in wanted or () for request in row]
    if not forms or not isinstance(forms[0], Mapping):
        return [[request["final"] for request in row] for row in rows]
    return [[{key: request[key] for key in forms[0]} for request in row] for row in rows]


def _saved(prediction: Prediction, requests: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A line of OpenCompass: the chat that was sent, before the meta template; of several the last message of each."""
    chats = [request["history"] for request in requests]
    several = isinstance(prediction.prediction, list)
    prompts = [chat[-1]["content"] for chat in chats] if several else next(iter(chats), None)
    return {"gold": prediction.gold, "prediction": prediction.prediction, "origin_prompt": prompts}


def _note_failure(case: Case, predictions: Sequence[Prediction], outcome: Outcome) -> None:
    """Where the peers end in an error, a row that cannot be asked is recorded as failed here, which counts as one."""
    failures = [completion.failure for prediction in predictions for completion in prediction.completions]
    for failure in failures:
        if failure is not None and case.target.get("error"):
            outcome["error"] = {"stage": "infer", "message": failure.message}
