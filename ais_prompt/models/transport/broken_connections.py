"""What `ais_prompt.models.transport.connections` raises. Importing this does not load aiohttp."""


class StaleConnection(Exception):
    """The server closed an idle connection at the moment of its reuse."""


class ReplyTooLarge(Exception):
    """A reply has more bytes than may be."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"the reply has more than {limit / 2**20:g} MiB")
