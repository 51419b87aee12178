"""All faults of a config at once, before any work: every type resolved, every argument bound, every data set read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ais_prompt.errors import AisPromptError, ConfigError, DataError
from ais_prompt.inferencers import DialogueInferencer, Inferencer
from ais_prompt.prompts import PromptBuilder
from ais_prompt.readers.base import Dataset
from ais_prompt.registry import (
    ENCODERS,
    EVALUATORS,
    INFERENCERS,
    MODELS,
    POSTPROCESSORS,
    READERS,
    RETRIEVERS,
    TEMPLATES,
    PartRegistry,
)
from ais_prompt.tasks.bind import argument_faults
from ais_prompt.tasks.build import build_chat_format, build_inferencer, build_prompts, build_retriever, read_dataset
from ais_prompt.tasks.media import check_media
from ais_prompt.types import DatasetSpec, ModelSpec, PartSpec, RunSpec, Sample

T = TypeVar("T")


def find_faults(spec: RunSpec, place: Callable[[str], str]) -> list[AisPromptError]:
    """Every fault of a config, in its own order. No model is made, nothing heavy is loaded, nothing is asked.

    Args:
        spec: the config.
        place: from a config path to the words that tell the user where that is.
    """
    faults = _Faults(place)
    for model in spec.models:
        _check_model(model, faults)
    for dataset in spec.datasets:
        _check_dataset(dataset, faults)
    return faults


class _Faults(list[AisPromptError]):
    """Collects faults instead of stopping at the first; each says where in the config it is, and where in the data."""

    def __init__(self, place: Callable[[str], str]) -> None:
        super().__init__()
        self._place = place

    def attempt(self, action: Callable[[], T], where: str) -> T | None:
        """What the action returns; None, and a fault more, if it raises one."""
        try:
            return action()
        except AisPromptError as error:
            inside = error.where.startswith(where)
            self._note(error, error.where if inside else where, "" if inside else error.where)
            return None

    def check_part(
        self,
        registry: PartRegistry,
        spec: PartSpec | None,
        *,
        given: int = 0,
        nested: Mapping[str, PartRegistry] | None = None,
    ) -> bool:
        """Resolve a part's type and bind its arguments; True if all is well.

        Args:
            registry: where its type is looked up.
            spec: the part; None is well.
            given: as in `argument_faults`.
            nested: argument → registry, of those arguments that may be parts themselves.
        """
        if spec is None:
            return True
        before = len(self)
        part = self.attempt(lambda: registry.get(spec.type), f"{spec.where}.type")
        if part is not None:
            for fault in argument_faults(part, spec.args, spec.where, given=given):
                self._note(fault, fault.where)
        for name, inner in (nested or {}).items():
            if isinstance(config := spec.args.get(name), Mapping):
                self._check_nested(inner, config, f"{spec.where}.{name}")
        return len(self) == before

    def _check_nested(self, registry: PartRegistry, config: Mapping[str, Any], where: str) -> None:
        if not isinstance(kind := config.get("type"), str):
            mend = f"type='...', one of {', '.join(registry.names())}"
            self._note(ConfigError(f"{where.rpartition('.')[2]!r} needs a 'type'", mend=mend), where)
        else:
            self.check_part(registry, PartSpec(kind, {k: v for k, v in config.items() if k != "type"}, where))

    def _note(self, fault: AisPromptError, config_path: str, elsewhere: str = "") -> None:
        fault.where = " · ".join(place for place in (self._place(config_path), elsewhere) if place)
        self.append(fault)


def _check_model(spec: ModelSpec, faults: _Faults) -> None:
    if faults.check_part(MODELS, spec.part):
        own_style = getattr(MODELS.get(spec.part.type), "prompt_style", "messages")
        style = spec.part.args.get("prompt_style", own_style)
        faults.attempt(lambda: build_chat_format(spec, style, lambda: None), spec.where)


def _check_dataset(spec: DatasetSpec, faults: _Faults) -> None:
    readable = faults.check_part(READERS, spec.source)
    askable = all(
        [
            faults.check_part(TEMPLATES, spec.infer.ice_template),
            faults.check_part(TEMPLATES, spec.infer.prompt_template),
            faults.check_part(RETRIEVERS, spec.infer.retriever, nested={"encoder": ENCODERS}),
            faults.check_part(INFERENCERS, spec.infer.inferencer),
        ]
    )
    faults.check_part(EVALUATORS, spec.eval.evaluator)
    faults.check_part(POSTPROCESSORS, spec.eval.pred_postprocessor, given=1)
    faults.check_part(POSTPROCESSORS, spec.eval.dataset_postprocessor, given=1)
    data = faults.attempt(lambda: read_dataset(spec), spec.reader.where) if readable else None
    if askable:
        _check_prompts(spec, data, faults)


def _check_prompts(spec: DatasetSpec, data: Dataset | None, faults: _Faults) -> None:
    """Whether templates, retriever and data go together, tried on the first question; media of all."""
    retriever = faults.attempt(lambda: build_retriever(spec), spec.infer.retriever.where)
    inferencer = faults.attempt(lambda: build_inferencer(spec), spec.infer.inferencer.where)
    if retriever is None or inferencer is None:
        return
    prompts = faults.attempt(lambda: build_prompts(spec, retriever, inferencer), spec.infer.where)
    if data is None:
        return
    question = faults.attempt(lambda: _first_question(data), spec.reader.where)
    if question is None:
        return
    chosen = faults.attempt(lambda: retriever.trial(data.train, data.test), spec.infer.retriever.where)
    if prompts and chosen is not None:
        shots = [data.train[row] for row in chosen]
        if faults.attempt(lambda: _try_prompt(prompts, inferencer, question, shots), spec.infer.where):
            faults.attempt(lambda: check_media(prompts, data.test), spec.infer.where)


def _try_prompt(prompts: PromptBuilder, inferencer: Inferencer, question: Sample, shots: list[Sample]) -> bool:
    """True if the prompt of a question can be made; it raises otherwise."""
    if isinstance(inferencer, DialogueInferencer):
        prompts.dialogue(question)
    else:
        prompts.generation(question, shots)
    return True


def _first_question(data: Dataset) -> Sample:
    if not len(data.test):
        raise DataError(
            "there is not one question in the test split",
            mend="check test_split and test_range of reader_cfg, and that the file has rows",
        )
    return data.test[0]
