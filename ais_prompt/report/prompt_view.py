"""A prompt for the eye: what is sent, character for character, and what stands behind it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from ais_prompt.prompts import Filled
from ais_prompt.tasks.preview import PromptView
from ais_prompt.types import Prompt
from ais_prompt.types.prompt import Content
from ais_prompt.utils.text import printable

END = "⟨end⟩"
"""Printed right behind the last character, so that blanks and newlines at the end can be seen."""


def print_prompt(view: PromptView, console: Console) -> None:
    """Print one prompt. Long lines are left to the terminal, so that nothing is added to the text."""
    console.print(Rule(Text(printable(f"{view.model}/{view.dataset}"), style="bold"), align="left"))
    console.print(Text(_origin(view), style="dim"), soft_wrap=True)
    if isinstance(view.prompt, str) and not isinstance(view.filled, str):
        _print_title("Who says what", console)
        _print_turns(view.filled, console)
        _print_title(f"As sent: one text{_length(view)}", console)
    else:
        form = "one text" if isinstance(view.prompt, str) else "messages"
        _print_title(f"As sent: {form}{_length(view)}", console)
    _print_sent(view.prompt, console)
    if view.gold is not None:
        _print_title("Gold, not sent", console)
        _print_text(str(view.gold), console)
    console.print()


def _origin(view: PromptView) -> str:
    parts = (f"row {view.index}, sample {view.sample_id}", view.title, _shots(view))
    return " · ".join(part for part in parts if part)


def _shots(view: PromptView) -> str:
    if not view.shots:
        return "no shots"
    plural = "s" if len(view.shots) > 1 else ""
    return f"{len(view.shots)} shot{plural}: train row{plural} {', '.join(map(str, view.shots))}"


def _length(view: PromptView) -> str:
    return "" if view.tokens is None else f", {view.tokens} tokens"


def _print_turns(filled: Filled, console: Console) -> None:
    for item in filled:
        if isinstance(item, Mapping):
            _print_turn(str(item.get("role", "")), item.get("prompt", ""), console)
        elif item:
            _print_turn("text", item, console)


def _print_sent(prompt: Prompt, console: Console) -> None:
    if isinstance(prompt, str):
        _print_text(prompt, console)
        return
    for message in prompt:
        _print_turn(message.role, message.content, console)


def _print_turn(role: str, content: Content | Any, console: Console) -> None:
    console.print(Text(f"[{printable(role)}] ", style="cyan"), end="")
    _print_text(content if isinstance(content, str) else str(content), console)


def _print_text(text: str, console: Console) -> None:
    console.print(Text(printable(text)) + Text(END, style="dim"), soft_wrap=True, highlight=False)


def _print_title(title: str, console: Console) -> None:
    console.print(Text(title, style="bold"))
