"""The page on differences: it is what the cases say, and no difference goes without an explanation."""

from __future__ import annotations

from typing import Any

import pytest

from tools.differences import load_cases, load_entries, render, uncovered, unused

ENTRY = {"kind": "correction", "covers": ["FIX-1"], "peers": "They leak.", "here": "It does not.", "page": "x.md#y"}


def case(**values: Any) -> dict[str, Any]:
    return {"id": "own-001", "title": "a sum", "source": "opencompass", **values}


@pytest.mark.thorough
def test_every_difference_is_explained_and_every_explanation_is_needed() -> None:
    assert uncovered(load_cases(), load_entries()) == []
    assert unused(load_cases(), load_entries()) == []


def test_a_difference_without_an_explanation_is_found() -> None:
    assert uncovered([case(peer_bug="FIX-1 FIX-2")], [ENTRY]) == ["FIX-2"]
    for unexplained in ({"code_agrees": False}, {"ambiguous": True}, {"differs": {"aisbench": {}}}):
        assert uncovered([case(**unexplained)], [ENTRY]) == ["own-001"]
    assert uncovered([case(code_agrees=False, peer_bug="FIX-1")], [ENTRY]) == []
    assert unused([case()], [ENTRY]) == ["FIX-1"]


def test_a_note_needs_a_sentence() -> None:
    sentence = {"kind": "kept", "covers": ["own-001"], "here": "It is so."}
    assert uncovered([case(note="so"), case(id="own-002", note="so")], [sentence]) == ["own-002"]


def test_entries_are_listed_once_and_cells_do_not_break_the_table() -> None:
    sentence = {"kind": "kept", "covers": ["own-001", "own-002"], "here": "It is a|b."}
    page = render([case(), case(id="own-002"), case(id="own-003", peer_bug="FIX-1")], [ENTRY, sentence])
    assert "| It is a\\|b. | own-001, own-002 |" in page
    assert "| They leak. | It does not. | [x](../x.md#y) | own-003 |" in page
