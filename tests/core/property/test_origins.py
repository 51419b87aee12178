"""The pieces of a prompt, joined, are the prompt: for every template, inferencer and format, whatever the data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.errors import AisPromptError
from ais_prompt.preview import Origins, PromptView, Span, bubbles_of, preview_sample, traced_origins
from ais_prompt.registry import INFERENCERS
from ais_prompt.types import Prompt
from tests.support.lamp import write_programs
from tests.support.parts import shipped_names
from tests.support.prompt_tasks import prompt_task

META = {
    "begin": "<s>",
    "round": [
        "\n",
        {"role": "SYSTEM", "api_role": "SYSTEM", "begin": "S: ", "end": "\n", "prompt": "Be kind."},
        {"role": "HUMAN", "api_role": "HUMAN", "begin": "H: ", "end": "\n"},
        {"role": "BOT", "api_role": "BOT", "begin": "B: ", "end": "\n", "generate": True},
    ],
    "end": "</s>",
}
API_META = {
    "begin": [{"role": "SYSTEM", "api_role": "SYSTEM", "prompt": "Be brief."}],
    "round": [
        {"role": "HUMAN", "api_role": "HUMAN", "begin": " ", "end": "!"},
        {"role": "BOT", "api_role": "BOT", "generate": True},
    ],
}
TURNS = [{"role": "HUMAN", "prompt": "{q} ({other})"}, {"role": "BOT", "prompt": "{a}"}]
BEGIN = [{"role": "SYSTEM", "fallback_role": "HUMAN", "prompt": "Sums of {other}."}, "</E>"]
PARTS = {
    "text": {"type": "text", "text": "Look: {question} {other}"},
    "image": {"type": "image_url", "image_url": {"url": "http://x/{image}"}},
}
PROMPTS: Mapping[str, tuple[Any, Any]] = {  # name → prompt_template and ice_template
    "text": (" Q: {q}\n{other}A: {a}", None),
    "text with shots": ("Sums.\n</E>\nQ: {q}\nA: {a}", "Q: {q}\nA: {a}"),
    "one template for both": (None, "</E>{q} = {a}"),
    "dialogue": ({"begin": BEGIN[:1], "round": TURNS}, None),
    "dialogue with shots": ({"begin": BEGIN, "round": TURNS}, {"round": TURNS}),
    "dialogue with shots as text": ({"begin": BEGIN, "round": TURNS}, "{q} = {a}"),
    "dialogue with an end": ({"round": TURNS, "end": "Bye, {other}."}, None),
    "labels": ({"x": "{q} is x", "y": "{q} is y"}, None),
    "labels with shots": ({"x": "</E>{q} is x", "y": "</E>{q} is y"}, {"x": "{q}: x", "y": "{q}: y"}),
    "labels of dialogues": ({"x": {"round": TURNS[:1]}, "y": {"round": TURNS}}, None),
    "separated": ({"type": "PromptTemplate", "template": "{q}</S> {other}", "sep_token": "</S>"}, None),
    "column tokens": (
        {"type": "PromptTemplate", "template": "</Q>?</A>", "column_token_map": {"q": "</Q>", "a": "</A>"}},
        None,
    ),
    "many turns": (
        {
            "type": "MultiTurnPromptTemplate",
            "template": {"begin": BEGIN[:1], "round": TURNS},
            "turn_columns": ["q", "a"],
        },
        None,
    ),
    "media": ({"type": "MMPromptTemplate", "template": {"round": [{"role": "HUMAN", "prompt_mm": PARTS}]}}, None),
    "messages": (
        {"type": "RawPromptTemplate", "messages": [{"role": "system", "content": "Be {other}."}, *"</E>".split(),
                                                   {"role": "user", "content": [{"type": "text", "text": "Now: "}]},
                                                   {"expand_column": "chat"}, {"role": "user", "content": "{q}"}]},
        {"type": "RawPromptTemplate", "messages": [{"role": "user", "content": "{q}"}]},
    ),
    "nothing": (None, None),
}  # fmt: skip
TOOLS = [{"type": "function", "function": {"name": "sum", "parameters": {}}}]
ASKING: Mapping[str, Mapping[str, Any]] = {
    "GenInferencer": {},
    "PPLInferencer": {"labels": ["x", "y"]},
    "PPLInferencer, normalized": {"labels": ["x", "y"], "normalizing_str": "Answer: "},
    "LLInferencer": {"labels": ["x", "y"], "continuation_column": "other"},
    "CLPInferencer": {},
    "ChoicesInferencer": {"delimiter": "\n"},
    "PPLOnlyInferencer": {},
    "MultiTurnGenInferencer": {"infer_mode": "every"},
    "MultiTurnGenInferencer, gold": {"infer_mode": "every_with_gt"},
    "MultiTurnGenInferencer, last": {"infer_mode": "last"},
    "ChatInferencer": {},
    "ChatInferencer, last": {"infer_mode": "last"},
    "ToolCallInferencer": {"tools": TOOLS},
    "MultiTurnToolCallInferencer": {"tools": TOOLS},
    "SimulatedToolCallInferencer": {"turns": "simulated"},
    "AgentInferencer": {"allow_code_execution": True},
    "ToolLoopInferencer": {"tools": ["textwrap:dedent"]},
}
ASKING = {name: args for name, args in ASKING.items() if name.partition(",")[0] in shipped_names(INFERENCERS)}


class Tokenizer:
    """Puts tags around messages, as chat templates do."""

    chat_template = "tags"

    def apply_chat_template(self, messages: Sequence[Mapping[str, Any]], **_: Any) -> str:
        return "".join(f"<{message['role']}>\n{message['content']}</s>\n" for message in messages) + "<assistant>\n"


class TrimmingTokenizer(Tokenizer):
    """Strips what is said, as the chat template of Llama 3 does."""

    def apply_chat_template(self, messages: Sequence[Mapping[str, Any]], **more: Any) -> str:
        said = [{**message, "content": message["content"].strip()} for message in messages]
        return super().apply_chat_template(said, **more)


FORMATS: Mapping[str, Mapping[str, Any]] = {
    "text": {"style": "text"},
    "meta template": {"style": "text", "meta": META},
    "messages": {"style": "messages"},
    "meta template of an API": {"style": "messages", "meta": API_META},
    "messages in the meta template": {"style": "messages", "meta": [{"role": "system", "content": "Be kind."}]},
    "chat template": {"style": "chat_template", "tokenizer": Tokenizer},
    "chat template that trims": {"style": "chat_template", "tokenizer": TrimmingTokenizer, "meta": API_META},
    "table of roles": {"style": "text", "role_template": {"user": ("Q: ", "\n"), "assistant": ("A: ", None)}},
    "role template": {"style": "text", "role_template": "ChatMLTemplate"},
    "role template for messages": {"style": "messages", "role_template": "SummarizeTemplate"},
}
WITHOUT_A_PROCESS = [name for name in ASKING if name != "AgentInferencer"]  # it tries the sandbox first
SHOTS = [{"q": f"{n}+{n}", "a": "xy"[n % 2], "other": "", "chat": []} for n in range(2)]
MANY = {"many turns"}


@pytest.fixture(scope="module", autouse=True)
def _programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Give a simulated program to the inferencer that needs one."""
    root = tmp_path_factory.mktemp("programs")
    write_programs(root)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AISPROMPT_PEER_PATH", str(root))
        yield


def row_of(prompt: str, question: str, other: Any) -> dict[str, Any]:
    row = {"q": question, "a": "x", "other": other, "choices": ["x", "y"], "chat": [{"role": "user", "content": other}]}
    row["turns"] = [{"answers": [{"sum": {}}], "results": ["6"]}, {"user": other}]
    row["simulated"] = [{"messages": [{"role": "user", "content": other}], "tools": TOOLS}]
    row |= {"initial_config": {}, "involved_classes": ["Lamp"]}  # of the simulated programs
    if prompt in MANY:
        return {**row, "q": [question, "2+2"], "a": ["x", "y"]}
    if prompt == "media":
        return {**row, "content": f"<AIS_TEXT_START>{question}<AIS_CONTENT_TAG><AIS_IMAGE_START>b.png"}
    return row


def views_of(prompt: str, asking: str, form: str, *rows: tuple[str, Any]) -> list[PromptView]:
    """The prompts of these rows; none if these parts do not fit together."""
    template, ice = PROMPTS[prompt]
    task = prompt_task(
        template,
        ice=ice,
        rows=[row_of(prompt, *row) for row in rows],
        train=SHOTS if ice is not None else (),
        inferencer={"type": asking.partition(",")[0], **ASKING[asking]},
        **FORMATS[form],
    )
    try:
        return list(preview_sample(task, len(rows), origins=True))
    except AisPromptError:
        return []


def texts_of(prompt: Prompt) -> list[str]:
    if isinstance(prompt, str):
        return [prompt]
    contents = [message.content for message in prompt]
    return [
        one if isinstance(one, str) else "\n".join(part["text"] for part in one if "text" in part) for one in contents
    ]


def joined(view: PromptView) -> list[str]:
    return ["".join(span.text for span in spans) for spans in view.origins or ()]


def said(view: PromptView) -> str:
    return "".join(piece.text for bubble in bubbles_of(view) for piece in bubble.pieces if isinstance(piece, Span))


@pytest.mark.slow
@pytest.mark.thorough
def test_every_combination_that_fits() -> None:
    fitting = set()
    for prompt, asking, form in product(PROMPTS, ASKING, FORMATS):
        for view in views_of(prompt, asking, form, FIRST):
            fitting |= {prompt, asking, form}
            texts = texts_of(view.prompt)
            assert joined(view) == texts, (prompt, asking, form)
            spans = [span for of_message in view.origins or () for span in of_message]
            of_data = "".join(span.text for span in spans if span.origin.kind == "data")
            assert of_data.count("3+3=?") == "".join(texts).count("3+3=?"), (prompt, asking, form)
            assert all(span.origin.where for span in spans if span.origin.kind in ("data", "template"))
            assert {span.origin.shot for span in spans} >= ({1, 2} if "1+1" in "".join(texts) else set())
    assert fitting == {*PROMPTS, *ASKING, *FORMATS}
    shipped = {name.partition(",")[0] for name in ASKING}
    assert {name for name in shipped_names(INFERENCERS) if name.endswith("Inferencer")} <= shipped


def columns_of(spans: Sequence[Span]) -> list[str]:
    """The column of each character but white space, which may be in front of a mark or behind it; "" for others."""
    return [span.origin.column for span in spans for sign in span.text if not sign.isspace()]


FIRST = ("3+3=?", "natural numbers")


def told_of(prompt: str, asking: str, form: str, *data: Any) -> list[tuple[PromptView, Origins]]:
    """The prompts of a second row, each with its origins as the first row tells them."""
    views = views_of(prompt, asking, form, FIRST, data)
    pairs = zip(views[: len(views) // 2], views[len(views) // 2 :], strict=True)
    return [(view, traced_origins(view.prompt, like)) for like, view in pairs]


@pytest.mark.slow
@pytest.mark.thorough
def test_the_first_row_tells_the_origins_of_another() -> None:
    told = set()
    for prompt, asking, form in product(PROMPTS, ASKING, FORMATS):
        for view, origins in told_of(prompt, asking, form, "5+5=?", "wholes"):
            told |= {prompt, asking, form} if origins else set()
            assert not origins or origins == view.origins, (prompt, asking, form)
    assert told == {*PROMPTS, *ASKING, *FORMATS}


MARKLIKE = st.sampled_from(["\U000f0000", "\U000f0001", "\U0010fffd", "{a}", "</E>", "{q}", " ", "\n", "\ue000"])
DATA = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.lists(MARKLIKE, max_size=5).map("".join)


@given(st.sampled_from(list(PROMPTS)), st.sampled_from(WITHOUT_A_PROCESS), st.sampled_from(list(FORMATS)), DATA, DATA)
def test_whatever_the_data(prompt: str, asking: str, form: str, question: str, other: str) -> None:
    for view in views_of(prompt, asking, form, (question, other)):
        assert joined(view) == texts_of(view.prompt)
        assert said(view) == "".join(texts_of(view.prompt)) or prompt in ("media", "messages")
        assert said(view).replace("\n", "") == "".join(texts_of(view.prompt)).replace("\n", "")


@given(st.sampled_from(list(PROMPTS)), st.sampled_from(WITHOUT_A_PROCESS), st.sampled_from(list(FORMATS)), DATA, DATA)
def test_what_the_first_row_tells_is_so_whatever_the_data(
    prompt: str, asking: str, form: str, question: str, other: str
) -> None:
    for view, origins in told_of(prompt, asking, form, question, other):
        assert not origins or list(map(columns_of, origins)) == list(map(columns_of, view.origins or ()))
