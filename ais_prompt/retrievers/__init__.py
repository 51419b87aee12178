"""Choose the in-context examples of each question.

Retrievers and encoders can be imported from here; the module that defines one is loaded when its name is first used.
"""

from typing import TYPE_CHECKING

from ais_prompt.rooms import offered

if TYPE_CHECKING:
    from ais_prompt.retrievers.base import ComparesTexts, RetrievalText, Retriever, RowLists, ShotIds, own_rows
    from ais_prompt.retrievers.bm25 import Bm25Index, BM25Retriever, word_tokenizer
    from ais_prompt.retrievers.by_position import FixKRetriever, RandomRetriever, SlidingWindowRetriever, ZeroRetriever
    from ais_prompt.retrievers.encoders import CharacterNgramEncoder, Embeddings, Encoder, HuggingFaceEncoder
    from ais_prompt.retrievers.topk import TopkRetriever
else:
    __getattr__, __dir__ = offered(__name__, "retrievers", "encoders")
