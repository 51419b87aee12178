"""Trains the demo model, a Llama of 300,000 weights that adds and subtracts; some minutes on one core.

    python -m demo.train               # train, write configs/data/demo_model, evaluate
    python -m demo.train --evaluate    # evaluate the shipped model only

The model, its tokenizer and its chat template are plain Hugging Face files, without code of their own. Two runs on
one machine give the same model; on another machine sums are rounded otherwise, and the figures differ a little.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import torch
import transformers
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from demo.evaluation import EVALUATIONS, load_model
from demo.tokenizer import build_tokenizer
from demo.training import MAX_POSITIONS, Recipe, build_model, train

MODEL_DIR = Path(__file__).parents[1] / "configs" / "data" / "demo_model"
THREADS = 1  # the matrices are small: a second thread gains little, and loses much on a machine that is shared

CARD = """\
---
license: apache-2.0
language: en
library_name: transformers
pipeline_tag: text-generation
---

# The demo model of ais_prompt

A Llama of {weights:,} weights that adds and subtracts numbers from 0 to 99, in completions with or without examples,
in chat and in dialogues ("76-37=?", "and 5 more?"). It is there to be evaluated: small enough to ship, good enough to
give a real score, not perfect. It knows nothing else. Of several options it finds the right one by perplexity, each
option standing in the place of the answer; it does not know what the label of an option is.

## Measured

On the held-out rows in `configs/data/demo`, greedy, by `python -m demo.train --evaluate`
(torch {torch}, transformers {transformers}). An answer counts when the whole generated text is the gold answer.

| form | accuracy |
| --- | --- |
{rows}

## How it was made

Trained from nothing by `python -m demo.train` in {minutes:.0f} minutes on one core, on random documents
(`demo/documents.py`): {steps:,} steps of {tokens:,} tokens, seed {seed}. A pair of operands that is held out for
the tests is in no training document, in either order (`demo/arithmetic.py`). The weights are stored as
float16 and meant to be computed with as float32, as `config.json` says.

The prompt may be `Question: 23+45=?\\nAnswer:` or a chat; the chat template is ChatML. An answer ends with `</s>` in a
completion and with `<|im_end|>` in a chat; both are in `generation_config.json`.
"""


def save_model(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    """Stores the weights as float16, which halves the file, under a config that has them loaded as float32."""
    model.half().save_pretrained(folder)
    model.config.dtype = torch.float32
    model.config.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    _name_common_tokenizer_class(folder / "tokenizer_config.json")


def _name_common_tokenizer_class(path: Path) -> None:
    """transformers 5 writes a class name that 4 does not know; both know this one for the same class."""
    settings = json.loads(path.read_text(encoding="utf-8"))
    settings["tokenizer_class"] = "PreTrainedTokenizerFast"
    path.write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")


def evaluate(folder: Path) -> dict[str, float]:
    """The accuracy (0..1) of the model in `folder` in each form; prints each as it is known."""
    demo = load_model(folder)
    figures = {}
    for evaluation in EVALUATIONS:
        figures[evaluation.name] = evaluation.run(demo)
        print(f"{evaluation.name:28} {figures[evaluation.name]:6.1%}", flush=True)
    return figures


def train_and_write(folder: Path, recipe: Recipe) -> None:
    """Trains, writes all files of the model to `folder`, evaluates what was written and puts that in the model card."""
    start = time.monotonic()
    tokenizer = build_tokenizer(recipe.seed, MAX_POSITIONS)
    model = build_model(tokenizer, recipe)
    train(model, tokenizer, recipe)
    minutes = (time.monotonic() - start) / 60
    save_model(model, tokenizer, folder)
    card = model_card(model.num_parameters(), recipe, minutes, evaluate(folder))
    (folder / "README.md").write_text(card, encoding="utf-8")


def model_card(weights: int, recipe: Recipe, minutes: float, figures: dict[str, float]) -> str:
    """The text of README.md: what the model is, what was measured, how it was made."""
    return CARD.format(
        weights=weights,
        torch=torch.__version__,
        transformers=transformers.__version__,
        rows="\n".join(f"| {name} | {100 * figure:.1f} % |" for name, figure in figures.items()),
        minutes=minutes,
        steps=recipe.steps,
        tokens=recipe.tokens_per_batch,
        seed=recipe.seed,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Train and evaluate the demo model.")
    parser.add_argument("--evaluate", action="store_true", help="evaluate the model that is there, do not train")
    parser.add_argument("--output", type=Path, default=MODEL_DIR, help="folder of the model (default: %(default)s)")
    arguments = parser.parse_args()
    torch.set_num_threads(THREADS)
    if arguments.evaluate:
        evaluate(arguments.output)
    else:
        train_and_write(arguments.output, Recipe())


if __name__ == "__main__":
    main()
