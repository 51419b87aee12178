"""Join the addresses of servers, and show them without secrets."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit, urlunsplit

from ais_prompt.errors import ModelError


def check_address(base_url: str) -> None:
    """Check the address of a server.

    Raises:
        ModelError: it is not an http(s) address, has no host, or an impossible port.
    """
    try:
        parts = urlsplit(base_url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ModelError(
            "base_url is not the http(s) address of a server",
            where=public_address(base_url),
            fix="write it as http://127.0.0.1:8000/v1",
        )


def join_address(base_url: str, path: str) -> str:
    """Return the address of a path below the base URL; the query of the base URL follows the path."""
    parts = urlsplit(base_url)
    return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/{path}", fragment=""))


def without_login(base_url: str) -> str:
    """Return the address without user and password."""
    parts = urlsplit(base_url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def public_address(base_url: str) -> str:
    """Return the address without user, password, query and fragment, which may hold secrets."""
    try:
        parts = urlsplit(base_url)
    except ValueError:
        return ""
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))


def is_loopback(base_url: str) -> bool:
    """Return whether an address is one of this machine; no name is looked up."""
    host = urlsplit(base_url).hostname or ""
    if host == "localhost":
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified
