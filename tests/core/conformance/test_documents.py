"""The five documents, block by block: each example runs, or the reason why it does not is written down.

``documents/blocks.json`` lists the blocks of each document in order: the cases that run it (of ``cases`` or of
``documents/cases.json``), the correction by which it ``differs``, the ``page`` that runs it, or why it is ``not_here``.
Inputs and expected prompts are kept, not the words of the documents.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from tools.conformance_runner.cases import load_cases
from tools.conformance_runner.check import check
from tools.differences import load_cases as load_recorded
from tools.differences import load_entries

HERE = Path(__file__).parent
DOCS = HERE.parents[2] / "docs"
OWN = load_cases(HERE / "documents/cases.json")
RECORDED = {case["id"]: case for case in load_recorded() if case["source"] == "doc"}
DOCUMENTS: dict[str, list[dict[str, Any]]] = json.loads((HERE / "documents/blocks.json").read_text("utf-8"))
BLOCKS = [block for blocks in DOCUMENTS.values() for block in blocks]

DIFFERENCES = {
    "doc-doc-043",  # printed without the file:// of its template
    "doc-doc-044",  # printed with video/mp4, the template says video/jpeg
    "doc-doc-066",  # "directly concatenated": a newline between the turns
    "doc-doc-076",  # begin and end of a turn are joined without a meta template
    "FIX-1",  # the pseudo-code fills in several passes
}
"""Where what comes out is not what a document prints. A new one must be explained in ``differences.json``."""


def test_case() -> None:
    for case in OWN:
        verdict = check(case)
        assert verdict.status == "passed", "\n".join((case.title, *verdict.details))


def test_every_block_runs_or_says_why_not() -> None:
    for block in BLOCKS:
        [how] = block.keys() & {"cases", "differs", "page", "not_here"}
        assert block[how], block
    named = Counter(name for block in BLOCKS for name in block.get("cases", ()))
    assert named == Counter([*RECORDED, *(case.name for case in OWN)])


def test_the_differences_are_those_that_are_known_and_explained() -> None:
    changed = {name for name, case in RECORDED.items() if "expect_fixed" in case or case.get("ambiguous")}
    assert changed | {block["differs"] for block in BLOCKS if "differs" in block} == DIFFERENCES
    assert {mark for entry in load_entries() for mark in entry["covers"]} >= DIFFERENCES


def test_every_document_and_page_is_there() -> None:
    headings = {line.removeprefix("## ") for line in (DOCS / "coming-from.md").read_text("utf-8").splitlines()}
    assert set(DOCUMENTS) <= headings
    for block in BLOCKS:
        if "page" in block:
            page, _, _ = block["page"].partition("#")
            assert (DOCS / page).is_file()
