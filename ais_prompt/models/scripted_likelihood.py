"""Likelihoods from a script, for `ais_prompt.models.scripted`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, TypeAlias

from ais_prompt.errors import ConfigError
from ais_prompt.models.likelihood import NO_TOKENS, scored
from ais_prompt.types import Completion, Failure, Likelihood, LikelihoodQuery, Usage

Surprise: TypeAlias = "float | str"
"""Negative log-likelihood of each token in nats, or the kind of a failure."""

_CANNOT: Final = Completion(
    failure=Failure("cannot_score", "the script has no likelihood for this text: name one in likelihoods", fatal=True)
)


class ScriptedLikelihoods:
    """Tells how likely a text is by the first expression that is found in it. A token is a word.

    Args:
        script: regular expression → negative log-likelihood of each token in nats, or the kind of a failure.

    Raises:
        ConfigError: an expression cannot be understood.
    """

    def __init__(self, script: Mapping[str, Surprise]) -> None:
        try:
            self._rules = [(re.compile(pattern), surprise) for pattern, surprise in script.items()]
        except re.error as error:
            raise ConfigError(f"likelihoods has {error.pattern!r}, which is no regular expression: {error}") from None

    def log_likelihood(self, prompt: str, scoring: LikelihoodQuery) -> Completion:
        """The likelihood of the prompt or of its continuation, or the log-probabilities of the choices."""
        if scoring.choices:
            return self._choices(prompt, scoring.choices)
        is_whole = scoring.continuation is None
        text = prompt if scoring.continuation is None else scoring.continuation
        words = len(text.split())
        tokens = words - 1 if is_whole else words
        surprise = self._surprise(prompt + (scoring.continuation or ""))
        if surprise is None:
            return _CANNOT
        if isinstance(surprise, str):
            return Completion(failure=Failure(surprise, "scripted failure"))
        if tokens < 1:
            return NO_TOKENS
        return scored(Likelihood(surprise * tokens, tokens, words, len(text.encode())), Usage(words, 0))

    def _choices(self, prompt: str, choices: tuple[str, ...]) -> Completion:
        surprises = [self._surprise(prompt + choice) for choice in choices]
        numbers = tuple(-surprise for surprise in surprises if isinstance(surprise, int | float))
        if len(numbers) < len(choices):
            return _CANNOT
        return scored(Likelihood(0.0, 0, 0, 0, numbers), Usage(len(prompt.split()), 0))

    def _surprise(self, text: str) -> Surprise | None:
        return next((surprise for pattern, surprise in self._rules if pattern.search(text)), None)
