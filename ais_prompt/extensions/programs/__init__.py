"""Programs that a model wrote: a sandbox, evaluators that test them, an agent that runs them in turns."""

from typing import Final

from ais_prompt.extension import Extension

EXTENSION: Final = Extension(
    parts={
        "inferencers": {"AgentInferencer": "agent"},
        "postprocessors": {
            "humaneval_postprocess_v2": "written_programs",
            "humaneval_postprocess_v3": "written_programs",
            "live_code_bench_postprocess": "live_code",
            "mbpp_postprocess": "written_programs",
        },
        "evaluators": {
            "BigCodeBenchEvaluator": "big_code",
            "HumanEvalEvaluator": "evaluator",
            "HumanEvaluator": "evaluator",
            "LiveCodeBenchEvaluator": "live_code",
            "MBPPEvaluator": "evaluator",
        },
    },
    words={
        "evaluators": {"code": "HumanEvalEvaluator", "pass at k": "HumanEvalEvaluator"},
        "postprocessors": {"code": "humaneval_postprocess_v2", "python": "humaneval_postprocess_v2"},
    },
    moved={
        "ais_prompt.evaluators.code": "",
        "ais_prompt.inferencers.agent": "agent",
        "ais_prompt.inferencers.react": "agent",
        "ais_prompt.sandbox.choose": "sandbox.program_runner",
        "ais_prompt.sandbox": "sandbox",
    },
)
