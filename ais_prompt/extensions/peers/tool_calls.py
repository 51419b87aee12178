"""Translate datasets of BFCL, whose functions a model may call: the tools are columns of the rows here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ais_prompt.extensions.peers.judge import last_name
from ais_prompt.extensions.peers.parts import Translation

_INFERENCER: Final = "BFCLV3FunctionCallInferencer"
_CONVERSATIONS: Final = "multi_turn"
"""Beginning of the categories that cannot be asked."""
_FIX: Final = "leave these categories out: --datasets BFCL_gen_live, or BFCL_gen_simple and others of one category"
_COMPARED: Final = "BFCLSingleTurnEvaluator"
_CALLS: Final = {"type": "tool_calls_postprocess"}
_MESSAGES: Final = {"type": "RawPromptTemplate", "messages": [{"expand_column": "messages"}]}
"""The only template that their inferencer knows: it takes the messages of the row, whatever the config says."""


def with_tools(values: Mapping[str, Any], where: str, translation: Translation) -> Mapping[str, Any]:
    """Return a dataset of BFCL whose rows have messages and tools, and whose calls are read; any other unchanged.

    A category without a counterpart here is a fault.
    """
    infer, scoring, reader = (values.get(key) for key in ("infer_cfg", "eval_cfg", "reader_cfg"))
    if not isinstance(infer, Mapping) or last_name(infer.get("inferencer")) != _INFERENCER:
        return values
    category = str(values.get("category"))
    if category.startswith(_CONVERSATIONS):
        what = "conversations of BFCL need its simulated programs, such as GorillaFileSystem, which are not here"
        translation.faults.add(what, f"{where}.category", _FIX)
    columns = reader.get("input_columns") if isinstance(reader, Mapping) else None
    changed: dict[str, Any] = {"as_tools": True, "infer_cfg": {**infer, "prompt_template": _MESSAGES}}
    if isinstance(reader, Mapping) and isinstance(columns, list):
        changed["reader_cfg"] = {**reader, "input_columns": [*columns, "messages", "tools"], "output_column": None}
    if isinstance(scoring, Mapping) and last_name(scoring.get("evaluator")) == _COMPARED:
        changed["eval_cfg"] = {"pred_postprocessor": _CALLS, **scoring}
    return {**values, **changed}
