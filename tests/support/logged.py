"""What the program itself has logged in a test."""

from __future__ import annotations

import pytest


def own_messages(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the messages of the package.

    A client that another test has left open is closed when it is collected, and asyncio logs what happens then in
    whichever test that is.
    """
    return [record.getMessage() for record in caplog.records if record.name.startswith("ais_prompt")]
