"""A Chinese page has what its English page has: headings, code blocks, inline code, tables and links.

The words of a translation are for people to judge. What can be compared is compared section by section, so that an
option, an example or a link that is added to one language is missed in the other.
"""

from __future__ import annotations

import os
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

import pytest

from tests.support.markdown import FENCED, anchor, headings, links

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
CHINESE = {DOCS / page.name: page for page in sorted((DOCS / "zh").glob("*.md"))} | {
    ROOT / "README.md": ROOT / "README.zh.md"
}
"""English page → its Chinese version."""
LANGUAGE_LINE = 2
"""The line, from 0, that leads to the other language: below the title and an empty line."""

Row = tuple[frozenset[str], ...]


@dataclass(frozen=True)
class Section:
    """What a heading has below it, up to the next heading.

    Attributes:
        level: 1 for the title of a page.
        tables: the inline code in each cell of each row, heads included.
        links: targets as they are written, of pictures too.
    """

    level: int
    heading: str
    blocks: tuple[str, ...]
    code: frozenset[str]
    tables: tuple[tuple[Row, ...], ...]
    links: tuple[str, ...]


def sections(text: str) -> list[Section]:
    """Cut a page at its headings; the language line is left out."""
    lines = text.split("\n")
    if len(lines) > LANGUAGE_LINE and re.fullmatch(r"\[(English|中文)\]\(.*\)", lines[LANGUAGE_LINE]):
        del lines[LANGUAGE_LINE]
    text = "\n".join(lines)
    blocks = FENCED.findall(text)
    kept = FENCED.sub("\0\n", text)  # a line that begins with # in a block is no heading
    parts = re.split(r"^(#+) (.*)$", kept, flags=re.MULTILINE)
    assert not parts[0].strip(), "a page begins with its title"
    found = []
    for marks, heading, body in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        own = [blocks.pop(0) for _ in range(body.count("\0"))]
        code = frozenset(inline_code(f"{heading}\n{body}"))
        found.append(Section(len(marks), heading, tuple(own), code, tuple(tables(body)), tuple(links(body))))
    return found


def inline_code(text: str) -> Iterator[str]:
    for code in re.findall(r"`([^`]+)`", text):
        yield re.sub(r"\s+", " ", code)


def tables(text: str) -> Iterator[tuple[Row, ...]]:
    for table in re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE):
        cells = (re.split(r"(?<!\\)\|", line)[1:-1] for line in table.splitlines())
        yield tuple(tuple(frozenset(inline_code(cell)) for cell in row) for row in cells)


def anchors(page: Path) -> list[str]:
    return [anchor(heading) for heading in headings(page.read_text("utf-8"))]


def translated(target: str, page: Path) -> str:
    """Where a link of an English page leads in its Chinese version: to a Chinese page where there is one."""
    if "://" in target:
        return target
    name, _, part = target.partition("#")
    file = (page.parent / name).resolve() if name else page
    if file not in CHINESE:
        return os.path.relpath(file, CHINESE[page].parent) + (part and f"#{part}")
    if part:
        places = dict(zip(anchors(file), anchors(CHINESE[file]), strict=False))
        part = places.get(part, part)
    path = os.path.relpath(CHINESE[file], CHINESE[page].parent) if name else ""
    return path + (part and f"#{part}")


def unequal(kind: str, english: Iterator[str], chinese: Iterator[str]) -> Iterator[str]:
    """Say what one of the two has more of."""
    here, there = Counter(english), Counter(chinese)
    for missing in here - there:
        yield f"{kind} is missing: {missing}"
    for surplus in there - here:
        yield f"{kind} is not in English: {surplus}"


def section_faults(english: Section, chinese: Section, page: Path) -> Iterator[str]:
    if chinese.level != english.level:
        yield f"a heading of level {chinese.level}, in English {english.level}"
    yield from unequal("code block", iter(english.blocks), iter(chinese.blocks))
    if Counter(english.blocks) == Counter(chinese.blocks) and english.blocks != chinese.blocks:
        yield "the code blocks have another order"
    yield from unequal("inline code", iter(english.code), iter(chinese.code))
    yield from unequal("link", (translated(link, page) for link in english.links), iter(chinese.links))
    if len(chinese.tables) != len(english.tables):
        yield f"{len(chinese.tables)} tables, in English {len(english.tables)}"
    for number, (ours, theirs) in enumerate(zip(english.tables, chinese.tables, strict=False), 1):
        if len(ours) != len(theirs):
            yield f"table {number} has {len(theirs)} rows, in English {len(ours)}"
            continue
        for line, (row, other) in enumerate(zip(ours, theirs, strict=True), 1):
            if row != other:
                yield f"row {line} of table {number} has {cells(other)}, in English {cells(row)}"


def cells(row: Row) -> str:
    return " | ".join(", ".join(f"`{code}`" for code in sorted(cell)) or "–" for cell in row)


def heading_faults(ours: list[Section], theirs: list[Section]) -> Iterator[str]:
    """Name the sections around which a heading is missing or new: those that are alike on both sides are left out."""
    alike = SequenceMatcher(None, *([(one.level, one.blocks, one.code) for one in page] for page in (ours, theirs)))
    for kind, start, end, other_start, other_end in alike.get_opcodes():
        if kind != "equal" and end - start != other_end - other_start:
            here, there = titles(ours[start:end]), titles(theirs[other_start:other_end])
            yield f"other headings: in English {here}, in Chinese {there}"


def titles(found: list[Section]) -> str:
    return ", ".join(f"'{one.heading}'" for one in found) or "none"


def faults(english: str, chinese: str, page: Path) -> list[str]:
    """Compare the texts of a page and of its Chinese version; each fault names the section."""
    ours, theirs = sections(english), sections(chinese)
    if len(ours) != len(theirs):
        return list(heading_faults(ours, theirs))
    return [
        f"section '{other.heading}' ('{one.heading}'): {fault}"
        for one, other in zip(ours, theirs, strict=True)
        for fault in section_faults(one, other, page)
    ]


def test_both_languages_have_the_same() -> None:
    for page in CHINESE:
        found = faults(page.read_text("utf-8"), CHINESE[page].read_text("utf-8"), page)
        if found:  # a warning: a contributor need not write Chinese
            name = CHINESE[page].relative_to(ROOT)
            warnings.warn("\n".join([f"{name} differs from {page.relative_to(ROOT)}:", *found]), stacklevel=1)


def test_each_language_links_to_the_other() -> None:
    for page in CHINESE:
        for here, there, name in ((page, CHINESE[page], "中文"), (CHINESE[page], page, "English")):
            link = f"[{name}]({os.path.relpath(there, here.parent)})"
            assert here.read_text("utf-8").split("\n")[LANGUAGE_LINE] == link, f"{here.name}: line 3 should be {link}"


ENGLISH_TEXT = """\
# Shots

[中文](zh/shots.md)

Take `ice_num`, see [below](#options).

```python
k = 1
```

## Options

| option | default |
|---|---|
| `ice_num` | `1` |
| `seed` | `43` |

More in [views](view-prompt.md).
"""
CHINESE_TEXT = """\
# 样例

[English](../shots.md)

使用 `ice_num`，见[下文](#options)。

```python
k = 1
```

## 参数

| 参数 | 默认值 |
|---|---|
| `ice_num` | `1` |
| `seed` | `43` |

更多见[查看器](view-prompt.md)。
"""


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An English page of a folder with two pages in both languages."""
    (tmp_path / "zh").mkdir()
    for name, english, chinese in (("shots.md", "# A", "# 甲"), ("view-prompt.md", "# B", "# 乙")):
        (tmp_path / name).write_text(english)
        (tmp_path / "zh" / name).write_text(chinese)
        monkeypatch.setitem(CHINESE, tmp_path / name, tmp_path / "zh" / name)
    return tmp_path / "shots.md"


def test_equal_texts_have_no_fault(page: Path) -> None:
    assert not faults(ENGLISH_TEXT, CHINESE_TEXT, page)


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("## 参数\n", "", "other headings: in English 'Shots', 'Options', in Chinese '样例'"),
        ("## 参数", "## 更多\n\n## 参数", "other headings: in English none, in Chinese '更多'"),
        ("## 参数", "### 参数", "section '参数' ('Options'): a heading of level 3, in English 2"),
        ("k = 1", "k = 2", "section '样例' ('Shots'): code block is missing: ```python\nk = 1\n```\n"),
        ("使用 `ice_num`", "使用", "section '样例' ('Shots'): inline code is missing: ice_num"),
        ("更多", "更多 `n`", "section '参数' ('Options'): inline code is not in English: n"),
        ("| `seed` | `43` |\n", "", "section '参数' ('Options'): table 1 has 3 rows, in English 4"),
        ("`seed` | `43`", "`43` | `seed`", "row 4 of table 1 has `43` | `seed`, in English `seed` | `43`"),
        ("view-prompt.md", "../view-prompt.md", "section '参数' ('Options'): link is missing: view-prompt.md"),
        ("(#options)", "(#参数)", "section '样例' ('Shots'): link is not in English: #参数"),
    ],
)
def test_a_difference_is_found(page: Path, old: str, new: str, fault: str) -> None:
    assert CHINESE_TEXT.count(old) == 1
    assert fault in "\n".join(faults(ENGLISH_TEXT, CHINESE_TEXT.replace(old, new), page))


def test_a_link_to_a_heading_leads_to_the_chinese_heading(page: Path) -> None:
    page.write_text(ENGLISH_TEXT)
    CHINESE[page].write_text(CHINESE_TEXT)
    assert translated("#options", page) == "#参数"
    assert translated("view-prompt.md", page) == "view-prompt.md"
    assert translated("leaks.md#proved", page) == "../leaks.md#proved"
    assert translated("https://example.com", page) == "https://example.com"
