"""Judges: models that rate answers. Their questions, replies and verdicts, and how far they agree."""

from typing import TYPE_CHECKING

from ais_prompt.rooms import offered

if TYPE_CHECKING:
    from ais_prompt.judges.judge_evaluators import (
        FIRST,
        SECOND,
        TIE,
        CascadeEvaluator,
        GenericLLMEvaluator,
        LLMRatingEvaluator,
        OrderChange,
        PairwiseEvaluator,
        decide,
        majority,
        make_postprocessor,
    )
    from ais_prompt.judges.questions import (
        JudgeQuestions,
        Question,
        batch_question_id,
        evaluator_in_parts,
        fields_of_questions,
        judge_dataset,
        judge_fields,
        judge_prompt,
        pair_fields,
        question_id,
        questions_about,
        shown_answer,
    )
    from ais_prompt.judges.reference_answers import (
        Rivals,
        check_reference_answers,
        pairs_per_question,
        reference_answer_of,
        round_of,
    )
    from ais_prompt.judges.replies import (
        generic_llmjudge_postprocess,
        judge_rating_postprocess,
        only_tag,
        without_quotes,
    )
    from ais_prompt.judges.verdicts import (
        ALPHA,
        NOT_JUDGED,
        Level,
        Replies,
        Verdicts,
        agreement,
        agreement_of_judges,
        by_judge,
        krippendorff_alpha,
        scores_of_judges,
    )
else:
    __getattr__, __dir__ = offered(__name__)
