"""The file of a sealed run: a zip of what a run rests on, with a digest of all of it.

``seal.json`` has the root of a Merkle tree (RFC 6962, section 2.1). Its leaves are what ``seal.json`` says itself, then
the lines of the JSONL files and the other files whole, in the order of their paths, each behind its path. A signature
is of ``seal.json``, by the key of
the user with OpenSSH (``ssh-keygen -Y``): no key is made or kept here.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import zipfile
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.errors import AisPromptError, ConfigError, DataError
from ais_prompt.store import RunFolder, read_run_file, reading, refuse_links, replacing
from ais_prompt.utils import most_values, one_line, temporary_folder, versions

SEAL: Final = "seal.json"
SIGNATURE: Final = "seal.json.sig"
LOCK: Final = "prompts.lock"
NAMESPACE: Final = "aisprompt-seal"
"""What a signature is for: one of another purpose does not count."""
FORMAT: Final = 1
MOST_COMPRESSED: Final = 300
"""Most times that a seal may be larger unpacked than packed."""
MOST_VALUES: Final = 1 << 22
"""Most values of a seal, beside `_VALUES_PER_BYTE`: each takes about 60 bytes, and a line three times as many."""
_VALUES_PER_BYTE: Final = 4
_SHOWN: Final = 200
_SMALLEST: Final = 1 << 20
_CHUNK: Final = 1 << 20
_SEALED: Final = re.compile(
    r"config\.py|run\.json|prompts\.lock|(journal|predictions|results|judge|performances)(/[^/\\:]+)+\.jsonl?"
    r"|shards/[^/\\:]+/(shard\.json|journal(/[^/\\:]+)+\.jsonl)"
)
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_VERSION: Final = re.compile(r"[ -~]{1,100}")
_COPY_AGAIN: Final = "copy the file again"


class Seal(Struct, frozen=True):
    """What ``seal.json`` says.

    Attributes:
        root: of the Merkle tree, in hex.
        leaves: their number, without that of the seal itself.
        made: when, in UTC.
        versions: of the packages that sealed.
        format: version of this form.
    """

    root: str
    leaves: int
    made: str
    versions: dict[str, str]
    format: int = FORMAT


def write_seal(folder: RunFolder, target: Path, lock: Path | None, key: Path | None) -> Seal:
    """Seal a finished run.

    Args:
        folder: of the run.
        target: the file, replaced if it is there.
        lock: of the prompts of its config; None without one.
        key: private key for OpenSSH; None leaves the seal unsigned.

    Raises:
        ConfigError: the run is not finished, or nothing can be signed with the key.
        StoreError: a file cannot be read or written.
    """
    refuse_links(folder)
    status = read_run_file(folder).get("status")
    if status != "finished":
        raise ConfigError(f"the run is {status}", where=str(folder.root), fix="finish it first: aisprompt run … -r")
    if folder.loads.exists():
        load = next(iter(sorted(folder.loads.iterdir())), folder.loads)
        raise ConfigError("the run has several loads", where=str(folder.root), fix=f"seal one: aisprompt seal {load}")
    files = {path.relative_to(folder.root).as_posix(): path for path in folder.root.rglob("*") if path.is_file()}
    files = {name: path for name, path in sorted(files.items()) if _SEALED.fullmatch(name)}
    if lock is not None:
        files[LOCK] = lock
    number = sum(1 for name in files for _ in _leaves(name, files[name]))
    seal = Seal("", number, f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", versions())
    leaves = (leaf for name in sorted(files) for leaf in _leaves(name, files[name]))
    seal = replace(seal, root=merkle_root(chain([statement_leaf(seal)], leaves)))
    with temporary_folder() as place:
        statement = Path(place, SEAL)
        statement.write_bytes(msgspec.json.format(msgspec.json.encode(seal), indent=2))
        signature = None if key is None else _signed(statement, key)
        with replacing(target, binary=True) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.write(statement, SEAL)
            if signature is not None:
                archive.write(signature, SIGNATURE)
            for name, path in files.items():
                archive.write(path, name)
    return seal


def unpack(path: Path, into: Path) -> Seal:
    """Unpack a seal, which may come from anybody, into an empty folder.

    Raises:
        DataError: it is no seal, has other files, or is far larger than it looks.
        StoreError: it cannot be read.
    """
    where = str(path)
    try:
        with reading(path, fix="check the path"), zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            names = [member.filename for member in members]
            _check_members(names, sum(member.file_size for member in members), path)
            _extract(archive, into, path)
        seal = msgspec.json.decode((into / SEAL).read_bytes(), type=Seal)
    except AisPromptError:
        raise
    except Exception as error:  # a broken archive raises whatever its bytes lead to
        raise DataError(f"this is no seal, or a broken one: {error}", where=where, fix=_COPY_AGAIN) from None
    if seal.format != FORMAT:
        what = f"the seal has form {seal.format}, and this version knows {FORMAT}"
        raise DataError(what, where=where, fix="use a later version of ais_prompt")
    if not (_DATE.fullmatch(seal.made) and all(map(_VERSION.fullmatch, seal.versions.values()))):
        raise DataError("this is no seal: its date or a version has another form", where=where, fix=_COPY_AGAIN)
    return seal


def _check_members(names: list[str], size: int, path: Path) -> None:
    allowed = {SEAL, SIGNATURE}
    strange = next((one for one in names if one not in allowed and not _SEALED.fullmatch(one)), None)
    if strange is None and any(".." in name.split("/") for name in names):
        strange = ".."
    if strange is not None or SEAL not in names or len(set(names)) < len(names):
        shown = one_line(strange[:_SHOWN]) if strange else ""
        what = f"it has a file that no seal has: {shown}" if shown else f"it needs each file once, and {SEAL}"
        raise DataError(f"this is no seal: {what}", where=str(path), fix="name a file of `aisprompt seal`")
    if size > MOST_COMPRESSED * path.stat().st_size + _SMALLEST:
        raise DataError(
            f"this is no seal: {size:,} bytes unpacked, more than {MOST_COMPRESSED:,} times its size",
            where=str(path),
            fix=_COPY_AGAIN,
        )


def _extract(archive: zipfile.ZipFile, into: Path, path: Path) -> None:
    """Write the files of a seal. Lines and values are counted, since the shortest cost as much as others.

    Raises:
        DataError: there are more than in any run of this size.
    """
    left = MOST_VALUES + _VALUES_PER_BYTE * path.stat().st_size
    for member in archive.infolist():
        target = into / member.filename
        target.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(member) as source, target.open("xb") as out:
            while chunk := source.read(_CHUNK):
                left -= 3 * chunk.count(b"\n") + most_values(chunk)
                if left < 0:
                    what = f"this is no seal: {member.filename} has more lines or values than a run of its size"
                    raise DataError(what, where=str(path), fix=_COPY_AGAIN)
                out.write(chunk)


def root_of(folder: Path, seal: Seal) -> tuple[str, int]:
    """Return the root of the Merkle tree of an unpacked seal, and the number of the leaves of its files."""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    number = 0

    def leaves() -> Iterator[bytes]:
        nonlocal number
        yield statement_leaf(seal)
        for name in names:
            if name not in (SEAL, SIGNATURE):
                for leaf in _leaves(name, folder / name):
                    number += 1
                    yield leaf

    return merkle_root(leaves()), number


def statement_leaf(seal: Seal) -> bytes:
    """Return the digest of what a seal says besides its root: when it was made, and with which versions."""
    return hashlib.sha256(b"\0" + SEAL.encode() + b"\0" + msgspec.json.encode(replace(seal, root=""))).digest()


def merkle_root(leaves: Iterable[bytes]) -> str:
    """Return the root over the digests of leaves (RFC 6962, section 2.1), in hex. Few digests are kept at a time."""
    trees: list[tuple[int, bytes]] = []  # number of leaves and root of full trees, each larger than the next
    for root in leaves:
        size = 1
        while trees and trees[-1][0] == size:
            root = hashlib.sha256(b"\1" + trees.pop()[1] + root).digest()
            size *= 2
        trees.append((size, root))
    if not trees:
        return hashlib.sha256().hexdigest()
    whole = trees.pop()[1]
    while trees:
        whole = hashlib.sha256(b"\1" + trees.pop()[1] + whole).digest()
    return whole.hex()


def _leaves(name: str, path: Path) -> Iterator[bytes]:
    head = b"\0" + name.encode() + b"\0"
    with path.open("rb") as stream:
        if name.endswith(".jsonl") and path.stat().st_size:
            yield from (hashlib.sha256(head + line).digest() for line in stream)
            return
        found = hashlib.sha256(head)
        while chunk := stream.read(_CHUNK):
            found.update(chunk)
    yield found.digest()


def _signed(statement: Path, key: Path) -> Path:
    _openssh("sign", "-f", str(key), "-n", NAMESPACE, str(statement), where=str(key))
    return statement.with_name(SIGNATURE)


def signer_of(folder: Path, public_key: Path | None) -> str | None:
    """Return who signed an unpacked seal, as OpenSSH names the key; None if it has no signature.

    Args:
        folder: with the files of the seal.
        public_key: the key that must have signed; None accepts any.

    Raises:
        ConfigError: OpenSSH is missing, or the signature is not of that key or not of this seal.
    """
    signature = folder / SIGNATURE
    if not signature.exists():
        return None
    statement = (folder / SEAL).read_bytes()
    common = ("-n", NAMESPACE, "-s", str(signature))
    if public_key is None:
        return _openssh("check-novalidate", *common, where=str(signature), sent=statement)
    with temporary_folder() as place:
        allowed = Path(place, "signers")
        with reading(public_key, fix="name a public key, such as ~/.ssh/id_ed25519.pub"):
            allowed.write_text(f"signer {public_key.read_text().strip()}\n")
        return _openssh("verify", "-f", str(allowed), "-I", "signer", *common, where=str(public_key), sent=statement)


def _openssh(*arguments: str, where: str, sent: bytes = b"") -> str:
    """Run ``ssh-keygen -Y``, and return the last word that it prints: the fingerprint of the key."""
    try:
        done = subprocess.run(["ssh-keygen", "-Y", *arguments], capture_output=True, check=False, input=sent)
    except FileNotFoundError:
        raise ConfigError("signatures need OpenSSH", where="ssh-keygen", fix="install openssh-client") from None
    if done.returncode:
        said = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()
        what = said[-1] if said else f"exit code {done.returncode}"
        raise ConfigError(f"ssh-keygen: {what}", where=where, fix="name another key")
    return (done.stdout.decode(errors="replace").split() or [""])[-1]
