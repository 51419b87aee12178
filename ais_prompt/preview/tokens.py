"""List the tokens of a prompt."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from ais_prompt.errors import ModelError
from ais_prompt.models.base import Model, TokenizingModel
from ais_prompt.types import Prompt
from ais_prompt.utils.guard import calling


class Token(Struct, frozen=True):
    """One token.

    Attributes:
        id: its number in the vocabulary.
        text: what it decodes to; the tokenizer's own name for it if it is only a part of a character.
        special: True for tokens that no text produces: BOS, EOS, the marks of a chat template.
    """

    id: int
    text: str
    special: bool

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return asdict(self)


def find_tokens(model: Model, prompt: Prompt) -> tuple[Token, ...] | None:
    """Return the tokens of a prompt as the network gets them; None without a tokenizer.

    Raises:
        PromptError: the tokenizer's chat template refuses the prompt.
        PartError: the tokenizer fails.
    """
    if not isinstance(model, TokenizingModel):
        return None
    try:
        ids, tokenizer = model.encode(prompt), model.tokenizer()
    except ModelError:  # a prompt can be looked at without the model's files
        return None
    if ids is None or tokenizer is None:
        return None
    with calling(f"the tokenizer of {type(model).__name__}", model):
        special = {*tokenizer.all_special_ids, *tokenizer.added_tokens_decoder}
        return tuple(Token(number, _text(tokenizer, number), number in special) for number in ids)


def _text(tokenizer: Any, number: int) -> str:
    text: str = tokenizer.decode([number], clean_up_tokenization_spaces=False)
    name: str = tokenizer.convert_ids_to_tokens(number)
    # Tokenizers in the manner of SentencePiece write a blank before a word as ▁, and leave it out at the beginning.
    if "\ufffd" in text or not text:
        return name
    return f" {text}" if name.startswith("▁") and not text.startswith(" ") else text
