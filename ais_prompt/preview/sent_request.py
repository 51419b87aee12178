"""What is sent beside the prompt: the address, and the options of the body, as the model's own code writes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import asdict, replace

from ais_prompt.config.redact import redacted
from ais_prompt.inferencers import RunningConversation
from ais_prompt.models.base import SendsBodies
from ais_prompt.models.huggingface.local_model import HuggingFaceBaseModel
from ais_prompt.models.model_options import TEMPLATE_VARIABLES
from ais_prompt.plan.plan import Task
from ais_prompt.types import ChatMessage, LikelihoodQuery, Prompt, Sample

_OTHER = "another prompt"


def request_of(task: Task, sample: Sample, shots: Any) -> dict[str, Any]:
    """Return the options of the first request about a sample, without its prompt; empty if it has no request.

    Those of a served model are its ``url`` and the fields of its body, those of another model its `Decoding`, with the
    variables of its chat template if it has them.

    Raises:
        AisPromptError: the request cannot be made.
    """
    conversation = RunningConversation(task.inferencer.converse(sample, shots, task.context), lambda _: None)
    request = next(iter(conversation.open_requests()), None)
    if request is None:
        return {}
    if isinstance(request.decoding, LikelihoodQuery):
        return {"asks": "log-likelihoods"}
    if not isinstance(task.model, SendsBodies):
        options = {name: value for name, value in asdict(request.decoding).items() if value not in (None, (), {})}
        variables = task.model.sampling.template_variables if isinstance(task.model, HuggingFaceBaseModel) else {}
        return {**options, TEMPLATE_VARIABLES: dict(variables)} if variables else options
    url, body = task.model.sent(request)
    other: Prompt = _OTHER if isinstance(request.prompt, str) else (ChatMessage("user", _OTHER),)
    without = task.model.sent(replace(request, prompt=other))[1]
    options = {name: value for name, value in body.items() if without.get(name) == value}
    return {"url": url, **{name: redacted(value, name) for name, value in options.items()}}


def request_line(options: Mapping[str, Any]) -> str:
    """Return ``POST http://127.0.0.1:8000/v1/chat/completions · model='m' · temperature=0.0 · max_tokens=256``."""
    url = [f"POST {options['url']}"] if "url" in options else []
    return " · ".join([*url, *(f"{name}={_value(value)}" for name, value in options.items() if name != "url")])


def _value(value: Any) -> str:
    """Return a value; of tools their names."""
    names = [tool.get("function", tool).get("name") for tool in value] if _are_dicts(value) else []
    return ", ".join(map(str, names)) if names and all(names) else repr(value)


def _are_dicts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(item, Mapping) for item in value)
