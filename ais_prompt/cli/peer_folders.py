"""Options that name folders of OpenCompass and AISBench, and of configs."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final

import click

FOLDERS: Final = {"--peer-path": "AISPROMPT_PEER_PATH", "--config-dir": "AISPROMPT_CONFIG_DIR"}
"""Option with folders → the environment variable that hands them to all processes of a run."""


def _folders(option: str, text: str) -> Callable[..., Any]:
    def hand_on(_: click.Context, __: click.Parameter, folders: tuple[str, ...]) -> None:
        if folders:
            os.environ[FOLDERS[option]] = os.pathsep.join(folders)

    return click.option(
        option,
        multiple=True,
        metavar="DIR",
        expose_value=False,
        callback=hand_on,
        type=click.Path(exists=True, file_okay=False),
        help=text,
    )


PEER_PATH: Final = _folders(
    "--peer-path", "A checkout or unpacked wheel of OpenCompass or AISBench, whose code the config uses."
)
CONFIG_DIR: Final = _folders(
    "--config-dir", "A folder with datasets/, models/ and summarizers/, whose configs can be named."
)
