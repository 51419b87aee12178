"""Check that in-context examples are shown, and find how many fit into a prompt.

The last examples are left out until the prompt has at most ``max_seq_len`` tokens, as OpenCompass does it. All prompts
of a sample (those of its labels, say) keep the same examples. Nothing but examples is ever left out, and not even those
if the inferencer measures the whole text (``keeps_all_shots``).
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence

from ais_prompt.data import Dataset, Retriever, ShotIds
from ais_prompt.errors import AisPromptError, PartError, PromptError
from ais_prompt.inferencers import RETRY_HINT, InferenceContext, Inferencer, KeepsShots, Preview
from ais_prompt.models import Model, estimate_tokens
from ais_prompt.parts import defined_at
from ais_prompt.types import Prompt, Sample


def fitting_shots(
    inferencer: Inferencer, sample: Sample, shots: Sequence[Sample], context: InferenceContext
) -> Sequence[Sample]:
    """Return as many examples as fit into every prompt of a sample; none if it is too long even without.

    The number is found by bisection, so a prompt with k examples is built log2(k) + 1 times at most.

    Args:
        inferencer: makes the prompts.
        sample: the question.
        shots: its examples, all of them.
        context: the model, whose ``max_seq_len`` is the most tokens of a prompt; with None all examples fit.

    Raises:
        AisPromptError: a prompt cannot be built, or the model's tokenizer cannot be loaded.
    """
    limit = context.model.max_seq_len
    if limit is None or (isinstance(inferencer, KeepsShots) and inferencer.keeps_all_shots):
        return shots

    def too_long(count: int) -> bool:
        views = inferencer.preview(sample, shots[:count], context)
        return any(_tokens(context.model, view.prompt) > limit for view in views)

    if not shots or not too_long(len(shots)):
        return shots
    return shots[: bisect.bisect_left(range(1, len(shots)), True, key=too_long)]


def check_shots_are_shown(
    inferencer: Inferencer, sample: Sample, shots: Sequence[Sample], context: InferenceContext, seen: Sequence[Preview]
) -> None:
    """Check that every prompt of a sample changes with its examples.

    Args:
        inferencer, sample, shots, context: what the prompts are made of.
        seen: the prompts, with all of these examples.

    Raises:
        PromptError: a prompt without the examples is the same: they would be lost.
    """
    if not shots:
        return
    try:
        bare = inferencer.preview(sample, (), context)
    except AisPromptError:  # a template of the user's own may need examples
        return
    if any(with_shots.prompt == without.prompt for with_shots, without in zip(seen, bare, strict=False)):
        raise PromptError(
            "the retriever gives examples, but the prompt is the same without them",
            fix="write ice_template and prompt_template in one form, both as texts or both as dialogues, with the "
            "ice_token as an item of its own; or use ZeroRetriever",
        )


def _tokens(model: Model, prompt: Prompt) -> int:
    """Count tokens with the model's tokenizer; without one, estimate as OpenCompass does for API models."""
    counted = model.count_tokens(prompt)
    return estimate_tokens(prompt) if counted is None else counted


def check_shots(shot_ids: Sequence[ShotIds], data: Dataset, name: str, retriever: Retriever) -> None:
    """Check that a retriever returns rows of the train split, for each question.

    Raises:
        PartError: it does not.
    """
    found = f"{len(shot_ids)} lists of examples for {len(data.test)} questions"
    wrong = len(shot_ids) != len(data.test)
    for row in () if wrong else itertools.chain.from_iterable(shot_ids):
        if not 0 <= row < len(data.train):
            found, wrong = f"row {row} of {len(data.train)} train rows", True
            break
    if wrong:
        raise PartError(f"{name}.retrieve gives {found}", where=defined_at(retriever), fix=RETRY_HINT)
