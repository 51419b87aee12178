"""Addresses of servers, and the rules of the environment for reaching them: proxies, certificates, open files.

Addresses are shown without secrets. Every transport follows the same rules.
"""

from __future__ import annotations

import os
import ssl
import threading
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit, urlunsplit
from urllib.request import proxy_bypass

from ais_prompt.errors import ModelError

try:
    import resource
except ImportError:  # Windows has no such limit
    resource = None  # type: ignore[assignment]
CERTIFICATES: Final = "SSL_CERT_FILE"
"""The variable of OpenSSL that names the trusted certificates."""
OTHER_FILES: Final = 64
"""Number of open files besides the connections: journal, data, logs, libraries."""
_lock: Final = threading.Lock()
_connections = 0
"""Connections that the open models of this process may have together."""


def check_address(base_url: str) -> None:
    """Check the address of a server.

    Raises:
        ModelError: it is not an http(s) address, has no host, or an impossible port.
    """
    if not _is_address(base_url, "http", "https"):
        shown = public_address(base_url)
        example = "http://127.0.0.1:8000/v1" if "://" in shown or ":" not in shown else f"http://{shown.rstrip('/')}"
        raise ModelError(
            "base_url is not the http(s) address of a server",
            where=shown,
            fix=f"write it as {example if example.endswith('/v1') else f'{example}/v1'}",
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


def proxy_for(address: str) -> str | None:
    """Return the proxy that the environment names for an address; None to connect directly.

    ``HTTP_PROXY`` or ``HTTPS_PROXY`` is read first, then ``ALL_PROXY``, each in lower case before upper case. Servers
    on this machine and those of ``NO_PROXY`` are connected to directly.

    Raises:
        ModelError: the proxy cannot be used, such as one with SOCKS.
    """
    parts = urlsplit(address)
    if is_loopback(address) or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    variable, value = next(_proxies(parts.scheme), ("", ""))
    if not variable:
        return None
    proxy = value if "://" in value else f"http://{value}"
    if not _is_address(proxy, "http"):
        raise ModelError(
            f"the proxy of {variable} cannot be used: {public_address(proxy) or 'not an address'}",
            where=public_address(address),
            fix=f"set {variable} to a proxy with http://, or add {parts.hostname} to NO_PROXY",
        )
    return proxy


def tls_context(address: str) -> ssl.SSLContext | None:
    """Return the TLS context that verifies the certificate of an address; None for plain HTTP.

    Raises:
        ModelError: ``SSL_CERT_FILE`` or ``SSL_CERT_DIR`` does not exist or has no certificate; OpenSSL itself
            ignores that.
    """
    if urlsplit(address).scheme != "https":
        return None
    file, folder = os.environ.get(CERTIFICATES), os.environ.get("SSL_CERT_DIR")
    context = ssl.create_default_context()
    try:
        if file:
            context.load_verify_locations(cafile=file)
    except OSError as error:  # ssl.SSLError is an OSError too
        raise _unusable(CERTIFICATES, file or "", error) from None
    # The folder may be a list of folders.
    if folder and not any(Path(name).is_dir() for name in folder.split(os.pathsep)):
        raise _unusable("SSL_CERT_DIR", folder, NotADirectoryError("there is no such folder"))
    return context


def check_environment(address: str) -> None:
    """Check before any work whether the proxies and certificates of the environment can be used.

    Raises:
        ModelError: as `proxy_for` and `tls_context`.
    """
    proxy_for(address)
    tls_context(address)


def _proxies(scheme: str) -> Iterator[tuple[str, str]]:
    for name in (f"{scheme}_proxy", "all_proxy"):
        for variable in (name, name.upper()):
            if value := os.environ.get(variable, "").strip():
                yield variable, value


def _is_address(address: str, *schemes: str) -> bool:
    try:
        parts = urlsplit(address)
        return parts.scheme in schemes and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _unusable(variable: str, value: str, error: OSError) -> ModelError:
    words = os.strerror(error.errno) if error.errno and not isinstance(error, ssl.SSLError) else str(error)
    return ModelError(
        f"the certificates of {variable} cannot be read: {words}",
        where=value,
        fix=f"let {variable} name a PEM file" if variable == CERTIFICATES else f"unset {variable}, or name a folder",
    )


def allow_connections(number: int) -> None:
    """Raise the soft limit of open files for a model's connections beside those of others; never lower it.

    Args:
        number: connections of the model at most, at all of its servers.

    Raises:
        ModelError: the hard limit is lower.
    """
    global _connections
    with _lock:
        _raise_limit(_connections + number, number)
        _connections += number


def forget_connections(number: int) -> None:
    """Count the connections of a model no longer: they are closed."""
    global _connections
    with _lock:
        _connections -= number


def _raise_limit(connections: int, number: int) -> None:
    if resource is None:
        return
    needed = connections + OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    beside = f" beside the {connections - number} of other models" if connections > number else ""
    what = f"{number} connections (max_concurrency of each server){beside} need {needed} open files"
    fix = f"raise the limit with `ulimit -n {needed}`, or lower max_concurrency"
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise ModelError(f"{what}, and this machine allows {hard} to a process", fix=fix)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
    except (ValueError, OSError) as error:
        raise ModelError(f"{what}, and the limit is {soft}: {error}", fix=fix) from None
