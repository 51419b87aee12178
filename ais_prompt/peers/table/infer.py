"""Templates, retrievers and inferencers of the peers."""

from __future__ import annotations

from typing import Final

from ais_prompt.peers.table.row import Row

_BATCHES: Final = "requests are sent as the model's max_concurrency allows"
_LENGTH: Final = "prompts that are too long for the model are refused, not cut"
_FILES: Final = ""
"""Where and how often the peer writes its predictions: nothing that changes an answer."""

_SHARED: Final = {
    "batch_size": _BATCHES,
    "max_seq_len": _LENGTH,
    "output_json_filepath": _FILES,
    "output_json_filename": _FILES,
    "save_every": _FILES,
}

TEMPLATES: Final = (
    Row("PromptTemplate", "PromptTemplate"),
    Row("RawPromptTemplate", "RawPromptTemplate"),
    Row("MMPromptTemplate", "MMPromptTemplate"),
    Row("MultiTurnPromptTemplate", "MultiTurnPromptTemplate"),
)

RETRIEVERS: Final = (
    Row("ZeroRetriever", "ZeroRetriever"),
    Row("FixKRetriever", "FixKRetriever"),
    Row("RandomRetriever", "RandomRetriever"),
    Row("BM25Retriever", "BM25Retriever"),
    Row("SlidingWindowRetriever", "SlidingWindowRetriever"),
    Row("TopkRetriever", "TopkRetriever"),
)

INFERENCERS: Final = (
    Row("GenInferencer", "GenInferencer", drop=_SHARED),
    Row(
        "SCInferencer",
        "GenInferencer",
        rename={"sc_size": "n"},
        drop={**_SHARED, "infer_type": "", "generation_kwargs": "sampling is an option of the model"},
        differs="the score of the majority is the row cons@n",
    ),
    Row("PPLInferencer", "PPLInferencer", drop=_SHARED),
    Row("PPLOnlyInferencer", "PPLOnlyInferencer", drop=_SHARED),
    Row("CLPInferencer", "CLPInferencer", drop=_SHARED),
    Row("LLInferencer", "LLInferencer", drop=_SHARED),
    Row("ChatInferencer", "ChatInferencer", drop=_SHARED),
    Row("MultiTurnGenInferencer", "MultiTurnGenInferencer", drop=_SHARED),
)
