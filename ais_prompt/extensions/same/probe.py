"""What `aisprompt same` asks: open questions, whose answers differ between models, and likelihoods of texts."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ais_prompt.checks.source import local_model, served_model
from ais_prompt.config.compose import compose
from ais_prompt.errors import ConfigError
from ais_prompt.registry import MODELS
from ais_prompt.utils.text import listed

SIDES: Final = ("first", "second")
ANSWERS: Final = "answers"
TEXTS: Final = ("texts", "texts-again")
"""The texts are asked twice: what differs between both times is the noise of a server that batches requests."""
PROMPTS: Final = (
    "Describe an old lighthouse in two sentences.",
    "Write the first line of a novel about a lost letter.",
    "Name an animal and say why people like it.",
    "What could a student cook on a rainy evening?",
    "Invent a name for a small bakery and explain it.",
    "Tell a short story about a robot that is afraid of water.",
    "Give one tip for learning a language.",
    "What happens in a city at four in the morning?",
    "Write a short message to a friend who has moved away.",
    "Explain what a river is to a child.",
    "Describe the taste of a lemon to somebody who never had one.",
    "Suggest a title for a song about winter.",
    "Write a Python function that reverses the words of a sentence.",
    "Complete the sentence: The door opened slowly, and",
    "What would you put into a box for people in a hundred years?",
    "Write a polite complaint about a late train.",
    "Compare a library with a forest.",
    "Make up a proverb about patience.",
    "Schreibe einen Satz über das Meer.",
    "Écris une phrase sur un marché le dimanche.",
    "用一句话描述秋天。",
    "Escribe una frase sobre un perro viejo.",
    "List three things that are both round and red.",
    "Write a line of dialogue between two tired astronauts.",
    "Which invention changed daily life the most, and why?",
)
"""Written for this purpose."""


def model_of(text: str) -> dict[str, Any]:
    """Return the config of a model that the command line names.

    Args:
        text: an address (``http://127.0.0.1:8000/v1``, with ``#model`` if the server has several), a model config, or a
            folder or GGUF file with weights.

    Raises:
        ConfigError: it is none of them, or the config has several models.
        ModelError: the server does not list its models.
    """
    name, _, chosen = text.partition("#")
    if name.startswith(("http://", "https://")):
        return served_model((name,), chosen or None)
    if Path(name).is_dir() or name.endswith(".gguf"):
        return local_model(name, "chat")
    known = compose([name], []).values["models"]
    models = [one for one in known if chosen in ("", one.get("abbr"))]
    if len(models) != 1:
        abbrs = listed(str(one.get("abbr")) for one in known)
        what = f"{name} has {len(models)} models" + (f" {chosen!r}" if chosen else "")
        raise ConfigError(what, where=text, fix=f"write {name}#ABBR with one of: {abbrs}")
    return dict(models[0])


def probe(
    models: Sequence[Mapping[str, Any]],
    prompts: Sequence[str],
    samples: int,
    max_out_len: int,
    temperature: float,
    *,
    likelihoods: bool,
) -> dict[str, Any]:
    """Return the config that asks two models.

    Args:
        models: their configs.
        prompts: the questions, which are also the texts.
        samples: how often each question is asked.
        max_out_len: most tokens of an answer.
        temperature: of the answers.
        likelihoods: ask for the likelihoods of the texts, in place of answers.
    """

    def dataset(abbr: str, rows: Sequence[str], inferencer: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "type": "LocalDataset",
            "abbr": abbr,
            "rows": [{"text": row} for row in rows],
            "reader_cfg": {"input_columns": ["text"], "output_column": None},
            "infer_cfg": {
                "prompt_template": {"type": "PromptTemplate", "template": "{text}"},
                "inferencer": dict(inferencer),
            },
        }

    if likelihoods:
        likelihood = {"type": "PPLOnlyInferencer"}
        datasets = [dataset(TEXTS[0], prompts, likelihood), dataset(TEXTS[1], prompts[::-1], likelihood)]
    else:
        gen = {"type": "GenInferencer", "n": samples, "max_out_len": max_out_len}
        models = [_at_temperature(model, temperature) for model in models]
        datasets = [dataset(ANSWERS, prompts, gen)]
    return {
        "run_name": "same-texts" if likelihoods else "same",
        "models": [{**model, "abbr": side} for model, side in zip(models, SIDES, strict=True)],
        "datasets": datasets,
    }


def _at_temperature(model: Mapping[str, Any], temperature: float) -> dict[str, Any]:
    """Return a model that samples, unless its config sets a temperature, or its type takes none."""
    kind = MODELS.get(model["type"])
    if "generation_kwargs" not in inspect.signature(kind).parameters:
        return dict(model)
    return {**model, "generation_kwargs": {"temperature": temperature, **model.get("generation_kwargs", {})}}
