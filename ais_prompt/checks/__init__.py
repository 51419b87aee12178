"""Everything that looks at a config before a model is asked: faults, warnings, and what scoring needs."""

from typing import TYPE_CHECKING

from ais_prompt.rooms import offered

if TYPE_CHECKING:
    from ais_prompt.checks.check import Findings, check_plan
    from ais_prompt.checks.checked_config import checked, checked_for_scoring, checked_with_places, open_stored
    from ais_prompt.checks.extraction import LONGEST, PHRASINGS, ExtractionTrial, LostAnswer, try_extraction
    from ais_prompt.checks.faults import FaultList, check_k
    from ais_prompt.checks.gate_faults import faults_of_gates
    from ais_prompt.checks.prompt_warning import (
        NEUTRAL_SHOT,
        MisspeltPlaceholder,
        PromptWarning,
        TranslationNote,
        filled_texts,
        neutral_sample,
        probe_prompts,
        translation_notes,
    )
    from ais_prompt.checks.shown_questions import find_shown_questions, question_key
    from ais_prompt.checks.usable_rows import check_media, taken_kinds
    from ais_prompt.checks.warnings import is_one_edit, label_warnings, prompt_warnings, shows_gold
else:
    __getattr__, __dir__ = offered(__name__)
