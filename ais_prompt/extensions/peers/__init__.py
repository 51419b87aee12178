"""Configs of OpenCompass and AISBench: translate what they say into the config of this program.

`translate` takes a loaded config and returns one that names our parts, with a note on everything that is dropped or
means something else here. ``table/`` maps their names to ours. A part without a row there runs their own code through
an adapter. The core does not know their form.
"""

from typing import Final

from ais_prompt.extension import Extension, VerbEntry

EXTENSION: Final = Extension(
    parts={
        "models": {
            "TritonModel": "triton",
        },
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
            "cascade_verdict_peer": "postprocessors",
            "extract_non_reasoning_content_peer": "postprocessors",
            "first_capital_postprocess_multi_peer": "postprocessors",
            "first_capital_postprocess_peer": "postprocessors",
            "first_number_postprocess_peer": "postprocessors",
            "first_option_postprocess_peer": "postprocessors",
            "general_postprocess_peer": "postprocessors",
            "generic_llmjudge_postprocess_peer": "postprocessors",
            "gsm8k_postprocess_peer": "postprocessors",
            "humaneval_postprocess_v2_peer": "postprocessors",
            "humaneval_postprocess_v3_peer": "postprocessors",
            "last_capital_postprocess_peer": "postprocessors",
            "last_letter_verdict_peer": "postprocessors",
            "last_option_postprocess_peer": "postprocessors",
            "math_postprocess_peer": "postprocessors",
            "math_postprocess_v2_peer": "postprocessors",
            "multiple_select_postprocess_peer": "postprocessors",
            "whole_verdict_peer": "postprocessors",
        },
        "evaluators": {
            "PeerCascadeEvaluator": "code.evaluators",
            "PeerEvaluator": "code.evaluators",
            "PeerJudgeEvaluator": "code.judged",
            "PeerRepeatEvaluator": "repeats",
            "SimulatedCallsEvaluator": "simulated_calls",
        },
    },
    verbs={"migrate": VerbEntry("Others", "migrate:migrate", "Write their config as one of ours.")},
    logs={"opencompass": "import_run:FORMAT"},
    options={
        "config": {
            "--peer-path": "command_line:PEER_PATH",
            "--custom-dataset-path": "command_line:CUSTOM_DATASET_PATH",
            "--hf": "command_line:HF",
            "--accelerator": "command_line:ACCELERATOR",
            "--peer-scores": "command_line:PEER_SCORES",
            "--dump-eval-details": "command_line:DUMP_EVAL_DETAILS",
        },
        "stored": {
            "--peer-path": "command_line:PEER_PATH",
            "--peer-scores": "command_line:PEER_SCORES",
        },
        "names": {
            "--peer-path": "command_line:PEER_PATH",
        },
    },
    variables={"AISPROMPT_PEER_PATH": ("folders", "folders with OpenCompass or AISBench, as `--peer-path`")},
    packages=("opencompass", "ais_bench_benchmark"),
    steps={
        "command_line": "command_line:as_written_here",
        "config_trees": "peer_packages:config_trees",
        "find_data": "data_path:places_of_data",
        "foreign_name": "foreign_names:foreign_name",
        "shown": "foreign_config:print_after_scores",
        "source": "foreign_config:with_own_file",
        "translate": "foreign_config:translated",
    },
)
