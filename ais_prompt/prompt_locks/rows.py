"""Which row became which. The id of a sample is a digest of its row, so a changed row has another id."""

from __future__ import annotations

from collections.abc import Container, Sequence

from msgspec import Struct


class RowMatch(Struct, frozen=True):
    """What became of the rows of a dataset.

    Attributes:
        changed: id before and after of rows whose data changed.
        added, removed: ids of rows that came and went.
        reordered: whether the rows that stayed are in another order.
    """

    changed: Sequence[tuple[str, str]]
    added: Sequence[str]
    removed: Sequence[str]
    reordered: bool


def match_rows(before: Sequence[str], after: Sequence[str]) -> RowMatch:
    """Match the ids of two versions of a dataset.

    A new id stands for a changed row if an old one is gone from the same place: as many rows behind the same row that
    stayed. Rows further up may have come and gone.
    """
    old, new = set(before), set(after)
    gone, come = _places(before, new), _places(after, old)
    changed = [(gone[place], sample) for place, sample in come.items() if place in gone]
    return RowMatch(
        changed,
        added=[sample for place, sample in come.items() if place not in gone],
        removed=[sample for place, sample in gone.items() if place not in come],
        reordered=[sample for sample in before if sample in new] != [sample for sample in after if sample in old],
    )


def _places(ids: Sequence[str], others: Container[str]) -> dict[tuple[str, int], str]:
    """Where the ids that are not among others stand: (the last one that is, how many rows behind it) → id."""
    places = {}
    last, distance = "", 0
    for sample in ids:
        last, distance = (sample, 0) if sample in others else (last, distance + 1)
        if distance:
            places[last, distance] = sample
    return places
