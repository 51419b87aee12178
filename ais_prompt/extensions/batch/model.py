"""A model that is asked in batches: as the model itself, but for the way of its requests."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ais_prompt.errors import AisPromptError, ConfigError, ModelError
from ais_prompt.extensions.batch.batch_lines import BatchedModel, batch_answer, batch_request, custom_id, has_batches
from ais_prompt.extensions.batch.ledger import Ledger, batches, ledger_of, open_batches
from ais_prompt.extensions.batch.options import BatchSpec
from ais_prompt.models import (
    AnthropicModel,
    ApiModel,
    Model,
    resolve_fields,
)
from ais_prompt.parts import part_class
from ais_prompt.plan import Plan
from ais_prompt.secrets import SECRETS
from ais_prompt.store import RequestKeys, RunFolder
from ais_prompt.types import Activity, Completion, LikelihoodQuery, Request
from ais_prompt.utils import encode_plain, listed

if TYPE_CHECKING:
    from ais_prompt.extensions.batch.gather import BatchGatherer
    from ais_prompt.extensions.batch.services import BatchService


def batched(batch: BatchSpec, model: Model) -> Model:
    """Return the model that is asked in batches.

    Raises:
        ConfigError: it cannot be asked in batches; the message says why.
    """
    if not has_batches(model):
        raise ConfigError(
            f"{part_class(model).__name__} cannot be asked in batches, only models behind OpenAI's or Anthropic's API",
            fix="leave out --batch, or write batch=dict() into the other models only",
        )
    for is_so, what in (
        (model.server is not None, "a server that this run starts has no batch API"),
        (len(model.base_urls) > 1, "several servers cannot share a batch"),
        (model.wire.stream, "answers of a batch are not streamed"),
        (not _is_plain(model), "batches are sent by the program's own client"),
    ):
        if is_so:
            raise ConfigError(what, fix="leave out --batch and batch=dict(...), or the other option")
    # A subclass of the same name: identity, protocols and tokenizer are those of the model itself.
    kind = type(model)
    made: Any = object.__new__(type(kind.__name__, (InBatches, kind), {"__module__": kind.__module__}))
    vars(made).update(vars(model))
    made.batch, made.ledger_file, made.batches = batch, None, None
    return cast("Model", made)


def begin_run(folder: RunFolder, plan: Plan, mode: str) -> None:
    """Say where the batches of this run are recorded.

    Raises:
        ConfigError: batches are under way, and their model is no longer asked in batches: all would be paid twice.
    """
    models = [*(plan.models if mode in ("all", "infer") else ()), *(plan.judges if mode in ("all", "eval") else ())]
    own: list[Path] = []
    for planned in models:
        with suppress(AisPromptError):  # a model that cannot be built ends its tasks
            if isinstance(model := planned.model, InBatches):
                model.ledger_file = ledger_of(folder, planned.spec.abbr)
                own.append(model.ledger_file)
    _refuse_other(folder, own, {ledger_of(folder, planned.spec.abbr).stem for planned in models})


def _refuse_other(folder: RunFolder, own: Collection[Path], asked: Collection[str]) -> None:
    left = {name: count for name, count in open_batches(folder, own).items() if name in asked}
    if left:
        what = f"{batches(sum(left.values()))} of this run under way, of {listed(left)}"
        raise ConfigError(
            what,
            where=str(folder.root),
            fix="add --batch (or batch=dict() of the model) to take them up; to pay for them twice, remove batches/",
        )


class InBatches(ApiModel):
    """The methods of a model that batches change.

    Attributes:
        gathers_requests: as in `ais_prompt.models.GathersRequests`.
        batch: the options.
        ledger_file: where its batches are recorded; None outside of a run.
        batches: there while it is open.
    """

    gathers_requests = True
    batch: BatchSpec
    ledger_file: Path | None
    batches: BatchGatherer | None

    def check_request(self, request: Request) -> None:
        """As `ApiModel.check_request`; no batch returns log-likelihoods."""
        if isinstance(request.decoding, LikelihoodQuery):
            what = "batches return no log-likelihoods, which this inferencer asks for"
            raise ModelError(what, fix="ask this dataset in a run of its own, without --batch")
        super().check_request(request)

    async def open(self) -> None:
        """As `ApiModel.open`, and take up the batches of earlier sessions."""
        if self.ledger_file is None:
            raise ModelError("only a run asks in batches", fix="leave out batch=dict(...)")
        from ais_prompt.extensions.batch.gather import BatchGatherer, ServedInBatches

        await super().open()
        model = cast("BatchedModel", self)
        key_of = RequestKeys(self.identity())
        fields = resolve_fields(self.body_fields)

        def line_of(request: Request) -> bytes:
            line = batch_request(model, custom_id(key_of(request)), request)
            body = line["params" if isinstance(self, AnthropicModel) else "body"]
            body.update(fields)
            return encode_plain(line)

        served = ServedInBatches(
            lambda request: custom_id(key_of(request)),
            line_of,
            lambda line, request: batch_answer(model, line, request),
            super().complete,
            self.retry.first_wait,
            self.address,
        )
        self.batches = BatchGatherer(served, self.batch, self._service(), Ledger(self.ledger_file))
        await self.batches.open()
        self.max_concurrency = self.batches.most_requests

    async def complete(self, request: Request) -> Completion:
        """As `ApiModel.complete`, hours later."""
        self.check_request(request)
        if failure := self.refusal(request.prompt):
            return Completion(failure=failure)
        assert self.batches is not None  # it is open
        completion = await self.batches.ask(request)
        if completion.failure is None:
            return completion
        words = SECRETS.hide_in_message(completion.failure.message)
        return Completion(
            failure=type(completion.failure)(completion.failure.kind, words, fatal=completion.failure.fatal),
            attempts=completion.attempts,
        )

    def activity(self) -> Activity:
        """As `ApiModel.activity`; requests that are asked directly are in flight."""
        direct = super().activity()
        waiting = Activity() if self.batches is None else self.batches.activity()
        return waiting if waiting.waiting and not direct.in_flight else direct

    async def aclose(self) -> None:
        """As `ApiModel.aclose`; batches go on at the provider."""
        if self.batches is not None:
            opened, self.batches = self.batches, None
            await opened.close()
        await super().aclose()

    def _service(self) -> BatchService:
        from ais_prompt.extensions.batch.services import AnthropicBatches, OpenAIBatches, for_files

        server = for_files(self._server(self.base_urls[0]))
        if isinstance(self, AnthropicModel):
            return AnthropicBatches(partial(self.client.open, server))
        return OpenAIBatches(server, self.endpoint.path)


def _is_plain(model: BatchedModel) -> bool:
    """Return whether requests are sent by the client of this program, or by that of the openai package as it is."""
    return model.client.type in ("aiohttp", "openai") and not model.client.args
