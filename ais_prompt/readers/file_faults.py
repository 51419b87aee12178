"""What the operating system says about a file, in the words of a DataError."""

from __future__ import annotations

import difflib
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ais_prompt.errors import DataError


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn whatever goes wrong while ``path`` is opened, unpacked and decoded into a DataError."""
    try:
        yield
    except FileNotFoundError:
        raise missing_file(path) from None
    except (OSError, EOFError, zlib.error) as error:
        cause = (isinstance(error, OSError) and error.strerror) or error
        fix = "check that it is a whole file and that you may read it"
        raise DataError(f"cannot read the file: {cause}", where=str(path), fix=fix) from error
    except UnicodeDecodeError as error:
        raise DataError(
            f"the file is not UTF-8 text: {error.reason}", where=str(path), fix="save it as UTF-8"
        ) from None


def missing_file(path: Path) -> DataError:
    """The error for a path where nothing is; it offers the nearest name beside it."""
    if path.is_symlink():
        return DataError("the link leads to no file", where=str(path), fix=f"point it to a file: ln -sf FILE {path}")
    fix = "check the path: a relative one starts at the working directory, or beside the config"
    if path.parent.is_dir():
        near = difflib.get_close_matches(path.name, [other.name for other in path.parent.iterdir()], n=1)
        fix = f"did you mean {near[0]!r}?" if near else fix
    return DataError("there is no such file or folder", where=str(path), fix=fix)
