"""Variables that a config names: from the environment, or else from ``.env`` in the working directory.

Only the variables that are asked for are taken from the file. They are not put into the environment, so that no other
process gets them.
"""

from __future__ import annotations

import io
import os
from functools import lru_cache
from pathlib import Path
from typing import Final

from ais_prompt.errors import ConfigError
from ais_prompt.utils.files import read_regular
from ais_prompt.utils.secrets import SECRETS

DOT_ENV: Final = ".env"


def named_variable(name: str) -> str:
    """Return the value of a variable, without white space around it; an empty text if it is not set anywhere.

    The environment wins. A value of ``.env`` is hidden in everything that is shown or stored from then on.

    Raises:
        ConfigError: there is a ``.env``, and it cannot be read.
    """
    if value := os.environ.get(name, "").strip():
        return value
    value = (_dot_env().get(name) or "").strip()
    if value:
        SECRETS.add(value)
    return value


def is_named_somewhere(name: str) -> bool:
    """Return whether the environment or ``.env`` has a variable.

    Raises:
        ConfigError: as `named_variable`.
    """
    return name in os.environ or name in _dot_env()


def _dot_env() -> dict[str, str | None]:
    path = Path(DOT_ENV)
    try:
        status = path.stat()
        return _parsed(str(path.absolute()), status.st_mtime_ns, status.st_size)
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        fix = "correct or remove it, or export the variable"
        raise ConfigError(f"the file with variables cannot be read: {reason}", where=str(path), fix=fix) from None


@lru_cache(maxsize=1)
def _parsed(path: str, _modified_ns: int, _size: int) -> dict[str, str | None]:
    """Parse a file of this age and size. Values are taken as they are: ``$NAME`` in them means nothing."""
    from dotenv import dotenv_values

    text = read_regular(Path(path)).decode("utf-8-sig")
    return dotenv_values(stream=io.StringIO(text), interpolate=False)
