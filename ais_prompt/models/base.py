"""The protocols of models, and their identity. Any object with these methods will do; there is nothing to inherit.

Making a model is cheap: weights, tokenizers and connections are opened when they are first needed, so prompts can be
viewed and configs checked without them. The program asks the object what it can do, never its name: a model answers
batches (`BatchModel`) or concurrent requests (`AsyncModel`).

The identity of a model is in the keys of answers, in caches across runs, and in ``run.json``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeAlias, runtime_checkable

from ais_prompt.parts import KeptChecks
from ais_prompt.types import Activity, Completion, Decoding, Price, Prompt, Request

if TYPE_CHECKING:
    from ais_prompt.models.server.server_options import ServerToStart
    from ais_prompt.models.server.started import StartedServers

PromptStyle: TypeAlias = Literal["text", "messages", "chat_template"]
"""The form of a prompt that a model takes:

- ``text``: one string, shaped by the rules for language models;
- ``messages``: messages in OpenAI form;
- ``chat_template``: messages, rendered to one string with the chat template of the model's own tokenizer.
"""


@runtime_checkable
class Model(Protocol, metaclass=KeptChecks):
    """The methods of every model.

    Attributes:
        prompt_style: the form of its prompts.
        max_out_len: most tokens to generate where the dataset does not say.
        max_seq_len: most tokens of a prompt, as in OpenCompass: in-context examples are left out until it has no more,
            and a prompt that is still longer is answered with the failure ``too_long``. None if there is no limit.
    """

    prompt_style: PromptStyle
    max_out_len: int
    max_seq_len: int | None

    def identity(self) -> Mapping[str, Any]:
        """Return all that decides the answers, as plain JSON values without secrets; part of the key of every answer.

        How the model is reached (address, client, timeouts, devices) is not part of it.
        """

    def decoding(self, max_out_len: int | None, stop: Sequence[str]) -> Decoding:
        """Return how answers are generated: the model's own options, with those of the dataset put in."""

    def tokenizer(self) -> Any | None:
        """Return a Hugging Face tokenizer, without loading weights; None if the model has none.

        Raises:
            ModelError: the tokenizer cannot be loaded.
        """

    def count_tokens(self, prompt: Prompt) -> int | None:
        """Count the tokens of a prompt as sent, special tokens included; None if no tokenizer is known."""

    def preflight(self) -> None:
        """Check before any work whether the model can be used. Load nothing and send nothing.

        Raises:
            ModelError: files, packages or a key are missing.
        """

    def close(self) -> None:
        """Free memory and connections. May be called more than once."""


@runtime_checkable
class TokenizingModel(Protocol, metaclass=KeptChecks):
    """A model that can tokenize a prompt."""

    def tokenizer(self) -> Any | None:
        """As `Model.tokenizer`."""

    def encode(self, prompt: Prompt) -> Sequence[int] | None:
        """Return the token ids of a prompt as sent, special tokens included; None if no tokenizer is known.

        Raises:
            ModelError: the tokenizer cannot be loaded.
            PromptError: the chat template refuses the prompt.
        """


@runtime_checkable
class MediaModel(Protocol, metaclass=KeptChecks):
    """A local model that may take images, audio or video besides text."""

    def media_kinds(self, *, offline: bool = False) -> frozenset[str]:
        """Return which of ``image``, ``audio`` and ``video`` it takes; empty if it takes text only.

        Args:
            offline: download nothing; a model that is not on this machine is assumed to take all three.

        Raises:
            ModelError: the processor cannot be loaded.
            MissingExtra: a package for it is not installed.
        """


@runtime_checkable
class BatchModel(Model, Protocol):
    """A model that answers many requests in one call, such as a local model.

    Attributes:
        batch_size: requests in one call at most.
    """

    batch_size: int

    def load(self) -> None:
        """Load the weights. Called once before the first batch.

        Raises:
            ModelError: the weights cannot be loaded.
        """

    def generate(self, requests: Sequence[Request]) -> list[Completion]:
        """Return one completion for each request, in order; all requests share one `Decoding`."""


@runtime_checkable
class YieldsAnswers(Protocol, metaclass=KeptChecks):
    """A batch model that takes more requests than one batch, and yields each answer as soon as it has ended."""

    def generate_each(self, requests: Sequence[Request]) -> Iterator[tuple[int, Completion]]:
        """Yield numbers of requests and one completion for each, in any order; all requests share one `Decoding`."""


@runtime_checkable
class LikelihoodModel(Protocol, metaclass=KeptChecks):
    """A batch model that also computes log-likelihoods. An async model does so in `AsyncModel.complete`."""

    def log_likelihoods(self, requests: Sequence[Request]) -> Iterator[tuple[int, Completion]]:
        """Compute the log-likelihood of each request; every ``decoding`` is a `LikelihoodQuery`.

        The model makes batches of the requests as it likes, and should compute common beginnings of prompts once.
        Failures are returned, not raised.

        Yields:
            Numbers of requests and their completions, each as soon as it is computed, in any order.
        """


@runtime_checkable
class AsyncModel(Model, Protocol):
    """A model that answers many requests at the same time, such as one behind an API.

    Attributes:
        max_concurrency: requests in flight at most.
    """

    max_concurrency: int

    async def open(self) -> None:
        """Open connections in the running event loop.

        Raises:
            ModelError: the model cannot be used, for example without a key in the environment.
        """

    async def complete(self, request: Request) -> Completion:
        """Answer one request, retries included. Failures are returned, not raised.

        A request whose ``decoding`` is a `LikelihoodQuery` is answered with a log-likelihood.

        Raises:
            ModelError: it cannot answer such requests, for example a server that returns no log-likelihoods.
        """

    def activity(self) -> Activity:
        """Return the requests in flight and the waits, for the progress display."""

    async def aclose(self) -> None:
        """Close the connections of this event loop."""


class Asker(Protocol):
    """Asks the model of an agent in the course of one sample.

    Attributes:
        price: of the model; None without one.
        row: the columns of the sample.
    """

    price: Price | None
    row: Mapping[str, Any]

    async def __call__(self, request: Request) -> Completion:
        """Return the recorded answer to a request, or ask the model and record its answer.

        Raises:
            AisPromptError: the task cannot go on. The agent must end, and raise it again.
        """


@runtime_checkable
class AgentModel(AsyncModel, Protocol):
    """A model that asks another model on its way to an answer. The engine records each of these requests.

    Attributes:
        asked: the model that it asks, which it opens and closes itself.
    """

    asked: AsyncModel

    async def answer(self, request: Request, ask: Asker) -> Completion:
        """As `AsyncModel.complete`.

        Args:
            request: of an inferencer.
            ask: takes requests with their ``step`` set, from one sample only.
        """


@runtime_checkable
class BringsFiles(Protocol, metaclass=KeptChecks):
    """An agent that gets more of a row than its prompt."""

    def brought(self, row: Mapping[str, Any]) -> str:
        """Return a digest of it, which is part of the key of the answer; empty if it is nothing."""


@runtime_checkable
class GathersRequests(Protocol, metaclass=KeptChecks):
    """An async model that waits for many requests before it sends them, and may answer hours later.

    Attributes:
        gathers_requests: whether it does.
    """

    gathers_requests: bool


@runtime_checkable
class ChecksRequests(Protocol, metaclass=KeptChecks):
    """A model that can say before anything is asked that it does not take a request."""

    def check_request(self, request: Request) -> None:
        """Check a request as far as possible without sending it.

        Raises:
            AisPromptError: the model cannot answer such requests.
        """


@runtime_checkable
class SendsBodies(Protocol, metaclass=KeptChecks):
    """A model that can show what it sends to a server."""

    def sent(self, request: Request) -> tuple[str, Mapping[str, Any]]:
        """Return the URL of a request for a text, without secrets, and its body as plain JSON values.

        Raises:
            AisPromptError: the model cannot answer such requests.
        """


@runtime_checkable
class SendsFields(Protocol, metaclass=KeptChecks):
    """A model that passes fields on to a server, in the form of the OpenAI API.

    Attributes:
        sends_fields: their names.
    """

    sends_fields: Collection[str]


@runtime_checkable
class KnowsStopTokens(Protocol, metaclass=KeptChecks):
    """A model that says whether its answers can end at token ids. Those of other models can.

    Attributes:
        knows_stop_tokens: whether they can.
    """

    knows_stop_tokens: bool


@runtime_checkable
class LimitsStops(Protocol, metaclass=KeptChecks):
    """A model that may have to end its answers at stop texts by itself.

    Attributes:
        most_stops: stop texts that its server takes; None for no limit.
    """

    most_stops: int | None


@runtime_checkable
class HasTokenizerPath(Protocol, metaclass=KeptChecks):
    """A model with the path of its tokenizer.

    Attributes:
        tokenizer_path: folder or hub id; None if it has none.
    """

    tokenizer_path: str | None


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


GIVEN: Final = "identity"
"""The key under which an identity holds the config's own name of the model, the same wherever it is served."""
_ADDRESS: Final = "base_url"


@runtime_checkable
class ServedModel(Protocol, metaclass=KeptChecks):
    """A model behind a server, or behind replicas of one."""

    @property
    def address(self) -> str:
        """Return the URL of its server, without secrets; several are separated by a comma."""


@runtime_checkable
class HasAccount(Protocol, metaclass=KeptChecks):
    """A served model that logs in."""

    @property
    def account(self) -> str:
        """Return a digest that is equal for models with the same login; empty without a login."""


def address_of(model: Model) -> str | None:
    """Return the address of a served model; None for a local one."""
    return model.address if isinstance(model, ServedModel) else None


def endpoint_of(model: Model) -> str:
    """Return the key by which models share limits: address and account, or the model itself. It is not for people."""
    address = address_of(model)
    if address is None:
        return f"model {id(model)}"
    return f"{address} {model.account}" if isinstance(model, HasAccount) else address


def full_identity(model: Model) -> Mapping[str, Any]:
    """Return the identity of a model, with its address if it has one."""
    address = address_of(model)
    return model.identity() if address is None else {**model.identity(), _ADDRESS: address}


def identity_in_keys(model: Model, recorded: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a recorded `full_identity` of a model as it is in the keys of its answers: without its address."""
    if address_of(model) is None:
        return recorded
    return {name: value for name, value in recorded.items() if name != _ADDRESS}


def cache_identity(model: Model) -> Mapping[str, Any]:
    """Return the identity that separates models in a cache across runs.

    The address is part of it, because two servers may use one name for different models. An ``identity`` in the config
    takes the place of the address.
    """
    identity = model.identity()
    return identity if GIVEN in identity else full_identity(model)


def former_identities(model: Model, addresses: Sequence[str]) -> list[Mapping[str, Any]]:
    """Return the identities that version 1 may have put into keys: with the present address, or a recorded one."""
    full = {name: value for name, value in full_identity(model).items() if name != GIVEN}
    if _ADDRESS not in full:
        return [full]
    return [{**full, _ADDRESS: address} for address in dict.fromkeys([full[_ADDRESS], *addresses])]
