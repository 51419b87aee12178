"""The words for what went wrong with a connection, the same for every transport."""

from __future__ import annotations

import errno
import os
import ssl

from ais_prompt.models.transport.address import public_address
from ais_prompt.models.transport.environment import CERTIFICATES
from ais_prompt.types import Failure


def timed_out(seconds: float, url: str) -> Failure:
    """Return the failure of an attempt that took too long."""
    return Failure("timeout", f"no answer within {seconds:g} s ({public_address(url)})")


def not_connected(error: BaseException, url: str) -> Failure:
    """Return the failure of a connection that could not be made. Its fix is named where one is known."""
    causes = _causes(error)
    words, kind = _words(causes), "unreachable"
    untrusted = next(filter(None, (getattr(cause, "verify_message", "") for cause in causes)), "")
    if untrusted:
        kind = "certificate"
        words = f"the certificate is not trusted: {untrusted}; if you trust it, set {CERTIFICATES} to its PEM file"
    elif any(getattr(cause, "errno", None) in (errno.EMFILE, errno.ENFILE) for cause in causes):
        words += "; raise the limit of `ulimit -n`, or lower max_concurrency"
    return Failure(kind, f"{words} ({public_address(url)})", fatal=kind == "certificate")


def broken(error: BaseException | str, url: str) -> Failure:
    """Return the failure of a connection that broke, or on which something else than HTTP came."""
    words = error if isinstance(error, str) else _words(_causes(error))
    return Failure("connection", f"{words} ({public_address(url)})")


def _causes(error: BaseException) -> list[BaseException]:
    """The error and what led to it, the outermost first."""
    causes: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in causes:
        causes.append(current)
        current = current.__cause__ or current.__context__
    return causes


def _words(causes: list[BaseException]) -> str:
    """What the operating system says, else what the library says."""
    for cause in causes:
        if isinstance(cause, OSError) and not isinstance(cause, ssl.SSLError):
            if cause.errno is not None and cause.errno in errno.errorcode:
                return os.strerror(cause.errno)  # asyncio's own text repeats the address
            if cause.strerror:  # of a name that cannot be looked up
                return str(cause.strerror)
    return next((str(cause) for cause in causes if str(cause)), type(causes[0]).__name__)
