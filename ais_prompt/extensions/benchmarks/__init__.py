"""Benchmarks with cards: get their data, make their rows; RULER, function calls, instructions."""

from typing import Final

from ais_prompt.extension import Extension, VerbEntry

EXTENSION: Final = Extension(
    parts={
        "readers": {
            "BenchmarkDataset": "layouts.layout_dataset",
            "CatalogDataset": "cards.catalog_dataset",
            "RulerDataset": "ruler.ruler_dataset",
        },
        "evaluators": {
            "InstructionEvaluator": "instructions",
            "LongBenchClassificationEvaluator": "long_bench",
            "LongBenchCodeSimEvaluator": "long_bench",
            "LongBenchCountEvaluator": "long_bench",
            "LongBenchRetrievalEvaluator": "long_bench",
            "LongBenchRougeEvaluator": "long_bench",
            "ToolCallEvaluator": "function_calls",
        },
    },
    verbs={"data": VerbEntry("Others", "data_command:data", "Bring benchmarks to this machine, or check them.")},
    meant={
        "download": "data get",
        "get": "data get",
        "fetch": "data get",
    },
)
