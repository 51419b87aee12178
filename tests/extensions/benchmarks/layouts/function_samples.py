"""Questions of BFCL about functions, in the layout of the package bfcl-eval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.extensions.benchmarks.layouts.cases import Case, lines, of_folder

_TALK: Final = [[{"role": "user", "content": "Count ünits."}], []]
_SIMPLE: Final = {"id": "simple_0", "question": _TALK[:1], "function": [{"name": "count", "parameters": {}}]}
_MISSED: Final = {
    "id": "multi_turn_miss_func_0",
    "question": _TALK,
    "initial_config": {"MathAPI": {}},
    "involved_classes": ["MathAPI", "TicketAPI"],
    "missed_function": {"1": ["mean"]},
}
FILES: Final = {
    "BFCL_v3_simple.json": lines(_SIMPLE, {**_SIMPLE, "id": "simple_1"}),
    "possible_answer/BFCL_v3_simple.json": lines(
        *({"id": f"simple_{n}", "ground_truth": [{"count": {"unit": ["m", ""]}}]} for n in range(2))
    ),
    "BFCL_v3_irrelevance.json": lines({**_SIMPLE, "id": "irrelevance_0"}),
    "BFCL_v3_multi_turn_miss_func.json": lines(_MISSED),
    "possible_answer/BFCL_v3_multi_turn_miss_func.json": lines({"id": _MISSED["id"], "ground_truth": [["mean(x=1)"]]}),
    "multi_turn_func_doc/math_api.json": lines({"name": "add"}, {"name": "mean", "description": "Average."}),
    "multi_turn_func_doc/ticket_api.json": lines({"name": "close"}),
}

BFCL: Final[Mapping[str, Case]] = {
    "BFCLDataset": of_folder(FILES, "ais_bench", category="simple", test_ids=["simple_1"]),
    "BFCLDataset irrelevance": of_folder(FILES, "ais_bench", category="irrelevance"),
    "BFCLDataset multi_turn": of_folder(FILES, "ais_bench", category="multi_turn_miss_func"),
}
