"""Choose the in-context examples of each question.

Retrievers and encoders can be imported from here; the module that defines one is loaded when its name is first used.
"""

from typing import Any

from ais_prompt.catalog import public_names
from ais_prompt.registry import ENCODERS, RETRIEVERS
from ais_prompt.retrievers.base import Retriever, ShotIds
from ais_prompt.retrievers.encoders import Embeddings, Encoder

__all__ = [*public_names("retrievers"), *public_names("encoders"), "Embeddings", "Encoder", "Retriever", "ShotIds"]


def __getattr__(name: str) -> Any:
    registry = ENCODERS if name in public_names("encoders") else RETRIEVERS
    return registry.attribute(__name__, name)
