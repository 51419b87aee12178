"""Everything that people read uses the words of the field, none of those in `BANNED`."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[3]

BANNED: Final = {
    r"mend(s|ed|ing)?": "fix",
    r"stands": "is, are",
    r"(is|are|was|were|be|been) told": "shows, says",
    r"whoever": "if you",
    r"nobody": "no one, nothing",
    r"in vain": "unsuccessfully",
    r"plainly": "directly",
    r"is another one": "changed",
    r"data sets?": "dataset",
}
"""A pattern of words, in any case → what to write instead."""

OLD_NAMES: Final = {
    "Dialogue": "RunningConversation",
    "Desk": "InferenceContext",
    "Said": "MessageBuilder",
    "said_blank": "compile_messages",
    "in_halves": "bisect_on_failure",
    "Trial": "PromptProbe",
    "PLAIN": "NEUTRAL_TEXT",
    "PATIENCE": "MAX_SAME_FAILURES, OUTAGE_LIMIT_SECONDS, SLOWDOWN_LIMIT",
}
"""Names of code that were renamed → their new names."""

FOLDERS: Final = ("ais_prompt", "configs", "docs", "tests", "tools")
SUFFIXES: Final = (".py", ".md", ".toml", ".html", ".js", ".css")
DATA: Final = ("configs/data/", "tests/data/", "tests/core/conformance/cases/", "tests/phrasings/")


def readable_files() -> Iterator[Path]:
    """Return the files of the repository that people read, without data and this file."""
    yield from (ROOT / "Makefile", ROOT / ".ci" / "run")
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*")] + list(ROOT.glob("*.*"))
    for path in files:
        is_data = path.relative_to(ROOT).as_posix().startswith(DATA) or path == Path(__file__)
        if path.suffix in SUFFIXES and not is_data:
            yield path


def bad_words(text: str, *, is_code: bool = True) -> list[tuple[int, str, str]]:
    """Return the line, the words and what to write instead of each banned word. It may contain a line break."""
    found = []
    lowered = text.lower()
    for words, better in BANNED.items():
        words = words.replace(" ", r"\s+(?:[#>*]+\s+)?")
        if re.search(words, lowered):  # the whole pattern takes twenty times as long
            matches = re.finditer(rf"(?<![\w-]){words}(?![\w-])", text, re.IGNORECASE)
            found += [(match, better) for match in matches]
    for name, better in OLD_NAMES.items() if is_code else ():
        found += [(match, better) for match in re.finditer(rf"\b{name}\b", text)]
    return sorted((text.count("\n", 0, match.start()) + 1, match[0], better) for match, better in found)


@pytest.mark.thorough
def test_no_banned_words_in_anything_that_people_read() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {' '.join(words.split())!r}; write {better}"
        for path in readable_files()
        for line, words, better in bad_words(path.read_text("utf-8"), is_code=path.suffix == ".py")
    ]
    if found:  # a warning: words are for the review, they fail no build
        warnings.warn("\n".join(found), stacklevel=1)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("Mended.", 1, "Mended"),
        ("a\n# what is\n    # told\n", 2, "is\n    # told"),
        ("The data\nset.", 1, "data\nset"),
        ("class Desk:\n", 1, "Desk"),
    ],
)
def test_banned_words_are_found(text: str, line: int, words: str) -> None:
    assert [(number, found) for number, found, _ in bad_words(text)] == [(line, words)]


@pytest.mark.parametrize("text", ["recommend, amendment", "stand-in", "PLAIN_KINDS", "datasets", "desk", "he said"])
def test_other_words_are_fine(text: str) -> None:
    assert bad_words(text) == []
