"""From rows to filled prompts: templates and `PromptList`."""

from ais_prompt.prompts.builder import PromptBuilder
from ais_prompt.prompts.prompt_list import PromptList
from ais_prompt.prompts.template import Filled, PromptTemplate

__all__ = ["Filled", "PromptBuilder", "PromptList", "PromptTemplate"]
