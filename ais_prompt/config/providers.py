"""Providers of models behind an OpenAI-compatible API: their addresses, and the environment variables of their keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from ais_prompt.errors import ConfigError


class Provider(NamedTuple):
    """A provider.

    Attributes:
        base_url: its address, up to the version.
        key: the environment variable of its key, as its documentation or its own client names it.
        source: the page that says so.
    """

    base_url: str
    key: str
    source: str


PROVIDERS: Final[Mapping[str, Provider]] = {
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


def find_provider(name: str) -> Provider:
    """Return a provider.

    Raises:
        ConfigError: there is none of this name.
    """
    from ais_prompt.config.keys import advice  # `aisprompt list` needs the table only

    if name not in PROVIDERS:
        raise ConfigError(f"there is no provider named {name!r}", where="provider", fix=advice(name, PROVIDERS))
    return PROVIDERS[name]
