"""Multi-turn dialogues. The turns of a sample are asked in order, samples concurrently.

`ChatInferencer` reads dialogues in the form of OpenCompass' datasets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import signature
from typing import Any, Literal, TypeAlias, get_args

from ais_prompt.errors import ConfigError
from ais_prompt.inferencers.base import Conversation, GoldUse, InferenceContext, Preview
from ais_prompt.models import check_at_least
from ais_prompt.prompts import ChatTemplate, FilledDialogue, Template
from ais_prompt.registry import INFERENCERS
from ais_prompt.types import Completion, Failure, Prediction, Prompt, ReaderSpec, Request, Sample

InferMode: TypeAlias = Literal["every", "every_with_gt", "last"]


@INFERENCERS.register_module()
class MultiTurnGenInferencer:
    """Lets the model answer the turns of a dialogue.

    A turn without an answer ends its dialogue, because later turns depend on it.

    Args:
        infer_mode: which turns are asked, and which answers come before them. ``every``: each turn, after the model's
            own answers; ``every_with_gt``: each turn, after the gold answers; ``last``: the last turn only, after the
            gold answers.
        max_out_len: maximum number of tokens to generate. A list has one number per turn; its last number also applies
            to all further turns and to the mode ``last``. None uses the model's ``max_out_len``.
        stopping_criteria: texts that end an answer, in addition to the model's ``stop_words``.
        stop_token_ids, seed: as in `GenInferencer`.

    Raises:
        ConfigError: the mode is unknown, or the list of lengths is empty.
    """

    mask = ""

    def __init__(
        self,
        infer_mode: InferMode = "every",
        max_out_len: int | Sequence[int] | None = None,
        stopping_criteria: Sequence[str] = (),
        stop_token_ids: Sequence[int] = (),
        seed: int | None = None,
    ) -> None:
        if infer_mode not in get_args(InferMode):
            raise ConfigError(
                f"there is no infer_mode {infer_mode!r}", fix=f"choose one of {', '.join(get_args(InferMode))}"
            )
        if isinstance(max_out_len, Sequence) and not max_out_len:
            raise ConfigError("the list max_out_len is empty", fix="write one number for each turn, or leave it out")
        for length in max_out_len if isinstance(max_out_len, Sequence) else (max_out_len,):
            check_at_least(1, max_out_len=length)
        self.infer_mode = infer_mode
        self.max_out_len = max_out_len
        self.stopping_criteria = tuple(stopping_criteria)
        self.stop_token_ids = tuple(stop_token_ids)
        self.seed = seed

    @classmethod
    def asks_every_turn(cls, arguments: Mapping[str, Any]) -> bool:
        """Return whether predictions and golds are lists with one entry for each turn."""
        return bool(arguments.get("infer_mode", signature(cls).parameters["infer_mode"].default) != "last")

    def dialogue_template(self, template: Template | None, reader: ReaderSpec) -> Template | None:  # noqa: ARG002
        """Return the template of the dataset unchanged; the prompt builder checks that it makes dialogues."""
        return template

    def converse(self, sample: Sample, shots: Sequence[Sample], context: InferenceContext) -> Conversation:
        """Ask turn by turn, until a turn fails."""
        dialogue = context.builder.dialogue(sample, shots)
        prompts: list[Prompt] = []
        completions: list[Completion] = []
        for turn in self._turns(dialogue):
            replies = [completion.text for completion in completions] if self.infer_mode == "every" else []
            prompts.append(context.chat.render(dialogue.request(turn, replies), "gen"))
            decoding = context.decoding(self._length(turn), self.stopping_criteria, self.stop_token_ids, self.seed)
            completions += yield [Request(sample.id, prompts[-1], decoding, turn)]
            if completions[-1].failure:
                return self._prediction(sample, dialogue, prompts, completions, failed_turn=turn + 1)
        if failure := dialogue_failure(dialogue):
            completions.append(Completion(failure=failure))
            return self._prediction(sample, dialogue, prompts, completions, failed_turn=len(dialogue.answers) + 1)
        return self._prediction(sample, dialogue, prompts, completions)

    def preview(self, sample: Sample, shots: Sequence[Sample], context: InferenceContext) -> list[Preview]:
        """Return the prompt of each request, with gold answers in place of the model's, which are not known yet."""
        dialogue = context.builder.dialogue(sample, shots)
        previews = []
        for turn in self._turns(dialogue):
            guessed = turn > 0 and self.infer_mode == "every"
            filled = dialogue.request(turn, [str(gold) for gold in dialogue.golds or ()] if guessed else ())
            title = f"turn {turn + 1}" + (", gold in place of the model's answers" if guessed else "")
            gold: GoldUse = "earlier turns" if turn > 0 and not guessed else "none"
            previews.append(Preview(title, filled, context.chat.render(filled, "gen"), gold))
        return previews

    def _turns(self, dialogue: FilledDialogue) -> Sequence[int]:
        """Return the numbers of the turns to ask."""
        turns = range(len(dialogue.answers))
        if self.infer_mode != "last":
            return turns
        return () if dialogue.fault else turns[-1:]  # if turns are missing, the last one is unknown

    def _length(self, turn: int) -> int | None:
        if not isinstance(self.max_out_len, Sequence):
            return self.max_out_len
        return self.max_out_len[-1] if self.infer_mode == "last" else self.max_out_len[: turn + 1][-1]

    def _prediction(
        self,
        sample: Sample,
        dialogue: FilledDialogue,
        prompts: Sequence[Prompt],
        completions: Sequence[Completion],
        failed_turn: int | None = None,
    ) -> Prediction:
        turns = len(dialogue.answers)
        answers = [None if completion.failure else completion.text for completion in completions]
        answer_per_turn = [*answers[:turns], *[None] * (turns - len(answers))]  # None for turns that were not asked
        golds = dialogue.golds
        every = self.infer_mode != "last"
        return Prediction(
            sample_id=sample.id,
            index=sample.index,
            origin_prompt=tuple(prompts) if every else next(iter(prompts), ""),
            prediction=answer_per_turn if every else answers[0],
            gold=sample.gold if not golds else list(golds) if every else golds[-1],
            completions=tuple(completions),
            failed_turn=failed_turn,
        )


def dialogue_failure(dialogue: FilledDialogue) -> Failure | None:
    """Return why the dialogue cannot be asked to its end, whatever the model answers; None if it can."""
    if dialogue.fault:
        return Failure("missing_turns", f"turn {len(dialogue.answers) + 1} cannot be asked: {dialogue.fault}")
    if not dialogue.answers:
        return Failure("no_turns", "the dialogue has no turn that the model could answer")
    return None


@INFERENCERS.register_module()
class ChatInferencer(MultiTurnGenInferencer):
    """Lets the model answer the turns of the assistant in a chat.

    The chat of a row is made from its columns, with or without a template, by the rules of
    `ais_prompt.prompts.dialogue_template.ChatTemplate`. The model's meta template formats it message by message.

    Args:
        infer_mode, max_out_len, stopping_criteria, stop_token_ids, seed: as in `MultiTurnGenInferencer`.

    Raises:
        ConfigError: as in `MultiTurnGenInferencer`.
    """

    def __init__(
        self,
        infer_mode: InferMode = "last",
        max_out_len: int | Sequence[int] | None = None,
        stopping_criteria: Sequence[str] = (),
        stop_token_ids: Sequence[int] = (),
        seed: int | None = None,
    ) -> None:
        super().__init__(infer_mode, max_out_len, stopping_criteria, stop_token_ids, seed)

    def dialogue_template(self, template: Template | None, reader: ReaderSpec) -> Template:
        """Return the template that makes the chat of a row."""
        return ChatTemplate(template, reader.input_columns, reader.output_column)
