"""Which errors of servers belong to one prompt: it is too long or filtered; in replies of any status, in streams."""

from __future__ import annotations

import json
from typing import Any

from ais_prompt.models import CHAT, COMPLETIONS, MESSAGES, RESPONSES, WireFormat, is_temporary, read_reply

TOO_LONG = {
    "OpenAI": "This model's maximum context length is 100 tokens. However, your messages resulted in 999 tokens.",
    "OpenAI, inputs": "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000.",
    "OpenAI, Responses": "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "vLLM": "The decoder prompt (length 3000) is longer than the maximum model length of 2048.",
    "vLLM, 0.9": "The engine prompt length 999 exceeds the max_model_len 100. Please reduce prompt.",
    "vLLM, nothing left": "max_tokens must be at least 1, got -50.",
    "SGLang": "The input (3000 tokens) is longer than the model's context length (2048 tokens).",
    "SGLang, total": "Requested token count exceeds the model's maximum context length of 2048 tokens.",
    "TGI": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048. Given: 3000 tokens",
    "TGI, inputs": "Input validation error: `inputs` must have less than 1024 tokens. Given: 1500",
    "llama.cpp": "the request exceeds the available context size. try increasing the context size",
    "llama.cpp, batch": "input is too large to process. increase the physical batch size",
    "Ollama": "the input length exceeds the context length",
    "LM Studio": "the model is loaded with context length of only 4096 tokens, which is not enough",
    "tabbyAPI": "Prompt length 5000 is greater than max_seq_len 4096",
    "LMDeploy": "the input is too long: input length exceeds session_len",
    "TensorRT-LLM": "Prompt length (5000) exceeds maximum input length (4096).",
    "MindIE": "This request's token length exceeds the limit: inputTokenNum: 8193, maxInputTokenLen: 8192",
    "Anthropic": "prompt is too long: 210000 tokens > 200000 maximum",
    "Anthropic, sum": "input length and `max_tokens` exceed context limit: 199000 + 4096 > 200000",
    "Gemini": "The input token count (9000) exceeds the maximum number of tokens allowed (8192).",
    "Bedrock": "Input is too long for requested model.",
    "DashScope": "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]",
    "Mistral": "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
    "Zhipu": "Prompt exceeds max length",
    "Moonshot": "Invalid request: Your request exceeded model token limit: 8192",
    "xAI": "This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
    "Cohere": "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000.",
    "Groq": "Please reduce the length of the messages or completion.",
    "GitHub": "Request body too large for gpt-4o model. Max size: 8000 tokens.",
    "Chinese": "输入内容过长，请缩短后重试",
    "code": {"message": "no", "code": "context_length_exceeded"},
    "behind a gateway": {"message": "Provider returned error", "metadata": {"raw": "maximum context length is 9"}},
}
FILTERED = {
    "Azure": "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
    "OpenAI": {"message": "no", "code": "content_policy_violation"},
    "DashScope": {"message": "Input data may contain inappropriate content.", "code": "data_inspection_failed"},
    "DeepSeek": "Content Exists Risk",
    "Zhipu": "系统检测到输入或生成内容可能包含不安全或敏感内容",
    "OpenRouter": 'The model requires moderation. Your input was flagged for "violence".',
}
OTHER = [
    "Unsupported parameter: 'max_tokens' is not supported with this model.",
    "max_tokens is too large: 100000. This model supports at most 16384 completion tokens.",
    "max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens",
    "Range of max_tokens should be [1, 8192]",
    "Unsupported value: 'temperature' does not support 0 with this model.",
    "System role not supported",
    "The model `m` does not exist",
    "Invalid type for 'messages[0].content': expected a string, but got an integer instead.",
    "Internal server error",
]
FORMATS = [CHAT, COMPLETIONS, RESPONSES, MESSAGES]


def kinds(endpoint: WireFormat, error: Any, status: int) -> set[str]:
    """Return the kinds of failure of an error: as HTTP error, in a good reply, and in a stream."""
    fields = error if isinstance(error, dict) else {"message": error}
    bodies = [json.dumps({"error": fields}, ensure_ascii=escaped).encode() for escaped in (False, True)]
    replies = [read_reply(endpoint, code, body) for code in (status, 200) for body in bodies]
    reader = endpoint.reader()
    reader.feed(b"event: error\ndata: " + bodies[0] + b"\n\n")
    replies.append(reader.completion())
    return {reply.failure.kind for reply in replies if reply.failure}


def test_a_prompt_that_is_too_long() -> None:
    for server in TOO_LONG:
        for endpoint in FORMATS:
            for status in (400, 413, 422, 500):
                assert kinds(endpoint, TOO_LONG[server], status) == {"too_long"}


def test_a_prompt_that_is_filtered() -> None:
    for server in FILTERED:
        for endpoint in FORMATS:
            for status in (400, 403, 451, 500):
                assert kinds(endpoint, FILTERED[server], status) == {"content_filter"}


def test_an_error_that_is_not_of_one_prompt() -> None:
    for error in OTHER:
        for endpoint in FORMATS:
            for status in (400, 500):
                assert f"http_{status}" in kinds(endpoint, error, status)
                assert not kinds(endpoint, error, status) & {"too_long", "content_filter", "quota"}


def test_limits_on_all_requests_are_waited_for_whatever_their_message() -> None:
    for status in (429, 503, 529):
        for message in ("Request too large for model on tokens per minute", "too many tokens, slow down"):
            failure = read_reply(CHAT, status, json.dumps({"error": {"message": message}}).encode()).failure
            assert failure
            assert is_temporary(failure)


def test_the_status_that_a_gateway_reports_in_a_stream_counts() -> None:
    for code, kind in ((400, "http_400"), (502, "http_502"), ("503", "http_503"), (None, "broken_stream")):
        reader = CHAT.reader()
        reader.feed(b"data: " + json.dumps({"error": {"code": code, "message": "no"}}).encode() + b"\n\n")
        failure = reader.completion().failure
        assert failure
        assert failure.kind == kind


def test_a_response_that_failed_because_of_its_prompt() -> None:
    error = {"code": "x", "message": TOO_LONG["OpenAI, Responses"]}
    event = {"type": "response.failed", "response": {"output": [], "status": "failed", "error": error}}
    reader = RESPONSES.reader()
    reader.feed(b"data: " + json.dumps(event).encode() + b"\n\n")
    failure = reader.completion().failure
    assert failure
    assert failure.kind == "too_long"
