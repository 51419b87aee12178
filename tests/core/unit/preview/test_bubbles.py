"""A prompt split into bubbles: who says what, and what belongs to examples."""

from __future__ import annotations

from typing import Any

from ais_prompt.preview import Bubble, ChangedSpan, Medium, PromptView, Span, bubbles_of, mark_changes, preview_sample
from tests.support.prompt_tasks import prompt_task

META = {
    "begin": "<s>",
    "round": [
        {"role": "HUMAN", "begin": "H: ", "end": "\n"},
        {"role": "BOT", "begin": "B: ", "end": "\n", "generate": True},
    ],
}
TURNS = [{"role": "HUMAN", "prompt": "{q}"}, {"role": "BOT", "prompt": "{a}"}]
BEGIN = [{"role": "SYSTEM", "fallback_role": "HUMAN", "prompt": "Add up."}, "</E>"]
SHOTS = [{"q": "1+1", "a": "2"}, {"q": "2+2", "a": "4"}]


def view_of(prompt: Any, **more: Any) -> PromptView:
    [view] = preview_sample(prompt_task(prompt, **more), 1, origins=True)
    return view


def texts(bubbles: list[Bubble]) -> list[tuple[str, str]]:
    return [(bubble.role, "".join(piece.text for piece in bubble.pieces)) for bubble in bubbles]


def test_a_turn_has_the_texts_of_its_slot_around_it() -> None:
    view = view_of({"begin": BEGIN, "round": TURNS}, ice={"round": TURNS}, train=SHOTS, meta=META)
    bubbles = bubbles_of(view)
    assert texts(bubbles) == [
        ("", "<s>"),
        ("SYSTEM as HUMAN", "H: Add up.\n"),
        ("HUMAN", "H: 1+1\n"),
        ("BOT", "B: 2\n"),
        ("HUMAN", "H: 2+2\n"),
        ("BOT", "B: 4\n"),
        ("HUMAN", "H: 3+3\n"),
        ("BOT", "B: "),
    ]
    assert [bubble.is_format for bubble in bubbles] == [True] + [False] * 7
    assert [bubble.in_example for bubble in bubbles] == [False] * 2 + [True] * 4 + [False] * 2


def test_two_turns_of_one_role_are_two_bubbles() -> None:
    round_ = [{"role": "HUMAN", "prompt": "{q}"}, {"role": "HUMAN", "prompt": "Think."}]
    assert texts(bubbles_of(view_of({"round": round_}, meta=META)))[1:] == [
        ("HUMAN", "H: 3+3\n"),
        ("BOT", "B: \n"),
        ("HUMAN", "H: Think.\n"),
        ("BOT", "B: "),
    ]
    assert texts(bubbles_of(view_of({"round": round_}))) == [("HUMAN", "3+3\n"), ("HUMAN", "Think.")]


def test_a_text_without_roles_is_one_bubble() -> None:
    view = view_of("Sums.\n</E>{q} =", ice="{q} = {a}", train=SHOTS)
    [bubble] = bubbles_of(view)
    assert bubble.role == ""
    assert not bubble.in_example
    assert "".join(piece.text for piece in bubble.pieces) == view.prompt


def test_the_table_of_a_role_template() -> None:
    view = view_of({"round": TURNS}, role_template={"user": ("Q: ", "\n"), "assistant": ("A: ", None)})
    assert texts(bubbles_of(view)) == [("HUMAN", "Q: 3+3\n"), ("BOT", "A: ")]


class Tokenizer:
    chat_template = "tags"

    def apply_chat_template(self, messages: Any, **_: Any) -> str:
        return "".join(f"<{message['role']}>{message['content']}</s>" for message in messages)


def test_what_a_chat_template_writes_is_between_the_messages() -> None:
    template = {"round": [{"role": "HUMAN", "prompt": "Sums.\n</E>{q}"}]}
    view = view_of(template, ice="{q} = {a}", train=SHOTS, style="chat_template", tokenizer=Tokenizer)
    bubbles = bubbles_of(view)
    assert texts(bubbles) == [("", "<user>"), ("user", "Sums.\n1+1 = 2\n2+2 = 4\n3+3"), ("", "</s>")]
    assert [bubble.is_format for bubble in bubbles] == [True, False, True]


def test_each_message_is_a_bubble_and_examples_are_known() -> None:
    begin = [{"role": "SYSTEM", "prompt": "Add up."}, "</E>"]
    view = view_of({"begin": begin, "round": TURNS}, ice={"round": TURNS}, train=SHOTS, style="messages")
    bubbles = bubbles_of(view)
    assert [bubble.role for bubble in bubbles] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert [bubble.in_example for bubble in bubbles] == [False, True, True, True, True, False]


def test_media_are_between_the_texts() -> None:
    parts = {
        "text": {"type": "text", "text": "Look: {question}"},
        "image": {"type": "image_url", "image_url": {"url": "http://a/{image}"}},
    }
    content = "<AIS_TEXT_START>a<AIS_CONTENT_TAG><AIS_IMAGE_START>b.png<AIS_CONTENT_TAG><AIS_TEXT_START>b"
    view = view_of(
        {"type": "MMPromptTemplate", "template": {"round": [{"role": "HUMAN", "prompt_mm": parts}]}},
        rows=[{"content": content, "a": ""}],
        style="messages",
    )
    [bubble] = bubbles_of(view)
    assert [piece.text for piece in bubble.pieces] == ["Look: ", "a", "image: http://a/b.png", "Look: ", "b"]
    assert [isinstance(piece, Medium) for piece in bubble.pieces] == [False, False, True, False, False]


def test_without_origins_a_message_is_one_piece() -> None:
    [view] = preview_sample(prompt_task({"round": TURNS}, style="messages"), 1)
    [bubble] = bubbles_of(view)
    assert [(piece.text, piece.origin.kind) for piece in bubble.pieces] == [("3+3", "unknown")]


def test_words_that_the_prompt_beside_does_not_have_are_pieces_of_their_own() -> None:
    one, other = (bubbles_of(view_of(f"{how} add: {{q}} please", rows=[{"q": q, "a": ""}])) for how, q in
                  (("Now", "1+1"), ("Then", "1+2")))  # fmt: skip
    before = texts(one)
    mark_changes(one, other)
    assert texts(one) == before
    assert [piece.text for bubble in one for piece in bubble.pieces if isinstance(piece, ChangedSpan)] == ["Now", "1"]
    same = bubbles_of(view_of("{q}"))
    mark_changes(same, bubbles_of(view_of("{q}")))
    assert not any(isinstance(piece, ChangedSpan) for bubble in same for piece in bubble.pieces)


def test_a_column_is_the_same_between_other_texts_of_another_format() -> None:
    roles = [{"role": "HUMAN", "begin": "<user>", "end": "<end>"}, {"role": "BOT", "begin": "<bot>", "generate": True}]
    one = bubbles_of(view_of({"round": TURNS}, meta=META))
    mark_changes(one, bubbles_of(view_of({"round": TURNS}, meta={"round": roles})))
    spans = [piece for bubble in one for piece in bubble.pieces if isinstance(piece, Span)]
    changed = {span.origin.kind: isinstance(span, ChangedSpan) for span in spans}
    assert changed == {"meta template": True, "data": False}
