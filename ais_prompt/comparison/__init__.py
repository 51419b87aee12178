"""Compare runs: differences and their causes."""

from typing import TYPE_CHECKING

from ais_prompt.rooms import offered

if TYPE_CHECKING:
    from ais_prompt.comparison.changes import (
        DECODING,
        Change,
        decoding,
        differing_decoding,
        differing_requests,
        has_bodies,
        has_rule,
        model_name,
        same_prompt,
    )
    from ais_prompt.comparison.compared_task import (
        CHANCE,
        DATA,
        EXTRACTION,
        FAILURES,
        JUDGE,
        METRIC,
        OTHER_SAMPLES,
        RULE,
        TRUNCATION,
        Comparison,
        Division,
        Flip,
        Share,
        compare,
        shares_left_out,
    )
    from ais_prompt.comparison.difference_entry import DifferenceEntry, difference_json
    from ais_prompt.comparison.differences import (
        Difference,
        adjusted,
        intervals_together,
        mean_differences,
        model_differences,
        score_difference,
    )
    from ais_prompt.comparison.document import comparison_json, together_json
    from ais_prompt.comparison.paired_runs import (
        RunComparison,
        StoredRun,
        compare_runs,
        open_sides,
        pair_tasks,
        read_stored_run,
        with_equal_trust,
    )
    from ais_prompt.comparison.pairing import Pairing, paired, why_undivided
    from ais_prompt.comparison.printed import (
        FEW,
        FurtherComparison,
        flip_lines,
        print_comparison,
        print_model_difference,
        print_together,
        questions_of,
    )
    from ais_prompt.comparison.scored_task import ScoredTask, clusters_of, has_scores, have_one_metric
else:
    __getattr__, __dir__ = offered(__name__)
