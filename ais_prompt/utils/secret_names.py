"""Names that say that their value is a secret: keys of a config, and options and variables of a command."""

from __future__ import annotations

import re
from typing import Final

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
