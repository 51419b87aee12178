"""What an inferencer is: the conversation that is held about each sample, written as a generator.

A conversation yields requests, is sent their completions, and returns the prediction::

    def converse(self, sample, shots, context):
        [completion] = yield [Request(...)]
        return Prediction(...)

It knows nothing of concurrency, batches, retries or resume: `ais_prompt.inferencers.drive` holds many conversations at
once, and answers from the journal what was answered before. One request, labels, repeats and dialogues of many turns
are all conversations.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from functools import cached_property
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.chat import ChatFormat
from ais_prompt.models.base import Model
from ais_prompt.prompts import Filled, PromptBuilder, Template
from ais_prompt.types import Completion, Decoding, Prediction, Prompt, ReaderSpec, Request, Sample

Conversation: TypeAlias = Generator[Sequence[Request], Sequence[Completion], Prediction]


class InferenceContext(Struct, frozen=True, dict=True):
    """What an inferencer works with: the dataset's prompts and questions, and the model's format and settings.

    Attributes:
        builder: the dataset's side of the prompt.
        chat: the model's side of the prompt.
        model: who is asked.
        samples: all questions.
        end_tokens: further tokens that end an answer, from the model's meta template.
    """

    builder: PromptBuilder
    chat: ChatFormat
    model: Model
    samples: Sequence[Sample]
    end_tokens: tuple[int, ...] = ()

    def decoding(
        self,
        max_out_len: int | None,
        stop: Sequence[str],
        stop_tokens: Sequence[int] = (),
        seed: int | None = None,
    ) -> Decoding:
        """How the model will generate, with what the dataset asks for put in; None leaves it to the model."""
        asked = (max_out_len, tuple(stop), tuple(stop_tokens), seed)
        if asked not in self._decodings:
            self._decodings[asked] = self._decoding(*asked)
        return self._decodings[asked]

    @cached_property
    def _decodings(self) -> dict[tuple[Any, ...], Decoding]:
        """Those that were asked for: nearly always one, for all samples."""
        return {}

    def _decoding(
        self, max_out_len: int | None, stop: tuple[str, ...], stop_tokens: tuple[int, ...], seed: int | None
    ) -> Decoding:
        decoding = self.model.decoding(max_out_len, stop)
        ends = (*decoding.stop_tokens, *stop_tokens, *self.end_tokens)
        return replace(decoding, stop_tokens=tuple(dict.fromkeys(ends)), seed=decoding.seed if seed is None else seed)

    @cached_property
    def labels(self) -> tuple[Any, ...]:
        """The labels to choose from, where the inferencer does not name them.

        Raises:
            PromptError: as `PromptBuilder.labels`.
        """
        return self.builder.labels(self.samples)


GoldUse: TypeAlias = Literal["none", "earlier turns", "every label"]
"""What of the gold a prompt shows on purpose: nothing, the gold answers of earlier turns, or one of all the labels."""


class Preview(Struct, frozen=True):
    """One prompt of a sample, for people to look at.

    Attributes:
        title: which prompt of the sample it is; empty if there is only one.
        filled: the template filled with data, before the model's format.
        prompt: exactly what is sent.
        gold: what of the gold it shows on purpose.
    """

    title: str
    filled: Filled
    prompt: Prompt
    gold: GoldUse = "none"


class Inferencer(Protocol):
    """How a model is asked about samples.

    Attributes:
        mask: what stands in a prompt in place of the gold; None if its prompts show answers, such as all labels.
    """

    @property
    def mask(self) -> str | None: ...

    def converse(self, sample: Sample, shots: Sequence[Sample], context: InferenceContext) -> Conversation:
        """The conversation about one sample.

        Raises:
            PromptError: the prompt cannot be built from this sample.
        """

    def preview(self, sample: Sample, shots: Sequence[Sample], context: InferenceContext) -> list[Preview]:
        """The prompts that would be sent about a sample, without asking anything.

        Raises:
            PromptError: as `converse`.
        """


@runtime_checkable
class DialogueInferencer(Inferencer, Protocol):
    """An inferencer that asks the turns of a dialogue (`ais_prompt.prompts.FilledDialogue`).

    Attributes:
        asks_every_turn: True if predictions and golds are lists with one entry for each turn.
    """

    @property
    def asks_every_turn(self) -> bool: ...

    def dialogue_template(self, template: Template | None, reader: ReaderSpec) -> Template | None:
        """The template that its dialogues are made with.

        Args:
            template: the dataset's ``prompt_template``; None if it has none.
            reader: which columns there are.
        """


@runtime_checkable
class RepeatingInferencer(Inferencer, Protocol):
    """An inferencer that can ask each question several times.

    Attributes:
        n: how often; predictions are lists of so many answers if it is more than once.
    """

    n: int
