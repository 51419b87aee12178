"""Cases of inferencers that score texts or generate: from rows to predictions, with the recorded values of a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ais_prompt.inferencers import Conversation, InferenceContext, Inferencer, lowest, normalized
from ais_prompt.models import ScriptedModel, prompt_log_probs, whole
from ais_prompt.plan import build_part, build_prompts, build_retriever
from ais_prompt.prompts import make_chat_format
from ais_prompt.registry import INFERENCERS
from ais_prompt.types import Completion, Likelihood, LikelihoodQuery, PartSpec, Prediction, Request
from tools.conformance_runner.case_data import dataset_spec, read_rows
from tools.conformance_runner.case_model import STYLES
from tools.conformance_runner.cases import Case
from tools.conformance_runner.outcome import Outcome, ending_in, stage

ANSWER: Final = Completion("answer1", "stop")
"""What the recorded model generates."""


def run_inferencer_case(case: Case) -> Outcome:
    """Predictions, the calls of the model in the peers' order, and what is saved."""
    outcome: Outcome = {}
    with ending_in(outcome):
        if case.config.get("call") == "pick":
            outcome["predictions"] = [lowest({label: float(value) for label, value in case.data["label_ppl"]})]
        elif case.config.get("call") == "score":
            outcome["score"] = _score(case.data["prompt_logprobs"])
        else:
            _run(case, outcome)
    return outcome


def _score(prompt_logprobs: Any) -> float | None:
    """The perplexity that is read from a server's answer; None if there is none to be read."""
    likelihood = whole("the prompt", prompt_log_probs(prompt_logprobs)).likelihood
    return None if likelihood is None else normalized(likelihood, "scored_tokens")


@dataclass(frozen=True, slots=True)
class _Asked:
    """What was asked about a row, and what came of it."""

    requests: Sequence[Request]
    prediction: Prediction


def _run(case: Case, outcome: Outcome) -> None:
    with stage("reader"):
        spec = dataset_spec(case)
        data = read_rows(case, spec.reader)
    with stage("construct"):
        inferencer: Inferencer = build_part(INFERENCERS, _inferencer(case))
        retriever = build_retriever(spec)
        builder = build_prompts(spec, retriever, inferencer)
    with stage("retrieve"):
        shot_ids = retriever.retrieve(data.train, data.test)
    model = case.config.get("model") or {"kind": "lm"}
    chat = make_chat_format(STYLES[model["kind"]], model.get("meta_template"), lambda: None)
    context = InferenceContext(builder, chat, ScriptedModel(), data.test)
    rows = []
    with stage("infer"):
        for sample, ids in zip(data.test, shot_ids, strict=True):
            shots = [data.train[number] for number in ids]
            rows.append(_hold(inferencer.converse(sample, shots, context), case, sample.index))
    outcome["predictions"] = [row.prediction.prediction for row in rows]
    outcome["calls"] = list(_calls(case, rows))
    outcome["saved"] = {str(index): _saved(case, row) for index, row in enumerate(rows)}


def _inferencer(case: Case) -> PartSpec:
    """The inferencer; how many rows are asked at once is the model's affair here."""
    options = {key: value for key, value in case.config["inferencer"].items() if key not in ("type", "batch_size")}
    return PartSpec(_kind(case), options, "inferencer")


def _hold(conversation: Conversation, case: Case, row: int) -> _Asked:
    """Ask once, and see what is made of the answers."""
    requests = list(next(conversation))
    completions = [_answer(case, request, number, row) for number, request in enumerate(requests)]
    try:
        conversation.send(completions)
    except StopIteration as stop:
        return _Asked(requests, stop.value)
    raise AssertionError("these inferencers ask only once")


def _answer(case: Case, request: Request, number: int, row: int) -> Completion:
    """The recorded value: ``logits`` of the next token for each row, or ``scores`` for each label, row after row."""
    if not isinstance(request.decoding, LikelihoodQuery):
        return ANSWER
    if count := len(request.decoding.choices):
        return _completion(Likelihood(0.0, 0, 0, 0, tuple(case.data["logits"][row][:count])))
    label, text = divmod(number, _texts(case))
    value = case.data["scores"][label][row * _texts(case) + text]
    return _completion(Likelihood(-value if _kind(case) == "LLInferencer" else value, 1, 1, 1))


def _completion(likelihood: Likelihood) -> Completion:
    return Completion(finish_reason="stop", likelihood=likelihood)


def _calls(case: Case, rows: Sequence[_Asked]) -> Iterator[dict[str, Any]]:
    """The requests as the peers make their calls: label after label, and for each the batches of rows."""
    if _kind(case) == "GenInferencer":  # not recorded
        return
    size = case.config["inferencer"].get("batch_size", 1)
    for label in range(0, len(rows[0].requests), _texts(case)):
        for start in range(0, len(rows), size):
            for text in range(label, label + _texts(case)):
                yield _call(case, [row.requests[text] for row in rows[start : start + size]])


def _call(case: Case, requests: Sequence[Request]) -> dict[str, Any]:
    prompts = [str(request.prompt) for request in requests]
    continuations = [
        (request.decoding.continuation or "") if isinstance(request.decoding, LikelihoodQuery) else ""
        for request in requests
    ]
    if _kind(case) == "CLPInferencer":
        return {"logits_for": prompts}
    if _kind(case) == "LLInferencer":
        return {"loglikelihood": prompts, "cont": continuations}
    call: dict[str, Any] = {"ppl": [prompt + more for prompt, more in zip(prompts, continuations, strict=True)]}
    if _texts(case) == 2:
        call["mask_length"] = [len(prompt.split()) for prompt in prompts]
    return call


def _saved(case: Case, row: _Asked) -> Mapping[str, Any]:
    """What a line of predictions says, under the names of the peers."""
    said = row.prediction
    if _kind(case) == "PPLOnlyInferencer":
        return {"origin_prompt": said.origin_prompt, "ppl": said.prediction}
    common = {"prediction": said.prediction, "gold": said.gold}
    if _kind(case) == "CLPInferencer":
        choices, best = list(said.labels), said.prediction.index(max(said.prediction))
        return {**common, "prompt": said.origin_prompt, "choices": choices, "pred_label": best}
    if _kind(case) == "GenInferencer":
        return {**common, "origin_prompt": said.origin_prompt}
    return {**common, **{f"label: {label}": _finding(case, found) for label, found in said.labels.items()}}


def _finding(case: Case, found: Mapping[str, Any]) -> Mapping[str, Any]:
    if _kind(case) == "LLInferencer":  # there the prompt is shown without its continuation
        return {"Loglikelihood": -found["nll"]}
    return {"prompt": found["prompt"], "PPL": found["ppl"]}


def _texts(case: Case) -> int:
    """How many texts are scored for a label."""
    return 2 if case.config["inferencer"].get("normalizing_str") is not None else 1


def _kind(case: Case) -> str:
    kind: str = case.config["inferencer"]["type"]
    return kind
