"""Check the header of a table of cells: CSV, TSV and sheets."""

from __future__ import annotations

from collections.abc import Sequence

from ais_prompt.errors import DataError
from ais_prompt.utils import listed


def check_names(header: Sequence[str], where: str) -> None:
    """Refuse two columns of one name; columns without a name are left out.

    Raises:
        DataError: there are two.
    """
    named = [name for name in header if name]
    if len(set(named)) < len(named):
        raise DataError(f"two columns have one name: {list(header)}", where=where, fix="rename one of them")


def header_alone(header: Sequence[str], where: str) -> DataError:
    """Return the error for a table without rows."""
    what = f"there is a header and no rows: {listed(header)}"
    return DataError(what, where=where, fix="write rows below the header")
