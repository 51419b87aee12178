"""`ChatInferencer`: multi-turn dialogues in the form of OpenCompass's datasets."""

from __future__ import annotations

from collections.abc import Sequence

from ais_prompt.inferencers.multi_turn import InferMode, MultiTurnGenInferencer
from ais_prompt.prompts import ChatTemplate, Template
from ais_prompt.registry import INFERENCERS
from ais_prompt.types import ReaderSpec


@INFERENCERS.register_module()
class ChatInferencer(MultiTurnGenInferencer):
    """Lets the model answer the turns of the assistant in a chat.

    The chat of a row is made from its columns, with or without a template, by the rules of
    `ais_prompt.prompts.chat.ChatTemplate`. The model's meta template formats it message by message.

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
