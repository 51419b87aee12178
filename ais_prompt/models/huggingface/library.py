"""Calling the transformers library: quiet while it works, and one clear error when it cannot."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from ais_prompt.errors import AisPromptError, ModelError


@contextmanager
def quiet() -> Iterator[None]:
    """Silence the library's warnings and progress bars for a while; its settings are put back afterwards."""
    # Without torch, which tokenizers do not need, the import itself would say that models are not available.
    os.environ.setdefault("TRANSFORMERS_NO_ADVISORY_WARNINGS", "1")
    from transformers.utils import logging

    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()


@contextmanager
def loading(what: str, path: str, *, local: bool) -> Iterator[None]:
    """Turn whatever goes wrong while ``what`` is loaded from ``path`` into a `ModelError`.

    The library, its Rust parts and pickled files raise nearly every exception there is, bare `Exception` included;
    all of them mean the same to the user.
    """
    try:
        with quiet():
            yield
    except AisPromptError:
        raise
    except Exception as error:
        if local:
            fix = "check that the folder is a complete model saved with save_pretrained()"
        else:
            fix = "check the hub id and the connection, or give the path of a folder"
        raise ModelError(f"cannot load the {what}: {first_line(error)}", where=path, fix=fix) from error


def first_line(error: Exception) -> str:
    """The first line of an error's message, or its class where it has none."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
