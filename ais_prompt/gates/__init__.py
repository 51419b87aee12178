"""Gates: conditions that a run must meet, and baselines. Read before anything is asked, decided by its scores."""

from typing import TYPE_CHECKING

from ais_prompt.rooms import offered

if TYPE_CHECKING:
    from ais_prompt.gates.advice import Advice, advice_lines, advise_gates
    from ais_prompt.gates.baseline import (
        BASELINE_FORMAT,
        Baseline,
        BaselineFile,
        BaselineTask,
        make_baselines,
        read_baseline,
        write_baseline,
    )
    from ais_prompt.gates.decision import check_gates, interval_end
    from ais_prompt.gates.drop import HeldPair, check_baseline
    from ais_prompt.gates.run_gates import Claim, RunGates, checked_gates, claims_of, open_gates
    from ais_prompt.gates.shown import alarm_words, describe_claim, gate_lines, to_junit, to_pull_request
else:
    __getattr__, __dir__ = offered(__name__)
