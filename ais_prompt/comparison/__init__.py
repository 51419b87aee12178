"""Compare runs and decide: differences and their causes, baselines, gates."""

from typing import TYPE_CHECKING

from ais_prompt.rooms import offered

if TYPE_CHECKING:
    from ais_prompt.comparison.advice import Advice, advise_gates
    from ais_prompt.comparison.asking_again import Questions, choose_questions, config_of, dataset_name, separate
    from ais_prompt.comparison.baseline import HeldPair, check_baseline, check_run, make_baselines, open_baseline
    from ais_prompt.comparison.causes import DECODING, Change, Share, shares_left_out
    from ais_prompt.comparison.claim_verdicts import check_claims
    from ais_prompt.comparison.compared_task import Comparison, Flip, compare
    from ais_prompt.comparison.differences import (
        Difference,
        adjusted,
        intervals_together,
        mean_differences,
        model_differences,
    )
    from ais_prompt.comparison.explained import explain_runs, has_scores
    from ais_prompt.comparison.gates import Verdict, check_gates
    from ais_prompt.comparison.ladder import AskedAgain, Ladder, Step
    from ais_prompt.comparison.paired_runs import (
        RunComparison,
        StoredRun,
        compare_runs,
        open_sides,
        pair_tasks,
        read_stored_run,
    )
    from ais_prompt.comparison.pairing import why_undivided
    from ais_prompt.comparison.scored_task import ScoredTask
else:
    __getattr__, __dir__ = offered(__name__)
