"""A model in the memory of a worker process (`ais_prompt.utils.worker`), which answers the batches of its parent."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any, cast

from msgspec import Struct

from ais_prompt.errors import AisPromptError
from ais_prompt.models.base import BatchModel
from ais_prompt.plan.build import build_model
from ais_prompt.scoring.worker import Surroundings
from ais_prompt.types import ModelSpec, Request
from ais_prompt.utils.guard import part_error
from ais_prompt.utils.worker import serve


class Load(Struct, frozen=True):
    """Load the model of a config, in surroundings like those of the parent."""

    spec: ModelSpec
    surroundings: Surroundings


class Ask(Struct, frozen=True):
    """Call a method of the model, ``generate`` or ``log_likelihoods``, with a batch of requests."""

    method: str
    requests: Sequence[Request]


class Raised(Struct, frozen=True):
    """What the model raised."""

    error: Exception


_model: BatchModel | None = None


def answer(message: bytes) -> Any:
    """Answer one call: `Load` first, then one `Ask` after the other."""
    global _model
    try:
        call = pickle.loads(message)
        if isinstance(call, Load):
            call.surroundings.enter()
            _model = cast("BatchModel", build_model(call.spec))
            _model.load()
            return None
        return list(getattr(_model, call.method)(call.requests))
    except (AisPromptError, MemoryError) as error:
        return Raised(error)
    except Exception as error:  # of a library or of the user's own; it may be of a class that the parent does not know
        return Raised(part_error(error, type(_model).__name__, None))


if __name__ == "__main__":
    from ais_prompt.runners import model_worker  # calls are values of the module's classes, not of `__main__`'s

    serve(model_worker.answer)
