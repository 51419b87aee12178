"""Separate the thoughts of a model from its answer.

Models write their thoughts in front of the answer, each family in a form of its own (`THOUGHT_FORMS`). A server with
the parser of its model separates them; without it they come in the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.errors import ConfigError
from ais_prompt.types import Completion, Prompt
from ais_prompt.utils import late

ThinkTags: TypeAlias = "Sequence[str] | None"
"""The tags that open and close the thoughts; None for a model that does not think in its answers."""

THINK_TAGS: Final = ("<think>", "</think>")
"""The tags of DeepSeek-R1, Qwen3 and most others. As the default of a model they stand for all of `THOUGHT_FORMS`."""


class ThoughtForm(Struct, frozen=True):
    """A form in which models write thoughts. All patterns are regular expressions.

    Attributes:
        models: the models that write it, with the source.
        opening: what opens the thoughts.
        closing: what ends them; the answer follows.
        ending: what may end the answer, and is not part of it.
        is_prose: whether both are ordinary words, so that one of them without the other means nothing.
        sign: what every opening and every closing contains; a text without it need not be searched.
    """

    models: str
    opening: re.Pattern[str]
    closing: re.Pattern[str]
    ending: re.Pattern[str] | None = None
    is_prose: bool = False
    sign: str = ""


def _tags(models: str, opening: str, closing: str) -> ThoughtForm:
    flags = re.IGNORECASE
    return ThoughtForm(models, late(re.escape(opening), flags), late(re.escape(closing), flags), sign=opening[0])


_VLLM: Final = "vLLM's documentation, Reasoning Outputs"
_CHANNEL: Final = r"(?:<\|start\|>)?(?:assistant)?<\|channel\|>"
THOUGHT_FORMS: Final = (
    _tags(f"DeepSeek-R1, Qwen3, GLM-4.5 and most others; {_VLLM}", *THINK_TAGS),
    _tags("prompts after Anthropic's guide, and models tuned on their answers", "<thinking>", "</thinking>"),
    _tags("models tuned with GRPO after the notebooks of TRL and Unsloth", "<reasoning>", "</reasoning>"),
    _tags("EXAONE Deep; its model card", "<thought>", "</thought>"),
    _tags(f"Magistral; {_VLLM}", "[THINK]", "[/THINK]"),
    _tags("Kimi-VL-Thinking; its model card", "◁think▷", "◁/think▷"),
    _tags(f"Seed-OSS; {_VLLM}", "<seed:think>", "</seed:think>"),
    _tags("LongCat-Flash-Thinking; its model card", "<longcat_think>", "</longcat_think>"),
    _tags("MedGemma; its model card", "<unused94>thought", "<unused95>"),
    _tags(f"Gemma 4; {_VLLM}", "<|channel>thought", "<channel|>"),
    ThoughtForm(
        f"Command R7B and A Reasoning; {_VLLM}",
        late(r"<\|START_THINKING\|>"),
        late(r"<\|END_THINKING\|>\s*(?:<\|START_RESPONSE\|>)?"),
        late(r"<\|END_RESPONSE\|>"),
        sign="<",
    ),
    ThoughtForm(
        "OpenThinker and Sky-T1; their model cards",
        late(r"<\|begin_of_thought\|>"),
        late(r"<\|end_of_thought\|>\s*(?:<\|begin_of_solution\|>)?"),
        late(r"<\|end_of_solution\|>"),
        sign="<",
    ),
    # All channels before the final one are thoughts, or calls of tools and words about them.
    ThoughtForm(
        "gpt-oss; OpenAI's description of the harmony response format",
        late(rf"{_CHANNEL}(?:analysis|commentary)\b.*?<\|message\|>", re.DOTALL),
        late(rf"(?:<\|end\|>)?{_CHANNEL}final\b[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>"),
        late(r"(?:<\|return\|>|<\|end\|>)\s*\Z"),
        sign="<",
    ),
    # The same where the server leaves out special tokens: "analysisThe user asks …assistantfinalB".
    ThoughtForm(
        "gpt-oss, without its special tokens",
        late(r"analysis(?=[A-Z\u4e00-\u9fff])"),
        late(r"assistantfinal"),
    ),
    ThoughtForm(
        f"Granite 3.2; {_VLLM}",
        late(r"Here(?: is|'s) my thought process:"),
        late(r"Here(?: is|'s) my response:"),
        is_prose=True,
    ),
)

_ANY_OPENING: Final = late(
    r"\s*([<\[◁【][^\s<>\[\]▷】]{0,20}(?:think|thought|reason|reflect|scratchpad|思考)[^\s<>\[\]▷】]{0,20}[>\]▷】])",
    re.IGNORECASE,
)


def check_think_tags(tags: ThinkTags) -> tuple[str, str] | None:
    """Return the two tags.

    Raises:
        ConfigError: the tags are not two different texts.
    """
    if tags is None:
        return None
    if isinstance(tags, str) or len(tags) != 2 or tags[0] == tags[1] or not all(tags):
        raise ConfigError(
            f"think_tags must be two different texts, not {tags!r}",
            fix="think_tags=('<think>', '</think>'), or None if the model does not think",
        )
    return tags[0], tags[1]


def split_reasoning(completion: Completion, prompt: Prompt, tags: tuple[str, str] | None) -> Completion:
    """Move the thoughts of an answer from ``text`` to ``reasoning``.

    Thoughts begin at the beginning of an answer, or at the end of the prompt, where many chat templates open them.
    An answer that closes thoughts that it never opened began in them too: a server does not show how its prompt ended.

    Args:
        completion: of the model; one with ``reasoning`` comes from a server that has separated it already.
        prompt: the prompt of the answer.
        tags: the tags that open and close the thoughts. `THINK_TAGS` stand for all forms that are known; None leaves
            the text unchanged.
    """
    if completion.reasoning:
        # The server separates reasoning and answer, but does not say whether the reasoning ended.
        return replace(completion, unclosed=not completion.text and completion.finish_reason == "length")
    found = _find(completion.text, prompt, tags)
    if found is None:
        return completion
    if found.is_open:
        return replace(completion, text="", reasoning=found.thoughts, unclosed=True)
    answer = completion.text[found.answer_start :]
    if found.form.ending is not None:
        answer = found.form.ending.sub("", answer)
    return replace(completion, text=answer.lstrip(), reasoning=found.thoughts)


def answer_start(text: str, prompt: Prompt, tags: tuple[str, str] | None) -> int:
    """Return the position in a text where the answer begins: after thoughts, 0 without any; arguments as above.

    Stop texts end an answer, not the thoughts before it. The position is the length of the text inside of thoughts.
    """
    found = _find(text, prompt, tags)
    return 0 if found is None else found.answer_start


def has_thoughts(text: str) -> bool:
    """Return whether a text has thoughts before its answer, in any form, known or not."""
    return _find(text, "", THINK_TAGS) is not None or bool(unknown_opening(text))


def unknown_opening(text: str) -> str:
    """Return the tag that opens thoughts at the beginning of a text, such as ``<my_thoughts>``; empty without one."""
    found = _ANY_OPENING.match(text)
    return found[1] if found else ""


class _Found(Struct, frozen=True):
    """Thoughts in a text.

    Attributes:
        thoughts: without what opens and ends them.
        answer_start: where the answer begins.
        is_open: whether the text ends before they do.
    """

    form: ThoughtForm
    thoughts: str
    answer_start: int
    is_open: bool


def _find(text: str, prompt: Prompt, tags: tuple[str, str] | None) -> _Found | None:
    if tags is None or not text:
        return None
    tail = prompt.rstrip()[-100:] if isinstance(prompt, str) else ""
    known: Sequence[ThoughtForm] = THOUGHT_FORMS
    if tags != THINK_TAGS:
        opening, closing = (re.compile(re.escape(tag)) for tag in tags)
        known = [ThoughtForm("", opening, closing)]
    forms = [form for form in known if form.sign in text or form.sign in tail]
    begin = len(text) - len(text.lstrip())
    for form in forms:  # opened by the answer
        opened = form.opening.match(text, begin)
        if opened and (not form.is_prose or form.closing.search(text, opened.end())):
            return _up_to_answer(text, opened.end(), form)
    for form in forms:  # opened by the prompt
        if any(opened.end() == len(tail) for opened in form.opening.finditer(tail)):
            return _up_to_answer(text, 0, form)
    for form in forms:  # opened by the chat template of a server
        closed = None if form.is_prose else form.closing.search(text)
        if closed and not form.opening.search(text, 0, closed.start()):
            return _up_to_answer(text, 0, form)
    return None


def _up_to_answer(text: str, begin: int, form: ThoughtForm) -> _Found:
    """Return the thoughts that begin at a position, with all thoughts that follow them directly."""
    start = begin
    while closed := form.closing.search(text, start):
        rest = text[closed.end() :]
        again = form.opening.match(text, closed.end() + len(rest) - len(rest.lstrip()))
        if again is None:
            return _Found(form, text[begin : closed.start()].strip(), closed.end(), is_open=False)
        start = again.end()
    return _Found(form, text[begin:].strip(), len(text), is_open=True)
