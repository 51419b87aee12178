"""The interface of inferencers. An inferencer is a conversation about each sample, written as a generator.

A conversation yields requests, is sent their completions, and returns the prediction::

    def converse(self, sample, shots, context):
        [completion] = yield [Request(...)]
        return Prediction(...)

Concurrency, batches, retries and resume are not its concern: `ais_prompt.engine` runs many conversations at
once, and answers requests from the journal where possible. A single request, labels, repeats and multi-turn dialogues
are all conversations.

`with_fields` adds fields that only servers understand: ``response_format``, ``tools``.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.errors import PromptError
from ais_prompt.models import Model, SendsFields
from ais_prompt.parts import KeptChecks, part_class
from ais_prompt.prompts import ChatFormat, Filled, PromptBuilder, Template
from ais_prompt.types import Completion, Decoding, Prediction, Prompt, ReaderSpec, Request, Sample

Conversation: TypeAlias = Generator[Sequence[Request], Sequence[Completion], Prediction]


class InferenceContext(Struct, frozen=True, dict=True):
    """What an inferencer needs: the prompts and questions of a dataset, and the chat format and settings of a model.

    Attributes:
        builder: builds the prompts of the dataset.
        chat: the chat format of the model.
        model: the model.
        samples: all questions.
        end_tokens: further token ids that end an answer, from the model's meta template.
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
        """Return the model's decoding with the settings of the dataset; None uses the model's own setting."""
        asked = (max_out_len, tuple(stop), tuple(stop_tokens), seed)
        if asked not in self._decodings:
            decoding = self.model.decoding(max_out_len, tuple(stop))
            ends = (*decoding.stop_tokens, *stop_tokens, *self.end_tokens)
            seeded = decoding.seed if seed is None else seed
            self._decodings[asked] = replace(decoding, stop_tokens=tuple(dict.fromkeys(ends)), seed=seeded)
        return self._decodings[asked]

    @cached_property
    def _decodings(self) -> dict[tuple[Any, ...], Decoding]:
        """Cache of `decoding`: nearly always one entry, for all samples."""
        return {}

    @cached_property
    def labels(self) -> tuple[Any, ...]:
        """The labels to choose from, if the inferencer does not name them.

        Raises:
            PromptError: as `PromptBuilder.labels`.
        """
        return self.builder.labels(self.samples)


GoldUse: TypeAlias = Literal["none", "earlier turns", "every label"]
"""Which gold a prompt shows on purpose: none, the gold answers of earlier turns, or one of all labels."""


class Preview(Struct, frozen=True):
    """One prompt of a sample, before any request is sent.

    Attributes:
        title: which prompt of the sample it is; empty if there is only one.
        filled: the filled template, before the chat format.
        prompt: exactly what is sent.
        gold: which gold the prompt shows on purpose.
    """

    title: str
    filled: Filled
    prompt: Prompt
    gold: GoldUse = "none"


class Inferencer(Protocol, metaclass=KeptChecks):
    """Sends requests about samples and makes predictions from the answers.

    Attributes:
        mask: the text in place of the gold in a prompt; None if its prompts show answers, such as all labels.
    """

    @property
    def mask(self) -> str | None: ...

    def converse(self, sample: Sample, shots: Sequence[Sample], context: InferenceContext) -> Conversation:
        """Return the conversation about one sample.

        Raises:
            PromptError: the prompt cannot be built from this sample.
        """

    def preview(self, sample: Sample, shots: Sequence[Sample], context: InferenceContext) -> list[Preview]:
        """Return the prompts that would be sent for a sample, without sending them.

        Raises:
            PromptError: as `converse`.
        """


@runtime_checkable
class KeepsShots(Protocol, metaclass=KeptChecks):
    """An inferencer that says whether in-context examples may be left out to fit ``max_seq_len``.

    Attributes:
        keeps_all_shots: whether none may be left out.
    """

    keeps_all_shots: bool


@runtime_checkable
class DialogueInferencer(Inferencer, Protocol):
    """An inferencer that asks the turns of a dialogue (`ais_prompt.prompts.FilledDialogue`)."""

    @classmethod
    def asks_every_turn(cls, arguments: Mapping[str, Any]) -> bool:
        """Return whether predictions and golds are lists with one entry for each turn.

        Args:
            arguments: those of the config. The class answers, because scoring builds no inferencer.
        """

    def dialogue_template(self, template: Template | None, reader: ReaderSpec) -> Template | None:
        """Return the template of its dialogues.

        Args:
            template: the dataset's ``prompt_template``; None if it has none.
            reader: names the columns.
        """


@runtime_checkable
class GeneratingInferencer(Inferencer, Protocol):
    """An inferencer whose answers have a limit of their own.

    Attributes:
        max_out_len: in tokens; a list has one for each turn. None uses the model's.
    """

    max_out_len: int | Sequence[int] | None


@runtime_checkable
class RepeatingInferencer(Inferencer, Protocol):
    """An inferencer that can ask each question several times.

    Attributes:
        n: answers per question; predictions are lists of ``n`` answers if it is more than 1.
    """

    n: int


@runtime_checkable
class OffersTools(Protocol):
    """An inferencer that offers tools to the model.

    Attributes:
        parser: how the model writes calls in its text; None reads the calls that the server reports.
    """

    parser: str | None


def with_fields(decoding: Decoding, model: Model, **fields: Any) -> Decoding:
    """Return decoding with further fields of the request; those that are None are left out.

    Raises:
        PromptError: the model has no server that understands fields.
    """
    given: Mapping[str, Any] = {name: value for name, value in fields.items() if value is not None}
    for name in given:
        refuse_fields(model, name)
    return replace(decoding, extra={**decoding.extra, **given})


def refuse_fields(model: Model, name: str) -> None:
    """Raise an error unless a model passes fields on to a server, in the form of the OpenAI API.

    Raises:
        PromptError: it does not.
    """
    if not isinstance(model, SendsFields) or name not in model.sends_fields:
        raise PromptError(
            f"{part_class(model).__name__} cannot send {name}",
            fix=f"use OpenAIChatModel, for which a local model needs a server, or do not ask for {name}",
        )


@runtime_checkable
class PerformsRequests(Protocol, metaclass=KeptChecks):
    """An inferencer that performs some requests itself: those whose ``decoding`` is a `ToolRun` or an `Execution`.

    Attributes:
        is_open_ended: whether answers decide how many requests follow, so that only the first ones are estimated.
    """

    is_open_ended: bool

    def perform(self, request: Request) -> Completion:
        """Call a tool or run a program, in any thread, and return its result as the text. A failure ends the sample."""
