"""Frozen values that travel through the program. No I/O, and no third-party package except msgspec."""

from ais_prompt.types.budget import Budget, Price, Used
from ais_prompt.types.completion import Completion, Failure, FinishReason, Likelihood, ToolCall, Usage
from ais_prompt.types.extraction import Extraction, Reading
from ais_prompt.types.gate import Gate
from ais_prompt.types.meta_template import MetaTemplateSpec, RoleSpec
from ais_prompt.types.request import (
    ChatMessage,
    Content,
    Decoding,
    LikelihoodQuery,
    Prompt,
    Prompts,
    Request,
    prompt_from_json,
    prompt_to_json,
)
from ais_prompt.types.result import Prediction, TaskFacts
from ais_prompt.types.sample import Sample
from ais_prompt.types.score import REFUSAL, STATUSES, JudgeVerdict, Precision, SampleScore, Score, Spread, Status
from ais_prompt.types.shard import Partition, Portion, Shard
from ais_prompt.types.spec import (
    AVERAGES,
    BaselineSpec,
    DatasetSpec,
    EvalSpec,
    GroupKind,
    InferSpec,
    JudgeSpec,
    ModelSpec,
    PartSpec,
    ReaderSpec,
    RunSpec,
    SummaryEntry,
    SummaryGroup,
    SummarySpec,
    TaskSpec,
)
from ais_prompt.types.speed import Activity, Speed, Times

__all__ = [
    "AVERAGES",
    "REFUSAL",
    "STATUSES",
    "Activity",
    "BaselineSpec",
    "Budget",
    "ChatMessage",
    "Completion",
    "Content",
    "DatasetSpec",
    "Decoding",
    "EvalSpec",
    "Extraction",
    "Failure",
    "FinishReason",
    "Gate",
    "GroupKind",
    "InferSpec",
    "JudgeSpec",
    "JudgeVerdict",
    "Likelihood",
    "LikelihoodQuery",
    "MetaTemplateSpec",
    "ModelSpec",
    "PartSpec",
    "Partition",
    "Portion",
    "Precision",
    "Prediction",
    "Price",
    "Prompt",
    "Prompts",
    "ReaderSpec",
    "Reading",
    "Request",
    "RoleSpec",
    "RunSpec",
    "Sample",
    "SampleScore",
    "Score",
    "Shard",
    "Speed",
    "Spread",
    "Status",
    "SummaryEntry",
    "SummaryGroup",
    "SummarySpec",
    "TaskFacts",
    "TaskSpec",
    "Times",
    "ToolCall",
    "Usage",
    "Used",
    "prompt_from_json",
    "prompt_to_json",
]
