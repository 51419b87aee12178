"""Tell the format and the encoding of a data file from its content.

The encoding is guessed from the beginning, where the text is ordinary in one encoding only. Nearly every sequence of
bytes is text in some code page, so what counts is whether the text is ordinary: the common characters of Chinese,
Japanese and Korean, and words that are of one alphabet with capitals where they belong.
"""

from __future__ import annotations

import codecs
import json
import re
import shlex
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Any, Final, Literal, TypeAlias

from ais_prompt.errors import DataError
from ais_prompt.utils import late

WorkbookKind: TypeAlias = Literal["xlsx", "ods"]
Format: TypeAlias = Literal["jsonl", "json", "csv", "tsv", "parquet", "xlsx", "ods"]

ROW_KEYS: Final = ("data", "rows", "examples", "questions", "items", "samples", "instances", "records")
"""Keys of a JSON object that hold its rows, beside what is said of all (BIG-bench has ``examples``)."""
HEAD_BYTES: Final = 2**17
"""Bytes at the beginning of a file that decide."""
OLE_MAGIC: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""How a workbook of Excel before 2007 begins, and one with a password."""
_ENCRYPTED: Final = "EncryptedPackage".encode("utf-16-le")
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


def workbook_kind(archive: zipfile.ZipFile) -> WorkbookKind | None:
    """Return which workbook an archive is; None if it is none, or a binary one (``.xlsb``)."""
    names = archive.namelist()
    if "xl/workbook.xml" in names:
        return "xlsx"
    if "content.xml" not in names or "mimetype" not in names:
        return None
    with archive.open("mimetype") as member:
        return "ods" if b"spreadsheet" in member.read(100) else None


def old_workbook(path: Path) -> DataError:
    """Return the error for a workbook of Excel before 2007, or for one with a password."""
    with path.open("rb") as file:
        while block := file.read(2**20):
            if _ENCRYPTED in block:
                return locked_workbook(path)
    return DataError("the file is a workbook of an old format (.xls)", where=str(path), fix="save it as .xlsx")


def locked_workbook(path: Path) -> DataError:
    """Return the error for a workbook with a password."""
    return DataError("the workbook has a password", where=str(path), fix="save it without a password")


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


UTF8: Final = "utf-8-sig"
"""UTF-8, with or without a byte order mark."""

_MARKS: Final = (
    (codecs.BOM_UTF8, UTF8),
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins as the mark of UTF-16 does
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_COMMON: Final[Mapping[str, re.Pattern[bytes]]] = {
    "gb18030": re.compile(rb"[\xa1-\xa3\xb0-\xd7][\xa1-\xfe]"),  # GB 2312: signs, and level 1 by pronunciation
    "big5": re.compile(rb"[\xa1-\xc6]."),  # signs, and level 1 by strokes
    "cp932": re.compile(rb"[\x81-\x83\x88-\x97]."),  # Shift-JIS: signs, kana, and kanji of level 1
    "euc_jp": re.compile(rb"[\xa1\xa3-\xa5\xb0-\xcf][\xa1-\xfe]"),
    "cp949": re.compile(rb"[\xa1-\xa3\xb0-\xc8][\xa1-\xfe]"),  # EUC-KR: signs and syllables
}
"""Code page → its common characters besides those of ASCII."""
_SIGNS: Final = "[«»„“”‘’–—…§°·\u00a0]"
_LETTER: Final = r"[^\W\d_]"
_LOWER: Final = "a-zß-ïñ-öø-üÿœ"
_UPPER: Final = "A-ZÀ-ÏÑ-ÖØ-ÜŒ"
_WORDS: Final = {
    # A word of Latin letters has some of ASCII, or is one letter. Letters that are seldom in Western Europe are left
    # out: in the code pages of Eastern Europe and Turkey they are others.
    "cp1252": re.compile(
        rf"(?<!{_LETTER})(?:(?={_LETTER}*[A-Za-z])(?:[{_UPPER}]?[{_LOWER}]+|[{_UPPER}]+)|[{_UPPER}{_LOWER}])(?!{_LETTER})"
        rf"|{_SIGNS}|[¿¡£€×½²]"
    ),
    "cp1251": re.compile(rf"(?<!{_LETTER})(?:[А-ЯЁЄІЇҐЎ]?[а-яёєіїґў]+|[А-ЯЁЄІЇҐЎ]+)(?!{_LETTER})|{_SIGNS}|№(?=\s?\d)"),
}
"""Code page → its ordinary words and signs. Text in Latin-1 is the same in cp1252."""
_LIKELIEST: Final = ("gb18030", "cp1252", "cp932", "euc_jp", "big5", "cp949", "cp1251")
"""The order of those that fit as well as each other, as many do for a few characters."""
_NO_HEBREW: Final = late("[А-Яыьэюя]")
"""Letters of cp1251 where the code page of Hebrew has none."""
_LEAST: Final = 0.8
"""Share of the characters besides those of ASCII that must be ordinary."""
_KOREAN: Final = 12
"""Characters that are all common in Korean are Chinese by chance if they are fewer."""


def guess_encoding(head: bytes) -> str | None:
    """Return the encoding of a text; None if several are as likely, or none is.

    Args:
        head: its beginning; the last character may be cut.
    """
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    if b"\0" in head:  # UTF-16 without a mark: every other byte of ASCII text is NUL
        even, odd = head[::2].count(0), head[1::2].count(0)
        is_wide = min(even, odd) == 0 and max(even, odd) > len(head) // 20
        return ("utf-16-le" if odd else "utf-16-be") if is_wide else None
    if _decoded(head, UTF8) is not None:
        return UTF8
    shares = {encoding: _ordinary_share(head, encoding) for encoding in _LIKELIEST}
    best = max(shares.values())
    likely = [encoding for encoding, share in shares.items() if share == best >= _LEAST]
    if {"gb18030", "cp949"} <= set(likely):
        many = sum(byte >= 0x80 for byte in head) >= 2 * _KOREAN
        return "cp949" if many else "gb18030"
    return likely[0] if likely else None


def _decoded(head: bytes, encoding: str) -> str | None:
    try:
        return codecs.getincrementaldecoder(encoding)().decode(head)
    except UnicodeDecodeError:
        return None


def _ordinary_share(head: bytes, encoding: str) -> float:
    """Return which share of the characters besides those of ASCII is common, or in ordinary words."""
    text = _decoded(head, encoding) or ""
    counts = Counter(character for character in text if character > "\x7f")
    if encoding == "cp1251" and not _NO_HEBREW.search(text):
        return 0
    if common := _COMMON.get(encoding):
        ordinary = sum(count for character, count in counts.items() if common.fullmatch(character.encode(encoding)))
    else:
        ordinary = sum(character > "\x7f" for found in _WORDS[encoding].finditer(text) for character in found[0])
    return ordinary / max(1, counts.total())
