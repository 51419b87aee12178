"""A program as an agent (`CommandModel`): started for each sample in a folder of its own, and ended with it.

The folder has the files that the row brings; what the program leaves there is kept with the answer.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import os
import re
import shutil
import stat
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Final, Unpack

from ais_prompt.errors import ConfigError, DataError, ModelError
from ais_prompt.extensions.agents.agent_base import Agent, AgentOptions
from ais_prompt.extensions.agents.sample_session import HOST, AgentEndpoint
from ais_prompt.inferencers import UNUSABLE_ROW
from ais_prompt.processes import in_thread, watched
from ais_prompt.registry import MODELS
from ais_prompt.types import Completion, Failure, LeftFile, Request, prompt_to_json
from ais_prompt.utils import digest, media_path, open_regular, parse_text, temporary_folder

QUESTION_FILE: Final = "question.txt"
MOST_OUTPUT: Final = 16 * 2**20
"""Bytes of standard output; an agent that writes more is ended."""
LAST_LINES: Final = 10
GRACE_SECONDS: Final = 1.0
_PIECE: Final = 2**16
_LONGEST_WORD: Final = 100_000
"""Bytes of one word of a command; Linux takes 128 KiB."""

_FILES_FORM = "{'name.txt': 'its text', 'other.bin': {'base64': '…'}, 'copy.pdf': {'path': 'where/it/is.pdf'}}"
MOST_LISTED = 1000
"""Files that are listed."""


@MODELS.register_module()
class CommandModel(Agent):
    """Start a program for each sample; what it prints is the answer.

    The program gets the address of a model in the environment, as clients of OpenAI and Anthropic read it, with a key
    that is the sample's own. Each request to it is recorded as a step of the sample::

        dict(type='CommandModel', command=['my-agent', '--ask', '{question}'],
             model=dict(type='OpenAIChatModel', model='...'))

    It runs in a folder of its own, which has ``question.txt`` and the files of the row. When it ends, everything that
    it started ends too; and so it does when the run ends, however that happens.

    Args:
        command: words of the command, without a shell. ``{question}`` in a word is the prompt as a text, ``{folder}``
            the folder of the sample, ``{base_url}`` and ``{api_key}`` the address and the key. A word that names a file
            of the working directory gets its full path.
        model: the model that it asks, a dict like those of ``models``: ``dict(type='OpenAIChatModel', model='...')``.
        answer: where the answer is: ``stdout``, all that the program prints; ``file:NAME``, a file that it leaves;
            ``json:KEY``, a key of the JSON object in its last line.
        environment: further variables of the program.
        files: column of the files that a row brings, name → text, ``{'base64': ...}`` or ``{'path': ...}``.
        keep_files: bytes of the files that the program leaves, which are kept with the answer.
        options: of every agent.

    Raises:
        ConfigError: there is no such form of answer, or no command; the model cannot be made, or a number is too small.
    """

    def __init__(
        self,
        command: Sequence[str],
        model: Mapping[str, Any],
        *,
        answer: str = "stdout",
        environment: Mapping[str, str] | None = None,
        files: str = "files",
        keep_files: int = 100_000,
        **options: Unpack[AgentOptions],
    ) -> None:
        super().__init__(model, **options)
        if isinstance(command, str) or not command:
            fix = "write ['my-agent', '{question}']"
            raise ConfigError(f"command={command!r} is no list of words", where="command", fix=fix)
        kind, _, name = answer.partition(":")
        if kind not in ("stdout", "file", "json") or bool(name) is (kind == "stdout"):
            fix = "write 'stdout', 'file:NAME' or 'json:KEY'"
            raise ConfigError(f"there is no answer {answer!r}", where="answer", fix=fix)
        self.command = tuple(map(str, command))
        self.environment = dict(environment or {})
        self._answer_kind, self._answer_name = kind, name
        self._files = files
        self._keep_files = keep_files

    @classmethod
    def check_arguments(cls, **arguments: Any) -> None:
        """Look for the program.

        Raises:
            ConfigError: it does not exist; or as ``__init__``.
        """
        cls(**arguments)._program()

    def own_identity(self) -> Mapping[str, Any]:
        """Return the command and the names of its variables."""
        answer = f"{self._answer_kind}:{self._answer_name}".rstrip(":")
        return {"command": list(self.command), "answer": answer, "environment": sorted(self.environment)}

    def brought(self, row: Mapping[str, Any]) -> str:
        """Return a digest of the files of a row."""
        return brought_digest(row, self._files)

    def preflight(self) -> None:
        """Look for the program, and check the model.

        Raises:
            ConfigError: there is no such program.
            ModelError: the model cannot be used.
        """
        self._program()
        super().preflight()

    async def run(
        self, request: Request, endpoint: AgentEndpoint, row: Mapping[str, Any], files: list[LeftFile]
    ) -> Completion:
        """Run the program to its end."""
        prompt = prompt_to_json(request.prompt)
        question = prompt if isinstance(prompt, str) else json.dumps(prompt, ensure_ascii=False)
        with temporary_folder() as name:
            folder = Path(name)
            try:
                brought = await in_thread(lambda: write_files(folder, row, self._files))
            except DataError as error:
                return Completion(failure=Failure(UNUSABLE_ROW, f"{error.what}; {error.fix}"))
            (folder / QUESTION_FILE).write_text(question, "utf-8")
            brought[QUESTION_FILE] = _state((folder / QUESTION_FILE).lstat())
            words = self._words(question, folder, endpoint)
            if any(len(word.encode()) > _LONGEST_WORD for word in words):
                what = f"the question is too long for a word of a command; the program finds it in {QUESTION_FILE}"
                return Completion(failure=Failure("agent_command", what))
            try:
                printed = await _run(words, folder, self._variables(endpoint))
            finally:
                files += left_files(folder, brought, self._keep_files)
            found = printed if isinstance(printed, Failure) else self._answer(printed, folder)
        return Completion(failure=found) if isinstance(found, Failure) else Completion(found, "stop")

    def _program(self) -> str:
        """Return the path of the program.

        Raises:
            ConfigError: there is none.
        """
        found = shutil.which(self.command[0], path=self.environment.get("PATH"))
        if found is None:
            fix = "install it, or write its whole path"
            raise ConfigError(f"there is no program {self.command[0]!r}", where="command", fix=fix)
        return str(Path(found).absolute())

    def _words(self, question: str, folder: Path, endpoint: AgentEndpoint) -> list[str]:
        values = {
            "{question}": question,
            "{folder}": str(folder),
            "{base_url}": endpoint.base_url,
            "{api_key}": endpoint.api_key,
        }
        names = "|".join(map(re.escape, values))
        filled = (re.sub(names, lambda found: values[found[0]], _absolute(word)) for word in self.command[1:])
        return [self._program(), *filled]

    def _variables(self, endpoint: AgentEndpoint) -> dict[str, str]:
        spared = {
            name: ",".join(filter(None, (os.environ.get(name), HOST, "localhost"))) for name in ("NO_PROXY", "no_proxy")
        }
        return {**os.environ, **spared, **endpoint.environment(), **self.environment}

    def _answer(self, output: str, folder: Path) -> str | Failure:
        """Return the answer of a program that has ended well."""
        if self._answer_kind == "stdout":
            return output.strip()
        if self._answer_kind == "file":
            path = folder / self._answer_name
            try:
                if path.is_symlink() or path.stat().st_size > MOST_OUTPUT:
                    return Failure("agent_answer", f"the file {self._answer_name!r} is a link, or too large")
                return path.read_text("utf-8", errors="replace").strip()
            except OSError:
                return Failure("agent_answer", f"the agent left no file {self._answer_name!r}")
        last = next((line for line in reversed(output.splitlines()) if line.strip()), "")
        try:
            value = json.loads(last)[self._answer_name]
        except (ValueError, TypeError, LookupError, RecursionError):
            return Failure("agent_answer", f"the last line has no JSON key {self._answer_name!r}: {last[:200]!r}")
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


async def _run(words: Sequence[str], folder: Path, variables: Mapping[str, str]) -> str | Failure:
    """Run a program, and return what it printed, or why it gave no answer.

    It runs behind a watchdog, which ends everything that the program started when it ends or its pipe closes.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *watched(words, grace=GRACE_SECONDS),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=folder,
            env=variables,
        )
    except OSError as error:
        raise ModelError(f"no program can be started: {error}", fix="end other programs, or raise the limits") from None
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    errors: deque[bytes] = deque(maxlen=2)
    reading = asyncio.ensure_future(_tail(process.stderr, errors))
    try:
        output = await _read(process.stdout)
        if output is None:
            return Failure("agent_output", f"the agent printed more than {MOST_OUTPUT // 2**20} MiB")
        code = await process.wait()
        await reading
    finally:
        # Its end of the pipe closes: the watchdog ends the program and everything below it.
        process.stdin.close()
        reading.cancel()
        await asyncio.shield(_gone(process))
    text = output.decode("utf-8", errors="replace")
    if code == 0:
        return text
    last = b"".join(errors).decode("utf-8", errors="replace") or text
    lines = "\n".join(last.strip().splitlines()[-LAST_LINES:])
    end = f"exit code {code}" if code <= 128 else f"ended by signal {code - 128}"
    return Failure("agent_exit", f"{end}; the last lines:\n{lines}" if lines else end)


async def _gone(process: asyncio.subprocess.Process) -> None:
    """Wait for the end of a watchdog; what it prints meanwhile is of no use, but must not block it."""
    assert process.stdout is not None
    while await process.stdout.read(_PIECE):
        pass
    await process.wait()


async def _read(stream: asyncio.StreamReader) -> bytes | None:
    """Return all that a stream holds; None if that is too much."""
    pieces, size = [], 0
    while piece := await stream.read(_PIECE):
        pieces.append(piece)
        size += len(piece)
        if size > MOST_OUTPUT:
            return None
    return b"".join(pieces)


async def _tail(stream: asyncio.StreamReader, pieces: deque[bytes]) -> None:
    """Keep the last pieces of a stream."""
    while piece := await stream.read(_PIECE):
        if pieces and len(pieces[-1]) + len(piece) <= _PIECE:
            pieces[-1] += piece
        else:
            pieces.append(piece)


def _absolute(word: str) -> str:
    """Return the full path of a word that names a file of the working directory: the program runs elsewhere."""
    path = Path(word)
    try:
        return str(path.absolute()) if not path.is_absolute() and path.is_file() else word
    except (OSError, ValueError):
        return word


def write_files(folder: Path, row: Mapping[str, Any], column: str) -> dict[str, tuple[int, int]]:
    """Put the files of a row into a folder.

    Args:
        folder: an empty folder.
        row: the columns of the sample.
        column: holds name → content; a row without it brings none.

    Returns:
        Name → size and time of each file, to see later whether it was changed.

    Raises:
        DataError: the column has another form, or a file that it names cannot be read.
    """
    contents = _contents(row, column)
    for name, content in contents.items():
        parts = PurePosixPath(name).parts
        if not parts or PurePosixPath(name).is_absolute() or ".." in parts:
            raise DataError(f"the file {name!r} would be outside of the sample's folder", fix="write a relative path")
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return {name: _state((folder / name).lstat()) for name in contents}


def brought_digest(row: Mapping[str, Any], column: str) -> str:
    """Return a digest of the files of a row; empty if it brings none, or they cannot be read: its agent fails then."""
    try:
        contents = _contents(row, column)
    except DataError:
        return ""
    each = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    return digest(each) if each else ""


def left_files(folder: Path, brought: Mapping[str, tuple[int, int]], most: int) -> tuple[LeftFile, ...]:
    """Return the files that are new or changed, in the order of their names; links are not followed.

    Args:
        folder: of the sample.
        brought: from `write_files`.
        most: bytes of content that are kept, of the first files that fit.
    """
    found: list[LeftFile] = []
    for name, state in sorted(_files(folder)):
        if brought.get(name) == _state(state) or len(found) == MOST_LISTED:
            continue
        content = None
        if state.st_size <= most:
            try:
                with open_regular(folder / name) as stream:
                    content = stream.read(most + 1)
            except OSError:  # it may not be read
                content = None
        if content is None or len(content) > most:
            found.append(LeftFile(name, state.st_size))
            continue
        most -= len(content)
        found.append(_kept(name, content))
    return tuple(found)


def _kept(name: str, content: bytes) -> LeftFile:
    try:
        return LeftFile(name, len(content), text=content.decode())
    except UnicodeDecodeError:
        return LeftFile(name, len(content), base64=base64.b64encode(content).decode())


def _contents(row: Mapping[str, Any], column: str) -> dict[str, bytes]:
    """Return the name and content of each file of a row.

    Raises:
        DataError: the column has another form, or a file that it names cannot be read.
    """
    value = row.get(column)
    if value is None or value == "":
        return {}
    try:
        files = parse_text(value) if isinstance(value, str) else value
        return {str(name): _content(one) for name, one in files.items()}
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise DataError(f"the column {column!r} holds no files: {error!r}", fix=f"write {_FILES_FORM}") from None
    except OSError as error:
        what = f"a file in the column {column!r} cannot be read: {error}"
        raise DataError(what, fix="write its whole path") from None


def _content(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if "path" in value:
        with open_regular(media_path(value["path"])) as stream:
            return stream.read()
    return base64.b64decode(value["base64"], validate=True)


def _files(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    for root, _, names in os.walk(folder, onerror=None):
        for name in names:
            path = Path(root, name)
            try:
                state = path.lstat()
            except OSError:
                continue
            if stat.S_ISREG(state.st_mode):
                yield path.relative_to(folder).as_posix(), state


def _state(state: os.stat_result) -> tuple[int, int]:
    """Return size and time of a file, to see later whether it was changed."""
    return state.st_size, state.st_mtime_ns
