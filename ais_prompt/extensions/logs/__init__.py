"""Logs of other tools: one reader a format, and the run folder that is made of a log."""

from typing import Final

from ais_prompt.extension import Extension, VerbEntry

EXTENSION: Final = Extension(
    parts={
        "postprocessors": {
            "logged_choice": "rules",
            "logged_letters": "rules",
            "logged_marked_letter": "rules",
            "logged_math": "rules",
            "logged_regex": "rules",
        },
        "evaluators": {
            "LoggedMatchEvaluator": "rules",
        },
    },
    verbs={
        "explain": VerbEntry(
            "Compare",
            "explain.command:explain",
            "Explain why two scores differ, of any tools.",
            "explain.ladder_table:ExplainDocument",
        ),
        "import": VerbEntry(
            "Others", "import_command:import_command", "Import a log of another tool.", "import_log:ImportDocument"
        ),
    },
    logs={
        "inspect_ai": "inspect_ai:FORMAT",
        "lm_eval": "lm_eval:FORMAT",
        "evalscope": "evalscope:FORMAT",
        "helm": "helm:FORMAT",
        "every_eval_ever": "every_eval_ever:FORMAT",
        "nemo": "nemo:FORMAT",
        "tau_bench": "tau_bench:TAU_FORMAT",
        "tau2_bench": "tau_bench:TAU2_FORMAT",
    },
    exporters={
        "eee": "write_every_eval_ever:write_every_eval_ever",
        "inspect": "write_inspect:write_inspect_logs",
        "lm-eval": "write_lm_eval:write_lm_eval",
    },
    steps={
        "open_log": "import_log:open_log",
    },
)
