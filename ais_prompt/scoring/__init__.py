"""From stored predictions to stored scores."""

from typing import TYPE_CHECKING

from ais_prompt.rooms import offered

if TYPE_CHECKING:
    from ais_prompt.scoring.averages import NAIVE, WEIGHTED, select, with_averages
    from ais_prompt.scoring.background import BackgroundScoring, read_values
    from ais_prompt.scoring.composite_scorers import DialogueScorer, RepeatScorer
    from ais_prompt.scoring.foreign_answers import Answer, match, predictions, read_answers
    from ais_prompt.scoring.judges.questions import AnsweredTask, JudgeJob, JudgeQuestions, answers_to_judge
    from ais_prompt.scoring.judges.verdicts import question_id, questions_about
    from ais_prompt.scoring.lost_golds import find_lost_golds
    from ais_prompt.scoring.rows import (
        REFERENCE_NOTE,
        Line,
        Row,
        TaskOutcome,
        bare,
        cell,
        half_width,
        models_of,
        percent,
        pivot,
        plain,
        score_row,
        span,
        summary_rows,
        value,
    )
    from ais_prompt.scoring.score import SampleScores, isolation_of, sample_scores, score_task, scorer_of, stored_scores
    from ais_prompt.scoring.score_worker import Scored, has_own_parts
    from ais_prompt.scoring.scorer import (
        CUT,
        NO_TEXT,
        NOT_SCORED,
        NOTHING_FOUND,
        UNCLOSED,
        UNUSABLE_GOLD,
        Scorer,
        composed,
    )
    from ais_prompt.scoring.sensitivity import BestReading, best_extractor, find_sensitivity, others_than, warning_of
    from ais_prompt.scoring.stored_answers import check_answers, check_stored
else:
    __getattr__, __dir__ = offered(__name__)
