"""A transport with the client of the ``openai`` package: Azure, token providers, organisations, its other logins.

The package writes address and headers of each request; the connections are those of the default transport. Retries,
parsing and timing are those of this program.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.errors import ConfigError, ModelError
from ais_prompt.models.transport.aiohttp_transport import AiohttpTransport, timed_out
from ais_prompt.models.transport.base import Reply, Server, Sink
from ais_prompt.models.transport.network import join_address, public_address
from ais_prompt.registry import TRANSPORTS, import_dotted
from ais_prompt.secrets import SECRETS
from ais_prompt.types import Failure, ServerFailure

if TYPE_CHECKING:
    import httpx2
    import openai

_OWN_ARGUMENTS: Final = {
    "api_key": "name the variable that holds it in api_key of the model",
    "azure_ad_token": "export it as AZURE_OPENAI_AD_TOKEN, or use token_provider",
    "base_url": "use base_url of the model",
    "default_headers": "use headers of the model",
    "http_client": "leave it out",
    "max_retries": "use retry of the model",
    "timeout": "use timeout of the model",
}
"""Arguments of the package's clients that the program sets itself → what to write instead."""

_NO_KEY: Final = "none"
"""The value in place of a key that is not sent, since the package needs one."""

_NOT_PASSED_ON: Final = {"connection", "content-length", "host", "transfer-encoding"}
"""Headers that the connection writes itself."""


class _Exchange(Struct):
    """One request on its way through the package.

    Attributes:
        path: path below the base URL; the package may send other requests before, to log in.
        sink: takes the body of a good reply.
        outcome: the reply or failure; None if nothing was sent.
    """

    path: str
    sink: Sink | None
    outcome: Reply | Failure | None = None


_exchange: ContextVar[_Exchange] = ContextVar("_exchange")
"""The exchange of this task. There is no other way: the package hands no argument from a request to its HTTP client,
and the requests that it sends to log in, whose failures count as well, hold nothing of the request that needs them."""


@TRANSPORTS.register_module("openai")
class OpenAITransport:
    """Sends requests through a client of the ``openai`` package, without its retries (``max_retries=0``).

    Args:
        server: the server and its login.
        client: the class in the package, such as ``openai.AsyncAzureOpenAI``.
        token_provider: dotted path of a function without arguments that returns a token, or awaits one. It is called
            for every request and should keep its token as long as that is valid.
        options: further arguments of the class, such as ``organization``, ``project``, ``azure_endpoint``,
            ``api_version``.

    Raises:
        ConfigError: there is no such class, or it has no such argument.
        ModelError: the client cannot log in, or a proxy or certificate file of the environment cannot be used.
    """

    def __init__(
        self, server: Server, client: str = "openai.AsyncOpenAI", token_provider: str | None = None, **options: Any
    ) -> None:
        self._timeout = server.timeout
        self._base_url = server.base_url
        kind = _client_class(client)
        _check_arguments(kind, options)
        self._client = _make_client(kind, server, token_provider, options)
        self._options: dict[str, Any] = {}
        if self._client.api_key == _NO_KEY and "authorization" not in map(str.lower, server.headers):
            import openai

            self._options = {"headers": {"Authorization": openai.Omit()}}  # no login header without a key

    @staticmethod
    def check_arguments(client: str = "openai.AsyncOpenAI", token_provider: str | None = None, **options: Any) -> None:
        """Check the arguments without making a client.

        Raises:
            ConfigError: there is no such class or function, or the class has no such argument.
        """
        _check_arguments(_client_class(client), options)
        if token_provider is not None:
            token_provider_at(token_provider)

    async def send(self, method: str, path: str, body: bytes | None, sink: Sink | None) -> Reply | Failure:
        """As `Transport.send`."""
        import httpx2

        url = join_address(self._base_url, path)
        ask: Callable[..., Any] = self._client.get if method == "GET" else self._client.post
        content = {} if body is None else {"content": body}
        exchange = _Exchange(path, sink)
        _exchange.set(exchange)
        try:
            async with asyncio.timeout(self._timeout):
                await ask(f"/{path}", cast_to=httpx2.Response, options=self._options, **content)
        except TimeoutError:
            return timed_out(self._timeout, url)
        except Exception as error:  # an HTTP status, a broken connection, or a token provider
            if exchange.outcome is None:
                return ServerFailure.of("unreachable", f"the login failed: {error}", public_address(url))
        assert exchange.outcome is not None
        return exchange.outcome

    async def close(self) -> None:
        """Close all connections. May be called more than once."""
        await self._client.close()


def _http_client(server: Server) -> httpx2.AsyncClient:
    """Make an HTTP client whose requests use the default transport."""
    import httpx2

    wires = AiohttpTransport(replace(server, headers={}))

    class Wires(httpx2.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            exchange = _exchange.get()
            sink = exchange.sink if request.url.path.endswith(exchange.path) else None
            headers = {name: value for name, value in request.headers.items() if name not in _NOT_PASSED_ON}
            body = await request.aread() or None
            outcome = await wires.request(request.method, str(request.url), body, sink, headers)
            exchange.outcome = outcome
            if isinstance(outcome, Failure):
                raise httpx2.ConnectError(outcome.message)
            return httpx2.Response(outcome.status, content=outcome.body, request=request)

        async def aclose(self) -> None:
            await wires.close()

    return httpx2.AsyncClient(transport=Wires(), trust_env=False, follow_redirects=False, timeout=None)


def _client_class(path: str) -> type[openai.AsyncOpenAI]:
    """Import the client class of a dotted path.

    Raises:
        ConfigError: there is none, or it is not an asynchronous client.
    """
    import openai

    part = import_dotted(path)
    if inspect.isclass(part) and issubclass(part, openai.AsyncOpenAI):
        return part
    name = path.rpartition(".")[2]
    fix = f"write openai.Async{name}" if hasattr(openai, f"Async{name}") else "write openai.AsyncOpenAI"
    raise ConfigError(f"{path} is not an asynchronous client of the openai package", fix=fix)


def _make_client(
    kind: type[openai.AsyncOpenAI], server: Server, token_provider: str | None, options: Mapping[str, Any]
) -> openai.AsyncOpenAI:
    import openai

    arguments = dict(options)
    is_azure = issubclass(kind, openai.AsyncAzureOpenAI)
    headers = dict(server.headers)
    provider = token_provider or arguments.pop("azure_ad_token_provider", None)
    if provider is not None:
        arguments["azure_ad_token_provider" if is_azure else "api_key"] = token_provider_at(provider)
    elif server.key is not None:
        arguments["api_key"] = server.key
    elif not is_azure:
        arguments["api_key"] = _NO_KEY
    if is_azure or provider is not None:
        headers.pop("Authorization", None)  # the package writes its own
    parts = urlsplit(server.base_url)
    if is_azure and "azure_endpoint" in arguments:
        arguments.setdefault("azure_deployment", server.model)
    else:
        arguments["base_url"] = urlunsplit(parts._replace(query="", fragment=""))
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    arguments["default_query"] = query | arguments.get("default_query", {})
    http_client = _http_client(server)
    try:
        return kind(**arguments, default_headers=headers, max_retries=0, timeout=None, http_client=http_client)
    except (openai.OpenAIError, ValueError, TypeError) as error:
        raise ModelError(
            f"the client {kind.__name__} cannot be used: {error}",
            where=public_address(server.base_url),
            fix="give it its arguments in `client` of the model",
        ) from None


def _check_arguments(kind: type[openai.AsyncOpenAI], arguments: Mapping[str, Any]) -> None:
    known = inspect.signature(kind.__init__).parameters
    for name in arguments:
        if name in _OWN_ARGUMENTS:
            raise ConfigError(f"client must not hold {name!r}", fix=_OWN_ARGUMENTS[name])
        if name not in known or name.startswith("_"):
            public = sorted(name for name in known if name not in _OWN_ARGUMENTS and not name.startswith("_"))
            raise ConfigError(
                f"{kind.__name__} has no argument {name!r}", fix=f"known: {', '.join({*public} - {'self'})}"
            )


def token_provider_at(path: str) -> Callable[[], Awaitable[str]]:
    """Import a token provider, and register every token that it returns as a secret.

    Args:
        path: dotted path of a function without arguments that returns a token, or awaits one.

    Raises:
        ConfigError: there is no such function. A text that may be a token itself is not repeated.
    """
    names = path.split(".") if isinstance(path, str) else []
    if len(names) < 2 or not all(name.isidentifier() and len(name) <= 64 for name in names):
        raise ConfigError(
            "token_provider is not the dotted path of a function",
            fix="write token_provider='my_module.my_function'; a token itself must not be part of a config",
        )
    provider = import_dotted(path)

    async def token() -> str:
        value = provider()
        if inspect.isawaitable(value):
            value = await value
        if not isinstance(value, str) or not value:
            raise ValueError(f"{path} returned {type(value).__name__}, not a token")
        SECRETS.add(value)
        return value

    return token
