"""Output has no secrets, whatever code prints it."""

from __future__ import annotations

import logging
import sys
import traceback

import click
import pytest
from rich.console import Console

from ais_prompt.cli.streams import register_environment, safe_output
from ais_prompt.secrets import SECRETS

SECRET = "open-sesame-0123456789"


def test_every_way_to_print(capfd: pytest.CaptureFixture[str]) -> None:
    with safe_output():
        SECRETS.add(SECRET)
        print(SECRET)
        click.echo(SECRET, err=True)
        click.echo(SECRET.encode())
        Console().print(SECRET)
        sys.stderr.write(SECRET + "\n")
        logging.StreamHandler(sys.stderr).emit(logging.makeLogRecord({"msg": SECRET}))
        try:
            raise ValueError(SECRET)
        except ValueError:
            traceback.print_exc()
    out, err = capfd.readouterr()
    assert SECRET not in out + err
    assert out.count("***") == 3
    assert err.count("***") == 4


@pytest.mark.parametrize(
    ("name", "value", "hidden"),
    [
        ("HF_TOKEN", SECRET, True),
        ("hf_token", SECRET, True),
        ("AWS_SECRET_ACCESS_KEY", SECRET, True),
        ("HTTPS_PROXY", f"http://me:{SECRET}@proxy:3128", True),
        ("ALL_PROXY", f"me:{SECRET}@proxy:3128", True),
        ("PIP_INDEX_URL", f"https://me:{SECRET}@host/simple", True),
        ("TOKENIZERS_PARALLELISM", SECRET, False),
        ("PATH", SECRET, False),
    ],
)
def test_secrets_of_the_environment(name: str, value: str, hidden: bool) -> None:
    register_environment({name: value})
    assert (SECRET not in SECRETS.hide(f"it says {SECRET}")) is hidden
