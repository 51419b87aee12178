"""What ``same``, ``seal`` and ``verify`` print with ``--json``."""

from __future__ import annotations

from typing import Literal, TypedDict

from msgspec import field

from ais_prompt.types import Document


class ModelDifferenceEntry(TypedDict):
    """One comparison of two models: whether they differ, null if that is not known, and why."""

    subject: Literal["likelihoods", "prompts", "answers", "lengths", "endings", "JSON", "tool calls", "arguments"]
    differs: bool | None
    text: str
    p: float | None
    detectable: float | None


class SameDocument(Document, kw_only=True):
    """What ``same`` prints.

    Attributes:
        differences: one entry for each comparison.
    """

    kind: Literal["same"]
    differences: list[ModelDifferenceEntry] = field(default_factory=list)


class SealDocument(Document, kw_only=True):
    """What ``seal`` prints.

    Attributes:
        file: the seal.
        root: of its Merkle tree, in hex.
        entries: the leaves of the tree.
        signed: whether it has a signature.
    """

    kind: Literal["seal"]
    file: str = ""
    root: str = ""
    entries: int = 0
    signed: bool = False


class FindingEntry(TypedDict):
    """One side of a seal: whether it is as sealed, null if that cannot be known here, and why."""

    subject: Literal["content", "signature", "data", "prompts", "scores", "judges", "performance", "model"]
    holds: bool | None
    text: str


class VerifyDocument(Document, kw_only=True):
    """What ``verify`` prints.

    Attributes:
        findings: in the order in which they were made.
    """

    kind: Literal["verify"]
    findings: list[FindingEntry] = field(default_factory=list)
