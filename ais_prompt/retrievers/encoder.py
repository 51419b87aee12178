"""The protocol of encoders, which turn texts into vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from ais_prompt.errors import ConfigError
from ais_prompt.registry import ENCODERS

Embeddings: TypeAlias = npt.NDArray[np.float32]
"""One row for each text: shape (texts, dimensions)."""


@runtime_checkable
class Encoder(Protocol):
    """Turn texts into vectors. Making an encoder is cheap: the first call of `encode` loads weights."""

    def encode(self, texts: Sequence[str]) -> Embeddings:
        """Return the embeddings of at least one text; each depends on its own text only.

        Raises:
            ModelError: the encoder cannot be loaded.
        """


def make_encoder(encoder: Encoder | Mapping[str, Any]) -> Encoder:
    """Return an encoder unchanged, or make the one that ``dict(type=..., **arguments)`` describes.

    Raises:
        ConfigError: it is neither of them, there is no encoder of that name, or it does not accept these arguments.
    """
    # str has a method `encode` too.
    if isinstance(encoder, Encoder) and not isinstance(encoder, str):
        return encoder
    if not isinstance(encoder, Mapping) or not isinstance(encoder.get("type"), str):
        raise ConfigError(f"{encoder!r} is not an encoder", fix="encoder=dict(type='HuggingFaceEncoder', path=...)")
    name, arguments = encoder["type"], {key: value for key, value in encoder.items() if key != "type"}
    made: Encoder = ENCODERS.make(name, arguments)
    return made
