"""Find what a config writes but the model is not sent: texts, turns, frames, tokens, keys without meaning."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from ais_prompt.checks.warning import PromptProbe, PromptWarning, quoted, sent_texts
from ais_prompt.config.schema import TURN
from ais_prompt.prompts.meta_template import MetaTemplate
from ais_prompt.prompts.prompt_list import Item, PromptList, text_of

ENDS: Final = "the prompt ends where the model starts to write, so"


def lost_texts(probe: PromptProbe) -> list[PromptWarning]:
    """Return the warnings about texts of a dialogue, and of the model's frame, that are not sent."""
    filled = probe.seen.filled
    found = [*_lost_end(probe), *_lost_stop_tokens(probe), *_hidden_answers(probe)]
    if isinstance(filled, PromptList):
        found += [warning for look in _LOST_TEXT_CHECKS for warning in look(probe, filled)]
    return found


def _lost_items(probe: PromptProbe, filled: PromptList) -> Iterator[PromptWarning]:
    sent = "\n".join(sent_texts(probe.seen.prompt))
    lost = [item for item in filled if text_of(item).strip() not in sent and not _is_answer(item, probe)]
    texts = [item for item in lost if isinstance(item, str)]
    turns = [text_of(item) for item in lost if not isinstance(item, str)]
    if texts and probe.gives_messages:
        yield PromptWarning(
            f"messages have no place for a text that no role says, so it is not sent: {_first(texts)}",
            probe.template,
            "write it as a turn, dict(role='SYSTEM', fallback_role='HUMAN', prompt='...'); examples as a dialogue",
        )
    elif texts:
        what = f"{ENDS} a text behind that is not sent: {_first(texts)}"
        yield PromptWarning(what, probe.template, "put it into begin or round")
    # A role template may be code of the user's own, which changes what is said.
    if turns and probe.task.model.prompt_template is None:
        what = f"{ENDS} a turn behind that is not sent: {_first(turns)}"
        yield PromptWarning(what, probe.template, "put it into begin or round")


def _is_answer(item: Item, probe: PromptProbe) -> bool:
    """Return whether this turn is the answer that the model generates."""
    if isinstance(item, str) or not probe.continued:
        return False
    slot = _slot_of(item, probe.framing)
    return bool(item.get("generate", slot.generate if slot else item.get("role") == "BOT"))


def _slot_of(turn: Mapping[str, Any], meta: MetaTemplate | None) -> Any:
    return meta and (meta.slot(str(turn.get("role"))) or meta.slot(str(turn.get("fallback_role"))))


def _text_in_round(probe: PromptProbe, filled: PromptList) -> Iterator[PromptWarning]:
    if probe.meta is None or not probe.meta.round:
        return
    rounds = [part.body for part in filled.parts() if part.name == "round"]
    for text in [item for items in rounds for item in items if isinstance(item, str) and item.strip()]:
        yield PromptWarning(
            f"a text in 'round' has no role, so it is written in front of the whole round: {quoted(text)}",
            probe.template,
            "put it into begin, or into the prompt of a turn",
        )


def _no_role_generates(probe: PromptProbe, filled: PromptList) -> Iterator[PromptWarning]:
    meta = probe.framing
    has_rounds = any(part.name == "round" for part in filled.parts())
    if meta is None or not meta.round or meta.generates or not has_rounds or not probe.continued:
        return
    if not any(not isinstance(item, str) and item.get("generate") for item in filled):
        yield PromptWarning(
            "no role of the meta template has generate=True, so the prompt is sent whole: the last BOT turn, what "
            "follows it, and the meta template's end",
            f"{probe.task.model.where}.meta_template",
            "give the role that the model speaks generate=True",
        )


def _frame_without_meta(probe: PromptProbe, filled: PromptList) -> Iterator[PromptWarning]:
    if probe.framing is not None or probe.gives_messages:
        return
    frames = [item[key] for item in filled if not isinstance(item, str) for key in ("begin", "end") if item.get(key)]
    if frames:
        yield PromptWarning(
            f"without a meta template, begin and end of a turn are not sent: {_first(frames)}",
            probe.template,
            "give the model a meta_template, dict(begin='') will do, or write the text into the turn's prompt",
        )


def _keys_without_meaning(probe: PromptProbe, filled: PromptList) -> Iterator[PromptWarning]:
    turns = [item for item in filled if not isinstance(item, str) and "content" not in item]
    for key, fix in {key: fix for turn in turns for key, fix in TURN.unknown(turn)}.items():
        yield PromptWarning(f"the key {key!r} of a turn has no meaning here", probe.template, fix)


def _lost_end(probe: PromptProbe) -> Iterator[PromptWarning]:
    if probe.gives_messages and probe.framing is not None and probe.framing.end:
        yield PromptWarning(
            f"the end of a chat model's meta template is not sent: {quoted(str(probe.framing.end))}",
            f"{probe.task.model.where}.meta_template.end",
            "write it as a turn of the dataset's template, or as begin",
        )


def _lost_stop_tokens(probe: PromptProbe) -> Iterator[PromptWarning]:
    if probe.framing is not None and probe.framing.end_tokens and probe.continued and not probe.knows_stop_tokens:
        yield PromptWarning(
            "the server knows no ids of tokens, so eos_token_id is not sent",
            f"{probe.task.model.where}.meta_template.eos_token_id",
            "use stop_words of the model",
        )


def _hidden_answers(probe: PromptProbe) -> Iterator[PromptWarning]:
    if probe.hides_answers:
        yield PromptWarning(
            "the role template leaves out what the assistant says, so no answer is sent: neither those of examples "
            "and earlier turns, nor the text in which the model starts to write",
            f"{probe.task.model.where}.prompt_template",
            "keep the content of the assistant's messages, and write text before and behind it",
        )


def _first(texts: list[Any]) -> str:
    more = f", and {len(texts) - 1} more" if len(texts) > 1 else ""
    return quoted(str(texts[0])) + more


_LOST_TEXT_CHECKS: Final[tuple[Callable[[PromptProbe, PromptList], Iterator[PromptWarning]], ...]] = (
    _lost_items,
    _text_in_round,
    _no_role_generates,
    _frame_without_meta,
    _keys_without_meaning,
)
