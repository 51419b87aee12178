"""The digests of parts in a lock: they contain module and class, so moving a shipped part would break every lock."""

from __future__ import annotations

from collections import Counter

import pytest

from ais_prompt.extensions.evidence.locks.prompt_lock import part_digest
from ais_prompt.registry import INFERENCERS, RETRIEVERS, TEMPLATES, PartRegistry
from ais_prompt.types import PartSpec

DIGESTS = {
    "MMPromptTemplate": "0f56755ba82b464c",
    "MultiTurnPromptTemplate": "8d3b4c97b0c159f7",
    "PromptTemplate": "d0348af0af961839",
    "RawPromptTemplate": "3150af441e4f2450",
    "BM25Retriever": "440a89bc17b147c5",
    "FixKRetriever": "70496fcbbc980956",
    "PeerRetriever": "b96a7ec5c8d49b59",
    "RandomRetriever": "0f11f56b5f8bbf7f",
    "SlidingWindowRetriever": "fff3eb472880f38a",
    "TopkRetriever": "29d4401a14766bef",
    "ZeroRetriever": "db51660976cc0f53",
    "AgentInferencer": "58a0fb0436f7ac7e",
    "CLPInferencer": "b8eb09ca33c837f1",
    "ChatInferencer": "c070d092af20cf5b",
    "ChoicesInferencer": "b2d599373a243394",
    "GenInferencer": "25d46eab10630af7",
    "LLInferencer": "ae4c2ecb70d5167f",
    "MultiTurnGenInferencer": "4648878fa3cab750",
    "MultiTurnToolCallInferencer": "76ed91c4fc80528c",
    "PPLInferencer": "b440e57e35918c4f",
    "PPLOnlyInferencer": "c796afd5fcf1e638",
    "SimulatedToolCallInferencer": "a0d6754de45fa382",
    "ToolCallInferencer": "34e2ea7e23c9ff0f",
    "ToolLoopInferencer": "c80a580187dfbc5a",
}
"""Part → its digest without arguments, in the locks of all versions. Only add new parts; never change a digest."""

REGISTRIES = (TEMPLATES, RETRIEVERS, INFERENCERS)


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda registry: registry.kind)
def test_a_shipped_part_keeps_its_digest(registry: PartRegistry) -> None:
    for name in registry.shipped:
        assert part_digest(registry, PartSpec(name)) == DIGESTS[name], f"{name} was moved: locks of users would change"


def test_every_part_has_a_digest_of_its_own() -> None:
    assert set(Counter(DIGESTS.values()).values()) == {1}
