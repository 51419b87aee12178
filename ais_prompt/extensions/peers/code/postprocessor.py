"""Find answers with a postprocessor of OpenCompass or AISBench."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ais_prompt.extensions.peers.code.calls import CheckCall, PostprocessCall
from ais_prompt.extensions.peers.code.session import CHECK_SECONDS, TEXT_SECONDS, call_peer
from ais_prompt.registry import POSTPROCESSORS


@POSTPROCESSORS.register_module(name="PeerPostprocessor")
def peer_postprocessor(text: Any, *, function: str, kwargs: Mapping[str, Any] | None = None) -> Any:
    """Return what a function of OpenCompass or AISBench makes of a text. It runs in a process of its own.

    Args:
        text: an answer or a gold.
        function: dotted name: ``opencompass.datasets.gsm8k.gsm8k_postprocess``.
        kwargs: its other arguments.

    Raises:
        AisPromptError: as `ais_prompt.extensions.peers.code.session.call_peer`.
    """
    return call_peer(PostprocessCall(function, kwargs or {}, [text]), function, TEXT_SECONDS)[0]


def _check_arguments(function: str, kwargs: Mapping[str, Any] | None = None) -> None:
    """Import the function, and compare the arguments with its signature.

    Raises:
        AisPromptError: as `ais_prompt.extensions.peers.code.session.call_peer`.
    """
    call_peer(CheckCall("postprocessor", function, kwargs or {}), function, CHECK_SECONDS)


peer_postprocessor.check_arguments = _check_arguments  # type: ignore[attr-defined]  # functions take attributes
