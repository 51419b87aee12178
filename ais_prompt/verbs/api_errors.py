"""Errors as the callers of the API see them: without secrets, and with advice in terms of Python."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ais_prompt.errors import AisPromptError, Interrupted, faults_of
from ais_prompt.utils.secrets import SECRETS


@contextmanager
def public_errors() -> Iterator[None]:
    """Hide secrets in the errors that the body raises, and name the call that resumes an interrupted run."""
    try:
        yield
    except AisPromptError as error:
        if isinstance(error, Interrupted) and error.where:
            error.fix = f"resume with the same call and reuse={Path(error.where).name!r}"
        for one in {id(fault): fault for fault in (error, *faults_of(error))}.values():
            hide_secrets(one)
        raise


def hide_secrets(error: AisPromptError) -> AisPromptError:
    """Hide the secrets in the texts of an error, and return it."""
    error.what, error.where, error.fix = map(SECRETS.hide_in_message, (error.what, error.where, error.fix))
    error.args = (error.what,)
    return error
