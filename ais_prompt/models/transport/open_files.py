"""The number of files that a process may have open: each connection is one."""

from __future__ import annotations

from typing import Final

from ais_prompt.errors import ModelError

try:
    import resource
except ImportError:  # Windows has no such limit
    resource = None  # type: ignore[assignment]

OTHER_FILES: Final = 64
"""Files that are open besides the connections: journal, data, logs, libraries."""


def allow_connections(number: int) -> None:
    """Raise the soft limit of open files to what so many connections need; a higher one is left as it is.

    Raises:
        ModelError: the hard limit is lower.
    """
    if resource is None:
        return
    needed = number + OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise ModelError(
            f"max_concurrency={number} needs {needed} open files, and this machine allows {hard} to a process",
            fix=f"raise the limit with `ulimit -n {needed}`, or set max_concurrency to {max(1, hard - OTHER_FILES)}",
        )
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
    except (ValueError, OSError) as error:
        raise ModelError(
            f"max_concurrency={number} needs {needed} open files, and the limit is {soft}: {error}",
            fix=f"raise the limit with `ulimit -n {needed}`, or set max_concurrency to {max(1, soft - OTHER_FILES)}",
        ) from None
