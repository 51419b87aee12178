"""How many examples the prompts of a case keep, and the tokenizers by which the cases count."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ais_prompt.errors import ConfigError
from ais_prompt.inferencers import GenInferencer, InferenceContext, Inferencer, PPLInferencer
from ais_prompt.models import ScriptedModel, estimate_tokens
from ais_prompt.plan import fitting_shots
from ais_prompt.prompts import PromptBuilder
from ais_prompt.types import Prompt, Sample
from tools.conformance_runner.case_model import make_chat
from tools.conformance_runner.cases import Case
from tools.conformance_runner.outcome import Outcome

TOKENIZERS: Final[Mapping[str, Callable[[str], int] | None]] = {
    "whitespace": lambda text: len(text.split()),
    "chars": len,
    "api_default": None,  # there is none: the tokens are estimated
}


class CountingModel(ScriptedModel):
    """A model that is only asked how long a prompt is.

    Args:
        max_seq_len: most tokens of a prompt.
        tokenizer: one of `TOKENIZERS`.
    """

    def __init__(self, max_seq_len: int, tokenizer: str) -> None:
        if tokenizer not in TOKENIZERS:
            raise ConfigError(f"no tokenizer is called {tokenizer!r}", fix=", ".join(TOKENIZERS))
        super().__init__(max_seq_len=max_seq_len)
        self._count = TOKENIZERS[tokenizer]

    def count_tokens(self, prompt: Prompt) -> int | None:  # type: ignore[override]  # the fake always knows
        """Tokens of a text, or of the texts of messages."""
        if self._count is None:
            return None
        texts = [prompt] if isinstance(prompt, str) else [str(message.content) for message in prompt]
        return self._count("".join(texts))


def kept_shots(
    case: Case, builder: PromptBuilder, questions: Sequence[tuple[Sample, Sequence[Sample]]]
) -> list[tuple[Sample, Sequence[Sample]]]:
    """Each row with the shots that fit; all of them if the case's model has no limit."""
    config: Mapping[str, Any] = case.config.get("model") or {}
    if config.get("max_seq_len") is None:
        return list(questions)
    model = CountingModel(config["max_seq_len"], config.get("tokenizer", "whitespace"))
    is_gen = case.config.get("mode", "gen") == "gen"
    inferencer: Inferencer = GenInferencer() if is_gen else PPLInferencer(case.config.get("labels"))
    context = InferenceContext(builder, make_chat(config), model, [row for row, _ in questions])
    return [(row, fitting_shots(inferencer, row, shots, context)) for row, shots in questions]


def run_length_case(case: Case) -> Outcome:
    """The estimated length of a text."""
    return {"tokens": estimate_tokens(case.data["text"])}
