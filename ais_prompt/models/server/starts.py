"""What a run asks a model whose server it may have to start; few runs load the rest of this folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from ais_prompt.models.server.server_options import ServerToStart
from ais_prompt.parts import KeptChecks

if TYPE_CHECKING:
    from ais_prompt.models.server.started import StartedServers


@runtime_checkable
class StartsServer(Protocol, metaclass=KeptChecks):
    """A model that may want its server to be started.

    Attributes:
        server: what is started; None if the server runs elsewhere.
    """

    server: ServerToStart | None

    def start_with(self, servers: StartedServers, name: str) -> None:
        """Take the servers of the run.

        Args:
            servers: start the one of this model when it is opened.
            name: of the model, for messages and the log.
        """
