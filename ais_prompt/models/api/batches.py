"""Requests and answers in batch files, for services that answer them within hours.

Sources: the API reference of OpenAI, "Batch", and vLLM's ``vllm run-batch``, which reads and writes the same form. A
request is ``{"custom_id", "method", "url", "body"}``, an answer ``{"custom_id", "response": {"status_code", "body"},
"error"}``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from ais_prompt.models.api.attempt import read_reply
from ais_prompt.models.api.openai_models import OpenAIModel, OpenAIResponsesModel
from ais_prompt.secrets import SECRETS
from ais_prompt.types import Completion, Failure, Request
from ais_prompt.utils import encode

NO_ANSWER: Final = "batch"
"""Kind of the failure of a request that the service did not answer."""


def batch_request(model: OpenAIModel | OpenAIResponsesModel, key: str, request: Request) -> dict[str, Any]:
    """Return the line of a request.

    Args:
        model: who is asked; its ``model`` is the name in the body.
        key: of the request.
        request: asks for a text, not for log-likelihoods.

    Raises:
        PromptError, DataError: as `WireFormat.body`.
    """
    body = model.endpoint.body(model.model, request, model.wire)
    return {"custom_id": key, "method": "POST", "url": f"/v1/{model.endpoint.path}", "body": body}


def batch_answer(model: OpenAIModel | OpenAIResponsesModel, line: Mapping[str, Any], request: Request) -> Completion:
    """Return the answer or the failure in a line of answers.

    Args:
        model: who was asked.
        line: as the service wrote it.
        request: what it answers.
    """
    response = line.get("response")
    if not isinstance(response, Mapping):
        return Completion(failure=Failure(NO_ANSWER, _said(line)))
    status = response.get("status_code", 200)
    body = response.get("body")
    content = body.encode() if isinstance(body, str) else encode(body)
    completion = read_reply(model.endpoint, status if isinstance(status, int) else 500, content)
    if completion.failure is not None:
        words = SECRETS.hide_in_message(completion.failure.message)[:500]
        return replace(completion, failure=replace(completion.failure, message=words, fatal=False))
    return model.finish(completion, request)


def _said(line: Mapping[str, Any]) -> str:
    error = line.get("error")
    said = error.get("message") if isinstance(error, Mapping) else error
    return SECRETS.hide_in_message(f"the service gave no response: {said or 'no reason'}")[:500]
