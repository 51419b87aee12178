"""Every option of the command lines of OpenCompass 0.5.4 and AISBench 3.1, with words that people write behind it.

`tests/extensions/peer_loaders/test_options.py` compares the names with the parsers of both programs,
where these are here.
"""

from __future__ import annotations

from typing import Final

BOTH: Final = {
    ("--models",): "model.py",
    ("--datasets",): "demo_addition",
    ("--summarizer",): "example",
    ("--debug",): "",
    ("--dry-run",): "",
    ("-m", "--mode"): "infer",
    ("-r", "--reuse"): "latest",
    ("-w", "--work-dir"): "out",
    ("--config-dir",): "own",
    ("--max-num-workers",): "2",
    ("--max-workers-per-gpu",): "1",
    ("--dump-eval-details",): "",
    ("--dump-extract-rate",): "",
    ("--custom-dataset-path",): "mine.jsonl",
    ("--custom-dataset-meta-path",): "meta.json",
    ("--custom-dataset-data-type",): "mcq",
    ("--custom-dataset-infer-method",): "gen",
}
OPENCOMPASS: Final = {
    **BOTH,
    ("--dump-eval-details",): "False",
    ("--slurm",): "",
    ("--dlc",): "",
    ("-a", "--accelerator"): "vllm",
    ("--config-verbose",): "",
    ("-l", "--lark"): "",
    ("--retry",): "2",
    ("--dump-res-length",): "",
    ("--analysis-repeat",): "",
    ("-sp", "--station-path"): "station",
    ("--station-overwrite",): "",
    ("--read-from-station",): "",
    ("--dataset-num-runs",): "2",
    ("--dump-only-message-path",): "messages",
    ("-p", "--partition"): "gpu",
    ("-q", "--quotatype"): "auto",
    ("--qos",): "high",
    ("--aliyun-cfg",): "aliyun.cfg",
    ("--hf-type",): "base",
    ("--hf-path",): "weights",
    ("--model-kwargs",): "device_map=auto trust_remote_code=True",
    ("--tokenizer-path",): "weights",
    ("--tokenizer-kwargs",): "padding_side=left",
    ("--peft-path",): "adapter",
    ("--peft-kwargs",): "a=1",
    ("--generation-kwargs",): "do_sample=True temperature=0.6",
    ("--max-seq-len",): "2048",
    ("--max-out-len",): "100",
    ("--min-out-len",): "1",
    ("--batch-size",): "8",
    ("--num-gpus",): "1",
    ("--hf-num-gpus",): "1",
    ("--pad-token-id",): "0",
    ("--stop-words",): "Q: A:",
}
AISBENCH: Final = {
    **BOTH,
    ("-m", "--mode"): "infer_judge",
    ("-s", "--search"): "",
    ("--num-prompts",): "2",
    ("--num-warmups",): "0",
    ("--merge-ds",): "",
    ("--pressure",): "",
    ("--pressure-time",): "20",
}
FLAGS: Final = {"opencompass": OPENCOMPASS, "ais_bench": AISBENCH}
"""Package → the names of each option → the words behind it; the config has no name."""
TOOLS: Final = (
    *("analyze_repeat", "case_analyzer", "cfg_run", "chatml_format_test", "collect_code_preds", "compare_configs"),
    *("convert_alignment_bench", "convert_alignment_bench_to_csv", "convert_alignmentbench", "eval_mmbench"),
    *("list_configs", "prediction_merger", "prompt_viewer", "results_station", "test_api_model"),
    *("tools_needleinahaystack", "update_dataset_suffix", "update_suffix", "viz_multi_model"),
    *("viz_needleinahaystack", "xinan"),
)
"""The files in ``tools/`` of OpenCompass, of all its versions."""
