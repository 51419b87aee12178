"""Build the prompts of a dataset: fill the templates, join the in-context examples, and mask the gold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from ais_prompt.errors import PromptError
from ais_prompt.parts import part_class
from ais_prompt.prompts.base import Filled, Template
from ais_prompt.prompts.message_media import MediaRoots
from ais_prompt.prompts.prompt_list import PromptList, chain
from ais_prompt.types import Sample

if TYPE_CHECKING:
    from ais_prompt.prompts.dialogue_template import FilledDialogue

EXAMPLES_KEPT: Final = 2048
"""Maximum number of rendered examples in the cache, to bound memory for a large training split."""


class Examples:
    """Renders the in-context examples of prompts, and caches those that several prompts share.

    Args:
        template: the template of one example; None if there is none.
        separator, eos_token: text between and after examples that are text (or label tables of dialogues).
        drop: tokens to delete from the template's text, in addition to its own.
    """

    def __init__(self, template: Template | None, separator: str, eos_token: str, drop: Sequence[str]) -> None:
        self._template = template
        self._drop = drop
        # Turns need no separator. The end token is an item of the list even if it is empty, as in OpenCompass.
        spaced = template is None or template.form != "dialogue"
        self._separator, self._eos_token = (separator, eos_token) if spaced else ("", "")
        self._end = PromptList([self._eos_token])
        self._known: dict[str, Filled] = {}
        self._last: tuple[list[str], Filled] | None = None

    def joined(self, shots: Sequence[Sample]) -> Filled:
        """Return the examples in order. The same shots as in the last call return the same object.

        Raises:
            PromptError: there are shots but no template.
        """
        ids = [shot.id for shot in shots]
        last = self._last
        if last is None or last[0] != ids:
            last = self._last = ids, self._join([self._example(shot) for shot in shots])
        return last[1]

    def _example(self, shot: Sample) -> Filled:
        if self._template is None:
            raise PromptError(
                "the retriever returns examples, but there is no ice_template to show them",
                fix="add an ice_template, or use ZeroRetriever",
            )
        example = self._known.get(shot.id)
        if example is None:
            if len(self._known) >= EXAMPLES_KEPT:
                self._known.clear()
            example = self._template.render_example(shot.fields, label=shot.gold, drop=self._drop)
            self._known[shot.id] = example
        return example

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
        ice_template: the template of an in-context example; also of the question if ``prompt_template`` is None.
        prompt_template: the template of the question; None to use ``ice_template`` for both.
        output_column: the column that a generation prompt must not show; None if there is no gold.
        ice_separator, ice_eos_token: text between and after examples that are text (or label tables of dialogues).
        mask: the text in place of the gold in a generation prompt.
        shots_expected: False if the retriever never returns examples.
        media_roots: where the media of rows may be; None allows all. Methods that return a prompt or media of a row
            raise a DataError for others.
        turn_golds: False if the gold of a dialogue is that of its row, not what the data say in the turns of the model.

    Attributes:
        examples: returns the in-context examples of a prompt, see `Examples.joined`.

    Raises:
        PromptError: the templates do not fit together.
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
        media_roots: MediaRoots | None = None,
        turn_golds: bool = True,
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
        self.media_roots = media_roots
        self.turn_golds = turn_golds
        sep_token = self.prompt_template.sep_token
        self.examples = Examples(ice_template, ice_separator, ice_eos_token, (sep_token,) if sep_token else ()).joined

    def generation(self, sample: Sample, shots: Sequence[Sample]) -> Filled:
        """Return the prompt for the model to continue: with the gold masked; of a label table, the first entry."""
        filled = self.prompt_template.render(self._without_gold(sample), examples=self.examples(shots))
        return self._checked(filled, sample)

    def dialogue(self, sample: Sample, shots: Sequence[Sample] = ()) -> FilledDialogue:
        """Return the dialogue of a sample, gold answers included, after its examples.

        Raises:
            PromptError: the template cannot make multi-turn dialogues, or not from this sample; or it has no place for
                the examples.
        """
        from ais_prompt.prompts.dialogue_template import DialogueTemplate

        template = self.prompt_template
        if not isinstance(template, DialogueTemplate):
            raise PromptError(
                f"{part_class(template).__name__} cannot make multi-turn dialogues", fix="use MultiTurnPromptTemplate"
            )
        if self.prompt_template.ice_token is not None:
            filled = template.dialogue(sample.fields, self.output_column, examples=self.examples(shots))
        elif shots:
            raise PromptError(
                f"the retriever returns examples, but {part_class(template).__name__} cannot show them",
                fix="use ZeroRetriever, or MultiTurnPromptTemplate with an ice_token",
            )
        else:
            filled = template.dialogue(sample.fields, self.output_column)
        self._checked(filled.whole, sample)
        return filled if self.turn_golds else replace(filled, golds=None)

    @cached_property
    def may_hold_media(self) -> bool:
        """Whether a prompt can contain media: only if a template overrides `Template.media`."""
        templates = filter(None, (self.prompt_template, self.ice_template))
        return any(part_class(template).media is not Template.media for template in templates)

    def media(self, sample: Sample) -> Sequence[Mapping[str, Any]]:
        """Return the image, audio and video parts of a sample's prompt, in OpenAI form, without those of examples."""
        return self._checked_media(self.prompt_template.media(self._without_gold(sample)), sample)

    def example_media(self, shot: Sample) -> Sequence[Mapping[str, Any]]:
        """Return the image, audio and video parts of a sample that is shown as an example."""
        return self._checked_media(self.ice_template.media(shot.fields), shot) if self.ice_template else ()

    def labelled(self, sample: Sample, shots: Sequence[Sample], label: Any = None, *, keep_sep: bool = False) -> Filled:
        """Return the prompt for one label. As in OpenCompass, nothing is masked.

        Args:
            sample: the question.
            shots: its in-context examples.
            label: which entry of a label table; None takes the first.
            keep_sep: keep the ``sep_token`` of the question in the text; that of the examples is always deleted.
        """
        examples = self.examples(shots)
        filled = self.prompt_template.render(sample.fields, examples=examples, label=label, keep_sep=keep_sep)
        return self._checked(filled, sample)

    def labels(self, samples: Iterable[Sample]) -> tuple[Any, ...]:
        """Return the labels to choose from: those of a label table, else the golds in order of first appearance.

        The table of the prompt takes precedence over that of an ``ice_template`` with an ``ice_token``.

        Raises:
            PromptError: there is no table, and the golds are missing or cannot be labels.
        """
        if self.prompt_template.labels:
            return self.prompt_template.labels
        if self.ice_template is not None and self.ice_template.ice_token and self.ice_template.labels:
            return self.ice_template.labels
        try:
            golds = tuple(dict.fromkeys(sample.gold for sample in samples))
        except TypeError:
            raise PromptError(
                f"the values of the column {self.output_column!r} are lists or mappings, which cannot be labels",
                fix="write the prompt_template as a table by label, or name the labels",
            ) from None
        if self.output_column is None or not golds:
            raise PromptError("the labels are not known", fix="write the prompt_template as a table by label")
        return golds

    def _checked(self, filled: Filled, sample: Sample) -> Filled:
        if self.media_roots is not None and not isinstance(filled, str):
            self.media_roots.check_prompt(filled, sample.index)
        return filled

    def _checked_media(self, parts: Sequence[Mapping[str, Any]], sample: Sample) -> Sequence[Mapping[str, Any]]:
        if self.media_roots is not None:
            self.media_roots.check_parts(parts, sample.index)
        return parts

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
            "ice_template is also the prompt template, but has no ice_token: the examples would be lost",
            fix="put ice_token='</E>' into the template, or use ZeroRetriever",
        )
    if prompt is not None and ice is not None and prompt.ice_token is None:
        raise PromptError(
            "there is an ice_template, but prompt_template has no ice_token: the examples would be lost",
            fix="put '</E>' into prompt_template and give it ice_token='</E>', or remove ice_template",
        )
