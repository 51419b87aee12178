"""Prompt templates: from rows of a dataset to filled prompts."""

from typing import TYPE_CHECKING

from ais_prompt.rooms import offered

if TYPE_CHECKING:
    from ais_prompt.prompts.api_format import DEFAULT_META_TEMPLATE, ApiFormat, ApiTurn, is_raw
    from ais_prompt.prompts.base import ChatFormat, Filled, MessagesFormat, Mode, Template
    from ais_prompt.prompts.builder import EXAMPLES_KEPT, PromptBuilder
    from ais_prompt.prompts.chat_formats import READY_MADE, make_chat_format, parse_role_template
    from ais_prompt.prompts.dialogue_template import ChatTemplate, FilledDialogue, MultiTurnPromptTemplate
    from ais_prompt.prompts.message_media import LocalFilesFormat, MediaRoots, check_taken, note_files
    from ais_prompt.prompts.meta_template import CHAT, SECTIONS_KEPT, MetaTemplate, Slot, resolve_tokens, split_rounds
    from ais_prompt.prompts.multimodal import END, STARTS, MMPromptTemplate, has_marker
    from ais_prompt.prompts.prompt_list import (
        Item,
        PromptList,
        PromptSection,
        chain,
        column_marks,
        compile_text,
        mark_of,
        split_at_sentinels,
        text_of,
    )
    from ais_prompt.prompts.raw import RawPromptTemplate
    from ais_prompt.prompts.role_templates import (
        META_TEMPLATE,
        ROLE_NAMES,
        ChatMLTemplate,
        GrammarErrorCorrectionTemplate,
        Llama2ChatTemplate,
        Message,
        MistralChatTemplate,
        RoleTemplate,
        RoleTemplateFormat,
        RoleTemplateInterface,
        RoleTemplateMessages,
        hides_answers,
    )
    from ais_prompt.prompts.template import PromptTemplate
    from ais_prompt.prompts.text_format import LanguageModelFormat, MediaKinds, TokenizerChatFormat, merge_neighbours
else:
    __getattr__, __dir__ = offered(__name__)
