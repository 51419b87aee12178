"""From stored predictions to stored scores."""

from typing import TYPE_CHECKING

from ais_prompt.rooms import offered

if TYPE_CHECKING:
    from ais_prompt.scoring.answers import DialogueScorer, RepeatScorer
    from ais_prompt.scoring.averages import NAIVE, WEIGHTED, select, with_averages
    from ais_prompt.scoring.foreign_answers import Answer, match, predictions, read_answers
    from ais_prompt.scoring.partial import check_stored, collect, forget_partial, merge_journals, open_partial
    from ais_prompt.scoring.rows import (
        REFERENCE_NOTE,
        Line,
        Row,
        TaskOutcome,
        bare,
        best_rows,
        cell,
        half_width,
        is_starred,
        models_of,
        percent,
        pivot,
        plain,
        right_answers,
        score_row,
        span,
        summary_rows,
        value,
    )
    from ais_prompt.scoring.score import (
        SampleScores,
        isolation_of,
        sample_scores,
        score_task,
        stored_scores,
    )
    from ais_prompt.scoring.scorer import (
        CUT,
        NO_TEXT,
        NOT_SCORED,
        NOTHING_FOUND,
        UNCLOSED,
        UNUSABLE_GOLD,
        Scorer,
        composed,
        read_answer,
    )
    from ais_prompt.scoring.unchanged import score_what_changed
    from ais_prompt.scoring.worker import (
        AnsweredTask,
        BackgroundScoring,
        Scored,
        answers_to_judge,
        has_own_parts,
        read_values,
    )
else:
    __getattr__, __dir__ = offered(__name__)
