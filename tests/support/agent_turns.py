"""The turns of the cases of `tests.support.agent_cases` with OpenCompass and lagent, as they were once, and with us."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ais_prompt.extensions.peers.agent import peer_step
from ais_prompt.extensions.peers.translate import translate
from ais_prompt.extensions.programs.agent import AgentInferencer
from ais_prompt.inferencers import InferenceContext, RunningConversation
from ais_prompt.models import ScriptedModel
from ais_prompt.prompts import PromptBuilder, PromptTemplate, make_chat_format
from ais_prompt.types import Completion, Decoding, Execution, Prediction, ReaderSpec, Request, Sample, prompt_to_json
from tests.support.agent_cases import QUESTION

EXPECTED: Final = Path(__file__).with_name("agent_turns.json")
_ICL: Final = "opencompass.openicl"
_OURS: Final = {"user": "HUMAN", "assistant": "BOT", "system": "SYSTEM"}


def expected() -> dict[str, Any]:
    """Return case → its turns there. ``python -m tests.extensions.peer_loaders.test_agents`` writes the file."""
    file = json.loads(EXPECTED.read_text("utf-8"))
    text = json.dumps(file["cases"]).replace(json.dumps("<instruction>")[1:-1], json.dumps(file["instruction"])[1:-1])
    found: dict[str, Any] = json.loads(text)
    return found


def shortened(cases: Mapping[str, Any]) -> str:
    """Return the content of the file, with the longest text only once."""
    instruction = cases["a right program"]["asked"][0]["prompt"][0]["content"]
    text = json.dumps(cases, ensure_ascii=False, indent=1).replace(json.dumps(instruction)[1:-1], "<instruction>")
    return json.dumps({"instruction": instruction, "cases": json.loads(text)}, ensure_ascii=False, indent=1) + "\n"


def our_turns(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return the turns of a case in the form of `tests/extensions/peer_loaders/their_agents.py`."""
    prediction, requests = held(case)
    return {
        "asked": [
            {"prompt": prompt_to_json(request.prompt), "max_out_len": request.decoding.max_out_len}
            for request in requests
            if isinstance(request.decoding, Decoding)
        ],
        "prediction": prediction.prediction,
        "steps": [peer_step(step) for step in prediction.steps],
    }


def held(case: Mapping[str, Any]) -> tuple[Prediction, list[Request]]:
    """Hold the conversation of a case; return its prediction and all requests."""
    requests: list[Request] = []
    inferencer = AgentInferencer(**_arguments(case), allow_code_execution="unsafe")
    answers: Iterator[str] = iter(case["answers"])

    def answer(request: Request) -> Completion:
        requests.append(request)
        return (
            inferencer.perform(request)
            if isinstance(request.decoding, Execution)
            else Completion(next(answers), "stop")
        )

    template = PromptTemplate({"round": [*_round(case), {"role": "HUMAN", "prompt": "{question}"}]})
    chat = inferencer.dialogue_template(template, ReaderSpec(("question",), "answer"))
    style = "text" if case.get("is_text") else "messages"
    model = ScriptedModel(prompt_style=style, max_concurrency=1)
    chat_format = make_chat_format(style, case.get("roles"), lambda: None)
    context = InferenceContext(PromptBuilder(None, chat, output_column="answer"), chat_format, model, ())
    sample = Sample("s", 0, {"question": QUESTION, "answer": "42"}, "42")
    conversation = RunningConversation(inferencer.converse(sample, [], context), answer)
    assert conversation.prediction is not None
    return conversation.prediction, requests


def _arguments(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of the inferencer in the translated config of a case."""
    llm = {"type": "ScriptedModel", "answers": case["answers"]}
    kind = f"opencompass.models.lagent.{case.get('kind', 'CodeAgent')}"
    template = {"type": f"{_ICL}.icl_prompt_template.PromptTemplate", "template": "{question}"}
    inferencer = {"type": f"{_ICL}.icl_inferencer.AgentInferencer"}
    dataset = {
        "type": "LocalDataset",
        "path": "rows.jsonl",
        "infer_cfg": {"prompt_template": template, "inferencer": inferencer},
    }
    model = {"abbr": "agent", "type": kind, "llm": llm, **case.get("agent", {})}
    translated, _ = translate({"models": [model], "datasets": [dataset]})
    assert translated["models"] == [{**llm, "abbr": "agent"}]
    [found] = translated["datasets"]
    arguments = dict(found["infer_cfg"]["inferencer"])
    assert arguments.pop("type") == "AgentInferencer"
    return arguments


def _round(case: Mapping[str, Any]) -> list[dict[str, str]]:
    return [{"role": _OURS[one["role"]], "prompt": one["content"]} for one in case.get("history", [])]
