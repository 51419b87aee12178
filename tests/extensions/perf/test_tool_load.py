"""The screen of AISBench."""

from __future__ import annotations

import csv
import json

import pytest

from ais_prompt.extensions.perf.aisbench import aisbench_tables
from ais_prompt.extensions.perf.tool_tables import aisbench_screen, fancy_grid
from tests.extensions.perf.loads import at_20


def test_numbers_are_centred_and_texts_to_the_left() -> None:
    found = fancy_grid([["Common Metric", "Value"], ["Total Requests", 60], ["Failed Requests", 0]])
    assert found.splitlines()[3] == "│ Total Requests  │   60    │"
    assert found.splitlines()[4] == "├─────────────────┼─────────┤"


@pytest.mark.parametrize("count", [1, 30, 200])
def test_the_tables_are_those_of_tabulate(count: int) -> None:
    tabulate = pytest.importorskip("tabulate")
    tables = aisbench_tables(at_20(count)[0], 8)
    common = [[name, stage, value] for name, of in json.loads(tables.json).items() for stage, value in of.items()]
    theirs = [
        tabulate.tabulate(
            rows,
            headers="firstrow",
            tablefmt="fancy_grid",
            floatfmt=".2f",
            numalign="center",
            stralign="left",
            missingval="N/A",
        )
        for rows in (list(csv.reader(tables.csv.splitlines())), [["Common Metric", "Stage", "Value"], *common])
    ]
    shown = aisbench_screen(tables, "m/d", "outputs/performances/m")
    assert shown == "\n".join(
        [
            "Performance Results of task [m/d]: ",
            *theirs,
            "Performance Result files located in outputs/performances/m.",
        ]
    )
