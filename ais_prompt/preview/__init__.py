"""Everything of ``view-prompt``: the prompt of a sample, where its pieces come from, and its tokens."""

from typing import TYPE_CHECKING

from ais_prompt.rooms import offered

if TYPE_CHECKING:
    from ais_prompt.preview.bubbles import (
        FORMAT_KINDS,
        Bubble,
        ChangedSpan,
        Medium,
        Piece,
        bubbles_of,
        is_in_example,
        mark_changes,
    )
    from ais_prompt.preview.origins import BETWEEN_SHOTS, Origin, Origins, Span, find_origins
    from ais_prompt.preview.preview import GOLD_TITLES, PromptView, Token, preview_sample, previews, request_line
    from ais_prompt.preview.prompt_differences import (
        LEAST_ALIKE,
        Hunk,
        Parts,
        PromptLock,
        TaskPrompts,
        aligned_blocks,
        changed_words,
        changes_title,
        compact_digest,
        hunks,
        lines_of,
        messages_of_text,
        prompt_of_text,
        prompts_of,
        question_text,
        questions,
        readable,
        snippet,
        text_of_prompt,
        text_or_json,
    )
    from ais_prompt.preview.run_prompts import (
        align,
        kept_prompts,
        stored_prompts,
        traced_origins,
        traced_views,
        write_prompts,
    )
    from ais_prompt.preview.terminal import print_sample
else:
    __getattr__, __dir__ = offered(__name__)
