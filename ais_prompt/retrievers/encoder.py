"""What an encoder is: texts in, vectors out."""

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
    """Turns texts into vectors. It is cheap to make: weights are opened when it is first asked."""

    def encode(self, texts: Sequence[str]) -> Embeddings:
        """The embeddings of at least one text; each depends on its own text only.

        Raises:
            ModelError: the encoder cannot be loaded.
        """


def make_encoder(encoder: Encoder | Mapping[str, Any]) -> Encoder:
    """An encoder as it is, or the one that ``dict(type=..., **arguments)`` describes.

    Raises:
        ConfigError: it is neither, there is no encoder of that name, or it does not take these arguments.
    """
    # A text has a method `encode` too, and must not pass for an encoder.
    if isinstance(encoder, Encoder) and not isinstance(encoder, str):
        return encoder
    if not isinstance(encoder, Mapping) or not isinstance(encoder.get("type"), str):
        raise ConfigError(f"{encoder!r} is no encoder", fix="encoder=dict(type='HuggingFaceEncoder', path=...)")
    name, arguments = encoder["type"], {key: value for key, value in encoder.items() if key != "type"}
    made: Encoder = ENCODERS.make(name, arguments)
    return made
