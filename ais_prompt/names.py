"""The public names of the package: where each of them is defined. Parts are in `ais_prompt.catalog`.

Only names are written here, so ``import ais_prompt`` costs nothing.
"""

from __future__ import annotations

from typing import Final

from ais_prompt.catalog import PARTS
from ais_prompt.extension import all_of

API: Final = {
    "check": "ais_prompt.verbs.api",
    "compare": "ais_prompt.verbs.api",
    "evaluate": "ais_prompt.verbs.api",
    "load_config": "ais_prompt.verbs.api",
    "open_run": "ais_prompt.verbs.open_run",
    "render_prompts": "ais_prompt.verbs.api",
    "run": "ais_prompt.verbs.api",
    **all_of("functions"),
}
"""Function → its module."""

RESULTS: Final = {
    "CheckResult": "ais_prompt.verbs.check",
    "Comparison": "ais_prompt.comparison.compared_task",
    "ConfigOptions": "ais_prompt.verbs.api",
    "LoadedConfig": "ais_prompt.config.load",
    "PromptView": "ais_prompt.preview.preview",
    "PromptWarning": "ais_prompt.checks.prompt_warning",
    "Row": "ais_prompt.scoring.rows",
    "Run": "ais_prompt.verbs.open_run",
    "RunComparison": "ais_prompt.comparison.paired_runs",
    "RunOptions": "ais_prompt.verbs.api",
    **all_of("results"),
}
"""What the functions take and return → its module."""

PROTOCOLS: Final = {
    "AsyncModel": "ais_prompt.models.base",
    "BatchEvaluator": "ais_prompt.evaluators.base",
    "BatchModel": "ais_prompt.models.base",
    "CorpusEvaluator": "ais_prompt.evaluators.base",
    "Encoder": "ais_prompt.data.compared_texts",
    "Evaluator": "ais_prompt.evaluators.base",
    "Inferencer": "ais_prompt.inferencers.base",
    "LikelihoodModel": "ais_prompt.models.base",
    "Model": "ais_prompt.models.base",
    "Reader": "ais_prompt.data.reader",
    "Retriever": "ais_prompt.data.retriever",
    "RoleTemplateInterface": "ais_prompt.prompts.chat_formats",
    "Template": "ais_prompt.prompts.base",
    "Transport": "ais_prompt.models.transport.base",
}
"""What the program calls of a part of your own → its module."""

VALUES: Final = {
    "Activity": "ais_prompt.types",
    "AnswerCounts": "ais_prompt.metrics.aggregate",
    "Batching": "ais_prompt.models.model_options",
    "ChatMLTemplate": "ais_prompt.prompts.chat_formats",
    "ChatMessage": "ais_prompt.types",
    "Completion": "ais_prompt.types",
    "Decoding": "ais_prompt.types",
    "Extraction": "ais_prompt.types",
    "Failure": "ais_prompt.types",
    "GrammarErrorCorrectionTemplate": "ais_prompt.prompts.chat_formats",
    "InferenceContext": "ais_prompt.inferencers",
    "Likelihood": "ais_prompt.types",
    "LikelihoodQuery": "ais_prompt.types",
    "Limits": "ais_prompt.models.model_options",
    "Llama2ChatTemplate": "ais_prompt.prompts.chat_formats",
    "Loading": "ais_prompt.models.model_options",
    "MistralChatTemplate": "ais_prompt.prompts.chat_formats",
    "Prediction": "ais_prompt.types",
    "Preview": "ais_prompt.inferencers",
    "PromptList": "ais_prompt.prompts",
    "QuestionAnswerTemplate": "ais_prompt.prompts.chat_formats",
    "Reply": "ais_prompt.models.transport.base",
    "Request": "ais_prompt.types",
    "Retry": "ais_prompt.models.model_options",
    "RoleTemplate": "ais_prompt.prompts.chat_formats",
    "Sample": "ais_prompt.types",
    "SampleScore": "ais_prompt.types",
    "Sampling": "ais_prompt.models.model_options",
    "Score": "ais_prompt.types",
    "Server": "ais_prompt.models.transport.base",
    "SummarizeTemplate": "ais_prompt.prompts.chat_formats",
    "Table": "ais_prompt.data.table",
    "Usage": "ais_prompt.types",
    "Wire": "ais_prompt.models.model_options",
    "mean_scores": "ais_prompt.metrics.aggregate",
}
"""Values that parts and configs are made of, and what parts of your own need → its module."""

HELPERS: Final = {
    "ApiFormat": "ais_prompt.prompts.chat_formats",
    "ChatTemplate": "ais_prompt.prompts",
    "DEFAULT_META_TEMPLATE": "ais_prompt.prompts.chat_formats",
    "Extension": "ais_prompt.extension",
    "LogFormat": "ais_prompt.store",
    "LoggedAnswer": "ais_prompt.types",
    "LoggedTask": "ais_prompt.types",
    "Message": "ais_prompt.prompts.chat_formats",
    "PromptBuilder": "ais_prompt.prompts",
    "Repeatability": "ais_prompt.metrics",
    "RoleTemplateFormat": "ais_prompt.prompts.chat_formats",
    "THINK_TAGS": "ais_prompt.models",
    "VerbEntry": "ais_prompt.extension",
    "fewest_for": "ais_prompt.metrics",
    "make_chat_format": "ais_prompt.prompts.chat_formats",
    "mean_difference": "ais_prompt.metrics",
    "samples_for": "ais_prompt.metrics",
    "select": "ais_prompt.data",
    "split_reasoning": "ais_prompt.models",
    "wilson_interval": "ais_prompt.metrics",
}
"""What shows how prompts, answers and intervals come about, and what extensions need; imported from its package."""

REGISTRIES: Final = {kind.upper(): "ais_prompt.registry" for kind in PARTS}
"""Registry of each kind of part → its module."""

ERRORS: Final = dict.fromkeys(
    (
        "AisPromptError",
        "ConfigError",
        "ConfigFaults",
        "DataError",
        "GoldError",
        "InternalError",
        "Interrupted",
        "MissingExtra",
        "MissingGoldError",
        "ModelError",
        "PartError",
        "Paused",
        "PromptError",
        "ReadError",
        "SandboxError",
        "StoreError",
        "Terminated",
    ),
    "ais_prompt.errors",
)
"""Error → its module."""

MODULES: Final = ("errors",)
"""Modules that are public as they are."""

HOMES: Final = {**API, **RESULTS, **PROTOCOLS, **VALUES, **REGISTRIES, **ERRORS}
"""Every public name that is neither a part nor a module → its module."""
