"""Count the tokens of prompts for a model behind an API, with a tokenizer that is here."""

from __future__ import annotations

from typing import Any, ClassVar

from ais_prompt.models.api.wire import WireFormat
from ais_prompt.models.huggingface.weights import local_folder
from ais_prompt.models.options import Sampling
from ais_prompt.models.tokenizer import load_tokenizer, prompt_token_ids, refuse_too_long
from ais_prompt.types import Failure, Prompt


class CountsTokens:
    """A model that may have a tokenizer.

    Attributes:
        endpoint: knows what the server makes of a prompt.
        sampling: its options, with the variables of the chat template.
        max_seq_len: most tokens of a prompt; None for any number.
        tokenizer_path: folder or hub id of the tokenizer; None without one.
    """

    endpoint: ClassVar[WireFormat]
    sampling: Sampling
    max_seq_len: int | None
    tokenizer_path: str | None
    _tokenizer: Any = None

    def check_tokenizer(self) -> None:
        """Check that the folder of the tokenizer exists. A hub id is not looked up.

        Raises:
            ModelError: it does not exist.
        """
        if self.tokenizer_path:
            local_folder(self.tokenizer_path, "tokenizer")

    def tokenizer(self) -> Any | None:
        """Return the tokenizer of ``tokenizer_path``, loaded once; None without one.

        Raises:
            ModelError: the tokenizer cannot be loaded.
        """
        if self._tokenizer is None and self.tokenizer_path:
            variables = self.sampling.template_variables
            self._tokenizer = load_tokenizer(self.tokenizer_path, {}, variables, trust_remote_code=False)
        return self._tokenizer

    def count_tokens(self, prompt: Prompt) -> int | None:
        """Count the tokens of a prompt as the server will see it; None if that is unknown here.

        Raises:
            ModelError: the tokenizer cannot be loaded.
            PromptError: the chat template refuses the messages, or a completion model was given messages.
        """
        ids = self.encode(prompt)
        return None if ids is None else len(ids)

    def encode(self, prompt: Prompt) -> list[int] | None:
        """Return the token ids of a prompt as the server will see it; None if they are unknown here.

        Raises:
            ModelError, PromptError: as `count_tokens`.
        """
        tokenizer = self.tokenizer()
        return None if tokenizer is None else prompt_token_ids(tokenizer, self.endpoint.prompt_value(prompt))

    def refusal(self, prompt: Prompt) -> Failure | None:
        """Return the failure of a prompt that is too long; None if it fits, or if only the server can know."""
        tokens = self.count_tokens(prompt) if self.max_seq_len is not None else None
        return None if tokens is None else refuse_too_long(tokens, self.max_seq_len)
