"""Benchmarks with cards: get their data, make their rows; RULER, function calls, instructions, images."""

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
            "AnlsEvaluator": "visual",
            "ChrfEvaluator": "corpus",
            "CircularEvaluator": "circular",
            "InstructionEvaluator": "instructions",
            "LongBenchClassificationEvaluator": "long_bench",
            "LongBenchCodeSimEvaluator": "long_bench",
            "LongBenchCountEvaluator": "long_bench",
            "LongBenchRetrievalEvaluator": "long_bench",
            "LongBenchRougeEvaluator": "long_bench",
            "MmmuOpenEvaluator": "visual",
            "MrcrEvaluator": "long_bench",
            "OcrBenchEvaluator": "visual",
            "RelaxedAccuracyEvaluator": "visual",
            "RoundedNumberEvaluator": "visual",
            "TerEvaluator": "corpus",
            "ToolCallEvaluator": "function_calls",
            "VqaAccuracyEvaluator": "visual",
            "WerEvaluator": "corpus",
        },
    },
    verbs={"data": VerbEntry("Others", "data_command:data", "Bring benchmarks to this machine, or check them.")},
    meant={
        "download": "data get",
        "get": "data get",
        "fetch": "data get",
    },
    steps={
        "benchmarks": "card:listed",
        "entries": "entries:entries",
    },
)
