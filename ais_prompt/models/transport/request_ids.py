"""Ids of requests, to find a reply that belongs to another request.

Each attempt sends an ``X-Request-Id`` of its own. Gateways return it as a header, and vLLM also as a part of the ``id``
in the body. Other servers ignore it.
"""

from __future__ import annotations

import re
import secrets
from itertools import count
from typing import Final

REQUEST_ID: Final = "X-Request-Id"


class OtherReply(Exception):
    """A reply has the id of another request."""

    def __init__(self) -> None:
        super().__init__("the reply belongs to another request")


class RequestIds:
    """Makes ids, and checks those in replies."""

    def __init__(self) -> None:
        self._prefix = f"aisprompt-{secrets.token_hex(4)}-"
        self._numbers = count(1)
        # The dash at the end shows that an id is whole: a stream may be cut anywhere.
        self._pattern = re.compile(rb"%b\d+-" % self._prefix.encode())

    def new(self) -> str:
        """Return an id that no other request has."""
        return f"{self._prefix}{next(self._numbers)}-"

    def check(self, own: str, text: bytes) -> None:
        """Check a part of a reply to the request with the id ``own``.

        Raises:
            OtherReply: it has the id of another request.
        """
        if any(found != own.encode() for found in self._pattern.findall(text)):
            raise OtherReply
