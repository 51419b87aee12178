"""A suite of many datasets, against the same requests by lm-evaluation-harness.

    python -m venv VENV && VENV/bin/pip install 'lm-eval[api]'
    python -m bench.lm_eval_suite VENV/bin/python            # --share 0.2 --rounds 1 for a smaller one

57 datasets of 50 samples are 57 local tasks in one group there; both ask 64 requests at a time. The latency is
log-normal (mean 1 s, sigma 1) and follows from a hash of the prompt, so that both do the same work.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path
from typing import Final

from bench.engine import Cost, lean_server, run_command
from bench.suite import CONCURRENCY, compare, evaluate, in_turns, write_parts

TASK: Final = """
task: part{number}
dataset_path: json
dataset_kwargs: {{data_files: {{test: {file}}}}}
test_split: test
output_type: generate_until
doc_to_text: "Question: {{{{question}}}}\\nAnswer:"
doc_to_target: answer
generation_kwargs: {{until: ["</s>"], max_gen_toks: 256}}
metric_list: [{{metric: exact_match}}]
"""


def evaluate_there(python: str, url: str, parts: int, samples: int) -> Cost:
    """Run the whole command of lm-evaluation-harness; all samples must be right."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_parts(folder, parts, samples)
        tasks = folder / "tasks"
        tasks.mkdir()
        for number in range(parts):
            task = TASK.format(number=number, file=folder / f"part{number}.jsonl")
            (tasks / f"part{number}.yaml").write_text(task)
        names = ", ".join(f"part{number}" for number in range(parts))
        (tasks / "group.yaml").write_text(f"group: parts\ntask: [{names}]\n")
        model = f"model=lean,base_url={url}/chat/completions,num_concurrent={CONCURRENCY},tokenizer_backend=None"
        command = [python, "-m", "lm_eval", "--model", "local-chat-completions", "--model_args", model]
        command += ["--tasks", "parts", "--include_path", str(tasks), "--apply_chat_template", "--output_path", "out"]
        cost = run_command(
            command, folder, url, {"HF_HOME": str(folder / "cache"), "HF_HUB_OFFLINE": "1", "OPENAI_API_KEY": "none"}
        )
        [path] = folder.glob("out/*/results_*.json")
        results = json.loads(path.read_text())["results"]
        scores = [results[f"part{number}"]["exact_match,none"] for number in range(parts)]
        if scores != [1.0] * parts:
            raise SystemExit(f"not all samples are right: {scores}")
        return cost


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("python", help="a Python with lm-evaluation-harness")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--share", type=float, default=1.0, help="share of the datasets")
    options = parser.parse_args()
    python = os.path.abspath(options.python)  # noqa: PTH100  # not resolved: a link is what makes a venv
    parts = round(57 * options.share)
    samples = 50 * parts
    with lean_server(1.0, 1.0) as url, tempfile.TemporaryDirectory() as work:
        ours, theirs = in_turns(
            options.rounds,
            lambda: evaluate([url], parts, samples, Path(work)),
            lambda: evaluate_there(python, url, parts, samples),
        )
    compare(f"{samples:,} samples in {parts} datasets, heavy tail: ours against lm-evaluation-harness", ours, theirs)


if __name__ == "__main__":
    main()
