"""Transports: bytes to a server and back. Nothing above this package knows which library is used.

It offers what a transport of your own needs; everything else is imported from the files.
"""

from ais_prompt.models.transport.base import Moments, Reply, Server, Sink, Transport

__all__ = ["Moments", "Reply", "Server", "Sink", "Transport"]
