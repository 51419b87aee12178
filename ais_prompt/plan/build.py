"""Build parts from their specs. No other module does.

The public functions follow the config: model, data, few-shot examples, prompts, evaluator, postprocessors, runner.
`build_part` builds each of them, and puts the config path of the part into its errors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from ais_prompt.config import expand
from ais_prompt.data import Dataset, Reader, Retriever, find_data, load_dataset
from ais_prompt.errors import AisPromptError, ConfigError, faults_of, located
from ais_prompt.evaluators import (
    AsksInParts,
    Evaluator,
    HasJudgePrompt,
    JudgedBatchEvaluator,
    JudgeEvaluator,
    PanelEvaluator,
    RepeatEvaluator,
    make_evaluator,
)
from ais_prompt.inferencers import DialogueInferencer, InferenceContext, Inferencer
from ais_prompt.models import KnowsStopTokens, MediaModel, Model
from ais_prompt.prompts import (
    ChatFormat,
    LocalFilesFormat,
    MediaKinds,
    MediaRoots,
    PromptBuilder,
    Template,
    make_chat_format,
)
from ais_prompt.registry import (
    EVALUATORS,
    INFERENCERS,
    MODELS,
    PARTITIONERS,
    POSTPROCESSORS,
    READERS,
    RETRIEVERS,
    RUNNERS,
    TEMPLATES,
    PartRegistry,
)
from ais_prompt.steps import first_answer
from ais_prompt.types import DatasetSpec, EvalSpec, JudgeSpec, ModelSpec, Partitioner, PartSpec
from ais_prompt.utils import data_root, has_scheme, references, texts

Postprocessor = Callable[..., Any]
"""Takes a text, and may take ``sample_choices``."""


def build_part(registry: PartRegistry, spec: PartSpec, **offered: Any) -> Any:
    """Build the part that a spec describes.

    Args:
        registry: where its type is looked up.
        spec: the part.
        offered: arguments for a part that has parameters of these names, where its spec does not give them.

    Raises:
        AisPromptError: there is no such part, or it refuses its arguments; ``where`` is the spec's.
    """
    try:
        return (make_evaluator if registry is EVALUATORS else registry.make)(spec.type, spec.args, **offered)
    except AisPromptError as error:
        for fault in faults_of(error):
            is_argument = re.split(r"[.\[]", fault.where, maxsplit=1)[0] in spec.args
            fault.where = f"{spec.where}.{fault.where}" if is_argument else _both(spec.where, fault.where)
        raise


def build_model(spec: ModelSpec) -> Model:
    """Build a model without loading it, or what an extension puts in its place."""
    model: Model = build_part(MODELS, spec.part, num_gpus=spec.num_gpus)
    if not spec.further:
        return model
    with located(spec.where):
        changed: Model | None = first_answer("model", spec, model)
    return model if changed is None else changed


def chat_format_of(spec: ModelSpec, model: Model) -> ChatFormat:
    """Build the side of the prompt of a model that is built."""
    media_kinds = model.media_kinds if isinstance(model, MediaModel) else frozenset
    return build_chat_format(spec, model.prompt_style, model.tokenizer, media_kinds)


def build_chat_format(
    spec: ModelSpec, style: str, tokenizer: Callable[[], Any], media_kinds: MediaKinds = frozenset
) -> ChatFormat:
    """Build the model's side of the prompt.

    Args:
        spec: the model's spec.
        style: the model's ``prompt_style``.
        tokenizer: gives the model's tokenizer when it is first needed.
        media_kinds: gives what the model takes besides text, where it has a chat template of its own.
    """
    try:
        chat = make_chat_format(style, spec.meta_template, tokenizer, spec.prompt_template, media_kinds)
    except AisPromptError as error:
        key = "meta_template" if spec.prompt_template is None else "prompt_template"
        for fault in faults_of(error):
            is_inside = fault.where.startswith(key)
            fault.where = f"{spec.where}.{fault.where}" if is_inside else fault.where or f"{spec.where}.{key}"
        raise
    return LocalFilesFormat(chat) if style == "messages" else chat


def read_dataset(spec: DatasetSpec) -> Dataset:
    """Read a dataset, cut it to its ranges, draw from it and spoil it, in this order, as far as its spec says so."""
    reader: Reader = build_part(READERS, spec.source)
    with located(spec.reader.where):
        data = load_dataset(reader, spec.reader)
    test = data.test if spec.reader.limit is None else data.test[: spec.reader.limit]
    if spec.reader.sample is not None:
        from ais_prompt.data import drawn

        test = drawn(test, data.columns, spec.reader)
    if spec.reader.control is not None:
        from ais_prompt.data import spoil

        test = spoil(test, data.columns, spec.reader)
    return replace(data, test=test)


def build_retriever(spec: DatasetSpec) -> Retriever:
    """Build the retriever of a dataset; by default it compares the input columns of ``reader_cfg``."""
    reader, offered = spec.reader, {}
    if reader.input_template is not None and "input_columns" not in spec.infer.retriever.args:
        offered["input_template"] = reader.input_template
    retriever: Retriever = build_part(RETRIEVERS, spec.infer.retriever, input_columns=reader.input_columns, **offered)
    return retriever


def build_inferencer(spec: DatasetSpec) -> Inferencer:
    """Build the inferencer of a dataset."""
    inferencer: Inferencer = build_part(
        INFERENCERS, spec.infer.inferencer, allow_code_execution=spec.eval.allow_code_execution
    )
    return inferencer


def build_templates(spec: DatasetSpec, inferencer: Inferencer) -> tuple[Template | None, Template | None]:
    """Build the template of an in-context example and that of the question; None for one that is not there."""
    parts = spec.infer.ice_template, spec.infer.prompt_template
    ice, prompt = (build_part(TEMPLATES, part) if part else None for part in parts)
    if isinstance(inferencer, DialogueInferencer):
        prompt = inferencer.dialogue_template(prompt, spec.reader)
        if ice is not None and prompt is not None and prompt.ice_token is None:
            ice = None  # the check warns of it; with a retriever that gives examples it is a fault
    return ice, prompt


def build_prompts(spec: DatasetSpec, retriever: Retriever, inferencer: Inferencer) -> PromptBuilder:
    """Build the dataset's side of the prompt."""
    with located(spec.infer.where):
        ice, prompt = build_templates(spec, inferencer)
        return PromptBuilder(
            ice,
            prompt,
            output_column=spec.reader.output_column,
            ice_separator=retriever.ice_separator,
            ice_eos_token=retriever.ice_eos_token,
            mask=inferencer.mask or "",
            shots_expected=retriever.gives_shots,
            media_roots=media_roots_of(spec),
            turn_golds=not spec.reader.gold_columns,
        )


def media_roots_of(spec: DatasetSpec) -> MediaRoots:
    """Return the roots of a dataset: ``media_roots``, the folders of its data, and what its templates name."""
    given = [root if has_scheme(root) else str(expand(root)) for root in spec.reader.media_roots]
    templates = filter(None, (spec.infer.ice_template, spec.infer.prompt_template))
    written = [root for template in templates for root in _written_roots(template.args)]
    folders = [*given, *_data_folders(spec.source.args), *_root_of_all(spec.source), *written]
    return MediaRoots.of(folders, f"{spec.reader.where}.media_roots")


def build_context(
    model_spec: ModelSpec, model: Model, chat: ChatFormat, prompts: PromptBuilder, data: Dataset
) -> InferenceContext:
    """Build what the inferencer works with."""
    meta = model_spec.meta_template
    ends = meta.end_tokens if meta and knows_stop_tokens(model) else ()
    return InferenceContext(prompts, chat, model, data.test, ends)


def knows_stop_tokens(model: Model) -> bool:
    """Return whether answers can end at token ids; a model that does not say is assumed to know them."""
    return not isinstance(model, KnowsStopTokens) or model.knows_stop_tokens


def build_evaluator(spec: EvalSpec) -> Evaluator | None:
    """Build the evaluator of a dataset; None if it only makes predictions."""
    if spec.evaluator is None:
        return None
    allowed = spec.allow_code_execution
    evaluator: Evaluator = build_part(EVALUATORS, spec.evaluator, allow_code_execution=allowed)
    needs_judge = isinstance(evaluator, JudgeEvaluator | JudgedBatchEvaluator)
    if needs_judge != (spec.judge is not None):
        raise ConfigError(
            f"{spec.evaluator.type} needs a judge" if needs_judge else f"{spec.evaluator.type} asks no judge",
            where=spec.evaluator.where,
            fix="judge_cfg=dict(<a model>), prompt_template=dict(...)" if needs_judge else "take judge_cfg out",
        )
    if spec.judge is not None:
        if spec.judge.prompt_template is None and not isinstance(evaluator, HasJudgePrompt):
            fix = "add prompt_template=dict(type='PromptTemplate', template='... {prediction} ...')"
            raise ConfigError(f"{spec.evaluator.where} has no 'prompt_template'", where=spec.evaluator.where, fix=fix)
        _check_panel(spec.evaluator, evaluator, spec.judge)
    return evaluator


def build_repeat_evaluator(spec: PartSpec | None) -> RepeatEvaluator | None:
    """Build what gives further scores of repeated answers; None without a spec.

    Raises:
        ConfigError: it is another kind of evaluator.
    """
    if spec is None:
        return None
    evaluator = build_part(EVALUATORS, spec)
    if not isinstance(evaluator, RepeatEvaluator):
        raise ConfigError(
            f"{spec.type} gives no scores of repeated answers", where=spec.where, fix="name it as evaluator"
        )
    return evaluator


def build_postprocessor(spec: PartSpec | None) -> Postprocessor:
    """Return the function that turns a text into an answer, with its options bound; the identity without a spec."""
    if spec is None:
        return lambda value: value
    try:
        return POSTPROCESSORS.function(spec.type, spec.args)
    except AisPromptError as error:
        error.where = _both(spec.where, error.where)
        raise


def build_runner(spec: PartSpec, max_num_workers: int | None = None) -> Any:
    """Build what starts the processes that each ask a part of a run.

    Args:
        spec: the runner.
        max_num_workers: replaces its argument of this name; None leaves it.
    """
    if max_num_workers is not None:
        spec = replace(spec, args={**spec.args, "max_num_workers": max_num_workers})
    return build_part(RUNNERS, spec)


def build_partitioner(spec: PartSpec) -> Partitioner:
    """Build what divides the tasks of a run among shards."""
    partitioner: Partitioner = build_part(PARTITIONERS, spec)
    return partitioner


def _check_panel(part: PartSpec, evaluator: Evaluator, judge: JudgeSpec) -> None:
    """Refuse reference answers without a comparison, and a comparison without one.

    Raises:
        ConfigError: they do not fit together.
    """
    if isinstance(evaluator, AsksInParts) and (references := judge.reference_answers) is not None:
        if references.models or judge.prompt_template is None:
            what = "all models" if references.models else "a baseline that its own prompt does not show"
            fix = "baseline=dict(column='...'), and a prompt_template with {prediction2}"
            raise ConfigError(f"{part.type} compares with {what}", where=part.where, fix=fix)
        return
    compares = isinstance(evaluator, PanelEvaluator) and evaluator.compares
    if compares != (judge.reference_answers is not None):
        raise ConfigError(
            f"{part.type} needs a baseline" if compares else f"{part.type} compares nothing with a baseline",
            where=part.where,
            fix="baseline=dict(column='...'), dict(model='...') or dict(path='outputs/...')"
            if compares
            else "take baseline out, or use PairwiseEvaluator",
        )


def _both(config_path: str, elsewhere: str) -> str:
    """Join the place in the config and the place in the user's file or data."""
    return elsewhere if elsewhere.startswith(config_path) else " · ".join(filter(None, (config_path, elsewhere)))


def _data_folders(args: Mapping[str, Any]) -> Iterator[str]:
    """Yield the folders that the reader's arguments name: ``path``, ``data_files``, and those like ``image_path``."""
    for key, value in args.items():
        if isinstance(value, Mapping) and key != "data_files":  # arguments of a loader
            yield from _data_folders(value)
        elif key in ("path", "data_files") or str(key).endswith("_path"):
            for text in texts(value):
                with suppress(OSError, ValueError):  # too long for a path
                    if text and (found := find_data(text)):
                        yield str(found if found.is_dir() else found.parent)


def _root_of_all(source: PartSpec) -> Iterator[str]:
    """Yield the folder of all data if the reader keeps its files there."""
    with suppress(AisPromptError):  # a reader that does not exist is an error of its own
        if getattr(READERS.get(source.type), "reads_data_root", False):
            yield str(data_root())


def _written_roots(args: Mapping[str, Any]) -> Iterator[str]:
    """Yield the media that a template names itself, and the folder that it writes in front of a placeholder."""
    for reference in references(args):
        written, placeholder, _ = reference.partition("{")
        root = written.rpartition("/")[0].rstrip("/") if placeholder else written
        if root and not root.endswith(":"):  # "file:///{image}" names no folder
            yield root
