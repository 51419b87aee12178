"""How a task was asked and scored, as far as its run or the log of another tool tells it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ais_prompt.comparison.scored_task import ScoredTask
from ais_prompt.models import as_flat
from ais_prompt.types import ELSEWHERE, ChatMessage, Prediction

LENGTHS: Final = ("max_out_len", "max_tokens", "max_new_tokens", "max_completion_tokens", "max_gen_toks", "max_length")
"""Arguments that limit how long an answer may be."""
_SAME: Final = {
    **dict.fromkeys(LENGTHS, "max_tokens"),
    **dict.fromkeys(("until", "stop_sequences", "stop_seqs", "stop_words"), "stop"),
    **dict.fromkeys(("num_completions", "num_choices"), "n"),
}
"""Name of a field of a request in some tool → its name here."""
_OURS: Final = ("generation_kwargs", "max_out_len", "stop_words", "seed", "temperature", "top_p", "top_k")


def decoding(task: ScoredTask) -> dict[str, Any]:
    """Return the known fields that control generation, by the same name for all tools."""
    args = task.spec.dataset.source.args
    if task.is_log:
        known: Mapping[str, Any] = args.get("decoding") or {}
    else:
        flat = as_flat(task.spec.model.part.args)
        known = {name: flat[name] for name in _OURS if flat.get(name) is not None}
        known = {**known, **(known.get("generation_kwargs") or {})}
    found = {_SAME.get(name, name): value for name, value in known.items() if name != "generation_kwargs"}
    if found.get("do_sample") is False:
        found.setdefault("temperature", 0.0)
    found.pop("do_sample", None)
    return found


def has_bodies(task: ScoredTask) -> bool:
    """Return whether the whole body of the requests is known, so that a missing field was not sent."""
    return bool(task.spec.dataset.source.args.get("bodies")) if task.is_log else False


def differing_requests(before: ScoredTask, after: ScoredTask) -> dict[str, tuple[Any, Any]]:
    """Return the fields of the requests that are known to differ.

    A field that only one side has differs if the bodies of both are known; else the other side may have sent it too.
    """
    first, second = decoding(before), decoding(after)
    known = has_bodies(before) and has_bodies(after)
    names = [name for name in dict.fromkeys((*first, *second)) if known or (name in first and name in second)]
    return {name: (first.get(name), second.get(name)) for name in names if first.get(name) != second.get(name)}


def differing_decoding(before: ScoredTask, after: ScoredTask) -> dict[str, tuple[Any, Any]]:
    """Return `differing_requests` but for the limit on the length, which changes cut answers only."""
    found = differing_requests(before, after)
    return {name: values for name, values in found.items() if name != "max_tokens"}


def model_name(task: ScoredTask) -> str:
    """Return the name of a model without the provider or folder in front, in lower case."""
    args = task.spec.model.part.args
    name = task.facts.model.get("model") or args.get("model") or args.get("path") or task.model
    return str(name).rstrip("/").rpartition("/")[2].casefold()


def has_rule(task: ScoredTask) -> bool:
    """Return whether the task can be scored again by the rule that its scores were made with."""
    evaluator = task.spec.dataset.eval.evaluator
    return evaluator is not None and not evaluator.type.startswith(ELSEWHERE)


def same_prompt(one: Prediction, other: Prediction) -> bool:
    """Return whether two prompts have the same texts; an unknown one is not known to differ."""
    first, second = one.origin_prompt, other.origin_prompt
    return first == second or not first or not second or list(_texts(first)) == list(_texts(second))


def _texts(prompt: Any) -> Iterator[tuple[str, str]]:
    """Yield role and text of each message; a text alone is what the user says, without white space at its ends."""
    if isinstance(prompt, str):
        yield "user", prompt.strip()
        return
    for one in prompt:
        if isinstance(one, ChatMessage):
            yield one.role, one.content.strip() if isinstance(one.content, str) else str(one.content)
        else:
            yield from _texts(one)
