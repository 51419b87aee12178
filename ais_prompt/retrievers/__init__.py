"""Choose the in-context examples of each question."""

from ais_prompt.retrievers.base import Retriever, ShotIds
from ais_prompt.retrievers.bm25 import BM25Retriever
from ais_prompt.retrievers.character_ngrams import CharacterNgramEncoder
from ais_prompt.retrievers.encoder import Embeddings, Encoder
from ais_prompt.retrievers.fix_k import FixKRetriever
from ais_prompt.retrievers.hf_encoder import HuggingFaceEncoder
from ais_prompt.retrievers.random import RandomRetriever
from ais_prompt.retrievers.sliding_window import SlidingWindowRetriever
from ais_prompt.retrievers.topk import TopkRetriever
from ais_prompt.retrievers.zero import ZeroRetriever

__all__ = [
    "BM25Retriever",
    "CharacterNgramEncoder",
    "Embeddings",
    "Encoder",
    "FixKRetriever",
    "HuggingFaceEncoder",
    "RandomRetriever",
    "Retriever",
    "ShotIds",
    "SlidingWindowRetriever",
    "TopkRetriever",
    "ZeroRetriever",
]
