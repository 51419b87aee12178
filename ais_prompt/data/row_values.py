"""Values of rows as people have them: texts, lists and objects written in a text, and chats.

A chat has turns with a role and what it says, as the files of several programs have them.
"""

from __future__ import annotations

import ast
import io
import json
import tokenize
import unicodedata
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from ais_prompt.errors import DataError
from ais_prompt.utils import late, parse_written

_TEXTS: Final = (
    *("text", "paragraph_text", "passage_text", "content", "contents", "page_content", "passage", "paragraph"),
    *("document", "body", "sentences", "snippet"),
)
"""Keys of the text of a passage, the likeliest first."""
PASSAGES: Final = ("contexts", "snippets", "documents", "passages", "paragraphs", "docs", "ctxs")
"""Names of lists of passages, in small letters."""


def value_at(row: Mapping[str, Any], path: str) -> Any:
    """Return the value of a column, or of a path into one: ``assert.0.value``; None where a row lacks it."""
    if path in row:
        return row[path]
    value: Any = row
    for key in path.split("."):
        if isinstance(value, Mapping):
            value = value.get(key)
        else:
            value = parsed(value)
            is_place = isinstance(value, list | tuple) and key.isdigit() and int(key) < len(value)
            value = value[int(key)] if is_place else None
    return value


def text_of(name: str, value: Any) -> str:
    """Return a value of a row as a prompt writes it.

    Raises:
        DataError: it is an object, or a list of other things than texts, numbers and passages.
    """
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple) and not any(isinstance(one, Mapping | list | tuple) for one in value):
        return "\n".join(text_of(name, one) for one in value)
    if "table" in name.lower() and (table := _table(name, value)) is not None:
        return table
    if (passages := _passages(value)) is not None:
        return "\n\n".join(passages)
    if isinstance(value, Mapping | list | tuple):
        what = f"{name!r} holds {json.dumps(value, ensure_ascii=False, default=str):.80}, which no prompt can write"
        raise DataError(what, fix="write a text into the column, or name another one with --prompt")
    return str(value)


def _table(name: str, value: Any) -> str | None:
    """Return a table in Markdown, the first line as its header; None if the value is none."""
    if isinstance(value, Mapping) and isinstance(value.get("header"), list) and isinstance(value.get("rows"), list):
        value = [value["header"], *value["rows"]]
    lines = value if isinstance(value, list) and all(isinstance(line, list) for line in value) else []
    nested = any(isinstance(cell, list | Mapping) for line in lines for cell in line)
    if len({len(line) for line in lines}) != 1 or nested:
        return None
    cells = [[text_of(name, cell).replace("|", r"\|").replace("\n", " ") for cell in line] for line in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in [cells[0], ["---"] * len(cells[0]), *cells[1:]])


def _passages(value: Any) -> list[str] | None:
    """Return passages as texts, each below its title; None if the value has another form.

    They are objects, lists of sentences, or pairs of title and sentences; or an object of lists, or of one.
    """
    if isinstance(value, Mapping) and any(isinstance(value.get(key), str) for key in _TEXTS):
        value = [value]
    elif isinstance(value, Mapping):
        if (inner := next((value[key] for key in PASSAGES if key in value), None)) is not None:
            return _passages(inner)
        columns = {key: column for key, column in value.items() if column is not None}
        if not columns or not all(isinstance(column, list | tuple) for column in columns.values()):
            return None
        if len({len(column) for column in columns.values()}) > 1:
            return None
        value = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    each = [_passage(one) for one in value] if isinstance(value, list | tuple) else [None]
    return None if None in each else [one for one in each if one]


def _passage(value: Any) -> str | None:
    """Return one passage; None for anything else."""
    title: Any = None
    below = "\n"
    if isinstance(value, Mapping):
        if "speaker" in value:  # a turn of a dialogue
            title, below = value["speaker"], ": "
        else:
            title = value.get("title")
        value = next((value[key] for key in _TEXTS if key in value), None)
    elif isinstance(value, list | tuple) and [isinstance(one, str) for one in value] == [True, False]:
        title, value = value
    if isinstance(value, list | tuple) and all(isinstance(sentence, str) for sentence in value):
        value = " ".join(map(str.strip, value))
    if not isinstance(value, str):
        return None
    return f"{title}{below}{value}" if isinstance(title, str) and title else value


def parsed(value: Any) -> Any:
    """Return what a text holds that is a list or an object in JSON, or as Python writes it; else the value itself."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    if text[:2] in ('"[', '"{') and text[-2:] in (']"', '}"'):  # in a TSV of pandas, where quotation marks are text
        text = text[1:-1].replace('""', '"')
    if text[:1] not in ("[", "{"):
        return value
    with suppress(ValueError):
        return parse_written(text)
    with suppress(ValueError, SyntaxError, MemoryError, RecursionError, tokenize.TokenError):
        return ast.literal_eval(_without_arrays(text) if _OF_NUMPY.search(text) else text)
    return value


_OF_NUMPY: Final = late(r"""\barray\(|['"\d.\]}]\s+(?:['"\d\[{]|array)""")
"""What may be an array of NumPy, as pandas writes it into a cell: ``['a' 'b']``, ``array(['a'], dtype=object)``."""


class _Lists(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        return node.args[0] if node.args and isinstance(node.func, ast.Name) and node.func.id == "array" else node


def _without_arrays(text: str) -> ast.Expression:
    """Return the expression of a text with lists for arrays of NumPy, whose values have no commas between them.

    Raises:
        SyntaxError, tokenize.TokenError: the text is no Python.
    """
    tokens = [token for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.string.strip()]
    values = (tokenize.STRING, tokenize.NUMBER)
    written = ""
    is_ended = False
    for token in tokens:
        begins = token.type in values or token.string in ("[", "{", "array")
        written += f"{',' if is_ended and begins else ''} {token.string}"
        is_ended = token.type in values or token.string in ("]", "}", ")")
    expression: ast.Expression = _Lists().visit(ast.parse(written.strip(), mode="eval"))
    return expression


def plain(text: str) -> str:
    """Return a text as it is compared: without differences of case, width and white space."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(".。")


ROLES: Final[Mapping[str, str]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "question": "user",
    "assistant": "assistant",
    "gpt": "assistant",
    "bot": "assistant",
    "model": "assistant",
    "chatgpt": "assistant",
    "chatbot": "assistant",
    "ai": "assistant",
    "answer": "assistant",
    "系统": "system",
    "用户": "user",
    "助手": "assistant",
}
"""Role of a turn, as datasets write it → role of the API."""
ROLE_KEYS: Final = ("role", "from", "speaker", "type", "角色")
CONTENT_KEYS: Final = ("content", "value", "text", "parts", "message", "内容")


def chat_of(name: str, value: Any) -> list[dict[str, Any]]:
    """Return the turns of a chat with the roles of the API.

    Args:
        name: its column.
        value: a list of ``{"role": …, "content": …}``, or of ``{"from": "human", "value": …}`` as ShareGPT has it; or
            the same as a text of JSON. In a column ``turns`` the only one may be a text, or have no role.

    Raises:
        DataError: it is of another form.
    """
    turns = parsed(value)
    if name == "turns" and isinstance(turns, list | tuple) and len(turns) == 1:
        # The only turn of a question, as LiveBench and Arena-Hard have it.
        turn = {"content": turns[0]} if isinstance(turns[0], str) else turns[0]
        turns = [{"role": "user", **turn} if isinstance(turn, Mapping) and not turn.keys() & set(ROLE_KEYS) else turn]
    found = [_turn(turn) for turn in turns] if isinstance(turns, list | tuple) else []
    if not found or None in found:
        what = f"{name!r} is no list of chat turns but {value!r:.80}"
        raise DataError(what, fix='write [{"role": "user", "content": "…"}, …]')
    chat = [turn for turn in found if turn is not None]
    if not any(turn["role"] == "user" for turn in chat):
        raise DataError(f"the chat in {name!r} has no turn of the user", fix="write one, or leave the row out")
    return chat


def _turn(turn: Any) -> dict[str, Any] | None:
    if not isinstance(turn, Mapping):
        return None
    role = next((turn[key] for key in ROLE_KEYS if isinstance(turn.get(key), str)), None)
    content = next((turn[key] for key in CONTENT_KEYS if isinstance(turn.get(key), str | list)), None)
    if isinstance(content, list) and content and all(isinstance(part, Mapping) for part in content):
        texts = [part.get("text") for part in content if part.keys() <= {"text", "type"}]
        if len(texts) == len(content) and all(isinstance(text, str) for text in texts):
            content = "\n".join(map(str, texts))  # as a template writes it; other parts are images and calls
    if role is None or (content is None and not turn.get("tool_calls")):
        return None
    kept = {key: one for key, one in turn.items() if key not in (*ROLE_KEYS, *CONTENT_KEYS) and one is not None}
    return {"role": ROLES.get(role.lower(), role), "content": content, **kept}


def split_chat(turns: Sequence[dict[str, Any]]) -> tuple[list[dict[str, Any]], str | None]:
    """Return the turns that are sent, and the answer that the last turn of the assistant gives; None without one."""
    if len(turns) > 1 and turns[-1]["role"] == "assistant":
        said = turns[-1]["content"]
        return list(turns[:-1]), said if isinstance(said, str) and said.strip() else None
    return list(turns), None
