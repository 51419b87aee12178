"""Tell the format of a data file from its content."""

from __future__ import annotations

import codecs
import json
import shlex
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any, Final, Literal, TypeAlias

from ais_prompt.data.text_encoding import UTF8, guess_encoding
from ais_prompt.data.workbook import OLE_MAGIC, old_workbook, workbook_kind
from ais_prompt.errors import DataError
from ais_prompt.utils import late

Format: TypeAlias = Literal["jsonl", "json", "csv", "tsv", "parquet", "xlsx", "ods"]

ROW_KEYS: Final = ("data", "rows", "examples", "questions", "items", "samples", "instances", "records")
"""Keys of a JSON object that hold its rows, beside what is said of all (BIG-bench has ``examples``)."""
HEAD_BYTES: Final = 2**17
"""Bytes at the beginning of a file that decide."""
_UNPACKED_BY: Final = (
    (4, b"1AY&SY", "bunzip2 -k"),
    (0, b"\xfd7zXZ\0", "unxz -k"),
    (0, b"\x28\xb5\x2f\xfd", "unzstd"),
    (0, b"7z\xbc\xaf\x27\x1c", "7z x"),
    (257, b"ustar\0", "tar -xf"),
    (257, b"ustar  \0", "tar -xf"),
)
"""Offset and magic number of archives → what unpacks them."""
_MARKDOWN: Final = late(r"\s*\|.+\n\s*\|[ :|-]+\|[ \t]*\r?\n")
"""The header of a table, and the dashes below it."""
_DOCUMENTS: Final = ("[Content_Types].xml", "mimetype")
"""Members of documents of Office and OpenDocument; those of Apple's programs end with ``.iwa``."""


def format_of(path: Path, stream: IO[bytes], ending: Format | None) -> Format | None:
    """Return the format of a file; None if its content does not tell.

    A workbook is one whatever its name is, and one JSON text is distinguished from JSON lines. Else the ending
    counts, and without one the content.

    Args:
        path: the file.
        stream: its content, without ``.gz``.
        ending: the format that its name says.

    Raises:
        DataError: it is packed in another way, or is a workbook of an old format or with a password.
    """
    head = stream.read(HEAD_BYTES)
    stream.seek(0)
    if head.startswith(OLE_MAGIC):
        raise old_workbook(path)
    if head.startswith(b"PK\x03\x04"):
        return _zipped(path, ending)
    for offset, magic, command in () if ending == "parquet" else _UNPACKED_BY:
        if head[offset:].startswith(magic):
            raise _packed(path, command)
    if ending == "jsonl" or (ending == "json" and head.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"{")):
        return _json_format(stream, ending)
    if ending is not None:
        return ending
    return "parquet" if head.startswith(b"PAR1") else _text_format(path, head, stream)


def _zipped(path: Path, ending: Format | None) -> Format | None:
    try:
        with zipfile.ZipFile(path) as archive:
            found, names = workbook_kind(archive), archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError):
        found, names = None, []
    if "xl/workbook.bin" in names:
        raise DataError("the file is a binary workbook (.xlsb)", where=str(path), fix="save it as .xlsx")
    if found is None and any(name in _DOCUMENTS or name.endswith(".iwa") for name in names):
        fix = "save its table as .xlsx or as CSV UTF-8"
        raise DataError("the file is a document of another program", where=str(path), fix=fix)
    if found is None and ending not in ("xlsx", "ods"):
        raise _packed(path, "unzip")
    return found or ending


def _packed(path: Path, command: str) -> DataError:
    fix = f"unpack it: {command} {shlex.quote(str(path))}"
    return DataError("the file is an archive, and only .gz is read packed", where=str(path), fix=fix)


def _text_format(path: Path, head: bytes, stream: IO[bytes]) -> Format | None:
    from ais_prompt.data.csv_rows import guess_delimiter, is_table

    encoding = guess_encoding(head)
    if encoding is None:
        return None
    text = codecs.getincrementaldecoder(encoding)().decode(head)
    if text.lstrip()[:1] in ("{", "["):
        return _json_format(stream, None) if encoding == UTF8 else "json"
    if _MARKDOWN.match(text):
        raise DataError("the file is a table of Markdown", where=str(path), fix="save it as CSV UTF-8 or JSON lines")
    is_whole = len(head) < HEAD_BYTES
    delimiter = guess_delimiter(text, is_whole=is_whole)
    return "csv" if delimiter is not None and is_table(text, delimiter, is_whole=is_whole) else None


def _json_format(stream: Iterable[bytes], ending: Format | None) -> Format | None:
    """Return ``json`` for one JSON text, and ``jsonl`` for one object a line; the ending decides what could be both."""
    lines = filter(None, (line.removeprefix(codecs.BOM_UTF8).strip() for line in stream))
    first = next(lines, b"")
    if first[:1] not in (b"{", b"["):
        return ending
    following = next(lines, b"")
    if ending == "json" and not following.startswith(b"{"):
        return ending
    try:
        value = json.loads(first)
    except json.JSONDecodeError as error:
        goes_on = error.pos >= len(error.doc)
        return "json" if goes_on else ending or ("jsonl" if first[:1] == b"{" else "json")
    except (UnicodeDecodeError, RecursionError, ValueError):
        return ending or "json"
    if following:
        return "jsonl" if isinstance(value, dict) or ending == "jsonl" else "json"
    return "json" if isinstance(value, list) else ending or ("json" if _holds_rows(value) else "jsonl")


def _holds_rows(value: dict[str, Any]) -> bool:
    """Return whether an object holds rows or columns, and is not a row itself."""
    return any(is_rows(value.get(key)) for key in ROW_KEYS) or all(isinstance(item, list) for item in value.values())


def is_rows(value: Any) -> bool:
    """Return whether a value of JSON is a list of objects."""
    return isinstance(value, list) and all(isinstance(row, dict) for row in value)
