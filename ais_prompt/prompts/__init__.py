"""Prompt templates: from rows of a dataset to filled prompts."""

from ais_prompt.prompts.base import Filled, Template
from ais_prompt.prompts.builder import PromptBuilder
from ais_prompt.prompts.chat import ChatTemplate
from ais_prompt.prompts.dialogue_template import FilledDialogue, MultiTurnPromptTemplate
from ais_prompt.prompts.multimodal import MMPromptTemplate
from ais_prompt.prompts.prompt_list import PromptList
from ais_prompt.prompts.raw import RawPromptTemplate
from ais_prompt.prompts.template import PromptTemplate

__all__ = [
    "ChatTemplate",
    "Filled",
    "FilledDialogue",
    "MMPromptTemplate",
    "MultiTurnPromptTemplate",
    "PromptBuilder",
    "PromptList",
    "PromptTemplate",
    "RawPromptTemplate",
    "Template",
]
