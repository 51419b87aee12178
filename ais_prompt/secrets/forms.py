"""The forms in which secrets are written, and the patterns that find them.

Servers, libraries and file formats repeat a secret in one of its forms. In a command line, the names of options,
variables and headers say what is secret.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final
from urllib.parse import quote, quote_plus

_BASE64: Final = "[A-Za-z0-9+/_-]"


def searchable_forms(secret: str) -> Iterator[str]:
    """Yield texts one of which is in every text with the secret, once case and escape characters are gone."""
    yield from _forms(secret)
    yield from dict(_base64_forms(secret))


def in_text(secret: str) -> set[str]:
    """Return the patterns that find a secret in plain text, in any of its forms."""
    return _patterns(secret, [str])


def in_json(secret: str) -> set[str]:
    """Return the patterns that find a secret in texts in JSON, in any of its forms."""
    return _patterns(secret, [_json, _ascii_json])


def as_words(secrets: Iterable[str]) -> str:
    """Return the pattern that finds short secrets as whole words, in their forms in texts and files; it never matches
    without secrets.
    """
    forms = {
        re.escape(write(secret)) for secret in secrets for write in (str, html.escape, _json, _ascii_json, _quoted)
    }
    if not forms:
        return "(?!)"
    # A letter after a backslash is the end of a JSON escape.
    return rf"(?:(?<!\w)|(?<=\\[nrtbf]))(?:{'|'.join(sorted(forms, key=len, reverse=True))})(?!\w)"


def _quoted(text: str) -> str:
    return quote(text, safe="")


def unescaped(text: str) -> tuple[str, Sequence[tuple[int, int]]]:
    """Return a text without the escapes of URLs, HTML and JSON, however often they were applied.

    Returns:
        The text, and where each of its characters began and ended in the given text.
    """
    places: list[tuple[int, int]] = []
    for _ in range(_MOST_LAYERS):
        parts, found, end = [], [], 0
        for escape in _ESCAPE.finditer(text):
            if (character := _character(escape)) is not None:
                parts += [text[end : escape.start()], character]
                found.append(escape.span())
                end = escape.end()
        if not found:
            break
        places = _joined(places or [(at, at + 1) for at in range(len(text))], found)
        text = "".join([*parts, text[end:]])
    return text, places


_MOST_LAYERS: Final = 6
_ESCAPE: Final = re.compile(
    r"%(?P<byte>[0-9a-f]{2})|&(?:#(?P<number>0*[0-9]{1,7})|#x(?P<hex>0*[0-9a-f]{1,6})|(?P<name>[a-z]+));?"
    r"|\\+(?:u(?P<unit>[0-9a-f]{4})|u\{(?P<point>[0-9a-f]{1,6})\}|x(?P<code>[0-9a-f]{2}))",
    re.IGNORECASE | re.ASCII,
)
_CODES: Final = {"byte": 16, "number": 10, "hex": 16, "unit": 16, "point": 16, "code": 16}
"""How an escape writes the number of a character → the base."""


def _character(escape: re.Match[str]) -> str | None:
    """Return the character of an escape; None if there is none, or it needs further bytes."""
    if name := escape["name"]:
        found = html.unescape(f"&{name};")
        return found if len(found) == 1 else None
    [(kind, digits)] = [(kind, escape[kind]) for kind in _CODES if escape[kind] is not None]
    code = int(digits, _CODES[kind])
    return chr(code) if code < (128 if kind == "byte" else 0x110000) else None


def _joined(places: Sequence[tuple[int, int]], escapes: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return places of characters, with one place for each escape."""
    joined: list[tuple[int, int]] = []
    end = 0
    for start, stop in escapes:
        joined += places[end:start]
        joined.append((places[start][0], places[stop - 1][1]))
        end = stop
    return [*joined, *places[end:]]


def _json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _ascii_json(text: str) -> str:
    return json.dumps(text)[1:-1]


def _patterns(secret: str, written: Sequence[Callable[[str], str]]) -> set[str]:
    """Return the patterns of a secret in all forms, for each way to write its characters."""
    forms = {re.escape(write(form)) for form in _forms(secret) for write in written}
    quoted = {"".join(_perhaps_quoted(character, write) for character in secret) for write in written}
    return forms | quoted | set(dict(_base64_forms(secret)).values())


def _forms(secret: str) -> Iterator[str]:
    """Return the forms of a secret in which all of it can be found, in any case."""
    # The pattern ignores case, except for letters whose upper case is two letters.
    for text in (secret, secret.upper()):
        yield text
        yield html.escape(text)
        yield html.escape(text, quote=False)
        yield repr(text)[1:-1]
        for write in (_json, _ascii_json):
            yield write(text)
            yield write(write(text))
        yield quote(text, safe="")
        yield quote_plus(text)


def _perhaps_quoted(character: str, write: Callable[[str], str]) -> str:
    """Return the pattern of a character in a URL; clients differ in what they quote."""
    quoted = "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))
    return f"(?:{re.escape(write(character))}|{quoted})"


def _base64_forms(secret: str) -> Iterator[tuple[str, str]]:
    """Yield texts that base64 of any text with the secret contains, and patterns that also find its ends.

    Three bytes become four characters, so there are three forms, by the position of the secret in the text.
    """
    content = secret.encode("utf-8", "surrogatepass")
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + content).decode()
        begin = (0, 2, 3)[before]
        core = encoded[begin : (before + len(content)) * 8 // 6]
        for form in (core, core.replace("+", "-").replace("/", "_")):
            # A letter after a backslash is the end of a JSON escape.
            head = rf"(?:(?<!\\){_BASE64}{{{begin}}})?" if begin else ""
            yield form, f"{head}{re.escape(form)}{_BASE64}{{0,2}}={{0,2}}"


# `--api-key`, `HF_TOKEN=`, `"api_key":` of JSON, `X-Api-Key:` of a header; JSON in quotes has \" for its own.
_NAME: Final = re.compile(r"""(?<![\w.-])(?P<name>-{0,2}[A-Za-z_][\w.-]*)(?P<end>\\?["']?\s*[:=]\s*|\s+)""")
_QUOTED: Final = r"""\\"(?:(?!\\").)*\\"|"(?:\\.|[^"\\])*"|'[^']*'"""
_VALUE: Final = re.compile(rf"""(?:{_QUOTED}|\\.|,(?!\s|\w+=)|[^\s'"\\;&|<>(),])+""", re.DOTALL)
_AFTER_COLON: Final = re.compile(rf"""{_QUOTED}|[^'"\\\n]+""", re.DOTALL)
_KNOWN: Final = re.compile(r"(?<![\w-])(?:sk-|hf_|ghp_|xox[a-z]-)[\w-]{16,}")
_REFERENCE: Final = re.compile(r"([Bb]earer |[Bb]asic |[Tt]oken )?\$(\w+|\{\w+\}|\(.*)?|\{\w+\}", re.ASCII | re.DOTALL)
"""A variable, the output of a command, or a placeholder: no secret itself."""


def secrets_in_command(text: str) -> Iterator[tuple[int, int]]:
    """Yield begin and end of each secret in a command line, in order and without overlaps.

    Secrets are the values of options, assignments, keys of JSON and headers whose names say so (`names_secret`), and
    what looks like a well-known kind of key.
    """
    done = 0
    for begin, end in sorted([*_named(text), *(found.span() for found in _KNOWN.finditer(text))]):
        if begin >= done:
            yield begin, end
            done = end


def takes_secret(word: str) -> bool:
    """Return whether a word of a command is an option whose value, a secret, is the next word."""
    return bool(re.fullmatch(r"--?[A-Za-z][\w.-]*", word)) and names_secret(word)


def is_reference(word: str) -> bool:
    """Return whether a value only names a secret, as ``$HF_TOKEN``, or is a placeholder."""
    return bool(_REFERENCE.fullmatch(word))


def _named(text: str) -> Iterator[tuple[int, int]]:
    for found in _NAME.finditer(text):
        name, separator = found["name"], found["end"]
        if not names_secret(name) or (separator.isspace() and not name.startswith("-")):
            continue
        value = (_AFTER_COLON if ":" in separator else _VALUE).match(text, found.end())
        while value is not None and not (separator.isspace() and value[0].startswith("-")):
            begin, end = _without_quotes(*value.span(), text)
            if not is_reference(text[begin:end]) and end > begin:
                yield begin, end
            # vllm takes several keys: --api-key FIRST SECOND
            space = re.compile(r"[ \t]+").match(text, value.end()) if separator.isspace() else None
            value = space and _VALUE.match(text, space.end())


def _without_quotes(begin: int, end: int, text: str) -> tuple[int, int]:
    for mark in ('\\"', '"', "'"):
        inner = begin + len(mark), end - len(mark)
        if text.startswith(mark, begin) and text.startswith(mark, inner[1]) and mark not in text[slice(*inner)]:
            return inner
    return begin, end


# A column called `token` or an `ice_token` is no secret; an `api_token` is.
SECRET_KEY: Final = re.compile(
    r"(.*_)?((api|access|account|auth|encryption|master|private|secret|service|session|shared|signing|subscription)_?keys?"
    r"|secrets?|passw(or)?d|passphrase|pwd|authorization|credentials?|cookie|sas|signature)"
    r"|((use|hf|hub|ad|auth|oauth|access|api|bearer|refresh|session|id|security|personal|azure|github|gitlab|huggingface)_)*token"
)
"""A key of a config, in lower case with ``_``."""
_OF_COMMAND: Final = re.compile(r"(.*_)?(key|token|secret|auth|passcode)s?")
_HARMLESS: Final = re.compile(
    r"(.*_)?((pad|eos|bos|eot|unk|sep|cls|mask|stop|start|end|image|video|audio|think|special|max|min|num|new|next|per)_tokens?"
    r"|(cache|column|group|partition|primary|public|shard|sort)_keys?)|tokens|keys"
)


def names_secret(name: str) -> bool:
    """Return whether an option or variable of a command, such as ``--hf-token``, has a secret as its value."""
    name = name.lstrip("-").rpartition(".")[2].replace("-", "_").lower()
    return bool(SECRET_KEY.fullmatch(name) or (_OF_COMMAND.fullmatch(name) and not _HARMLESS.fullmatch(name)))
