"""Variants of a prompt below each other: the first one whole, of the others what differs from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

from rich.console import Console
from rich.text import Text

from ais_prompt.preview import PromptView, print_sample
from ais_prompt.terminal import print_heading
from ais_prompt.types import Prompt
from ais_prompt.utils import printable

_STYLES: Final = {"-": "red", "+": "green"}


def print_variant_prompts(samples: Sequence[Sequence[PromptView]], console: Console, *, origins: bool = False) -> None:
    """Print the prompts of one question in each variant.

    Args:
        samples: the prompts of the question in each variant, as `print_sample` takes them.
        console: where they are printed.
        origins: print the origin of each piece, of the first variant.
    """
    first, *others = samples
    print_sample(first, console, origins=origins)
    for views in others:
        print_heading(f"{views[0].model}/{views[0].dataset}", console)
        lines = list(_differences(first, views))
        about = "what differs from the first:" if lines else "the same prompt and request as the first"
        console.print(Text(f"{printable(views[0].variant)} · {about}", "dim"), soft_wrap=True)
        for line in lines:
            console.print(Text(printable(line), _STYLES.get(line[0], "")), soft_wrap=True)


def _differences(first: Sequence[PromptView], views: Sequence[PromptView]) -> Iterator[str]:
    """Yield the lines that only one of two variants has, ``-`` and ``+`` in front; then options of the request."""
    old, new = ([line for view in one for line in _lines(view.prompt)] for one in (first, views))
    for kind, start, end, from_, to in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            yield from (f"- {line}" for line in old[start:end])
            yield from (f"+ {line}" for line in new[from_:to])
    was, is_now = first[0].request, views[0].request
    for name in dict.fromkeys([*was, *is_now]):
        if was.get(name) != is_now.get(name):
            yield from (f"{mark} {name}={one[name]!r}" for mark, one in (("-", was), ("+", is_now)) if name in one)


def _lines(prompt: Prompt) -> Iterator[str]:
    """Yield the lines of a prompt, each message with its role in front."""
    messages = [("", prompt)] if isinstance(prompt, str) else [(f"[{one.role}] ", one.content) for one in prompt]
    for role, content in messages:
        text = content if isinstance(content, str) else repr(list(content))
        yield from (f"{role}{line}" for line in text.split("\n"))
