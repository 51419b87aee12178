"""The option ``server`` of a model: the command that starts its server, by itself or as a preset."""

from __future__ import annotations

import shlex
import shutil
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
from msgspec import Struct, field

from ais_prompt.config import shown_command
from ais_prompt.errors import ConfigError, ModelError
from ais_prompt.models.flat_options import checked_by, read_value
from ais_prompt.models.model_options import check_at_least, check_more_than_0
from ais_prompt.models.transport.credentials import resolve_variables
from ais_prompt.secrets import SECRETS
from ais_prompt.utils import advice

HOST: Final = "127.0.0.1"
_PORT: Final = "{port}"


class Preset(Struct, frozen=True):
    """A command that is known by name.

    Attributes:
        command: its words, with placeholders.
        on_gpus: further words where one server has several GPUs.
        install: how to install it.
    """

    command: str
    on_gpus: str
    install: str


PRESETS: Final[Mapping[str, Preset]] = {
    # https://docs.vllm.ai/en/v0.8.5/serving/engine_args.html
    "vllm": Preset(
        "vllm serve {model} --host {host} --port {port}",
        "--tensor-parallel-size {num_gpus}",
        "pip install vllm",
    ),
    # https://docs.sglang.io/advanced_features/server_arguments.html
    "sglang": Preset(
        "{python} -m sglang.launch_server --model-path {model} --host {host} --port {port}",
        "--tensor-parallel-size {num_gpus}",
        "pip install sglang",
    ),
    # https://huggingface.co/docs/transformers/main/serve-cli/serving
    "transformers": Preset(
        "transformers serve {model} --host {host} --port {port}",
        "",
        "pip install 'transformers[serving]'",
    ),
}


class ServerOptions(Struct, frozen=True, kw_only=True):
    """How the server of a model is started. No answer depends on it.

    Attributes:
        command: the command, as a text or a list of words; no shell sees it. ``{port}`` becomes a free port,
            ``{model}`` the name of the model, ``{num_gpus}`` the number of its GPUs, ``{python}`` this Python,
            ``{host}`` the address to listen at.
        preset: ``vllm``, ``sglang`` or ``transformers``, in place of ``command``.
        args: words that are added to the command.
        ready: path that answers with HTTP 200 when the server is ready. None takes that of the preset, or ``/health``.
        env: environment variables of the server, besides those of this program; ``$NAME`` in a value becomes another
            variable.
        start_timeout: seconds that the server may take until it is ready, downloads included.
        replicas: how many servers are started. ``auto`` starts one on each GPU, or on each ``num_gpus`` of them.
        shared: the shards of a run start none: they ask those that were announced in the run folder.
        host: the name of this machine for the others, if the servers are shared. None takes its host name.

    Raises:
        ConfigError: there is no command or no such preset, the command has no ``{port}``, or a number is too small.
    """

    command: str | Sequence[str] | None = None
    preset: str | None = None
    args: str | Sequence[str] = ()
    ready: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    start_timeout: float = 600.0
    replicas: int | Literal["auto"] = 1
    shared: bool = False
    host: str | None = None

    def __post_init__(self) -> None:
        if (self.command is None) is (self.preset is None):
            raise ConfigError("server needs a command or a preset, and not both", where="server", fix=_FIX)
        if self.preset is not None and self.preset not in PRESETS:
            what = f"there is no preset {self.preset!r} of servers"
            raise ConfigError(what, where="server", fix=advice(self.preset, PRESETS))
        if _PORT not in " ".join(self.pattern(1)):
            raise ConfigError("the command of server has no {port}", where="server.command", fix=_FIX)
        check_more_than_0(start_timeout=self.start_timeout)
        if isinstance(self.replicas, int):
            check_at_least(1, replicas=self.replicas)

    @property
    def ready_path(self) -> str:
        """The path that is asked whether the server is ready, without its first slash."""
        return (self.ready or "/health").lstrip("/")  # all presets have it there

    def pattern(self, num_gpus: int) -> list[str]:
        """Return the words of the command, with all placeholders."""
        if self.preset is None:
            return [*_split(self.command or ()), *_split(self.args)]
        preset = PRESETS[self.preset]
        on_gpus = preset.on_gpus if num_gpus > 1 else ""
        return [*_split(preset.command), *_split(on_gpus), *_split(self.args)]


_FIX: Final = "write server='vllm', or server=dict(command='vllm serve {model} --port {port}')"


class ServerToStart(Struct, frozen=True):
    """The server of one model. Equal ones are started once, also for several models.

    Attributes:
        options: of the config.
        model: name of the model, as the server is to know it.
        num_gpus: GPUs of each replica; None if the config does not say.
    """

    options: ServerOptions
    model: str
    num_gpus: int | None = None

    @property
    def host(self) -> str:
        """The name of the machine in the address for requests."""
        return (self.options.host or socket.gethostname()) if self.options.shared else HOST

    @property
    def listens_at(self) -> str:
        """``{host}``: the address to listen at. A server that is not shared cannot be reached from other machines."""
        return HOST if self.host in (HOST, "localhost") else "0.0.0.0"  # other machines ask it

    @property
    def key(self) -> str:
        """A text that is the same for equal servers."""
        return msgspec.json.encode(self, order="deterministic").decode()

    @property
    def shown(self) -> str:
        """The command without its port and secrets, which names the server in every session."""
        words = shown_command(self.words(self.num_gpus or 1, python="python"))
        return SECRETS.hide_in_message(words.replace("'{port}'", "{port}"))

    def words(self, num_gpus: int, python: str = sys.executable) -> list[str]:
        """Return the words of the command with ``{port}`` left in; ``num_gpus`` are those of one replica."""
        known = {"{model}": self.model, "{num_gpus}": str(num_gpus), "{python}": python, "{host}": self.listens_at}
        words = self.options.pattern(num_gpus)
        # Not `format`: a word may be JSON, whose braces are no placeholders.
        for placeholder, value in known.items():
            words = [word.replace(placeholder, value) for word in words]
        return words

    def environment(self) -> dict[str, str]:
        """Return the variables of ``env``.

        Raises:
            ModelError: another variable is named and not set.
        """
        return {name: resolve_variables(value, f"{name} of server.env") for name, value in self.options.env.items()}

    def program(self) -> str | None:
        """Return the path of the program: from PATH, or beside this Python, whose environment may not be activated.

        Raises:
            ModelError: as `environment`.
        """
        name = self.words(1)[0]
        path = self.environment().get("PATH")
        return shutil.which(name, path=path) or shutil.which(name, path=str(Path(sys.executable).parent))

    def gpus_each(self, gpus: int) -> int:
        """Return how many of the GPUs of this machine each replica has."""
        if not gpus:
            return 0
        return self.num_gpus if self.num_gpus is not None else gpus if self.options.replicas == 1 else 1

    def replicas(self, gpus: int) -> int:
        """Return how many servers are started on a machine with so many GPUs."""
        if self.options.replicas != "auto":
            return self.options.replicas
        return max(1, gpus // max(1, self.gpus_each(gpus)))

    def preflight(self) -> None:
        """See whether the command, its variables and the GPUs are there.

        Raises:
            ModelError: they are not.
        """
        program = self.words(1)[0]
        if self.program() is None:
            preset = PRESETS.get(self.options.preset or "")
            raise ModelError(
                f"the program {program!r}, which is to start the server, is not installed",
                fix=preset.install if preset else "install it, or write its path in server.command",
            )
        from ais_prompt.models.server.gpus import visible_gpus

        gpus = len(visible_gpus())
        needed = self.gpus_each(gpus) * self.replicas(gpus)
        if gpus and needed > gpus:
            raise ModelError(
                f"the server needs {needed} GPUs, and this machine shows {gpus}",
                fix="set run_cfg=dict(num_gpus=...) or server.replicas lower",
            )


def read_server(given: str | ServerOptions | Mapping[str, Any], model: str, num_gpus: int | None) -> ServerToStart:
    """Read ``server`` of a model: the name of a preset, or options.

    Raises:
        ConfigError: as `ServerOptions`, or a field is unknown or wrong.
    """
    options = ServerOptions(preset=given) if isinstance(given, str) else read_value("server", ServerOptions, given)
    return ServerToStart(options, model, num_gpus)


ServerOption: TypeAlias = Annotated[
    str | ServerOptions | Mapping[str, Any] | None, checked_by(lambda given: read_server(given, "", None))
]
"""The option ``server`` of a config, checked with the config."""


def _split(words: str | Sequence[str]) -> list[str]:
    return shlex.split(words) if isinstance(words, str) else list(words)
