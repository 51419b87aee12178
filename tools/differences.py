"""The page on differences, docs/reference/differences.md, from the conformance cases; `tools.reference` writes it.

The cases mark what is wrong, contradictory or odd: ``peer_bug``, ``code_agrees``, ``ambiguous``, ``differs``, ``note``.
``tests/core/conformance/differences.json`` says in words what the peers do and what happens here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ais_prompt.utils import decode

ROOT: Final = Path(__file__).resolve().parent.parent
CONFORMANCE: Final = ROOT / "tests" / "core" / "conformance"

Case = Mapping[str, Any]
Entry = Mapping[str, Any]

INTRODUCTION: Final = """\
# Differences from OpenCompass, AISBench and torchtune

Each difference was found by running these programs or the examples of their documents. Each is a case that the tests
run (`tests/core/conformance`); the last column has the names of the cases. All other prompts are equal.
[Coming from](../coming-from.md) lists their documents with the pages here.
"""
SECTIONS: Final = {
    "correction": ("Where a peer is wrong or silent", "The peers", "Here"),
    "document": ("Where a document contradicts itself or its program", "Document and program", "Here"),
    "choice": ("Where OpenCompass and AISBench disagree", "The peers", "Here"),
}
KEPT: Final = ("Kept as the peers have it", "In the peers and here")
"""Title and head of the entries without a difference. Entries of kind ``example`` are not on the page."""


def load_cases(folder: Path = CONFORMANCE / "cases") -> list[Case]:
    """Return all cases, with all their keys."""
    return [case for file in sorted(folder.glob("*.json")) for case in decode(file.read_text("utf-8"))]


def load_entries(file: Path = CONFORMANCE / "differences.json") -> list[Entry]:
    """Return the entries: ``kind``, ``covers`` and ``here``; those of a difference also have ``peers`` and ``page``."""
    entries: list[Entry] = decode(file.read_text("utf-8"))
    return entries


def marks(case: Case) -> tuple[str, ...]:
    """Return what an entry can cover of a case: its corrections, and its own name."""
    return (*case.get("peer_bug", "").split(), case["id"])


def differs(case: Case) -> bool:
    """Whether a document and its program, or the two peers, do not do the same."""
    return not case.get("code_agrees", True) or bool(case.get("ambiguous") or case.get("differs"))


def uncovered(cases: Sequence[Case], entries: Sequence[Entry]) -> list[str]:
    """Return what no entry explains: corrections, cases that differ, and cases with a note."""
    covered = {mark for entry in entries for mark in entry["covers"]}
    corrections = {mark for case in cases for mark in marks(case)[:-1]}
    silent = [
        case["id"] for case in cases if (differs(case) or "note" in case) and not covered.intersection(marks(case))
    ]
    return [*sorted(corrections - covered), *silent]


def unused(cases: Sequence[Case], entries: Sequence[Entry]) -> list[str]:
    """Return what entries cover although no case has it."""
    known = {mark for case in cases for mark in marks(case)}
    return [mark for entry in entries for mark in entry["covers"] if mark not in known]


def render(cases: Sequence[Case], entries: Sequence[Entry]) -> str:
    """Return the page."""
    parts = [INTRODUCTION]
    for kind, (title, peers, here) in SECTIONS.items():
        parts += [f"\n## {title}\n\n", *_table((peers, here, "More", "Cases"), _differences(kind, cases, entries))]
    title, here = KEPT
    rows = [(entry["here"], ", ".join(_covered(entry, cases))) for entry in entries if entry["kind"] == "kept"]
    parts += [f"\n## {title}\n\n", *_table((here, "Cases"), rows)]
    return "".join(parts)


def _covered(entry: Entry, cases: Sequence[Case]) -> list[str]:
    """Return the names of the cases that an entry covers."""
    return [case["id"] for case in cases if set(marks(case)).intersection(entry["covers"])]


def _differences(kind: str, cases: Sequence[Case], entries: Sequence[Entry]) -> Iterator[tuple[str, ...]]:
    for entry in entries:
        if entry["kind"] == kind:
            page, _, _ = entry["page"].partition("#")
            link = f"[{page.removesuffix('.md')}](../{entry['page']})"
            yield entry["peers"], entry["here"], link, ", ".join(_covered(entry, cases))


def _table(head: Sequence[str], rows: Iterator[tuple[str, ...]] | Sequence[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |\n"
    yield "|---" * len(head) + "|\n"
    for row in rows:
        yield "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |\n"
