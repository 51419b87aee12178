"""Number samples with identical prompts, so that each keeps its own answer."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from msgspec.structs import replace

from ais_prompt.inferencers import Conversation
from ais_prompt.types import LikelihoodQuery, Request, prompt_to_json
from ais_prompt.utils.digest import canonical
from ais_prompt.utils.occurrences import Occurrences


def numbered(conversation: Conversation, openings: Occurrences) -> Conversation:
    """Set `Request.duplicate` in all requests of a conversation.

    The number counts earlier conversations that opened with the same prompts, in the order in which they are started:
    that of the dataset, whatever is answered first. Later requests of a conversation have its number as well.

    Args:
        conversation: a conversation that was not started yet.
        openings: of the conversations that were started before it.
    """
    number = None
    answers = None
    while True:
        try:
            asked = next(conversation) if answers is None else conversation.send(answers)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        if number is None:
            number = openings.earlier(_opening(asked))
        answers = yield [replace(request, duplicate=number) for request in asked] if number else asked


def _opening(asked: Sequence[Request]) -> Hashable:
    """Return the prompts of the first requests, and the texts whose log-likelihood they ask for."""
    prompts = tuple(
        (request.prompt, request.decoding) if isinstance(request.decoding, LikelihoodQuery) else request.prompt
        for request in asked
    )
    try:
        hash(prompts)
    except TypeError:  # messages with images have dicts in them
        return canonical([prompt_to_json(request.prompt) for request in asked])
    return prompts
