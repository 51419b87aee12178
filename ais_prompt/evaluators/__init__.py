"""Evaluators: score an answer against the gold.

Every evaluator can be imported from here; the module that defines it is loaded when its name is first used.
"""

from typing import TYPE_CHECKING

from ais_prompt.rooms import offered

if TYPE_CHECKING:
    from ais_prompt.evaluators.accuracy import AccEvaluator, EDAccEvaluator, EMEvaluator, Gsm8kEvaluator, edit_distance
    from ais_prompt.evaluators.base import (
        AcceptsSilence,
        AnswerBatch,
        AsksInParts,
        AveragingEvaluator,
        BatchEvaluator,
        BatchVerdict,
        ComparesAnswers,
        CorpusEvaluator,
        DoubtsGolds,
        Evaluator,
        HasJudgePrompt,
        JudgedBatchEvaluator,
        JudgeEvaluator,
        JudgeQuestion,
        MeanEvaluator,
        PanelEvaluator,
        ReadsTokens,
        RepeatEvaluator,
        ScoresMeasures,
        best_of,
        golds_of,
        less_is_better,
        letters_of,
        unread_value,
        worst_of,
    )
    from ais_prompt.evaluators.choices import AveragePPLEvaluator, ChoicesAccEvaluator, ChoicesMassEvaluator
    from ais_prompt.evaluators.contained import (
        BBHEvaluator,
        ContainedAnswerEvaluator,
        ContainsEvaluator,
        FuzzyMatchEvaluator,
        LambadaEvaluator,
        OptionOrTextEvaluator,
        StringMatchEvaluator,
        contains,
    )
    from ais_prompt.evaluators.math import MathProcess, MATHVerifyEvaluator
    from ais_prompt.evaluators.math_worker import is_equal
    from ais_prompt.evaluators.own import OwnEvaluator, is_scoring_function, make_evaluator
    from ais_prompt.evaluators.squad import DropEvaluator, SquadEvaluator
    from ais_prompt.evaluators.structured import JsonEqualEvaluator, JsonSchemaEvaluator, RegexEvaluator
    from ais_prompt.evaluators.text_overlap import BleuEvaluator, JiebaRougeEvaluator, RougeEvaluator, SummedEvaluator
else:
    __getattr__, __dir__ = offered(__name__, "evaluators")
