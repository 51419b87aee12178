"""Templates, retrievers and inferencers of the peers."""

from __future__ import annotations

from typing import Any, Final

from ais_prompt.extensions.peers.table.row import PartRow

_BATCHES: Final = "requests are sent as the model's max_concurrency allows"
_LENGTH: Final = "prompts that are too long for the model are refused, not cut"
_FILES: Final = "predictions are files of the run folder"

_OF_MESSAGES: Final = "messages with tools are sent as they are"
_NO_EFFECT: Final = "it has no effect there either: sampling is an option of the model"

_SHARED: Final = {
    "batch_size": _BATCHES,
    "do_sample": _NO_EFFECT,
    "generation_kwargs": _NO_EFFECT,
    "labels": "it has no effect there either",
    "temperature": _NO_EFFECT,
    "max_seq_len": _LENGTH,
    "output_json_filepath": _FILES,
    "output_json_filename": _FILES,
    "save_every": _FILES,
}

_PPL: Final = {**_SHARED, "max_out_len": "it has no effect there either"}
_OF_ALL_TOKENS: Final = {"normalization": "all_tokens"}
"""OpenCompass divides the sum by the number of all tokens, the first of which has no log-likelihood."""

_NORMALIZED: Final = "sentence-transformers/all-"
"""Encoders that scale their vectors themselves."""


def _with_encoder(args: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a `TopkRetriever` with the encoder that the peer loads, unless they name one."""
    name = str(args.pop("sentence_transformers_model_name", "all-mpnet-base-v2"))
    path = name if "/" in name else f"sentence-transformers/{name}"
    return {"encoder": {"type": "HuggingFaceEncoder", "path": path, "normalize": path.startswith(_NORMALIZED)}, **args}


TEMPLATES: Final = (
    PartRow("PromptTemplate", "PromptTemplate"),
    PartRow("RawPromptTemplate", "RawPromptTemplate"),
    PartRow("MMPromptTemplate", "MMPromptTemplate"),
    PartRow("MultiTurnPromptTemplate", "MultiTurnPromptTemplate"),
)

RETRIEVERS: Final = (
    PartRow("ZeroRetriever", "ZeroRetriever"),
    PartRow("FixKRetriever", "FixKRetriever"),
    PartRow("RandomRetriever", "RandomRetriever"),
    PartRow("BM25Retriever", "BM25Retriever"),
    PartRow("SlidingWindowRetriever", "SlidingWindowRetriever"),
    PartRow(
        "TopkRetriever",
        "TopkRetriever",
        drop={"tokenizer_name": "the encoder has its own tokenizer", "batch_size": "texts are encoded in batches"},
        change=_with_encoder,
    ),
)

_MULTIROUND: Final = PartRow(
    "GenInferencer",
    "ChatInferencer",
    drop={**_SHARED, "multiround": "an inferencer of its own asks many turns"},
    add={"infer_mode": "every"},
    differs="every turn of the assistant is asked, also one that has a text already",
)

INFERENCERS: Final = (
    PartRow(
        "GenInferencer",
        "GenInferencer",
        drop={**_SHARED, "multiround": "an inferencer of its own asks many turns"},
        instead={"multiround": _MULTIROUND},
    ),
    PartRow(
        "SCInferencer",
        "GenInferencer",
        rename={"sc_size": "n"},
        drop={
            **_SHARED,
            "infer_type": "it has no effect there either",
            "generation_kwargs": "sampling is an option of the model",
        },
        differs="the score of the majority is the row cons@n",
    ),
    PartRow("PPLInferencer", "PPLInferencer", drop=_PPL),
    PartRow("PPLInferencer", "PPLInferencer", module="opencompass", drop=_PPL, add=_OF_ALL_TOKENS),
    PartRow("PPLOnlyInferencer", "PPLOnlyInferencer", module="opencompass", drop=_SHARED, add=_OF_ALL_TOKENS),
    PartRow("CLPInferencer", "CLPInferencer", drop=_SHARED),
    PartRow("LLInferencer", "LLInferencer", drop=_SHARED, add={"continuation_in_prompt": True}),
    PartRow("ChatInferencer", "ChatInferencer", drop=_SHARED),
    PartRow("MultiTurnGenInferencer", "MultiTurnGenInferencer", drop=_SHARED),
    PartRow(
        "BFCLV3FunctionCallInferencer",
        "ToolCallInferencer",
        drop={
            **_SHARED,
            "gen_field_replace_token": _OF_MESSAGES,
            "mode": "speed is always measured",
            "model_cfg": "the model is that of the run",
            "stopping_criteria": _OF_MESSAGES,
        },
        differs="tools are fields of the request, as there with returns_tool_calls=True; without it, the system prompt "
        "describes them there",
    ),
)
