"""Parse a config file without running it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from ais_prompt.errors import ConfigError
from ais_prompt.utils.files import read_regular
from ais_prompt.utils.places import place


def read_syntax(file: Path) -> ast.Module:
    """Parse a config file.

    Raises:
        ConfigError: it cannot be read, is not UTF-8 text or is not Python; with file and line where they are known.
    """
    try:
        text = read_regular(file).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError("the config is not UTF-8 text", where=place(file), fix="save it as UTF-8") from error
    except OSError as error:
        fix = "give the path of a .py file that you may read"
        raise ConfigError(f"the config cannot be read: {error.strerror}", where=place(file), fix=fix) from error
    try:
        return ast.parse(text, filename=str(file))
    except SyntaxError as error:
        # What cannot be parsed may hold a secret anywhere.
        error.text = re.sub(r"(['\"])(?:\\.|(?!\1).)*\1?", r"\1…\1", error.text or "")
        line = error.text.strip()
        fix = f"look at: {line}" if line else "fix the Python syntax"
        raise ConfigError(f"the config is not Python: {error.msg}", where=place(file, error.lineno), fix=fix) from error
    except (ValueError, RecursionError, MemoryError) as error:
        fix = "a config is a small Python file"
        raise ConfigError(f"the config is not Python: {error}", where=place(file), fix=fix) from error
