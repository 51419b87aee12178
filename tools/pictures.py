"""Draw the pictures of the README from a real run: ``python -m tools.pictures``.

``terminal.svg`` shows what ``aisprompt run configs/eval.py`` prints. In a headless Chromium, ``prompts.png`` shows its
prompts, and ``scores.png`` and ``sample.png`` the report of that run: its top, and a wrong answer.
``python -m tools.pictures real`` draws ``real-scores.png`` and ``real-sample.png`` from ``configs/eval_real.py``, which
takes minutes.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from rich.console import Console
from rich.text import Text

from tools.chromium import browser

ROOT: Final = Path(__file__).parents[1]
PICTURES: Final = ROOT / "docs" / "pictures"
TERMINAL: Final = PICTURES / "terminal.svg"
COMMAND: Final = "aisprompt run configs/eval.py"
COLUMNS: Final = 80
WIDTH: Final = 1200
SAMPLE_HEIGHT: Final = 640
PROMPTS_HEIGHT: Final = 560
MARGIN: Final = 24
"""Of the pictures of the report, in pixels."""


def run_demo(folder: Path, command: str = COMMAND) -> str:
    """Run a command in an empty folder; return what it prints on a terminal, colours included."""
    (folder / "configs").symlink_to(ROOT / "configs")
    terminal = {"FORCE_COLOR": "1", "TERM": "xterm-256color", "COLUMNS": str(COLUMNS), "PYTHONPATH": str(ROOT)}
    argv = [sys.executable, "-m", "ais_prompt", *shlex.split(command)[1:]]
    done = subprocess.run(argv, cwd=folder, env=os.environ | terminal, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def draw_terminal(printed: str) -> str:
    """Return an SVG of a terminal with the command and what it printed."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    console.print(Text.assemble(("$ ", "green"), (COMMAND, "bold")))
    console.print(Text.from_ansi(printed))
    svg = console.export_svg(title="", unique_id="terminal")
    # The fonts would be loaded from another server; without them the reader's own monospaced font is used.
    return re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL)


def draw_prompts(folder: Path, profile: Path) -> None:
    """Write the picture of the first prompts."""
    argv = [sys.executable, "-m", "ais_prompt", "view-prompt", "configs/eval.py", "--html", "prompts.html"]
    subprocess.run(argv, cwd=folder, env=os.environ | {"PYTHONPATH": str(ROOT)}, check=True)
    with browser(profile) as page:
        page.call("Emulation.setScrollbarsHidden", hidden=True)
        page.resize(WIDTH, PROMPTS_HEIGHT)
        page.open((folder / "prompts.html").as_uri())
        page.wait_for("document.querySelector('h2')")
        page.screenshot(PICTURES / "prompts.png")


def draw_report(report: Path, profile: Path, prefix: str = "") -> None:
    """Write the pictures of the top, and of a wrong answer with its prompt; their names begin with the prefix."""
    with browser(profile) as page:
        page.call("Emulation.setScrollbarsHidden", hidden=True)
        page.resize(WIDTH, SAMPLE_HEIGHT)
        page.open(report.as_uri())
        page.wait_for("document.querySelector('#rows .row')")
        page.screenshot(PICTURES / f"{prefix}scores.png")

        page.resize(WIDTH, SAMPLE_HEIGHT)
        page.click("#tab-samples")
        page.click("#states [data-state=wrong]")
        page.click("#rows .row", 2)
        page.wait_for("!document.querySelector('#sample').hidden && document.querySelector('#sample h3')")
        page.value(f"scrollTo(0, document.querySelector('#panel-samples').offsetTop - {MARGIN})")
        page.screenshot(PICTURES / f"{prefix}sample.png")


def main() -> None:
    """Run the demo, or the real model, and draw all pictures of it."""
    PICTURES.mkdir(exist_ok=True)
    with TemporaryDirectory() as name:
        folder = Path(name)
        if sys.argv[1:] == ["real"]:
            run_demo(folder, "aisprompt run configs/eval_real.py")
            [report] = folder.glob("outputs/eval_real/*/report.html")
            draw_report(report, folder / "profile", "real-")
            return
        TERMINAL.write_text(draw_terminal(run_demo(folder)), "utf-8")
        [report] = folder.glob("outputs/eval/*/report.html")
        draw_prompts(folder, folder / "profile")
        draw_report(report, folder / "profile")


if __name__ == "__main__":
    main()
