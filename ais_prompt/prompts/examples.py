"""The in-context examples of a prompt: rendered one by one, then joined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ais_prompt.errors import PromptError
from ais_prompt.prompts.base import Filled, Template
from ais_prompt.prompts.prompt_list import PromptList, chain
from ais_prompt.types import Sample

REMEMBERED: Final = 2048
"""How many examples are kept at most, so that a large training split does not fill the memory."""


class Examples:
    """Renders the shots of prompts; a shot that many prompts have in common is rendered only once.

    Args:
        template: how one example looks; None if there are none.
        separator, eos_token: between and after examples that are text (or label tables of dialogues).
        drop: tokens to delete from the template's text, next to its own.
    """

    def __init__(self, template: Template | None, separator: str, eos_token: str, drop: Sequence[str]) -> None:
        self._template = template
        self._drop = drop
        # Turns need nothing between them. The end token takes a place even when it is empty, as it does in the peers.
        spaced = template is None or template.form != "dialogue"
        self._separator, self._eos_token = (separator, eos_token) if spaced else ("", "")
        self._end = PromptList([self._eos_token])
        self._known: dict[str, Filled] = {}
        self._last: tuple[list[str], Filled] | None = None

    def joined(self, shots: Sequence[Sample]) -> Filled:
        """The examples in order; the very same object as before if the shots are the same as before.

        Raises:
            PromptError: there are shots but no template.
        """
        ids = [shot.id for shot in shots]
        last = self._last
        if last is None or last[0] != ids:
            last = self._last = ids, self._join([self._example(shot) for shot in shots])
        return last[1]

    def _example(self, shot: Sample) -> Filled:
        example = self._known.get(shot.id)
        if example is None:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            example = self._known[shot.id] = self._render(shot)
        return example

    def _render(self, shot: Sample) -> Filled:
        if self._template is None:
            raise PromptError(
                "the retriever gives examples, but there is no ice_template to show them with",
                fix="add an ice_template, or use ZeroRetriever",
            )
        return self._template.render_example(shot.fields, label=shot.gold, drop=self._drop)

    def _join(self, examples: Sequence[Filled]) -> Filled:
        if self._template is not None and self._template.form == "messages":
            return chain(examples)
        texts = [example for example in examples if isinstance(example, str)]
        if len(texts) == len(examples):
            return self._separator.join(texts) + self._eos_token
        if self._separator:
            examples = [piece for example in examples for piece in (example, self._separator)]
        return chain([*examples, self._end])
