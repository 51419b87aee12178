"""The old path of `ais_prompt.prompts.role_templates`, which configs import."""

from ais_prompt.prompts.role_templates import *  # noqa: F403
