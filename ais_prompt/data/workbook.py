"""Unpack the XML files of a workbook (``.xlsx``, ``.ods``) in bounded memory."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal, TypeAlias

from ais_prompt.errors import DataError

WorkbookKind: TypeAlias = Literal["xlsx", "ods"]
Members: TypeAlias = Mapping[str, bytes]
"""The name of a file in a workbook → its content."""

OLE_MAGIC: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""How a workbook of Excel before 2007 begins, and one with a password."""
_ENCRYPTED: Final = "EncryptedPackage".encode("utf-16-le")
_MOST_BYTES: Final = 64 * 2**20
"""Bytes of XML that a workbook may unpack to."""
_ODS_MEMBERS: Final = ("mimetype", "META-INF/manifest.xml", "content.xml")


def workbook_kind(archive: zipfile.ZipFile) -> WorkbookKind | None:
    """Return which workbook an archive is; None if it is none, or a binary one (``.xlsb``)."""
    names = archive.namelist()
    if "xl/workbook.xml" in names:
        return "xlsx"
    if "content.xml" not in names or "mimetype" not in names:
        return None
    with archive.open("mimetype") as member:
        return "ods" if b"spreadsheet" in member.read(100) else None


def unpack_workbook(path: Path, kind: WorkbookKind) -> dict[str, bytes]:
    """Return the XML files of a workbook; pictures and macros are left out.

    Raises:
        DataError: it is damaged, has a password, is of an old format, or unpacks to too much.
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        if file.read(len(OLE_MAGIC)) == OLE_MAGIC:
            raise old_workbook(path)
        try:
            members = _unpacked(path, zipfile.ZipFile(file), kind)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
            raise damaged_workbook(path, kind, str(error)) from None
    if b"encryption-data" in members.get("META-INF/manifest.xml", b""):
        raise _locked_workbook(path)
    return members


def packed(members: Members) -> io.BytesIO:
    """Return an archive of these files, whose sizes are what it says."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    content.seek(0)
    return content


def _unpacked(path: Path, archive: zipfile.ZipFile, kind: WorkbookKind) -> dict[str, bytes]:
    members: dict[str, bytes] = {}
    left = _MOST_BYTES
    for info in archive.infolist():
        is_xml = info.filename.lower().endswith((".xml", ".rels")) and info.filename != "content.xml"
        if is_xml if kind == "xlsx" else info.filename in _ODS_MEMBERS:
            with archive.open(info) as member:  # never reads more than the size that the archive states
                members[info.filename] = member.read(left + 1)
            left -= len(members[info.filename])
        if left < 0:
            what = f"the workbook unpacks to more than {_MOST_BYTES // 2**20} MiB"
            raise DataError(what, where=str(path), fix="split it, or save the sheet as CSV UTF-8")
    return members


def old_workbook(path: Path) -> DataError:
    """Return the error for a workbook of Excel before 2007, or for one with a password."""
    with path.open("rb") as file:
        while block := file.read(2**20):
            if _ENCRYPTED in block:
                return _locked_workbook(path)
    return DataError("the file is a workbook of an old format (.xls)", where=str(path), fix="save it as .xlsx")


def damaged_workbook(path: Path, kind: WorkbookKind, cause: str) -> DataError:
    """Return the error for a workbook that cannot be read."""
    what = f"the file is no workbook of the format {kind}: {cause.partition(chr(10))[0]:.100}"
    fix = "open it in a spreadsheet program, and save it again or as CSV UTF-8"
    return DataError(what, where=str(path), fix=fix)


def _locked_workbook(path: Path) -> DataError:
    return DataError("the workbook has a password", where=str(path), fix="save it without a password")
