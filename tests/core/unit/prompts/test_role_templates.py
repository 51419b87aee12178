"""Role templates: messages in torchtune's form, and the text that they become for a local model."""

from __future__ import annotations

import doctest
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.errors import ConfigError, PartError, PromptError
from ais_prompt.prompts import (
    READY_MADE,
    ChatMLTemplate,
    Llama2ChatTemplate,
    Message,
    MistralChatTemplate,
    PromptList,
    PromptTemplate,
    RoleTemplate,
    RoleTemplateInterface,
    make_chat_format,
    parse_role_template,
    role_templates,
)

TAGS = {"system": ("S>", "<\n"), "user": ("U>", "<\n"), "assistant": ("B>", "<\n"), "ipython": ("T>", "<\n")}
ROLES = ("system", "user", "assistant", "ipython", "tool")
TEXTS = st.text(max_size=20)
TAG = st.none() | TEXTS


class EurekaTemplate(RoleTemplateInterface):
    """The example of a custom template in torchtune's documents."""

    def __call__(self, messages: list[Message], inference: bool = False) -> list[Message]:
        return [
            Message(message.role, "Eureka!" if message.role == "assistant" else message.content) for message in messages
        ]


def shouting(messages: list[Message], inference: bool = False) -> list[Message]:
    return [Message(message.role, f"{message.role}: {message.text_content.upper()}\n") for message in messages]


def broken(messages: list[Message], inference: bool = False) -> list[Message]:
    raise KeyError("tool")


def make_bot_template() -> RoleTemplate:
    return RoleTemplate({"assistant": ("Bot: ", "")})


def make_text() -> str:
    return "no template"


class NeedsPath(RoleTemplate):
    def __init__(self, path: str) -> None:
        super().__init__({"user": (path, "")})


an_instance = RoleTemplate({"user": ("<", ">")})
a_partial = partial(RoleTemplate, template={"user": ("{", "}")})


def said(*pairs: tuple[str, str]) -> list[Message]:
    return [Message(role, text) for role, text in pairs]


def shown(template: RoleTemplateInterface, *pairs: tuple[str, str]) -> list[str]:
    return [message.text_content for message in template(said(*pairs), inference=True)]


def dialogue(*turns: tuple[str, str], begin: list[Any] | None = None, end: list[Any] | None = None) -> PromptList:
    sections = {"begin": begin, "round": [{"role": role, "prompt": text} for role, text in turns], "end": end}
    filled = PromptTemplate({name: items for name, items in sections.items() if items}).render({})
    assert isinstance(filled, PromptList)
    return filled


def rendered(config: Any, prompt: str | PromptList, mode: Any = "gen") -> Any:
    return make_chat_format("text", None, lambda: None, config).render(prompt, mode)


# -- messages ---------------------------------------------------------------------------------------------------------


def test_a_text_is_one_part_and_parts_stay_in_order() -> None:
    image = {"type": "image", "content": "pixels"}
    message = Message("user", [{"type": "text", "content": "a"}, image, {"type": "text", "content": "b"}])
    assert (message.text_content, message.contains_media) == ("ab", True)
    assert Message("user", "x").content == [{"type": "text", "content": "x"}]
    [tagged] = RoleTemplate({"user": ("(", ")")})([message])
    assert [part["content"] for part in tagged.content] == ["(", "a", "pixels", "b", ")"]


@pytest.mark.parametrize("style", ["text", "messages"])
def test_media_are_refused_with_what_to_do(style: Any) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    asked = PromptList([{"role": "HUMAN", "prompt_mm": [image, {"type": "text", "text": "What is this?"}]}])
    with pytest.raises(PromptError, match="a role template formats text") as caught:
        make_chat_format(style, None, lambda: None, "QuestionAnswerTemplate").render(asked, "gen")
    assert caught.value.fix.startswith("remove prompt_template of the model")


@pytest.mark.parametrize(("role", "content"), [("user", "x"), ("assistant", [{"type": "image", "content": ""}])])
def test_only_the_assistant_calls_tools_and_without_images(role: str, content: Any) -> None:
    with pytest.raises(PromptError):
        Message(role, content, ipython=True)


@pytest.mark.parametrize("name", [name for name in READY_MADE if name != "Llama2ChatTemplate"])
def test_flags_are_kept(name: str) -> None:
    flags = {"masked": True, "ipython": True, "eot": False}
    [formatted] = parse_role_template(name)([Message("assistant", "call", **flags)])
    assert (formatted.masked, formatted.ipython, formatted.eot) == (True, True, False)


def test_formatting_leaves_the_messages_as_they_were() -> None:
    for name in READY_MADE:
        messages = said(("user", "q"), ("assistant", "a"))
        parse_role_template(name)(messages)
        assert messages == said(("user", "q"), ("assistant", "a"))


# -- tables -----------------------------------------------------------------------------------------------------------


@given(
    st.dictionaries(st.sampled_from(ROLES), st.tuples(TAG, TAG)),
    st.lists(st.tuples(st.sampled_from(ROLES), TEXTS), max_size=5),
)
def test_every_text_stands_between_the_tags_of_its_role(table: Any, pairs: list[tuple[str, str]]) -> None:
    expected = [
        f"{(table.get(role) or ('',))[0] or ''}{text}{table.get(role, ('', ''))[1] or ''}" for role, text in pairs
    ]
    assert shown(RoleTemplate(table), *pairs) == expected


def test_the_example_of_the_docstring_runs() -> None:
    assert doctest.testmod(role_templates) == (0, 2)


@pytest.mark.parametrize("tags", ["ab", ("a",), ("a", "b", "c"), None, 1])
def test_tags_that_are_no_pair_are_refused(tags: Any) -> None:
    with pytest.raises(PromptError, match="'user'"):
        RoleTemplate({"user": tags})


def test_a_table_in_the_roles_of_a_data_set_is_refused() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_role_template({"HUMAN": ("Q: ", "")})
    assert caught.value.fix == "write 'user'"


# -- ready-made -------------------------------------------------------------------------------------------------------


def test_chatml_only_opens_an_empty_answer_at_the_end() -> None:
    assert shown(ChatMLTemplate(), ("user", "q"), ("assistant", ""), ("user", "r"), ("assistant", "")) == [
        "<|im_start|>user\nq<|im_end|>\n",
        "<|im_start|>assistant\n<|im_end|>\n",
        "<|im_start|>user\nr<|im_end|>\n",
        "<|im_start|>assistant\n",
    ]
    assert shown(ChatMLTemplate(), ("ipython", "42"), ("tool", "43")) == ["42", "43"]


def test_mistral_has_no_system_role() -> None:
    with pytest.raises(PromptError, match="Mistral has no role 'system'"):
        shown(MistralChatTemplate(), ("system", "s"), ("user", "q"))
    assert shown(MistralChatTemplate(), ("user", "q"), ("tool", "42")) == ["[INST] q [/INST] ", "42"]


def test_llama2_shows_a_system_message_once(caplog: pytest.LogCaptureFixture) -> None:
    pairs = ("system", "s"), ("user", "q"), ("assistant", "a"), ("user", "r"), ("ipython", "42")
    assert shown(Llama2ChatTemplate(), *pairs) == [
        "[INST] <<SYS>>\ns\n<</SYS>>\n\nq [/INST] ",
        "a",
        "[INST] r [/INST] ",
        "42",
    ]
    assert not caplog.records


def test_llama2_warns_of_a_system_message_that_nobody_sees(caplog: pytest.LogCaptureFixture) -> None:
    assert shown(Llama2ChatTemplate(), ("system", "one"), ("system", "two"), ("user", "q"), ("system", "late")) == [
        "[INST] <<SYS>>\ntwo\n<</SYS>>\n\nq [/INST] "
    ]
    assert [record.args for record in caplog.records] == [("one",), ("late",)]


# -- what a config may name -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"user": ["Q", None]}, "Qx"),
        ("QuestionAnswerTemplate", "Question: x\n\nAnswer: "),
        ("torchtune.data.QuestionAnswerTemplate", "Question: x\n\nAnswer: "),
        ("torchtune.models.mistral.MistralChatTemplate", "[INST] x [/INST] "),
        ("ais_prompt.prompts.role_templates.ChatMLTemplate", "<|im_start|>user\nx<|im_end|>\n"),
        (f"{__name__}.EurekaTemplate", "x"),
        (f"{__name__}.make_bot_template", "x"),
        (f"{__name__}.an_instance", "<x>"),
        (f"{__name__}.a_partial", "{x}"),
        (f"{__name__}.shouting", "user: X\n"),
    ],
)
def test_a_template_is_found(config: Any, expected: str) -> None:
    assert shown(parse_role_template(config), ("user", "x")) == [expected]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("torchtune..ChatMLTemplate", "a part of it is empty"),
        ("", "a part of it is empty"),
        ("ChatMl", "there is no role template named 'ChatMl'"),
        ("nowhere.at.all.Template", "no module 'nowhere'"),
        ("ais_prompt.prompts.role_templates.ChatML", "has no 'ChatML'"),
        (f"{__name__}.NeedsPath", "cannot be created: .*path"),
        (f"{__name__}.make_text", "is a str"),
    ],
)
def test_a_path_that_leads_nowhere_is_refused(path: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_role_template(path)


# -- as the format of a model -----------------------------------------------------------------------------------------


def test_a_generation_prompt_ends_where_the_answer_begins() -> None:
    prompt = dialogue(("HUMAN", "q"), ("BOT", "gold"))
    assert rendered(TAGS, prompt) == "U>q<\nB>"
    assert rendered("ChatMLTemplate", prompt) == "<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n"
    assert rendered("Llama2ChatTemplate", prompt) == "[INST] q [/INST] "
    assert rendered("QuestionAnswerTemplate", prompt) == "Question: q\n\nAnswer: "


def test_a_perplexity_prompt_is_whole() -> None:
    prompt = dialogue(("HUMAN", "q"), ("BOT", "gold"), end=[{"role": "SYSTEM", "prompt": "bye"}])
    assert rendered(TAGS, prompt, "ppl") == "U>q<\nB>gold<\nS>bye<\n"


def test_earlier_answers_stay_in_a_generation_prompt() -> None:
    prompt = dialogue(("HUMAN", "q"), ("BOT", "a"), ("TOOL", "42"), ("HUMAN", "r"), ("BOT", "gold"))
    assert rendered(TAGS, prompt) == "U>q<\nB>a<\nT>42<\nU>r<\nB>"
    assert rendered(TAGS, dialogue(("HUMAN", "q"), ("BOT", "call"), ("TOOL", "42"))) == "U>q<\nB>call<\nT>42<\nB>"


def test_a_text_is_said_by_the_user() -> None:
    assert rendered(TAGS, "q") == "U>q<\nB>"
    prompt = dialogue(("HUMAN", "q"), begin=["Be brief.", "\n", {"role": "SYSTEM", "prompt": "s"}, "Now:"])
    assert rendered(TAGS, prompt) == "U>Be brief.<\nS>s<\nU>Now:\nq<\nB>"


def test_examples_that_are_text_are_not_lost() -> None:
    template = PromptTemplate({"begin": "</E>", "round": [{"role": "HUMAN", "prompt": "q"}]}, ice_token="</E>")
    assert rendered(TAGS, template.render({}, examples="1+1=2")) == "U>1+1=2\nq<\nB>"


def test_examples_that_are_dialogues_are_whole() -> None:
    ice = PromptTemplate({"round": [{"role": "HUMAN", "prompt": "1+1"}, {"role": "BOT", "prompt": "2"}]})
    template = PromptTemplate({"begin": "</E>", "round": [{"role": "HUMAN", "prompt": "q"}]}, ice_token="</E>")
    prompt = template.render({}, examples=ice.render_example({}))
    assert rendered(TAGS, prompt) == "U>1+1<\nB>2<\nU>q<\nB>"


def test_a_role_that_the_model_lacks_takes_its_fallback() -> None:
    system = {"role": "SYSTEM", "fallback_role": "HUMAN", "prompt": "s"}
    assert rendered("MistralChatTemplate", dialogue(("HUMAN", "q"), begin=[system])) == "[INST] s\nq [/INST] "
    assert rendered({"user": ("U>", "")}, dialogue(("HUMAN", "q"), begin=[system])) == "U>s\nq"
    assert rendered(TAGS, dialogue(("HUMAN", "q"), begin=[system])) == "S>s<\nU>q<\nB>"
    bare = dialogue(("HUMAN", "q"), begin=[{"role": "SYSTEM", "prompt": "s"}])
    assert rendered({"user": ("U>", "")}, bare) == "sU>q"
    with pytest.raises(PromptError, match="Mistral has no role 'system'"):
        rendered("MistralChatTemplate", dialogue(("HUMAN", "q"), begin=[{"role": "SYSTEM", "prompt": "s"}]))


def test_templates_of_ones_own() -> None:
    prompt = dialogue(("HUMAN", "q"), ("BOT", "gold"))
    assert rendered(f"{__name__}.EurekaTemplate", prompt) == "q"
    assert rendered(f"{__name__}.shouting", prompt) == "user: Q\nassistant: "
    with pytest.raises(PartError, match="the role template broken raised KeyError: 'tool'"):
        rendered(f"{__name__}.broken", prompt)


def test_a_model_behind_an_api_has_none() -> None:
    for template in (TAGS, "ChatMLTemplate", "Llama2ChatTemplate", "MistralChatTemplate"):
        with pytest.raises(ConfigError, match="model is sent messages"):
            make_chat_format("messages", None, lambda: None, template)


@pytest.mark.parametrize(
    "template",
    ["GrammarErrorCorrectionTemplate", {"user": ("Correct this to standard English: ", "\n---\nCorrected: ")}],
)
def test_a_chat_server_is_sent_the_task_in_the_message_of_the_user(template: Any) -> None:
    chat = make_chat_format("messages", None, lambda: None, template)
    filled = PromptList([{"role": "SYSTEM", "prompt": "Be brief."}]).as_section("begin") + PromptList(
        [{"role": "HUMAN", "prompt": "This are a cat"}]
    ).as_section("round")
    task = "Correct this to standard English: This are a cat\n---\nCorrected: "
    sent = [(message.role, message.content) for message in chat.render(filled, "gen") if not isinstance(message, str)]
    assert sent == [("system", "Be brief."), ("user", task)]
    assert [(one.role, one.content) for one in chat.render("This are a cat", "gen")] == [("user", task)]  # type: ignore[union-attr]


class Tokenizer:
    """The part of a Hugging Face tokenizer that is needed for BOS."""

    bos_token = "<s>"
    bos_token_id = 1

    def __init__(self, ids: list[int]) -> None:
        self.ids = ids

    def __call__(self, text: str) -> dict[str, list[int]]:
        return {"input_ids": self.ids}


@pytest.mark.parametrize(("ids", "tag", "expected"), [([1], "U>", "<s>U>q"), ([1], "<s>", "<s>q"), ([2], "U>", "U>q")])
def test_a_chat_model_is_given_its_bos_once(ids: list[int], tag: str, expected: str) -> None:
    chat = make_chat_format("chat_template", None, lambda: Tokenizer(ids), {"user": (tag, "")})
    assert chat.render("q", "gen") == expected


@given(TEXTS.filter(str.strip), st.sampled_from([*READY_MADE, TAGS]))
def test_data_appears_exactly_as_it_is(text: str, config: Any) -> None:
    prompt, frame = (rendered(config, dialogue(("HUMAN", said), ("BOT", "gold"))) for said in (text, "\u2603"))
    assert prompt == frame.replace("\u2603", text)


@pytest.mark.parametrize("name", READY_MADE)
def test_a_prompt_that_says_nothing_is_refused(name: str) -> None:
    with pytest.raises(PromptError, match="is empty"):
        rendered(name, PromptList([]))
