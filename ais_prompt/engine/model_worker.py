"""A model in the memory of a worker process (`ais_prompt.utils.worker`), which answers the batches of its parent."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any, cast

from msgspec import Struct, convert, to_builtins

from ais_prompt import errors
from ais_prompt.config import Surroundings
from ais_prompt.errors import AisPromptError, ConfigFaults, ModelError
from ais_prompt.models import BatchModel
from ais_prompt.plan import build_model
from ais_prompt.types import Completion, ModelSpec, Request
from ais_prompt.utils import decode_own, encode_plain, part_class, part_error, serve


class Load(Struct, frozen=True):
    """Load the model of a config, in surroundings like those of the parent."""

    spec: ModelSpec
    surroundings: Surroundings


class Ask(Struct, frozen=True):
    """Call a method of the model, ``generate`` or ``log_likelihoods``, with a batch of requests."""

    method: str
    requests: Sequence[Request]


class WorkerReply(Struct, frozen=True):
    """The answer to a call, plain values: the model may be code of others (``trust_remote_code``).

    Attributes:
        completions: of `Ask`, as JSON; of ``log_likelihoods`` with the number of the request before each.
        error: what the model raised: the name of the class, what, where and how to fix it.
    """

    completions: Sequence[Any] = ()
    error: tuple[str, str, str, str] | None = None

    @classmethod
    def of_error(cls, error: Exception) -> WorkerReply:
        """Return the reply for an error."""
        if isinstance(error, AisPromptError):
            name = next(kind.__name__ for kind in type(error).__mro__ if hasattr(errors, kind.__name__))
            return cls(error=(name, error.what, error.where, error.fix))
        return cls(error=("MemoryError", str(error), "", ""))

    def raise_error(self) -> None:
        """Raise the error, if there is one; it is an error of the model if its class is not one of this program."""
        if self.error is None:
            return
        name, what, where, fix = self.error
        if name == "MemoryError":
            raise MemoryError(what)
        kind = getattr(errors, name, None)
        if not (isinstance(kind, type) and issubclass(kind, AisPromptError)) or kind is ConfigFaults:
            kind = ModelError
        raise kind(what, where=where, fix=fix)


_model: BatchModel | None = None


def answer(message: bytes) -> bytes:
    """Answer one call: `Load` first, then one `Ask` after the other."""
    global _model
    try:
        call = pickle.loads(message)
        if isinstance(call, Load):
            call.surroundings.enter()
            _model = cast("BatchModel", build_model(call.spec))
            _model.load()
            return encode_plain(to_builtins(WorkerReply()))
        found = getattr(_model, call.method)(call.requests)
        plain = [(one[0], one[1].to_json()) if isinstance(one, tuple) else one.to_json() for one in found]
        return encode_plain(to_builtins(WorkerReply(plain)))
    except (AisPromptError, MemoryError) as error:
        return encode_plain(to_builtins(WorkerReply.of_error(error)))
    except Exception as error:  # of a library or of the user's own; it may be of a class that the parent does not know
        return encode_plain(to_builtins(WorkerReply.of_error(part_error(error, part_class(_model).__name__, None))))


def read_reply(content: bytes) -> list[Any]:
    """Return the completions of a reply, those of ``log_likelihoods`` with the number of the request.

    Raises:
        AisPromptError, MemoryError: what the model raised.
        ValueError: it is no reply.
    """
    try:
        reply = convert(decode_own(content), WorkerReply)
        reply.raise_error()
        return [
            (int(one[0]), Completion.from_json(one[1])) if isinstance(one, list) else Completion.from_json(one)
            for one in reply.completions
        ]
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"it is no reply: {error!r}") from error


if __name__ == "__main__":
    from ais_prompt.engine import model_worker

    serve(model_worker.answer)
