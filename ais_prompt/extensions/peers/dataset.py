"""Translate a dataset: its loader, its name, ``reader_cfg`` and ``infer_cfg``; tools of BFCL become columns."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import takewhile
from typing import Any, Final

from ais_prompt.config import DATASET, INFER, READER
from ais_prompt.extensions.peers.agent import as_agent, is_agent
from ais_prompt.extensions.peers.code.calls import PROMPT
from ais_prompt.extensions.peers.parts import LENGTH, NO_EFFECT, Translation, inside, is_part
from ais_prompt.extensions.peers.scoring import JUDGE_KEY, keys_of_judge, last_name, translate_eval, with_judge
from ais_prompt.extensions.peers.table import PEERS, peer_part
from ais_prompt.extensions.peers.table.parts import CONVERSATION
from ais_prompt.extensions.peers.table.row import PartRow

INFER_PARTS: Final = {
    "ice_template": "templates",
    "prompt_template": "templates",
    "retriever": "retrievers",
    "inferencer": "inferencers",
}
"""Key of ``infer_cfg`` → kind of part."""

EVAL_PARTS: Final = {
    "evaluator": "evaluators",
    "pred_postprocessor": "postprocessors",
    "dataset_postprocessor": "postprocessors",
}
"""Key of ``eval_cfg`` → kind of part."""


def translate_dataset(values: Any, where: str, translation: Translation) -> Any:
    """Return a dataset in terms of this program; one that names no part of a peer stays as it is."""
    if not isinstance(values, Mapping) or not (names := peer_names(values)):
        return values
    translation.peer = next((peer for peer in PEERS if any(name.startswith(f"{peer}.") for name in names)), PEERS[0])
    values = with_tools(values)
    other = {*DATASET.names, *keys_of_judge(values, inside(values, "eval_cfg", "evaluator")), JUDGE_KEY} - {"type"}
    source = {key: value for key, value in values.items() if key not in other}
    translated = {"abbr": _abbr(values, where, translation)}
    translated |= {key: values[key] for key in ("n", "k") if key in values}
    values = with_judge(values, where, translation)
    template = _own_template(values, translation)
    if template is None:
        translated |= translation.part("readers", source, where)
    else:
        translated |= {"type": "PeerDataset", "cls": source.pop("type")}
        translated |= {**({"kwargs": source} if source else {}), "prompt": template}
        written = {"round": [{"role": "HUMAN", "prompt": f"{{{PROMPT}}}"}]}  # the column that the class writes
        infer = {**values["infer_cfg"], "prompt_template": {"type": "PromptTemplate", "template": written}}
        values = {**values, "infer_cfg": infer}
        what = f"{template.rpartition('.')[2]}: its code writes the prompt of each row when the rows are loaded"
        translation.notes.note(what, f"{where}.infer_cfg.prompt_template")
    for key, translate in (
        ("reader_cfg", _translate_reader),
        ("infer_cfg", _translate_infer),
        ("eval_cfg", partial(translate_eval, dataset=values)),
    ):
        if key in values:
            section = values[key]
            is_section = isinstance(section, Mapping)
            translated[key] = translate(section, f"{where}.{key}", translation) if is_section else section
    _name_lengths(translated, translation.peer)
    row = translation.native_row("evaluators", inside(values, "eval_cfg", "evaluator"))
    if row is not None and isinstance(translated["abbr"], str):
        translation.metrics[translated["abbr"]] = row.metrics
    _drop_large_k(translated, where, translation)
    _add_repeats(translated, values, row, translation)
    reader = translated.get("reader_cfg")
    if row is None or not row.gold_columns or not isinstance(reader, Mapping):
        return translated
    return {**translated, "reader_cfg": {"gold_columns": list(row.gold_columns), **reader}}


def _name_lengths(translated: Mapping[str, Any], peer: str) -> None:
    """Let the answers be as long as their rows say, which AISBench does where that column is an input."""
    columns = inside(translated, "reader_cfg", "input_columns")
    inferencer = inside(translated, "infer_cfg", "inferencer")
    names_lengths = peer == "ais_bench" and isinstance(columns, list | tuple) and LENGTH in columns
    if names_lengths and isinstance(inferencer, dict) and inferencer.get("type") == "GenInferencer":
        inferencer["max_out_len"] = LENGTH


def _own_template(values: Mapping[str, Any], translation: Translation) -> str | None:
    """Return the template class of a peer that has code of its own and shows no examples; None for any other."""
    infer = values.get("infer_cfg")
    if not isinstance(infer, Mapping) or "ice_template" in infer or not translation.peer_part("readers", values):
        return None
    template: Any = infer.get("prompt_template")
    found = translation.peer_part("templates", template)
    if found is None or set(template) != {"type"} or translation.row("templates", found.path, {}) is not None:
        return None
    return found.path


def _drop_large_k(translated: dict[str, Any], where: str, translation: Translation) -> None:
    """Remove each k of pass@k that needs more answers than there are, as the peers skip it."""
    asked = [translated.get("n"), inside(translated, "infer_cfg", "inferencer", "n")]
    answers = max([number for number in asked if isinstance(number, int)], default=1)
    for section, place in ((translated, where), (translated.get("eval_cfg"), f"{where}.eval_cfg")):
        if not isinstance(section, dict) or section.get("k") is None:
            continue
        wanted = section["k"] if isinstance(section["k"], list | tuple) else [section["k"]]
        kept = [k for k in wanted if not isinstance(k, int) or k <= answers]
        if len(kept) < len(wanted):
            section["k"] = kept
            left_out = ", ".join(f"pass@{k}" for k in wanted if k not in kept)
            translation.notes.note(f"{left_out} need more answers to each question than {answers}", f"{place}.k")


def _add_repeats(
    translated: dict[str, Any], values: Mapping[str, Any], row: PartRow | None, translation: Translation
) -> None:
    """Let a dataset whose questions are asked several times have the scores that the peer gives for repeats.

    Args:
        translated, values: the dataset here and there.
        row: of its evaluator, if that has a counterpart.
        translation: of the config.
    """
    n, scoring = values.get("n", translation.repeats), translated.get("eval_cfg")
    if not isinstance(n, int) or n < 2 or not isinstance(scoring, Mapping) or not scoring.get("evaluator"):
        return
    default = translation.repeats if translation.peer == PEERS[1] else 1
    names = {ours: theirs for theirs, ours in row.metrics.items()} if row else {}
    named = {"metrics": names} if names else {}
    args = {"peer": translation.peer, "k": values.get("k", default), "name": str(translated["abbr"]).partition("_")[0]}
    translated["eval_cfg"] = {**scoring, "repeat_evaluator": {"type": "PeerRepeatEvaluator", **args, **named}}


def peer_names(values: Mapping[str, Any]) -> list[str]:
    """Return the ``type`` of each part of a dataset that is a peer's."""
    named: list[tuple[str, Any]] = [("readers", values)]
    for key, parts in (("infer_cfg", INFER_PARTS), ("eval_cfg", EVAL_PARTS)):
        if isinstance(section := values.get(key), Mapping):
            named += [(kind, section.get(name)) for name, kind in parts.items()]
    return [part["type"] for kind, part in named if is_part(part) and peer_part(kind, part["type"])]


def _abbr(values: Mapping[str, Any], where: str, translation: Translation) -> Any:
    """Return the name of a dataset, as the peers derive it; a slash, which makes a folder there, becomes a line."""
    abbr = values.get("abbr")
    if abbr is None:
        abbr = "_".join(str(values[key]) for key in ("path", "name") if values.get(key))
        return abbr.replace("/", "_")
    if not isinstance(abbr, str) or "/" not in abbr:
        return abbr
    safe = abbr.replace("/", "_")
    translation.notes.note("an abbr with '/' makes a folder there; here it is written with '_'", f"{where}.abbr")
    return safe


def _translate_reader(section: Mapping[str, Any], where: str, translation: Translation) -> dict[str, Any]:
    # The peers look at input columns only where a retriever compares them.
    return {**translation.known(section, READER.names, {}, where), "allow_missing": True}


def _translate_infer(section: Mapping[str, Any], where: str, translation: Translation) -> dict[str, Any]:
    kept = translation.known(section, INFER.names, {"max_out_len": NO_EFFECT}, where)
    parts = {key: translation.part(INFER_PARTS[key], value, f"{where}.{key}") for key, value in kept.items()}
    if is_agent(kept.get("inferencer"), translation):
        parts["inferencer"] = as_agent(parts["inferencer"], f"{where}.inferencer", translation)
    retriever: Any = parts.get("retriever")
    if is_part(retriever) and retriever["type"] != "ZeroRetriever":
        parts["retriever"] = {**retriever, "allow_overlap": True}  # `check` warns where the peers say nothing
    template: Any = parts.get("prompt_template")
    is_dialogue = is_part(template) and template["type"] == "PromptTemplate" and "template" in template
    if is_dialogue and not translation.has_system_rounds:
        outside = _system_outside(template["template"])
        if outside != template["template"]:
            what = "a SYSTEM turn that begins a round is sent as a system message; there it can be lost"
            translation.notes.note(what, f"{where}.prompt_template.template")
            parts["prompt_template"] = {**template, "template": outside}
    return parts


def _system_outside(template: Any) -> Any:
    """Return a template with the SYSTEM turns that begin its round behind its ``begin``, for each label if it has any.

    Most models reserve that role for messages outside of rounds.
    """
    if not isinstance(template, Mapping):
        return template
    turns = template.get("round")
    if not isinstance(turns, list):
        return {label: _system_outside(one) for label, one in template.items()} if turns is None else template
    first = list(takewhile(lambda turn: isinstance(turn, Mapping) and turn.get("role") == "SYSTEM", turns))
    if not first or len(first) == len(turns):
        return template
    begin = template.get("begin") or []
    begin = begin if isinstance(begin, list) else [begin]
    return {**template, "begin": [*begin, *first], "round": turns[len(first) :]}


_INFERENCER: Final = "BFCLV3FunctionCallInferencer"
_COMPARED: Final = "BFCLSingleTurnEvaluator"
_CALLS: Final = {"type": "tool_calls_postprocess"}
_MESSAGES: Final = {"type": "RawPromptTemplate", "messages": [{"expand_column": "messages"}]}
"""The only template that their inferencer knows: it takes the messages of the row, whatever the config says."""


def with_tools(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a dataset of BFCL whose rows have messages and tools, and whose calls are read; any other unchanged."""
    infer, scoring, reader = (values.get(key) for key in ("infer_cfg", "eval_cfg", "reader_cfg"))
    if last_name(inside(infer, "inferencer")) != _INFERENCER:
        return values
    assert isinstance(infer, Mapping)
    is_conversation = str(values.get("category")).startswith("multi_turn")
    inferencer = {**infer["inferencer"], CONVERSATION: True} if is_conversation else infer["inferencer"]
    tools = "turns" if is_conversation else "tools"
    columns = inside(reader, "input_columns")
    changed: dict[str, Any] = {
        "as_tools": True,
        "infer_cfg": {**infer, "inferencer": inferencer, "prompt_template": _MESSAGES},
    }
    if isinstance(reader, Mapping) and isinstance(columns, list):
        changed["reader_cfg"] = {**reader, "input_columns": [*columns, "messages", tools], "output_column": None}
    if isinstance(scoring, Mapping) and last_name(scoring.get("evaluator")) == _COMPARED:
        changed["eval_cfg"] = {"pred_postprocessor": _CALLS, **scoring}
    return {**values, **changed}
