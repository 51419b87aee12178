"""Metrics and their aggregation: pure functions, each with its source."""

from typing import TYPE_CHECKING

from ais_prompt.rooms import offered

if TYPE_CHECKING:
    from ais_prompt.metrics.aggregate import (
        AnswerCounts,
        Estimate,
        clipped_score,
        estimated_means,
        exact,
        exact_mean,
        incident_shares,
        mean_scores,
        spread_of_questions,
        standard_error,
        without_truncated,
    )
    from ais_prompt.metrics.bootstrap import (
        SEED,
        SumsDifference,
        bootstrap_interval,
        critical_of,
        max_t,
        sums_difference,
    )
    from ais_prompt.metrics.claims import (
        ENOUGH_RUNS,
        NIGHTS,
        POWER,
        Threshold,
        alarms_per_year,
        detectable_drop,
        fewest_for,
        fewest_samples,
        level_with_run_effect,
        low_end,
        mcnemar_power,
        samples_for,
        samples_for_drop,
        threshold,
    )
    from ais_prompt.metrics.difference import (
        LEVEL,
        MOST_EXACT,
        MeanDifference,
        holm,
        matched_worse,
        mcnemar_worse,
        mean_difference,
        mean_of_differences,
        sign_flips,
        tango_interval,
        with_zero,
    )
    from ais_prompt.metrics.distributions import t_quantile
    from ais_prompt.metrics.interval import (
        Part,
        Z,
        group_spread,
        largest_variance,
        mean_interval,
        of_whole_set,
        pooled,
        spread_of,
        stratum_spread,
        wilson_interval,
    )
    from ais_prompt.metrics.repeated import (
        Repeatability,
        avg_at_n,
        cons_at_k,
        cons_bounds,
        estimate_of_k,
        noise_of_k,
        pass_at_k,
        pass_hat_k,
        repeatability,
        round_widths_below,
        vote_classes,
    )
    from ais_prompt.metrics.spans import (
        best_assignment,
        counted_f1,
        exact_match,
        normalize,
        normalize_span,
        span_exact_match,
        span_f1,
        token_f1,
    )
else:
    __getattr__, __dir__ = offered(__name__)
