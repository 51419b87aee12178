"""What people write for a key or a part, from other programs or by guess, and what it is called here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ais_prompt.extension import shipped
from ais_prompt.utils import advice, nearest

_GENERATION: Final = (
    *("temperature", "top_p", "top_k", "min_p", "do_sample", "num_beams", "logit_bias"),
    *("presence_penalty", "frequency_penalty", "repetition_penalty", "length_penalty"),
)
_BODY: Final = (
    *("response_format", "structured_outputs", "guided_json", "guided_regex", "guided_choice", "guided_grammar"),
    *("reasoning_effort", "verbosity", "min_tokens", "ignore_eos", "skip_special_tokens"),
)
"""Fields of requests that a local model has no option for."""
_LOADING: Final = ("torch_dtype", "dtype", "attn_implementation", "quantization_config", "load_in_8bit", "load_in_4bit")
_SYSTEM: Final = "write a turn into the template of the dataset: begin=[dict(role='SYSTEM', prompt='...')]"
_REPEATS: Final = "write n into the dataset: datasets = [dict(n=..., ...)]"
_SHOTS: Final = ("fix_id_list=[0, 1, ...]", "ice_num=...")


def _all(names: str, *meanings: str) -> dict[str, tuple[str, ...]]:
    return dict.fromkeys(names.split(), meanings)


KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    **{name: (f"generation_kwargs=dict({name}=...)",) for name in _GENERATION},
    **{name: (f"model_kwargs=dict({name}=...)",) for name in _LOADING},
    **_all(
        "max_tokens max_new_tokens max_completion_tokens max_output_tokens max_length max_gen_toks", "max_out_len=..."
    ),
    **_all("stop stop_sequences stop_strings until", "stop_words=[...]"),
    **_all("api_base url endpoint host server_url address openai_api_base azure_endpoint", "base_url='http://…/v1'"),
    **_all("key token api_token apikey openai_api_key secret", "api_key='NAME_OF_A_VARIABLE'"),
    **_all("model_name model_id engine deployment name pretrained model_path", "model='...'", "path='...'"),
    **_all("concurrency parallel num_workers max_workers workers num_concurrent batch_size", "max_concurrency=..."),
    **_all("batch", "batch_size=...", "max_concurrency=..."),
    **_all("max_retries retries num_retries", "retry=..."),
    **_all("qps rps rate rate_limit max_qps", "request_rate=..."),
    **_all("rpm requests_per_minute", "request_rate=... (requests per second)"),
    **_all("tpm tokens_per_minute", "limits=dict(tokens_per_minute=...)"),
    **_all("request_timeout timeout_seconds", "timeout=..."),
    **_all(
        "extra_body extra_params", "generation_kwargs=dict(...), or body_fields=dict(...) for what changes no answer"
    ),
    **_all("default_headers extra_headers", "headers=dict(...)"),
    **_all("organization project", "headers={'OpenAI-Organization': '...'}"),
    **_all("enable_thinking", "chat_template_kwargs=dict(enable_thinking=...)"),
    **_all("device device_map", "model_kwargs=dict(device_map=...)"),
    **_all("tokenizer", "tokenizer_path='...'"),
    **_all("k num shots num_shots n_shots few_shot num_fewshot ids", *_SHOTS),
    **_all("sep separator", "delimiter='...'"),
    **_all("file filename data data_path", "path='...'"),
    **_all("content text message value", "prompt='...'"),
    **_all("postprocessor extractor post_processor", "pred_postprocessor=dict(type='...')"),
    **_all("metric metrics scorer", "evaluator=dict(type='...')"),
    **_all("input question_column inputs", "input_columns=['...']"),
    **_all("output target answer_column label gold", "output_column='...'"),
    **_all("split", "test_split='...'"),
    **_all("limit num_samples", "test_range='[:100]'"),
}
"""Key → what it is written as here; the first whose key the part has counts."""
ELSEWHERE: Final[Mapping[str, str]] = {
    **dict.fromkeys(("n", "num_return_sequences", "repeat", "num_runs"), _REPEATS),
    **dict.fromkeys(("system_prompt", "system", "system_message"), _SYSTEM),
    **dict.fromkeys(
        ("proxy", "proxies", "http_proxy", "https_proxy"), "export HTTPS_PROXY=http://… (docs/connections.md)"
    ),
    **dict.fromkeys(_GENERATION, "write it into the model: models = [dict(generation_kwargs=dict(...), ...)]"),
}
"""Key that belongs to another dict → what to do."""
ROLES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("user", "human", "User", "Human", "USER"), "HUMAN"),
    **dict.fromkeys(("assistant", "bot", "ai", "model", "Assistant", "ASSISTANT", "gpt"), "BOT"),
    **dict.fromkeys(("system", "System", "developer"), "SYSTEM"),
    **dict.fromkeys(("tool", "function"), "TOOL"),
}
"""Role of a message → role of a turn."""
PYTHON: Final[Mapping[str, str]] = {"true": "True", "false": "False", "null": "None", "none": "None", "nil": "None"}
_PARTS: Final[Mapping[str, Mapping[str, str]]] = {
    "models": {
        **dict.fromkeys(("open ai", "chat", "gpt", "api", "vllm", "sglang", "server", "ollama"), "OpenAIChatModel"),
        **dict.fromkeys(("completion", "completions"), "OpenAICompletionModel"),
        **dict.fromkeys(("claude", "anthropic"), "AnthropicModel"),
        **dict.fromkeys(("hf", "hugging face", "transformers", "causal lm"), "HuggingFaceChatModel"),
    },
    "evaluators": {
        **dict.fromkeys(("accuracy", "acc", "equals"), "AccEvaluator"),
        **dict.fromkeys(("exact match", "em"), "EMEvaluator"),
        **dict.fromkeys(("f1", "squad"), "SquadEvaluator"),
        **dict.fromkeys(("contains", "includes", "include", "contain"), "ContainsEvaluator"),
        **dict.fromkeys(("number", "numeric", "numbers", "gsm8k"), "Gsm8kEvaluator"),
        **dict.fromkeys(("judge", "llm", "model graded", "graded"), "GenericLLMEvaluator"),
        **dict.fromkeys(("rating", "score"), "LLMRatingEvaluator"),
        **dict.fromkeys(("regex", "pattern"), "RegexEvaluator"),
        **dict.fromkeys(("json", "schema"), "JsonSchemaEvaluator"),
        **dict.fromkeys(("math", "latex"), "MATHEvaluator"),
        "bleu": "BleuEvaluator",
        "rouge": "RougeEvaluator",
    },
    "postprocessors": {
        **dict.fromkeys(("final number", "number", "numeric", "int", "float"), "gsm8k_postprocess"),
        "first number": "first_number_postprocess",
        "last number": "last_number_postprocess",
        **dict.fromkeys(("option", "choice", "letter", "mcq", "abcd"), "first_option_postprocess"),
        **dict.fromkeys(("last option", "last choice", "last letter"), "last_option_postprocess"),
        **dict.fromkeys(("boxed", "math", "latex"), "math_postprocess_v2"),
        **dict.fromkeys(("think", "thinking", "reasoning", "cot"), "extract-non-reasoning-content"),
        **dict.fromkeys(("regex", "pattern"), "match_answer_pattern"),
        **dict.fromkeys(("tag", "xml"), "xml_tag_postprocessor"),
        **dict.fromkeys(("after", "answer is"), "after_phrase_postprocess"),
        **dict.fromkeys(("strip", "clean", "first phrase"), "general_postprocess"),
        **dict.fromkeys(("line", "first line"), "first_line_postprocess"),
        "json": "json_postprocess",
    },
    "retrievers": {
        **dict.fromkeys(("zero shot", "none", "no"), "ZeroRetriever"),
        **dict.fromkeys(("few shot", "fixed", "fix", "fewshot", "shot"), "FixKRetriever"),
        **dict.fromkeys(("similar", "embedding", "knn"), "TopkRetriever"),
    },
    "inferencers": {
        **dict.fromkeys(("generate", "generation", "generator"), "GenInferencer"),
        **dict.fromkeys(("perplexity", "logprob", "loglikelihood"), "PPLInferencer"),
    },
    "readers": {
        **dict.fromkeys(("csv", "json", "jsonl", "file", "local"), "LocalDataset"),
        **dict.fromkeys(("hf", "hub"), "HuggingFaceDataset"),
    },
}
"""Kind of part → words of a name → the part of the core that is meant."""
_MISSPELT: Final = 0.8
"""How alike a misspelt key is to the key of another program that it means."""
_WORD: Final = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z]?[a-z]+|\d+|[a-z]+\d+")


def key_advice(name: str, known: Iterable[object]) -> str:
    """Return what to write in place of an unknown key: what it means, else the nearest or all known keys.

    Args:
        name: the key.
        known: the keys that are accepted there.
    """
    names = [str(one) for one in known]
    if meant := _meaning_here(name, names):
        return meant
    foreign = (word for word in (*_BODY, *KEYS, *ELSEWHERE) if word not in names)
    words = {word: meant for word in foreign if (meant := _meaning_here(word, names))}
    near = nearest(name, [*names, *words], _MISSPELT)
    return f"did you mean {near!r}? {words[near]}" if near in words else advice(name, names)


def _meaning_here(name: str, names: Sequence[str]) -> str:
    """Return what to write for a key of other programs where these keys are known; empty if that is not known."""
    if name in _BODY and "base_url" in names:
        return f"write generation_kwargs=dict({name}=...)"
    for meaning in KEYS.get(name, ()):
        if meaning.partition("=")[0] in names:
            return f"write {meaning}"
    return ELSEWHERE.get(name, "")


def key_meaning(name: str) -> str:
    """Return what a key of other programs is here, as a sentence; empty if it is not known."""
    if meanings := KEYS.get(name):
        return f"Here it is {' or '.join(f'``{one}``' for one in meanings)}."
    return f"Here: {ELSEWHERE[name]}." if name in ELSEWHERE else ""


def part_meant(kind: str, name: str) -> str | None:
    """Return the shipped part that the words of a name mean: ``last_number`` → ``gsm8k_postprocess``; None if none."""
    words = [word.lower() for word in _WORD.findall(name.rpartition(".")[2])]
    words = [*words, "".join(words)]
    brought = (item for one in shipped().values() for item in one.words.get(kind, {}).items())
    meanings = sorted([*_PARTS.get(kind, {}).items(), *brought], key=lambda item: -len(item[0].split()))
    return next((part for phrase, part in meanings if set(phrase.split()) <= set(words)), None)
