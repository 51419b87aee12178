"""Find the secrets in command lines, by the names of their options, variables and headers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

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
    for quote in ('\\"', '"', "'"):
        inner = begin + len(quote), end - len(quote)
        if text.startswith(quote, begin) and text.startswith(quote, inner[1]) and quote not in text[slice(*inner)]:
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
