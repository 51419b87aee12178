"""``prompts`` of a dataset: what each of them changes in ``infer_cfg``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ais_prompt.config.keys import PromptKeys
from ais_prompt.config.section import Faults, parse_struct
from ais_prompt.errors import ConfigError
from ais_prompt.utils import digest

_PARTS: Final = ("prompt_template", "ice_template", "retriever", "inferencer")
_DIALOGUE: Final = {"begin", "round", "end"}
_LONGEST: Final = 24
"""Characters of a text that names itself."""


def with_prompt(infer: Mapping[str, Any], prompt: Any, where: str) -> dict[str, Any]:
    """Return an ``infer_cfg`` with another prompt; the given one stays as it is.

    Args:
        infer: of the dataset.
        prompt: a text in place of the question, a dialogue, a dict with the keys of `PromptKeys`, or None for the
            prompt that ``infer_cfg`` has.
        where: its config path.

    Raises:
        ConfigError: the prompt does not fit the template; `ConfigFaults` if its keys are wrong.
    """
    changed = dict(infer)
    if prompt is None:
        return changed
    if isinstance(prompt, str):
        prompt = {"text": prompt}
    if isinstance(prompt, Mapping) and "round" in prompt and prompt.keys() <= _DIALOGUE:
        prompt = {"template": prompt}
    if not isinstance(prompt, Mapping):
        raise ConfigError(f"a prompt cannot be {prompt!r:.60}", where=where, fix="give a text, a dialogue or a dict")
    faults = Faults(str)
    parse_struct(PromptKeys, prompt, where, faults)
    faults.raise_any()
    changed |= {key: prompt[key] for key in _PARTS if key in prompt}
    if (template := prompt.get("template")) is not None:
        changed["prompt_template"] = {**_template(changed, where), "template": template}
    if (text := prompt.get("text")) is not None:
        changed |= _asked(changed, text, where)
    if (system := prompt.get("system")) is not None:
        changed["prompt_template"] = _with_system(_template(changed, where), system, where)
    if (shots := prompt.get("few_shot")) is not None:
        changed["retriever"] = _with_shots(changed.get("retriever"), shots, where)
    return changed


def name_of_prompt(text: str) -> str:
    """Return a name for a prompt that has none: its first words, with a digest where they do not say all of it."""
    words = "-".join(re.findall(r"\w+", text))
    if len(words) <= _LONGEST and re.fullmatch(r"[\w\s{}]*", text):
        return words
    return f"{words[:_LONGEST].strip('-')}-{digest(text, 4)}"


def _template(infer: Mapping[str, Any], where: str) -> dict[str, Any]:
    part = infer.get("prompt_template") or infer.get("ice_template") or {"type": "PromptTemplate"}
    if not isinstance(part, Mapping):
        raise ConfigError("the prompt_template of the dataset is no dict", where=where, fix="give a prompt_template")
    return dict(part)


def _asked(infer: Mapping[str, Any], text: str, where: str) -> dict[str, Any]:
    """Return the templates with another question: in examples too, if they ask as the prompt does."""
    part = _template(infer, where)
    before = _question_of(part)
    changed = {"prompt_template": _with_question(part, text, where)}
    examples = infer.get("ice_template")
    if "prompt_template" in infer and isinstance(examples, Mapping) and before and _question_of(examples) == before:
        changed["ice_template"] = _with_question(dict(examples), text, where)
    return changed


def _turns(part: Mapping[str, Any]) -> tuple[str, Sequence[Any], str, str]:
    """Return where the turns of a template are: (key, turns, role of the user, key of its text); none of others."""
    template = part.get("template")
    if isinstance(part.get("messages"), Sequence):
        return "messages", part["messages"], "user", "content"
    if isinstance(template, Mapping) and isinstance(template.get("round"), Sequence):
        return "round", template["round"], "HUMAN", "prompt"
    return "", (), "", ""


def _last_question(turns: Sequence[Any], role: str) -> int | None:
    found = [number for number, turn in enumerate(turns) if isinstance(turn, Mapping) and turn.get("role") == role]
    return found[-1] if found else None


def _question_of(part: Mapping[str, Any]) -> Any:
    """Return the text of the last turn of the user; None without one."""
    _, turns, role, key = _turns(part)
    last = _last_question(turns, role)
    return None if last is None else turns[last].get(key)


def _with_question(part: dict[str, Any], text: str, where: str) -> dict[str, Any]:
    place, turns, role, key = _turns(part)
    if (last := _last_question(turns, role)) is not None:
        changed = [{**turn, key: text} if number == last else turn for number, turn in enumerate(turns)]
        return _with_turns(part, place, changed)
    if isinstance(part.get("template"), str | None) and "messages" not in part:
        return {**part, "template": text}
    what = "the template of the dataset has no turn of the user that the text could replace"
    raise ConfigError(what, where=where, fix="write dict(template=...) in place of the text")


def _with_turns(part: dict[str, Any], place: str, turns: Sequence[Any]) -> dict[str, Any]:
    if place == "messages":
        return {**part, "messages": turns}
    return {**part, "template": {**part["template"], "round": turns}}


def _with_system(part: dict[str, Any], text: str, where: str) -> dict[str, Any]:
    """Return a template that begins with this system text, in place of its own."""
    place, turns, _, key = _turns(part)
    if place == "messages":
        others = [turn for turn in turns if not (isinstance(turn, Mapping) and turn.get("role") == "system")]
        return _with_turns(part, place, [{"role": "system", key: text}, *others])
    template = part.get("template")
    if isinstance(template, str):
        template = {"round": [{"role": "HUMAN", "prompt": template}]}
    if not isinstance(template, Mapping) or "round" not in template:
        raise ConfigError("a system text needs a dialogue", where=where, fix="write dict(template=dict(round=[...]))")
    begin = template.get("begin") or []
    kept = [one for one in ([begin] if isinstance(begin, str) else begin) if _role(one) != "SYSTEM"]
    system = {"role": "SYSTEM", "fallback_role": "HUMAN", "prompt": text}
    round_ = [turn for turn in template["round"] if _role(turn) != "SYSTEM"]
    return {**part, "template": {**template, "begin": [system, *kept], "round": round_}}


def _role(turn: Any) -> Any:
    return turn.get("role") if isinstance(turn, Mapping) else None


def _with_shots(retriever: Any, shots: int, where: str) -> dict[str, Any]:
    if shots == 0:
        return {"type": "ZeroRetriever"}
    part = dict(retriever) if isinstance(retriever, Mapping) else {}
    if "fix_id_list" in part:
        return {**part, "fix_id_list": list(range(shots))}
    if not part or str(part.get("type")).endswith("ZeroRetriever"):
        what = "few_shot needs examples, and infer_cfg has no retriever that finds any"
        raise ConfigError(what, where=where, fix="give a retriever and an ice_template in infer_cfg")
    return {**part, "ice_num": shots}
