"""The printed drift."""

from __future__ import annotations

import io

from rich.console import Console

from ais_prompt.extensions.evidence.locks.drift import Drift, compare_task
from ais_prompt.extensions.evidence.locks.drift_view import print_drift
from ais_prompt.preview import Parts, TaskPrompts, compact_digest, text_of_prompt
from ais_prompt.types import ChatMessage


def task(*texts: str, parts: Parts | None = None, tokens: int | None = None) -> TaskPrompts:
    """One prompt a sample."""
    prompts = {f"id{n}": (text,) for n, text in enumerate(texts)}
    digests = {sample: tuple(map(compact_digest, of_sample)) for sample, of_sample in prompts.items()}
    return TaskPrompts("m", "d", parts or {}, digests, prompts, sum(map(len, texts)), tokens)


def shown(before: TaskPrompts, after: TaskPrompts, *, terminal: bool = False) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=80, force_terminal=terminal, color_system="standard" if terminal else None)
    print_drift(Drift(("a", "b"), [compare_task(before, after)]), console)
    return stream.getvalue()


def test_the_whole_report() -> None:
    before = task("Q: 1\nA:", "Q: 2\nA:", parts={"decoding": {"max_out_len": 4}, "data": {"test": "x"}}, tokens=10)
    after = task("Q: 1\n\nA:", "Q: 2\n\nA:", parts={"decoding": {"max_out_len": 5}, "data": {"dev": "x"}}, tokens=12)
    assert shown(before, after).splitlines()[1:] == [
        "2 of 2 prompts changed, 10 → 12 (+2) tokens",
        "decoding: max_out_len 4 → 5",
        "data: test is gone, dev is new",
        "2 prompts: newline added before `A:`",
        "  row 0, sample id0",
        "  ⋮",
        "   Q: 1",
        "  +⏎",
        "   A:",
        "",
    ]


def test_colours_are_for_terminals() -> None:
    before, after = task("a red house"), task("a green house")
    assert "\x1b[1;37;41mred" in shown(before, after, terminal=True)
    assert "\x1b" not in shown(before, after)
    assert "-a red house" in shown(before, after)


def test_messages_begin_a_line_with_their_role() -> None:
    before = task(text_of_prompt((ChatMessage("user", "Hi"),)))
    after = task(text_of_prompt((ChatMessage("system", "Be kind."), ChatMessage("user", "Hi"))))
    text = shown(before, after)
    assert "1 prompt: `[system] Be kind.` added at the beginning" in text
    assert "  +[system] Be kind.\n   [user] Hi\n" in text


def test_data_cannot_reach_the_terminal() -> None:
    text = shown(task("[bold]x[/bold] \x1b[31m one"), task("[bold]x[/bold] \x1b[31m two"), terminal=False)
    assert "-[bold]x[/bold] \\x1b[31m one" in text
    assert "\x1b" not in text


def test_changed_blanks_can_be_seen() -> None:
    assert "  +A:·" in shown(task("Q\nA:"), task("Q\nA: "))


def test_long_lines_are_shortened() -> None:
    words = " ".join(map(str, range(2000)))
    text = shown(task(f"{words} one {words}"), task(f"{words} two {words}"))
    assert "one" in text
    assert len(text) < 1500
