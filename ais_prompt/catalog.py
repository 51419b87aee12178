"""The parts that ship with ais_prompt, by name: where each one lives. Extensions name their own.

Only names are written here, so `aisprompt list` and the registries know every part without importing any of them.
A test holds that each entry names a real, registered part.

Providers of models have names too: their addresses, and the environment variables of their keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

from ais_prompt.extension import all_of, parts_of

_CORE: Final[dict[str, dict[str, str]]] = {
    "models": {
        "AnthropicModel": "ais_prompt.models.api.messages",
        "FunctionModel": "ais_prompt.models.function",
        "HuggingFaceBaseModel": "ais_prompt.models.huggingface.local_model",
        "HuggingFaceChatModel": "ais_prompt.models.huggingface.local_model",
        "OpenAIChatModel": "ais_prompt.models.api.openai_models",
        "OpenAICompletionModel": "ais_prompt.models.api.openai_models",
        "OpenAIResponsesModel": "ais_prompt.models.api.openai_models",
        "ScriptedModel": "ais_prompt.models.scripted",
    },
    "transports": {
        "aiohttp": "ais_prompt.models.transport.aiohttp_transport",
        "openai": "ais_prompt.models.transport.openai_transport",
    },
    "readers": {
        "HuggingFaceDataset": "ais_prompt.data.hugging_face",
        "LocalDataset": "ais_prompt.data.local",
    },
    "retrievers": {
        "BM25Retriever": "ais_prompt.data.compared_texts",
        "FixKRetriever": "ais_prompt.data.retriever",
        "RandomRetriever": "ais_prompt.data.retriever",
        "SlidingWindowRetriever": "ais_prompt.data.retriever",
        "TopkRetriever": "ais_prompt.data.compared_texts",
        "ZeroRetriever": "ais_prompt.data.retriever",
    },
    "encoders": {
        "CharacterNgramEncoder": "ais_prompt.data.compared_texts",
        "HuggingFaceEncoder": "ais_prompt.data.compared_texts",
    },
    "templates": {
        "MMPromptTemplate": "ais_prompt.prompts.multimodal",
        "MultiTurnPromptTemplate": "ais_prompt.prompts.dialogue_template",
        "PromptTemplate": "ais_prompt.prompts.template",
        "RawPromptTemplate": "ais_prompt.prompts.raw",
    },
    "inferencers": {
        "CLPInferencer": "ais_prompt.inferencers.likelihoods",
        "ChatInferencer": "ais_prompt.inferencers.multi_turn",
        "ChoicesInferencer": "ais_prompt.inferencers.likelihoods",
        "GenInferencer": "ais_prompt.inferencers.gen",
        "LLInferencer": "ais_prompt.inferencers.likelihoods",
        "MultiTurnGenInferencer": "ais_prompt.inferencers.multi_turn",
        "MultiTurnToolCallInferencer": "ais_prompt.inferencers.tool_calls",
        "PPLInferencer": "ais_prompt.inferencers.likelihoods",
        "PPLOnlyInferencer": "ais_prompt.inferencers.likelihoods",
        "ToolCallInferencer": "ais_prompt.inferencers.tool_calls",
    },
    "postprocessors": {
        "after_phrase_postprocess": "ais_prompt.postprocess.phrases",
        "bbh_freeform_postprocess": "ais_prompt.postprocess.phrases",
        "bbh_mcq_postprocess": "ais_prompt.postprocess.phrases",
        "extract-non-reasoning-content": "ais_prompt.postprocess.phrases",
        "extract_non_reasoning_content": "ais_prompt.postprocess.phrases",
        "first-capital": "ais_prompt.postprocess.phrases",
        "first-capital-multi": "ais_prompt.postprocess.phrases",
        "date_postprocess": "ais_prompt.postprocess.dates",
        "first_capital_postprocess": "ais_prompt.postprocess.phrases",
        "first_capital_postprocess_multi": "ais_prompt.postprocess.phrases",
        "first_line_postprocess": "ais_prompt.postprocess.phrases",
        "first_number_postprocess": "ais_prompt.postprocess.general",
        "first_option_postprocess": "ais_prompt.postprocess.chosen_option",
        "general": "ais_prompt.postprocess.general",
        "general_cn_postprocess": "ais_prompt.postprocess.phrases",
        "general_postprocess": "ais_prompt.postprocess.general",
        "generic_llmjudge_postprocess": "ais_prompt.judges.replies",
        "gsm100_postprocess": "ais_prompt.postprocess.phrases",
        "gsm8k_dataset_postprocess": "ais_prompt.postprocess.numbers",
        "gsm8k_postprocess": "ais_prompt.postprocess.numbers",
        "number_dataset_postprocess": "ais_prompt.postprocess.numbers",
        "json_postprocess": "ais_prompt.postprocess.written_json",
        "judge_rating_postprocess": "ais_prompt.judges.replies",
        "label_postprocess": "ais_prompt.postprocess.label_words",
        "last_number_postprocess": "ais_prompt.postprocess.general",
        "last-capital": "ais_prompt.postprocess.phrases",
        "last_capital_postprocess": "ais_prompt.postprocess.phrases",
        "last_option_postprocess": "ais_prompt.postprocess.chosen_option",
        "match_answer_pattern": "ais_prompt.postprocess.phrases",
        "math_dataset_postprocess": "ais_prompt.postprocess.math",
        "math_postprocess_v2": "ais_prompt.postprocess.math",
        "mathbench_postprocess": "ais_prompt.postprocess.phrases",
        "mgsm_postprocess": "ais_prompt.postprocess.phrases",
        "multiple-select": "ais_prompt.postprocess.chosen_option",
        "multiple_select_postprocess": "ais_prompt.postprocess.chosen_option",
        "option_dataset_postprocess": "ais_prompt.postprocess.chosen_option",
        "strategyqa_dataset_postprocess": "ais_prompt.postprocess.phrases",
        "strategyqa_pred_postprocess": "ais_prompt.postprocess.phrases",
        "tool_calls_postprocess": "ais_prompt.postprocess.written_json",
        "without_commas_postprocess": "ais_prompt.postprocess.phrases",
        "xml_tag_postprocessor": "ais_prompt.postprocess.phrases",
    },
    "evaluators": {
        "AccEvaluator": "ais_prompt.evaluators.accuracy",
        "AveragePPLEvaluator": "ais_prompt.evaluators.choices",
        "BBHEvaluator": "ais_prompt.evaluators.contained",
        "BleuEvaluator": "ais_prompt.evaluators.text_overlap",
        "CascadeEvaluator": "ais_prompt.judges.judge_evaluators",
        "ChoicesAccEvaluator": "ais_prompt.evaluators.choices",
        "ChoicesMassEvaluator": "ais_prompt.evaluators.choices",
        "ContainedAnswerEvaluator": "ais_prompt.evaluators.contained",
        "ContainsEvaluator": "ais_prompt.evaluators.contained",
        "DropEvaluator": "ais_prompt.evaluators.squad",
        "EDAccEvaluator": "ais_prompt.evaluators.accuracy",
        "EMEvaluator": "ais_prompt.evaluators.accuracy",
        "FuzzyMatchEvaluator": "ais_prompt.evaluators.contained",
        "GenericLLMEvaluator": "ais_prompt.judges.judge_evaluators",
        "Gsm8kEvaluator": "ais_prompt.evaluators.accuracy",
        "JiebaRougeEvaluator": "ais_prompt.evaluators.text_overlap",
        "JsonEqualEvaluator": "ais_prompt.evaluators.structured",
        "JsonSchemaEvaluator": "ais_prompt.evaluators.structured",
        "LLMRatingEvaluator": "ais_prompt.judges.judge_evaluators",
        "LambadaEvaluator": "ais_prompt.evaluators.contained",
        "MATHEvaluator": "ais_prompt.evaluators.math",
        "MATHVerifyEvaluator": "ais_prompt.evaluators.math",
        "OptionOrTextEvaluator": "ais_prompt.evaluators.contained",
        "PairwiseEvaluator": "ais_prompt.judges.judge_evaluators",
        "RegexEvaluator": "ais_prompt.evaluators.structured",
        "RougeEvaluator": "ais_prompt.evaluators.text_overlap",
        "SquadEvaluator": "ais_prompt.evaluators.squad",
        "StringMatchEvaluator": "ais_prompt.evaluators.contained",
    },
    "partitioners": {},
    "runners": {},
}
"""Kind of part → name → module that defines it, of the core."""

PARTS: Final = {kind: {**homes, **parts_of(kind)} for kind, homes in _CORE.items()}
"""Kind of part → name → module that defines it."""

PROTOCOLS: Final[dict[str, tuple[str, ...]]] = {
    "models": tuple(
        f"ais_prompt.models.base.{name}"
        for name in ("Model", "TokenizingModel", "MediaModel", "BatchModel", "LikelihoodModel", "AsyncModel")
    ),
    "transports": ("ais_prompt.models.transport.base.Transport",),
    "readers": ("ais_prompt.data.reader.Reader",),
    "retrievers": ("ais_prompt.data.retriever.Retriever",),
    "encoders": ("ais_prompt.data.compared_texts.Encoder",),
    "templates": ("ais_prompt.prompts.base.Template", "ais_prompt.prompts.dialogue_template.DialogueTemplate"),
    "inferencers": tuple(
        f"ais_prompt.inferencers.base.{name}" for name in ("Inferencer", "DialogueInferencer", "RepeatingInferencer")
    ),
    "postprocessors": (),
    "evaluators": (
        "ais_prompt.evaluators.base.Evaluator",
        "ais_prompt.evaluators.base.CorpusEvaluator",
        "ais_prompt.evaluators.base.ComparesAnswers",
        "ais_prompt.evaluators.base.JudgeEvaluator",
        "ais_prompt.evaluators.base.PanelEvaluator",
        "ais_prompt.evaluators.base.RepeatEvaluator",
        "ais_prompt.evaluators.base.BatchEvaluator",
        "ais_prompt.evaluators.base.JudgedBatchEvaluator",
    ),
    "partitioners": ("ais_prompt.types.shard.Partitioner",),
    "runners": ("ais_prompt.plan.runner.Runner",),
}
"""Kind of part → what the program calls of it; a part must have all of the first, and may have the others."""

EXPORTERS: Final[dict[str, str]] = {
    "csv": "ais_prompt.report.stored:write_csv",
    "parquet": "ais_prompt.report.stored:write_parquet",
    **all_of("exporters"),
}
"""Format of exported results → the function that writes it: takes `StoredResults` and a folder, returns the files."""


Api: TypeAlias = Literal["openai", "anthropic"]
"""What a server speaks: an OpenAI-compatible API, or Anthropic's Messages API."""


class Provider(NamedTuple):
    """A provider of models behind an API.

    Attributes:
        base_url: its address, up to the version.
        key: the environment variable of its key, as its documentation or its own client names it.
        source: the page that says so.
        api: what it speaks.
    """

    base_url: str
    key: str
    source: str
    api: Api = "openai"


MODEL_STARTS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("gpt-", "chatgpt-", "o1", "o3", "o4"), "openai"),
    "claude-": "anthropic",
    "deepseek-": "deepseek",
    **dict.fromkeys(("mistral-", "ministral-", "codestral-", "magistral-"), "mistral"),
    **dict.fromkeys(("kimi-", "moonshot-"), "moonshot"),
    **dict.fromkeys(("qwen-", "qwen3-", "qwq-"), "dashscope"),
    **dict.fromkeys(("grok-",), "xai"),
    **dict.fromkeys(("glm-",), "zai"),
    **dict.fromkeys(("doubao-",), "volcengine"),
}
"""Beginning of a model's name → the provider that made it."""

PROVIDERS: Final[Mapping[str, Provider]] = {
    "anthropic": Provider(
        "https://api.anthropic.com/v1",
        "ANTHROPIC_API_KEY",
        "https://platform.claude.com/docs/en/api/overview",
        "anthropic",
    ),
    "dashscope": Provider(
        "https://dashscope.aliyuncs.com/compatible-mode/v1",
        "DASHSCOPE_API_KEY",
        "https://help.aliyun.com/zh/model-studio/compatibility-of-openai-with-dashscope",
    ),
    "deepseek": Provider("https://api.deepseek.com", "DEEPSEEK_API_KEY", "https://api-docs.deepseek.com/"),
    "groq": Provider("https://api.groq.com/openai/v1", "GROQ_API_KEY", "https://console.groq.com/docs/openai"),
    "mistral": Provider(
        "https://api.mistral.ai/v1",
        "MISTRAL_API_KEY",
        "https://docs.mistral.ai/inference/quickstarts/send-your-first-request",
    ),
    # https://api.moonshot.ai/v1 outside of China
    "moonshot": Provider(
        "https://api.moonshot.cn/v1", "MOONSHOT_API_KEY", "https://platform.kimi.com/docs/api/overview"
    ),
    "openai": Provider(
        "https://api.openai.com/v1", "OPENAI_API_KEY", "https://platform.openai.com/docs/api-reference/authentication"
    ),
    "openrouter": Provider(
        "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", "https://openrouter.ai/docs/community/openai-sdk"
    ),
    # https://api.siliconflow.com/v1 outside of China. Its pages name no variable; this one is the usual one.
    "siliconflow": Provider(
        "https://api.siliconflow.cn/v1", "SILICONFLOW_API_KEY", "https://docs.siliconflow.cn/docs/userguide/quickstart"
    ),
    "together": Provider(
        "https://api.together.ai/v1", "TOGETHER_API_KEY", "https://docs.together.ai/docs/inference/openai-compatibility"
    ),
    "volcengine": Provider(
        "https://ark.cn-beijing.volces.com/api/v3", "ARK_API_KEY", "https://www.volcengine.com/docs/82379/1330626"
    ),
    "xai": Provider("https://api.x.ai/v1", "XAI_API_KEY", "https://docs.x.ai/developers/quickstart"),
    "zai": Provider("https://api.z.ai/api/paas/v4", "ZAI_API_KEY", "https://github.com/zai-org/z-ai-sdk-python"),
    "zhipu": Provider(
        "https://open.bigmodel.cn/api/paas/v4", "ZAI_API_KEY", "https://docs.bigmodel.cn/cn/api/introduction"
    ),
}
"""Name → provider, in alphabetical order."""


def public_names(kind: str) -> list[str]:
    """Return the names of a kind of part under which Python can import them, in alphabetical order.

    Short names of postprocessors (``first-capital``, ``general``) are for configs only, as those of transports are.
    """
    parts = {} if kind == "transports" else PARTS[kind]
    return sorted(name for name, home in parts.items() if name.isidentifier() and not home.endswith(f".{name}"))
