"""Transports: bytes to a server and back. Nothing above this package knows which library is used."""

from ais_prompt.models.transport.base import Moments, Reply, Server, Sink, Transport, WatchedTransport
from ais_prompt.models.transport.client_option import ClientOption, TransportSpec, read_client
from ais_prompt.models.transport.credentials import request_headers
from ais_prompt.models.transport.network import allow_connections, check_environment, forget_connections

__all__ = [
    "ClientOption",
    "Moments",
    "Reply",
    "Server",
    "Sink",
    "Transport",
    "TransportSpec",
    "WatchedTransport",
    "allow_connections",
    "check_environment",
    "forget_connections",
    "read_client",
    "request_headers",
]
