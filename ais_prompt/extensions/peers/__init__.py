"""Configs of OpenCompass and AISBench: translate what they say into the config of this program.

`translate` takes a loaded config and returns one that names our parts, with a note on everything that is dropped or
means something else here. ``table/`` maps their names to ours. A part without a row there runs their own code through
an adapter. The core does not know their form.
"""

from typing import Final

from ais_prompt.extension import Extension, VerbEntry

EXTENSION: Final = Extension(
    parts={
        "readers": {
            "PeerDataset": "code.parts",
        },
        "retrievers": {
            "PeerRetriever": "code.parts",
        },
        "inferencers": {
            "SimulatedToolCallInferencer": "simulated_calls",
        },
        "postprocessors": {
            "PeerPostprocessor": "code.parts",
        },
        "evaluators": {
            "PeerCascadeEvaluator": "code.evaluators",
            "PeerEvaluator": "code.evaluators",
            "PeerJudgeEvaluator": "code.judged",
            "SimulatedCallsEvaluator": "simulated_calls",
        },
    },
    verbs={"migrate": VerbEntry("Others", "migrate_command:migrate", "Write their config as one of ours.")},
    logs={"opencompass": "import_run:FORMAT"},
    steps={
        "translate": "translate:translate",
        "accelerate": "accelerate:accelerated",
    },
)
