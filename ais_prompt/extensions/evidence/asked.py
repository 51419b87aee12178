"""What `aisprompt same` asks: open questions, whose answers differ between models, JSON, tools, and likelihoods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from ais_prompt.plan import accepts
from ais_prompt.registry import MODELS
from ais_prompt.utils import listed

SIDES: Final = ("first", "second")
ANSWERS: Final = "answers"
FORMATS: Final = "formats"
TOOLS: Final = "tools"
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
KEYS: Final = (
    ("city", "country"),
    ("animal", "legs"),
    ("title", "year", "genre"),
    ("name", "age"),
    ("fruit", "color", "sweet"),
    ("day", "hours"),
    ("word", "letters"),
    ("sport", "players"),
)
"""Keys of the JSON objects that are asked for."""
CITIES: Final = ("Oslo", "Lima", "Cairo", "Perth", "Quito", "Delhi", "Turin", "Osaka", "Dakar", "Porto")
REQUESTS: Final = (
    "What is the weather in {city} now?",
    "Do I need an umbrella in {city} today?",
    "Tell me about the history of {city}.",
    "I am in {city}. Book a table for two tonight.",
    "How do people in {city} greet each other?",
    "Is {city} warmer than Rome at the moment?",
)
"""For some of them a tool helps, for others not."""
OFFERED: Final = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": {
                "type": "object",
                "properties": {key: {"type": kind} for key, kind in properties.items()},
                "required": list(properties),
            },
        },
    }
    for name, description, properties in (
        ("get_weather", "Get the current weather of a city.", {"city": "string"}),
        ("book_table", "Book a table in a restaurant.", {"city": "string", "guests": "integer"}),
    )
]

Kind = Literal["answers", "tools", "likelihoods"]


def probe(
    models: Sequence[Mapping[str, Any]],
    prompts: Sequence[str],
    samples: int,
    max_out_len: int,
    temperature: float,
    kind: Kind,
) -> dict[str, Any]:
    """Return the config that asks two models.

    Args:
        models: their configs.
        prompts: the questions, which are also the texts; empty for `PROMPTS`, and for answers in JSON.
        samples: how often each question is asked. Requests that may need a tool are asked once each.
        max_out_len: most tokens of an answer.
        temperature: of the answers.
        kind: what is asked for.
    """
    texts = [{"text": text, "keys": None} for text in prompts or PROMPTS]
    if kind == "likelihoods":
        likelihood = {"type": "PPLOnlyInferencer"}
        datasets = [_dataset(TEXTS[0], texts, likelihood), _dataset(TEXTS[1], texts[::-1], likelihood)]
    elif kind == "tools":
        rows = [{"text": request.format(city=city), "keys": None} for request in REQUESTS for city in CITIES]
        datasets = [_dataset(TOOLS, rows, {"type": "ToolCallInferencer", "tools": OFFERED, "max_out_len": max_out_len})]
    else:
        gen = {"type": "GenInferencer", "n": samples, "max_out_len": max_out_len}
        datasets = [_dataset(ANSWERS, texts, gen)]
        if not prompts:
            datasets.append(_dataset(FORMATS, [_json_row(keys) for keys in KEYS], gen))
    models = [_of_text(model) if kind == "likelihoods" else _at_temperature(model, temperature) for model in models]
    return {
        "run_name": f"same-{kind}",
        "models": [{**model, "abbr": side} for model, side in zip(models, SIDES, strict=True)],
        "datasets": datasets,
    }


def reports_calls(model: Mapping[str, Any]) -> bool:
    """Return whether a model reports calls of tools: one behind an API, as opposed to a local one."""
    return hasattr(MODELS.get(model["type"]), "complete")


def _json_row(keys: Sequence[str]) -> dict[str, Any]:
    named = listed(f'"{key}"' for key in keys)
    return {"text": f"Answer with one JSON object that has the keys {named}, and nothing else.", "keys": list(keys)}


def _dataset(abbr: str, rows: Sequence[Mapping[str, Any]], inferencer: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "LocalDataset",
        "abbr": abbr,
        "rows": list(rows),
        "reader_cfg": {"input_columns": ["text"], "output_column": "keys"},
        "infer_cfg": {
            "prompt_template": {"type": "PromptTemplate", "template": "{text}"},
            "inferencer": dict(inferencer),
        },
    }


_OF_TEXT: Final = {"HuggingFaceChatModel": "HuggingFaceBaseModel", "OpenAIChatModel": "OpenAICompletionModel"}
"""Chat model → the model that reads the same text without a template, so that both sides measure the same text."""


def _of_text(model: Mapping[str, Any]) -> dict[str, Any]:
    plain = {name: value for name, value in model.items() if name != "meta_template"}
    return {**plain, "type": _OF_TEXT.get(model["type"], model["type"])}


def _at_temperature(model: Mapping[str, Any], temperature: float) -> dict[str, Any]:
    """Return a model that samples, unless its config sets a temperature, or its type takes none."""
    if not accepts(MODELS.get(model["type"]), "generation_kwargs"):
        return dict(model)
    return {**model, "generation_kwargs": {"temperature": temperature, **model.get("generation_kwargs", {})}}
