"""What the benchmarks of local models have in common: a larger model, peak memory, a process for each way."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

DATA: Final = Path(__file__).parents[1] / "configs" / "data"
DEMO_MODEL: Final = DATA / "demo_model"


def save_random_llama(folder: Path) -> Path:
    """A Llama of about 30 million random parameters, with the tokenizer of the demo model."""
    import torch
    from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

    tokenizer = AutoTokenizer.from_pretrained(str(DEMO_MODEL))
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=512,
        intermediate_size=1408,
        num_hidden_layers=9,
        num_attention_heads=8,
        initializer_range=0.05,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def held_mib() -> float:
    """What this process holds in memory, in MiB. Only Linux tells."""
    return _memory("VmRSS")


def peak_mib() -> float:
    """The most that this process has held since `forget_peak`, in MiB. Only Linux tells."""
    return _memory("VmHWM")


def forget_peak() -> None:
    """Begin to measure anew: loading a model takes more memory than many a way of using it."""
    Path("/proc/self/clear_refs").write_text("5", "ascii")


def in_own_process(module: str, *arguments: object) -> dict[str, Any]:
    """The last line that ``python -m module --child …`` prints, as JSON."""
    command = [sys.executable, "-m", module, "--child", *map(str, arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def _memory(kind: str) -> float:
    status = Path("/proc/self/status").read_text("ascii")
    return int(status.split(f"{kind}:")[1].split()[0]) / 1024
