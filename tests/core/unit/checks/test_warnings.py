"""Each kind of warning, and that a prompt without surprises has none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ais_prompt.checks import MisspeltPlaceholder, probe_prompts, prompt_warnings
from ais_prompt.config import parse_meta_template
from ais_prompt.inferencers import GenInferencer, InferenceContext, Preview
from ais_prompt.plan import Task, build_model
from ais_prompt.preview import preview_sample
from ais_prompt.prompts import DEFAULT_META_TEMPLATE, Message, RoleTemplateInterface
from ais_prompt.types import ModelSpec, PartSpec, Sample, TaskSpec
from tests.support.parts import dataset_spec, write_rows

ROW = {"question": "1+1=?", "answer": "2", "hint": ""}
HUMAN, BOT = {"role": "HUMAN", "prompt": "{question}"}, {"role": "BOT", "prompt": "{answer}"}
SYSTEM = {"role": "SYSTEM", "fallback_role": "HUMAN", "prompt": "Answer with a number."}
DIALOGUE = {"round": [HUMAN, BOT]}
SYSTEM_MESSAGE = {"role": "system", "content": "Be brief."}
WITH_SHOTS = {"begin": [SYSTEM, "</E>"], "round": [HUMAN, BOT]}
META = {
    "round": [
        {"role": "HUMAN", "begin": "Question: ", "end": "\n"},
        {"role": "BOT", "begin": "Answer: ", "end": "\n", "generate": True},
    ]
}


def task(
    folder: Path,
    template: Any,
    *,
    row: Mapping[str, Any] = ROW,
    kind: str = "PromptTemplate",
    ice: Any = None,
    style: str = "messages",
    meta: Mapping[str, Any] | None = None,
    role_template: Mapping[str, Any] | str | None = None,
) -> TaskSpec:
    """One model on a dataset of two rows; the second is shown as an example if there is an ``ice``."""
    model = ModelSpec(
        "fake",
        PartSpec("ScriptedModel", {"prompt_style": style}),
        parse_meta_template(meta),
        role_template,
        "models[0]",
    )
    data = dataset_spec(write_rows(folder / "rows.jsonl", [row, row]))
    where = "datasets[0].infer_cfg"
    argument = "messages" if kind == "RawPromptTemplate" else "template"
    args = {argument: template} | ({"ice_token": "</E>"} if "</E>" in str(template) else {})
    infer = replace(data.infer, prompt_template=PartSpec(kind, args, f"{where}.prompt_template"))
    if ice is not None:
        infer = replace(
            infer,
            ice_template=PartSpec("PromptTemplate", {"template": ice}, f"{where}.ice_template"),
            retriever=PartSpec("FixKRetriever", {"fix_id_list": [1]}, f"{where}.retriever"),
        )
    return TaskSpec(model, replace(data, infer=infer))


def warnings(folder: Path, template: Any, **options: Any) -> list[tuple[str, str]]:
    """What and where, of the first prompt."""
    made = task(folder, template, **options)
    [view] = preview_sample(Task.of(made), 1)
    assert all(warning.fix for warning in view.warnings)
    return [(warning.what, warning.where) for warning in view.warnings]


TEMPLATE = "datasets[0].infer_cfg.prompt_template"


@pytest.mark.parametrize(
    ("template", "options"),
    [
        (DIALOGUE, {}),
        (DIALOGUE, {"style": "text", "meta": META}),
        (DIALOGUE, {"style": "text"}),
        (DIALOGUE, {"style": "text", "meta": {"begin": "META ", "end": " END"}}),
        (DIALOGUE, {"meta": {"begin": [{"role": "SYSTEM", "prompt": "Add."}]}}),
        (WITH_SHOTS, {"ice": DIALOGUE}),
        (WITH_SHOTS, {"ice": DIALOGUE, "style": "text", "meta": {**META, "reserved_roles": [{"role": "SYSTEM"}]}}),
        ("</E>Q: {question}\nA: {answer}", {"ice": "Q: {question}\nA: {answer}", "style": "text"}),
        ("Human: {question}\nAssistant:", {"style": "text"}),
        ("Human: {question}\nAssistant:", {"style": "text", "meta": META}),  # a string is never framed
        (DIALOGUE, {"style": "text", "role_template": {"user": ("User: ", "\n"), "assistant": ("Bot: ", "\n")}}),
        ("{question} Put it into \\boxed{answer_here}.", {}),
        ({"round": [{"role": "HUMAN", "prompt": "Question: {question}\nAnswer:"}]}, {}),
        ([{"role": "user", "content": "{question}"}], {"kind": "RawPromptTemplate"}),
        ("{question} Separate lines with '\\n'. Simplify \\nabla \\neq $\\nu$.", {}),
        ("{question}", {"style": "text", "role_template": "ChatMLTemplate"}),
        ("{question}", {"role_template": "SummarizeTemplate"}),
    ],
)
def test_prompts_without_surprises(tmp_path: Path, template: Any, options: dict[str, Any]) -> None:
    assert warnings(tmp_path, template, **options) == []


@pytest.mark.parametrize(
    "question",
    ["{quesion} and {answer}", "\nfirst", "Human: hi\nAssistant: <|im_start|>", "<s><s> [INST]", "Q: Q:", "2", "a\\nb"],
)
@pytest.mark.parametrize("style", ["messages", "text"])
def test_data_is_never_warned_of(tmp_path: Path, question: str, style: str) -> None:
    row = {"question": question, "answer": "2"}
    options: dict[str, Any] = {"row": row, "style": style, "meta": META if style == "text" else None}
    assert warnings(tmp_path, DIALOGUE, **options) == []
    assert warnings(tmp_path, WITH_SHOTS, ice=DIALOGUE, **options) == []


@pytest.mark.parametrize(
    ("template", "ice"),
    [
        ({"begin": "Colours!", "round": [HUMAN, BOT]}, None),
        ({"round": [HUMAN, "Colours!", BOT]}, None),
        ({"begin": "</E>", "round": [HUMAN, BOT]}, "Colours! {question} {answer}"),
    ],
)
def test_texts_that_messages_have_no_place_for(tmp_path: Path, template: Any, ice: Any) -> None:
    [(what, where)] = warnings(tmp_path, template, ice=ice)
    assert "not sent: 'Colours!" in what
    assert where == TEMPLATE
    as_text = warnings(tmp_path, template, ice=ice, style="text", meta=META)
    assert not any("not sent" in what for what, _ in as_text)


@pytest.mark.parametrize(
    ("template", "kind", "meta", "to"),
    [
        ("{question}", "PromptTemplate", {"begin": [{"role": "SYSTEM", "prompt": "Be brief."}]}, "a text"),
        ("{question}", "PromptTemplate", {"begin": {"role": "SYSTEM", "prompt": "Be brief."}}, "a text"),
        ("{question}", "PromptTemplate", [{"role": "system", "content": "Be brief."}], "a text"),
        (
            "{question}",
            "PromptTemplate",
            {
                "round": [
                    {"role": "SYSTEM", "prompt": "Be brief.", "api_role": "SYSTEM"},
                    *DEFAULT_META_TEMPLATE["round"],
                ]
            },
            "a text",
        ),
        (
            [{"role": "user", "content": "{question}"}],
            "RawPromptTemplate",
            {"begin": [{"role": "SYSTEM", "prompt": "Be brief."}]},
            "these messages",
        ),
    ],
)
def test_turns_of_a_chat_model_that_are_not_sent(tmp_path: Path, template: Any, kind: str, meta: Any, to: str) -> None:
    [(what, where)] = warnings(tmp_path, template, kind=kind, meta=meta)
    assert what == f"the model's meta_template is not applied to {to}, so it is not sent: 'Be brief.'"
    assert where == TEMPLATE


def test_a_text_behind_the_place_where_the_model_starts_to_write(tmp_path: Path) -> None:
    template = {"round": [HUMAN, BOT], "end": "Good luck!"}
    [(what, _)] = warnings(tmp_path, template, style="text", meta=META)
    assert "not sent: 'Good luck!'" in what


@pytest.mark.parametrize("style", ["messages", "text"])
def test_a_turn_behind_the_place_where_the_model_starts_to_write(tmp_path: Path, style: str) -> None:
    end = [{"role": "SYSTEM", "fallback_role": "HUMAN", "prompt": "Answer in one word."}]
    meta = META if style == "text" else None
    [(what, where)] = warnings(tmp_path, {"round": [HUMAN, BOT], "end": end}, style=style, meta=meta)
    assert what.endswith("a turn behind that is not sent: 'Answer in one word.'")
    assert where == TEMPLATE
    begin = {"begin": end, "round": [HUMAN, {"role": "BOT", "prompt": "Answer: {answer}"}]}
    assert warnings(tmp_path, begin, style=style, meta=meta) == []


@pytest.mark.parametrize("items", [["Colours!", HUMAN, BOT], [HUMAN, "Colours!", BOT]])
def test_a_text_in_a_round_of_a_language_model(tmp_path: Path, items: list[Any]) -> None:
    [(what, where)] = warnings(tmp_path, {"round": items}, style="text", meta=META)
    assert what == "a text in 'round' has no role, so it is written in front of the whole round: 'Colours!'"
    assert where == TEMPLATE


@pytest.mark.parametrize("style", ["messages", "text"])
def test_a_meta_template_in_which_no_role_generates(tmp_path: Path, style: str) -> None:
    meta = {"round": [{"role": "HUMAN", "api_role": "HUMAN"}, {"role": "BOT", "api_role": "BOT"}]}
    [(what, where)] = warnings(tmp_path, DIALOGUE, style=style, meta=meta)
    assert what.startswith("no role of the meta template has generate=True, so the prompt is sent whole")
    assert where == "models[0].meta_template"
    generating = {"round": [HUMAN, {**BOT, "generate": True}]}
    assert warnings(tmp_path, generating, style=style, meta=meta) == []
    assert warnings(tmp_path, "{question}", style=style, meta=meta) == []


def test_begin_and_end_of_a_turn_without_a_meta_template(tmp_path: Path) -> None:
    turn = {**HUMAN, "begin": "XX", "end": "YY\n"}
    [(what, where)] = warnings(tmp_path, {"round": [turn, BOT]}, style="text")
    assert what == "without a meta template, begin and end of a turn are not sent: 'XX', and 1 more"
    assert where == TEMPLATE
    assert warnings(tmp_path, {"round": [turn, BOT]}, style="text", meta=META) == []
    assert warnings(tmp_path, {"round": [turn, BOT]}) == []


def test_the_end_of_a_chat_models_meta_template(tmp_path: Path) -> None:
    meta = {**DEFAULT_META_TEMPLATE, "end": "bye"}
    [(what, where)] = warnings(tmp_path, DIALOGUE, meta=meta)
    assert what == "the end of a chat model's meta template is not sent: 'bye'"
    assert where == "models[0].meta_template.end"


TAGS = {"user": ("user: ", "\\n"), "assistant": ("assistant: ", "")}
BACKSLASH_META = {"round": [{"role": "HUMAN", "end": "\\n"}, {"role": "BOT", "generate": True}]}


@pytest.mark.parametrize(
    ("template", "options", "where"),
    [
        ("{question}\\nAnswer:", {}, TEMPLATE),
        ({"round": [HUMAN, {**BOT, "prompt": "Answer:\\n{answer}"}]}, {"style": "text"}, TEMPLATE),
        (DIALOGUE, {"style": "text", "role_template": TAGS}, "models[0].prompt_template"),
        (DIALOGUE, {"style": "text", "meta": BACKSLASH_META}, "models[0].meta_template"),
        ([{"role": "user", "content": "{question}\\n"}], {"kind": "RawPromptTemplate"}, TEMPLATE),
    ],
)
def test_a_backslash_and_an_n(tmp_path: Path, template: Any, options: dict[str, Any], where: str) -> None:
    [(what, place)] = warnings(tmp_path, template, **options)
    assert what.startswith("a backslash and an n are sent")
    assert place == where


def test_markers_of_media_that_are_sent_as_text(tmp_path: Path) -> None:
    pixel = "data:image/png;base64,iVBORw0KGgo="
    row = {**ROW, "question": f"<AIS_IMAGE_START>{pixel}<AIS_CONTENT_TAG><AIS_TEXT_START>What is this?"}
    [(what, where)] = warnings(tmp_path, DIALOGUE, row=row)
    assert what == "the markers of images, audio or video (<AIS_IMAGE_START> ...) are sent as text"
    assert where == TEMPLATE
    parts = {
        "text": {"type": "text", "text": "{question}"},
        "image": {"type": "image_url", "image_url": {"url": "{image}"}},
    }
    media = {"begin": ["</E>"], "round": [{"role": "HUMAN", "prompt_mm": parts}]}
    assert warnings(tmp_path, {"round": media["round"]}, kind="MMPromptTemplate", row=row) == []
    [(what, _)] = warnings(tmp_path, media, kind="MMPromptTemplate", ice=DIALOGUE, row=row)
    assert what.endswith("are sent as text")


def test_messages_of_the_data_may_hold_a_backslash_and_an_n(tmp_path: Path) -> None:
    row = {"question": [{"role": "user", "content": "print(0) \\n"}], "answer": "2"}
    assert warnings(tmp_path, [{"expand_column": "question"}], kind="RawPromptTemplate", row=row) == []


class Eureka(RoleTemplateInterface):
    """As torchtune's example: the assistant always says the same."""

    def __call__(self, messages: list[Message], inference: bool = False) -> list[Message]:
        return [Message("assistant", "Eureka!") if said.role == "assistant" else said for said in messages]


@pytest.mark.parametrize(("style", "ice"), [("text", None), ("text", DIALOGUE), ("messages", DIALOGUE)])
def test_a_role_template_that_hides_the_answers(tmp_path: Path, style: str, ice: Any) -> None:
    template = DIALOGUE if ice is None else WITH_SHOTS
    path = f"{__name__}.Eureka"
    [(what, where)] = warnings(tmp_path, template, style=style, ice=ice, role_template=path)
    assert what.startswith("the role template leaves out what the assistant says")
    assert where == "models[0].prompt_template"


def test_a_key_of_a_turn_that_has_no_meaning(tmp_path: Path) -> None:
    [(what, where)] = warnings(tmp_path, {"round": [{**HUMAN, "name": "u1"}, BOT]})
    assert what == "the key 'name' of a turn has no meaning here"
    assert where == TEMPLATE


@pytest.mark.parametrize(
    ("template", "ice"),
    [
        ("Solve this.", None),
        ({"round": [{"role": "HUMAN", "prompt": "Solve this."}, BOT]}, None),
        ("Solve this. </E>", "Q: {question} A: {answer}"),
    ],
)
def test_a_prompt_that_shows_no_column(tmp_path: Path, template: Any, ice: Any) -> None:
    assert [what for what, _ in warnings(tmp_path, template, ice=ice)] == [
        "the prompt shows no column of the row, so it is the same for every question"
    ]


def test_a_number_is_a_column_too(tmp_path: Path) -> None:
    row = {"question": "Is it even?", "number": 14, "answer": "yes"}
    assert warnings(tmp_path, "Even: {number}?", row=row) == []
    assert warnings(tmp_path, {"round": [HUMAN, BOT]}, row=row) == []


def test_a_default_prompt_is_filled_or_warned_of(tmp_path: Path) -> None:
    thoughts = {"role": "THOUGHTS", "begin": "T: ", "end": "\n", "prompt": "think about {hint}"}
    meta = {"round": [META["round"][0], thoughts, META["round"][1]]}
    row = {"question": "1+1=?", "hint": "sums", "answer": "2"}
    assert warnings(tmp_path, DIALOGUE, style="text", meta=meta, row=row) == []
    wrong = {"round": [META["round"][0], {**thoughts, "prompt": "{hnt}"}, META["round"][1]]}
    [(what, where)] = warnings(tmp_path, DIALOGUE, style="text", meta=wrong, row=row)
    assert what.startswith("{hnt} in the prompt of the role 'THOUGHTS' is sent as it is")
    assert where == "models[0].meta_template"


@pytest.mark.parametrize(
    "template",
    [
        "Q: {quesion}",
        {"round": [{"role": "HUMAN", "prompt": "{quesion}"}, BOT]},
        {"A": "{quesion} A", "B": "{quesion} B"},
    ],
)
def test_a_placeholder_that_stays(tmp_path: Path, template: Any) -> None:
    made = task(tmp_path, template)
    [view] = preview_sample(Task.of(made), 1)
    [warning] = view.warnings
    assert warning.what.startswith("{quesion} is sent as it is")
    assert warning.where == TEMPLATE
    assert "did you mean {question}?" in warning.fix


@pytest.mark.parametrize(("template", "is_warned"), [("Q: {{question}}", True), (r"\boxed{{question}}", False)])
def test_double_braces_are_no_escape(tmp_path: Path, template: str, is_warned: bool) -> None:
    found = [what for what, _ in warnings(tmp_path, template) if "double braces" in what]
    assert bool(found) is is_warned


@pytest.mark.parametrize(
    ("written", "is_misspelt"),
    [
        ("{quesion}", True),
        ("{quetsion}", True),
        ("{questions}", True),
        ("{Question}", True),
        ("{ question }", True),
        ("{name}", False),
        ("{q}", False),
        ("\\boxed{quesion}", False),
        ('{"question": 1}', False),
    ],
)
def test_a_placeholder_that_is_nearly_a_column(tmp_path: Path, written: str, is_misspelt: bool) -> None:
    [view] = preview_sample(Task.of(task(tmp_path, f"{written} {{question}}")), 1)
    marks = [warning.mark for warning in view.warnings if isinstance(warning, MisspeltPlaceholder)]
    assert marks == ([written] if is_misspelt else [])
    assert (written in MisspeltPlaceholder.summary(view.warnings)) == is_misspelt


def test_a_placeholder_that_stays_in_an_example(tmp_path: Path) -> None:
    ice = {"round": [{"role": "HUMAN", "prompt": "{quesion}"}, BOT]}
    assert [what[:9] for what, _ in warnings(tmp_path, WITH_SHOTS, ice=ice)] == ["{quesion}"]


def test_the_gold_in_raw_messages(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "{question} {answer}"}]
    [(what, where)] = warnings(tmp_path, messages, kind="RawPromptTemplate")
    assert "shown the gold answer" in what
    assert "'answer'" in what
    assert where == TEMPLATE


class LabelPrompts(GenInferencer):
    """An inferencer that shows one prompt for each label, as one that compares their perplexity does."""

    def preview(self, sample: Sample, shots: Sequence[Sample], context: InferenceContext) -> list[Preview]:
        filled = {label: context.builder.labelled(sample, shots, label) for label in ("A", "B")}
        return [Preview(label, prompt, context.chat.render(prompt, "ppl")) for label, prompt in filled.items()]


@pytest.mark.parametrize(
    ("table", "shown"),
    [
        ({"A": "{question} A {answer}", "B": "{question} B"}, [True, False]),
        ({"A": "{question} A", "B": "{question} B"}, [False, False]),
    ],
)
def test_the_gold_in_a_label_prompt(tmp_path: Path, table: dict[str, str], shown: list[bool]) -> None:
    made = task(tmp_path, table, style="text")
    work = Task.of(made)
    found = probe_prompts(made, LabelPrompts(), work.context, work.data.test[0], [])
    assert [trial.seen.title for trial in found] == ["A", "B"]
    assert [any("gold" in warning.what for warning in prompt_warnings(trial)) for trial in found] == shown


def test_earlier_answers_of_a_dialogue_are_no_gold(tmp_path: Path) -> None:
    row = {"question": ["Hi", "1+1=?"], "answer": ["Hello", "2"]}
    assert warnings(tmp_path, DIALOGUE, kind="MultiTurnPromptTemplate", row=row) == []


@pytest.mark.parametrize(
    ("template", "options"),
    [
        ({"begin": "</E>", "round": [HUMAN, BOT]}, {}),
        ("{hint}\n{question}", {}),
    ],
)
def test_a_leading_newline(tmp_path: Path, template: Any, options: dict[str, Any]) -> None:
    found = warnings(tmp_path, template, style="text", **options)
    assert [(what[:32], where) for what, where in found] == [("the prompt starts with a newline", TEMPLATE)]


@pytest.mark.parametrize(
    ("template", "options", "where"),
    [
        ("<s>{question}", {}, TEMPLATE),
        ({"round": [{"role": "HUMAN", "prompt": "<s>{question}"}]}, {}, TEMPLATE),
        (DIALOGUE, {"style": "text", "meta": {**META, "begin": "<s>"}}, "models[0].meta_template"),
    ],
)
def test_bos_that_the_server_adds_too(tmp_path: Path, template: Any, options: dict[str, Any], where: str) -> None:
    [(what, found)] = warnings(tmp_path, template, **options)
    assert what.startswith("the model sees <s> twice")
    assert found == where


def test_bos_of_a_local_model(tmp_path: Path) -> None:
    twice = {"round": [{"role": "HUMAN", "prompt": "<s>{question}"}, BOT]}
    tags = {"user": ("<s>", "\n"), "assistant": ("", "")}
    [probe] = _local_probes(tmp_path, twice, tags)
    assert [warning.what[:24] for warning in prompt_warnings(probe)] == ["the model sees <s> twice"]
    [probe] = _local_probes(tmp_path, DIALOGUE, tags)
    assert prompt_warnings(probe) == []


def _local_probes(folder: Path, template: Any, tags: Mapping[str, Any]) -> list[Any]:
    made = task(folder, template, style="text", role_template=tags)
    model = build_model(replace(made.model, part=PartSpec("HuggingFaceBaseModel", {"path": "owner/name"})))
    work = Task.of(made, model)
    return probe_prompts(made, work.inferencer, work.context, work.data.test[0], [])


@pytest.mark.parametrize(
    ("template", "options"),
    [
        ("Human: {question}\nAssistant:", {}),
        ("<|im_start|>user\n{question}<|im_end|>", {}),
        ({"round": [{"role": "HUMAN", "prompt": "USER：{question}"}, BOT]}, {}),
        ({"round": [{"role": "HUMAN", "prompt": "Question: {question}"}, BOT]}, {"style": "text", "meta": META}),
        ({"round": [{"role": "HUMAN", "prompt": "### Human: {question}"}, BOT]}, {"style": "text", "meta": META}),
        ("[INST] {question} [/INST]", {"style": "text", "role_template": {"user": ("[INST] ", " [/INST]")}}),
    ],
)
def test_roles_said_twice(tmp_path: Path, template: Any, options: dict[str, Any]) -> None:
    found = warnings(tmp_path, template, **options)
    assert [(what[:30], where) for what, where in found] == [("the template says who speaks (", TEMPLATE)]


@pytest.mark.parametrize(
    ("template", "ice"),
    [
        ({"round": [HUMAN, HUMAN, BOT]}, None),
        ({"round": [BOT, HUMAN, BOT]}, None),
        ({"begin": "</E>", "round": [HUMAN, BOT]}, {"round": [HUMAN]}),
    ],
)
def test_a_round_with_somebody_who_says_nothing(tmp_path: Path, template: Any, ice: Any) -> None:
    found = warnings(tmp_path, template, ice=ice, style="text", meta=META)
    assert ["says nothing is written all the same" in what for what, _ in found] == [True]
    assert warnings(tmp_path, template, ice=ice) == []


def test_a_warning_reads_in_three_lines(tmp_path: Path) -> None:
    made = task(tmp_path, "{quesion}")
    [view] = preview_sample(Task.of(made), 1)
    first, *others = str(view.warnings[0]).splitlines()
    assert first == "{quesion} is sent as it is: nothing is filled in there"
    assert [line[:9] for line in others] == ["  where: ", "  fix:   "]
