"""From a row and its shots to a filled prompt: joins the ice template, the prompt template and the masking."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from ais_prompt.errors import PromptError
from ais_prompt.prompts.base import Filled, Template
from ais_prompt.prompts.filled_dialogue import DialogueTemplate, FilledDialogue
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


class PromptBuilder:
    """Builds the prompts of one dataset.

    Args:
        ice_template: how an in-context example looks; also the prompt when ``prompt_template`` is None.
        prompt_template: how the question looks; None if ``ice_template`` serves for both.
        output_column: the column that a generation prompt must not show; None if there is no gold.
        ice_separator, ice_eos_token: between and after examples that are text (or label tables of dialogues).
        mask: what stands in a generation prompt in place of the gold.
        shots_expected: False if the retriever gives no examples by design.

    Raises:
        PromptError: the templates cannot work together.
    """

    def __init__(
        self,
        ice_template: Template | None,
        prompt_template: Template | None,
        *,
        output_column: str | None,
        ice_separator: str = "\n",
        ice_eos_token: str = "\n",
        mask: str = "",
        shots_expected: bool = True,
    ) -> None:
        _check_pair(ice_template, prompt_template, shots_expected)
        if shots_expected:
            for template in (ice_template, prompt_template):
                if template is not None:
                    template.check_ice_token()
        self.ice_template = ice_template
        self.prompt_template: Template = prompt_template or ice_template  # type: ignore[assignment]
        self.output_column = output_column
        self.mask = mask
        sep_token = self.prompt_template.sep_token
        self._examples = Examples(ice_template, ice_separator, ice_eos_token, (sep_token,) if sep_token else ())

    def generation(self, sample: Sample, shots: Sequence[Sample]) -> Filled:
        """The prompt to be continued by the model: the gold is hidden, a label table gives its first entry."""
        return self.prompt_template.render(self._without_gold(sample), examples=self.examples(shots))

    def dialogue(self, sample: Sample, shots: Sequence[Sample] = ()) -> FilledDialogue:
        """The dialogue of a sample, gold answers included, behind its examples.

        Raises:
            PromptError: the template makes no dialogues of many turns, or none of this sample; or there are examples,
                which it has no place for.
        """
        template = self.prompt_template
        if not isinstance(template, DialogueTemplate):
            raise PromptError(
                f"{type(template).__name__} makes no dialogues of many turns", fix="use MultiTurnPromptTemplate"
            )
        if self.prompt_template.ice_token is not None:
            return template.dialogue(sample.fields, self.output_column, examples=self.examples(shots))
        if shots:
            raise PromptError(
                f"the retriever gives examples, which {type(inspect.unwrap(template)).__name__} has no place for",  # type: ignore[arg-type]
                fix="use ZeroRetriever, or MultiTurnPromptTemplate with an ice_token",
            )
        return template.dialogue(sample.fields, self.output_column)

    @property
    def may_hold_media(self) -> bool:
        """Whether a prompt can have parts that are no text: only where the template has a `media` of its own."""
        templates = filter(None, (self.prompt_template, self.ice_template))
        return any(type(inspect.unwrap(template)).media is not Template.media for template in templates)  # type: ignore[arg-type]

    def media(self, sample: Sample) -> Sequence[Mapping[str, Any]]:
        """The image, audio and video parts of a sample's prompt, in OpenAI form, without those of its examples."""
        return self.prompt_template.media(self._without_gold(sample))

    def example_media(self, shot: Sample) -> Sequence[Mapping[str, Any]]:
        """The image, audio and video parts of a sample that is shown as an example."""
        return self.ice_template.media(shot.fields) if self.ice_template else ()

    def labelled(self, sample: Sample, shots: Sequence[Sample], label: Any = None, *, keep_sep: bool = False) -> Filled:
        """The prompt that states one label; as in the peers nothing is masked here.

        Args:
            sample: the question.
            shots: its in-context examples.
            label: which entry of a label table; None takes the first.
            keep_sep: leave the ``sep_token`` of the question in the text; that of the examples is always deleted.
        """
        examples = self.examples(shots)
        return self.prompt_template.render(sample.fields, examples=examples, label=label, keep_sep=keep_sep)

    def labels(self, samples: Iterable[Sample]) -> tuple[Any, ...]:
        """The labels to choose from: those of a label table, else the golds in order of first appearance.

        The table of the prompt counts first, then one that is an ``ice_template`` with an ``ice_token``.

        Raises:
            PromptError: there is no table, and the golds are none or cannot be labels.
        """
        if self.prompt_template.labels:
            return self.prompt_template.labels
        if self.ice_template is not None and self.ice_template.ice_token and self.ice_template.labels:
            return self.ice_template.labels
        try:
            golds = tuple(dict.fromkeys(sample.gold for sample in samples))
        except TypeError:
            raise PromptError(
                f"the values of the column {self.output_column!r} are lists or mappings, which are no labels",
                fix="write the prompt_template as a table by label, or name the labels",
            ) from None
        if self.output_column is None or not golds:
            raise PromptError(
                "nothing says which labels there are", fix="write the prompt_template as a table by label"
            )
        return golds

    def examples(self, shots: Sequence[Sample]) -> Filled:
        """The in-context examples, joined.

        Raises:
            PromptError: there are shots but no ``ice_template``.
        """
        return self._examples.joined(shots)

    def _without_gold(self, sample: Sample) -> Mapping[str, Any]:
        if self.output_column is None:
            return sample.fields
        return self.prompt_template.hide_gold(sample.fields, self.output_column, self.mask)


def _check_pair(ice: Template | None, prompt: Template | None, shots_expected: bool) -> None:
    if prompt is None and ice is None:
        raise PromptError(
            "there is neither a prompt_template nor an ice_template",
            fix="add prompt_template=dict(type='PromptTemplate', template=...)",
        )
    if prompt is None and ice is not None and ice.ice_token is None and shots_expected:
        raise PromptError(
            "ice_template serves as the prompt too, but has no ice_token: the examples would be lost",
            fix="put ice_token='</E>' into the template, or use ZeroRetriever",
        )
    if prompt is not None and ice is not None and prompt.ice_token is None:
        raise PromptError(
            "there is an ice_template, but prompt_template has no ice_token: the examples would be lost",
            fix="put '</E>' into prompt_template and give it ice_token='</E>', or remove ice_template",
        )
