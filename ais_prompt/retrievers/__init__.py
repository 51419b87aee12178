"""Which training rows are shown before each question."""

from ais_prompt.retrievers.base import Retriever, ShotIds
from ais_prompt.retrievers.fix_k import FixKRetriever
from ais_prompt.retrievers.zero import ZeroRetriever

__all__ = ["FixKRetriever", "Retriever", "ShotIds", "ZeroRetriever"]
