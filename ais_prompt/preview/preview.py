"""Build the prompts that a run would send, without sending them; list their tokens, and what is sent beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct, field
from msgspec.structs import asdict, replace

from ais_prompt.checks import PromptWarning, label_warnings, probe_prompts, prompt_warnings, shows_gold
from ais_prompt.config import redacted
from ais_prompt.data import ShotIds
from ais_prompt.errors import ModelError
from ais_prompt.inferencers import GoldUse, RunningConversation
from ais_prompt.models import (
    TEMPLATE_VARIABLES,
    HasTokenizerPath,
    Model,
    SendsBodies,
    TokenizingModel,
    is_at_hand,
)
from ais_prompt.parts import calling, part_class
from ais_prompt.plan import Task
from ais_prompt.preview.origins import Origins, find_origins
from ais_prompt.prompts import Filled
from ais_prompt.types import ChatMessage, LikelihoodQuery, Prompt, Sample, prompt_to_json

_OTHER_PROMPT: Final = "another prompt"
GoldSent: TypeAlias = GoldUse | Literal["all"]
"""What of the gold a prompt shows: as the inferencer means it, or ``all``, because a template has its column."""
GOLD_TITLES: Final[dict[GoldSent, str]] = {
    "all": "Gold, sent too",
    "every label": "Gold; every label is sent in turn",
    "earlier turns": "Gold; that of earlier turns is sent, the last one is not",
    "none": "Gold, not sent",
}
"""Part of the gold that the prompts of a sample show → title. The first that applies to one of them is used."""


class PromptView(Struct, frozen=True):
    """One prompt with everything that `view-prompt` shows.

    Attributes:
        model, dataset: their ``abbr``.
        sample_id, index: as in `Sample`.
        title: which prompt of the sample it is; empty if there is only one.
        filled: the template filled with data, before the model's format: who says what.
        prompt: exactly what is sent.
        shots: row numbers of the in-context examples in the train split.
        gold: what the answer will be compared with.
        gold_sent: what of it the prompt shows.
        tokens: length of the prompt; None if no tokenizer is known or it could not be loaded.
        warnings: what a person would want to know of it.
        origins: where each piece of the prompt comes from; None if not requested, empty if unknown.
        all_tokens: the tokens of the prompt; None if not requested, or without a tokenizer.
        left_out: how many further examples were retrieved but do not fit ``max_seq_len``.
        max_seq_len: most tokens of a prompt; None if the model has no limit.
        request: what is sent beside the prompt: the ``url`` of a server, and the options of the body or the decoding.
        places: config path of an origin → the same with ``file:line``, as far as that is known.
        base_model, base_dataset: the names that all variants share; empty without variants.
        variant: what distinguishes it from other variants of the model and dataset, in words.
    """

    model: str
    dataset: str
    sample_id: str
    index: int
    title: str
    filled: Filled
    prompt: Prompt
    shots: ShotIds
    gold: Any
    tokens: int | None
    warnings: tuple[PromptWarning, ...] = ()
    left_out: int = 0
    origins: Origins | None = None
    all_tokens: tuple[Token, ...] | None = None
    gold_sent: GoldSent = "none"
    max_seq_len: int | None = None
    request: Mapping[str, Any] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict)
    base_model: str = ""
    base_dataset: str = ""
    variant: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "model": self.model,
            "dataset": self.dataset,
            "id": self.sample_id,
            "index": self.index,
            "title": self.title,
            "says": self.filled if isinstance(self.filled, str) else list(self.filled),
            "prompt": prompt_to_json(self.prompt),
            "shots": list(self.shots),
            "left_out": self.left_out,
            "gold": self.gold,
            "gold_sent": self.gold_sent,
            "tokens": self.tokens,
            "max_seq_len": self.max_seq_len,
            "request": dict(self.request),
            **({"variant": self.variant} if self.variant else {}),
            "warnings": [asdict(warning) for warning in self.warnings],
            **({"origins": [[span.to_json() for span in spans] for spans in self.origins]} if self.origins else {}),
            **({"places": dict(self.places)} if self.places else {}),
            **({"all_tokens": [token.to_json() for token in self.all_tokens]} if self.all_tokens else {}),
        }


def preview_sample(
    task: Task,
    count: int,
    *,
    first: int = 0,
    origins: bool = False,
    tokens: bool = False,
    hub: bool = True,
    place: Callable[[str], str] = str,
) -> Iterator[PromptView]:
    """Yield the prompts of ``count`` samples from row ``first``, on request with origins and tokens.

    Without ``hub``, tokens are not counted where a tokenizer would have to be downloaded.

    Raises:
        AisPromptError: a prompt cannot be built.
    """
    model, rows = task.model, task.data.test
    path = model.tokenizer_path if isinstance(model, HasTokenizerPath) else None
    counts = hub or not path or is_at_hand(path)
    for sample in map(rows.__getitem__, range(first, min(first + count, len(rows)))):  # a slice counts from 0 again
        shots = task.shots(sample)
        found = probe_prompts(task.spec, task.inferencer, task.context, sample, shots)
        seen = [probe.seen for probe in found]
        request = request_of(task, sample, shots)
        pieces = [one or () for one in find_origins(task, sample, shots, seen)] if origins else [None] * len(seen)
        for probe, spans in zip(found, pieces, strict=True):
            paths = dict.fromkeys(span.origin.where for text in spans or () for span in text if span.origin.where)
            yield PromptView(
                model=task.spec.model.abbr,
                dataset=task.spec.dataset.abbr,
                sample_id=sample.id,
                index=sample.index,
                title=probe.seen.title,
                filled=probe.seen.filled,
                prompt=probe.seen.prompt,
                shots=task.dataset.shot_ids[sample.index][: len(shots)],
                gold=sample.gold,
                tokens=_tokens(model, probe.seen.prompt) if counts else None,
                warnings=tuple(
                    replace(one, where=place(one.where)) for one in (*prompt_warnings(probe), *label_warnings(found))
                ),
                origins=spans,
                all_tokens=find_tokens(model, probe.seen.prompt) if tokens else None,
                left_out=len(task.dataset.shot_ids[sample.index]) - len(shots),
                gold_sent="all" if shows_gold(probe) else probe.seen.gold,
                max_seq_len=model.max_seq_len,
                request=request,
                places={where: place(where) for where in paths},
                base_model=task.spec.columns.base_model,
                base_dataset=task.spec.columns.base_dataset,
                variant=task.spec.title,
            )


def _tokens(model: Model, prompt: Prompt) -> int | None:
    try:
        return model.count_tokens(prompt)
    except ModelError:  # a prompt can be looked at without the model's files
        return None


def previews(
    tasks: Sequence[Task],
    count: int,
    *,
    first: int = 0,
    origins: bool = False,
    tokens: bool = False,
    place: Callable[[str], str] = str,
) -> Iterator[PromptView]:
    """Yield some prompts of each task as a run would send them. No weights are loaded.

    Args:
        tasks: of a plan that was checked.
        count: most samples of each task.
        first: row of the first of them.
        origins, tokens: as in `preview`.
        place: adds ``file:line`` to a config path, as `LoadedConfig.place` does.

    Raises:
        AisPromptError: a prompt cannot be built.
    """
    for task in tasks:
        yield from preview_sample(task, count, first=first, origins=origins, tokens=tokens, place=lru_cache(place))


class Token(Struct, frozen=True):
    """One token.

    Attributes:
        id: its number in the vocabulary.
        text: what it decodes to; the tokenizer's own name for it if it is only a part of a character.
        special: True for tokens that no text produces: BOS, EOS, the marks of a chat template.
    """

    id: int
    text: str
    special: bool

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return asdict(self)


def find_tokens(model: Model, prompt: Prompt) -> tuple[Token, ...] | None:
    """Return the tokens of a prompt as the network gets them; None without a tokenizer.

    Raises:
        PromptError: the tokenizer's chat template refuses the prompt.
        PartError: the tokenizer fails.
    """
    if not isinstance(model, TokenizingModel):
        return None
    try:
        ids, tokenizer = model.encode(prompt), model.tokenizer()
    except ModelError:  # a prompt can be looked at without the model's files
        return None
    if ids is None or tokenizer is None:
        return None
    with calling(f"the tokenizer of {part_class(model).__name__}", model):
        special = {*tokenizer.all_special_ids, *tokenizer.added_tokens_decoder}
        return tuple(Token(number, _text(tokenizer, number), number in special) for number in ids)


def _text(tokenizer: Any, number: int) -> str:
    text: str = tokenizer.decode([number], clean_up_tokenization_spaces=False)
    name: str = tokenizer.convert_ids_to_tokens(number)
    # Tokenizers in the manner of SentencePiece write a blank before a word as ▁, and leave it out at the beginning.
    if "\ufffd" in text or not text:
        return name
    return f" {text}" if name.startswith("▁") and not text.startswith(" ") else text


def request_of(task: Task, sample: Sample, shots: Any) -> dict[str, Any]:
    """Return the options of the first request about a sample, without its prompt; empty if it has no request.

    Those of a served model are its ``url`` and the fields of its body, those of another model its `Decoding`, with the
    variables of its chat template if it has them.

    Raises:
        AisPromptError: the request cannot be made.
    """
    conversation = RunningConversation(task.inferencer.converse(sample, shots, task.context), lambda _: None)
    request = next(iter(conversation.open_requests()), None)
    if request is None:
        return {}
    if isinstance(request.decoding, LikelihoodQuery):
        return {"asks": "log-likelihoods"}
    if not isinstance(task.model, SendsBodies):
        from ais_prompt.models import HuggingFaceBaseModel

        options = {name: value for name, value in asdict(request.decoding).items() if value not in (None, (), {})}
        variables = task.model.sampling.template_variables if isinstance(task.model, HuggingFaceBaseModel) else {}
        return {**options, TEMPLATE_VARIABLES: dict(variables)} if variables else options
    url, body = task.model.sent(request)
    other: Prompt = _OTHER_PROMPT if isinstance(request.prompt, str) else (ChatMessage("user", _OTHER_PROMPT),)
    without = task.model.sent(replace(request, prompt=other))[1]
    options = {name: value for name, value in body.items() if without.get(name) == value}
    return {"url": url, **{name: redacted(value, name) for name, value in options.items()}}


def request_line(options: Mapping[str, Any]) -> str:
    """Return ``POST http://127.0.0.1:8000/v1/chat/completions · model='m' · temperature=0.0 · max_tokens=256``."""
    url = [f"POST {options['url']}"] if "url" in options else []
    return " · ".join([*url, *(f"{name}={_value(value)}" for name, value in options.items() if name != "url")])


def _value(value: Any) -> str:
    """Return a value; of tools their names."""
    are_dicts = isinstance(value, list | tuple) and all(isinstance(item, Mapping) for item in value)
    names = [tool.get("function", tool).get("name") for tool in value] if are_dicts else []
    return ", ".join(map(str, names)) if names and all(names) else repr(value)
