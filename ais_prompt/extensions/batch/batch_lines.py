"""Requests and answers of batches, which services answer within hours.

Sources: the API reference of OpenAI, "Batch", and vLLM's ``vllm run-batch``, which reads and writes the same form. A
request is ``{"custom_id", "method", "url", "body"}``, an answer ``{"custom_id", "response": {"status_code", "body"},
"error"}``. The API reference of Anthropic, "Message Batches": a request is ``{"custom_id", "params"}``, an answer
``{"custom_id", "result": {"type", "message" or "error"}}``, where the type is ``succeeded``, ``errored``, ``canceled``
or ``expired``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias, TypeGuard

from msgspec.structs import replace

from ais_prompt.models import AnthropicModel, Model, OpenAIModel, OpenAIResponsesModel, read_reply
from ais_prompt.secrets import SECRETS
from ais_prompt.types import Completion, Failure, Request
from ais_prompt.utils import encode

NO_ANSWER: Final = "batch"
"""Kind of the failure of a request that the service did not answer: it expired, or its batch was cancelled."""

BatchedModel: TypeAlias = OpenAIModel | OpenAIResponsesModel | AnthropicModel
"""A model whose requests can be in a batch."""

_STATUS: Final = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""Type of an error of Anthropic → its HTTP status, which lines of a batch leave out."""


def has_batches(model: Model) -> TypeGuard[BatchedModel]:
    """Return whether requests of a model can be in a batch."""
    return isinstance(model, OpenAIModel | OpenAIResponsesModel | AnthropicModel)


def custom_id(key: str) -> str:
    """Return the id of a request in a batch: its key without the version, since Anthropic takes no colon."""
    return key.rpartition(":")[2]


def batch_request(model: BatchedModel, key: str, request: Request) -> dict[str, Any]:
    """Return the line of a request.

    Args:
        model: who is asked; its ``model`` is the name in the body.
        key: of the request.
        request: asks for a text, not for log-likelihoods.

    Raises:
        PromptError, DataError: as `WireFormat.body`.
    """
    body = model.endpoint.body(model.model, request, model.wire)
    if isinstance(model, AnthropicModel):
        return {"custom_id": custom_id(key), "params": body}
    return {"custom_id": key, "method": "POST", "url": f"/v1/{model.endpoint.path}", "body": body}


def batch_answer(model: BatchedModel, line: Mapping[str, Any], request: Request) -> Completion:
    """Return the answer or the failure in a line of answers.

    Args:
        model: who was asked.
        line: as the service wrote it.
        request: what it answers.
    """
    if isinstance(model, AnthropicModel):
        status, body = _message_reply(line)
    else:
        status, body = _openai_reply(line)
    if status is None:
        return Completion(failure=Failure(NO_ANSWER, _said(line)))
    content = body.encode() if isinstance(body, str) else encode(body)
    completion = read_reply(model.endpoint, status if isinstance(status, int) else 500, content)
    if completion.failure is not None:
        words = SECRETS.hide_in_message(completion.failure.message)[:500]
        return replace(completion, failure=replace(completion.failure, message=words, fatal=False))
    return model.finish(completion, request)


def _openai_reply(line: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the status and the body of a reply in a line; no status if the request was not answered."""
    response = line.get("response")
    return (response.get("status_code", 200), response.get("body")) if isinstance(response, Mapping) else (None, None)


def _message_reply(line: Mapping[str, Any]) -> tuple[int | None, Any]:
    """Return the status and the body of a reply in a line of Anthropic, as `_openai_reply` does."""
    result = line.get("result")
    if not isinstance(result, Mapping) or result.get("type") not in ("succeeded", "errored"):
        return None, None
    if result["type"] == "succeeded":
        return 200, result.get("message")
    error = result.get("error")
    inner = error.get("error", error) if isinstance(error, Mapping) else {}
    kind = inner.get("type") if isinstance(inner, Mapping) else None
    return _STATUS.get(str(kind), 500), {"type": "error", "error": inner}


def _said(line: Mapping[str, Any]) -> str:
    error, result = line.get("error"), line.get("result")
    said = error.get("message") if isinstance(error, Mapping) else error
    if not said and isinstance(result, Mapping):
        said = result.get("type")
    return SECRETS.hide_in_message(f"the service gave no response: {said or 'no reason'}")[:500]
