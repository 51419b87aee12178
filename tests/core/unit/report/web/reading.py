"""What a report holds, read as a browser reads it."""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Report:
    """The text of each element with an id, without the libraries of the page."""

    blocks: dict[str, str]

    @property
    def data(self) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(self.blocks["data"])
        return value

    def unpacked(self, name: str) -> Any:
        return json.loads(gzip.decompress(base64.b64decode(self.blocks[name])))

    def sample(self, place: int = 0, task: int = 0, chunk: int = 0) -> dict[str, Any]:
        """A sample with its texts put together again."""
        value = self.unpacked(f"task-{task}-chunk-{chunk}")
        sample: dict[str, Any] = with_texts(value["samples"][place], value["lines"])
        return sample


def read_report(path: Path) -> Report:
    parser = _Blocks()
    parser.feed(path.read_text("utf-8"))
    parser.close()
    return Report({name: text for name, text in parser.blocks.items() if not name.startswith("library-")})


def with_texts(value: Any, lines: list[str]) -> Any:
    """A JSON value with texts in place of the numbers of their lines."""
    if isinstance(value, dict):
        return {name: with_texts(item, lines) for name, item in value.items()}
    if isinstance(value, list) and value and all(isinstance(item, int) for item in value):
        return "\n".join(lines[number] for number in value)
    return [with_texts(item, lines) for item in value] if isinstance(value, list) else value


class _Blocks(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.blocks: dict[str, str] = {}
        self._name = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._name = dict(attrs).get("id") or "" if tag == "script" else ""

    def handle_data(self, data: str) -> None:
        if self._name:
            self.blocks[self._name] = self.blocks.get(self._name, "") + data
