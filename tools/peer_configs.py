"""Measure how many configs of OpenCompass and AISBench run unmodified: ``python -m tools.peer_configs WHEEL…``.

WHEEL is a published wheel, its unpacked folder, or a checkout. Nothing of it is installed. Each failing file is listed
with its cause.
"""

from __future__ import annotations

import ast
import multiprocessing
import os
import random
import sys
import tempfile
import time
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, TextIO

import click
from msgspec.structs import asdict, replace

from ais_prompt.errors import AisPromptError
from ais_prompt.extensions.peers.peer_packages import DISTRIBUTIONS, PEER_FOLDERS
from ais_prompt.utils import encode
from tools.peer_files import (
    SECONDS,
    FileResult,
    Measure,
    cause,
    checked,
    checked_model,
    checked_summarizer,
    ran,
    time_limit,
)
from tools.peer_prompts import prompted

CONFIGS: Final = {"opencompass": "configs", "ais_bench": "benchmark/configs"}
"""Package of a peer → its config tree."""
MEASURES: Final = {
    "check": checked,
    "run": ran,
    "prompts": prompted,
    "models": checked_model,
    "summarizers": checked_summarizer,
}
FOLDERS: Final = {"models": "models", "summarizers": "summarizers"}
"""Measure → folder of the configs that it is about, where these are not datasets."""
JUDGE: Final = {"OC_JUDGE_MODEL": "judge", "OC_JUDGE_API_KEY": "none", "OC_JUDGE_API_BASE": "http://127.0.0.1:9/v1"}
"""What the peers' configs take a judge from."""
NO_BASE: Final = "ConfigError: the base config "
"""How the cause begins of a file that no program can load."""
EXAMPLES: Final = 3
"""Files that are named for each cause."""


@click.command()
@click.argument("wheels", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--measure", "measures", multiple=True, type=click.Choice([*MEASURES]), default=[*MEASURES])
@click.option("--without-wheels", is_flag=True, help="Do not use their code, as if they were not installed.")
@click.option("--only", default="*", metavar="PATTERN", help="Only files whose path matches: 'datasets/gsm8k/*'.")
@click.option("--sample", type=int, metavar="N", help="Only N files, drawn with a fixed seed.")
@click.option("-j", "jobs", type=click.IntRange(1), default=2, metavar="N", help="Processes (default: 2).")
@click.option("-o", "output", type=click.File("w"), metavar="FILE", help="Write the results as JSON lines.")
@click.option(
    "--table", type=click.File("w"), metavar="FILE", help="Write each failing file with its cause as Markdown."
)
def main(
    wheels: Sequence[Path],
    measures: Sequence[Measure],
    without_wheels: bool,
    only: str,
    sample: int | None,
    jobs: int,
    output: TextIO | None,
    table: TextIO | None,
) -> None:
    """Measure the dataset configs of unpacked wheels, and group what fails by cause."""
    with ExitStack() as stack:
        roots = [stack.enter_context(_Unpacked(wheel)) for wheel in wheels]
        os.environ |= JUDGE | {"HF_HUB_OFFLINE": "1"}
        os.environ[PEER_FOLDERS.variable] = "" if without_wheels else os.pathsep.join(map(str, roots))
        for measure in measures:
            kind = FOLDERS.get(measure, "datasets")
            files = [found for root in roots for found in _files(root, kind) if fnmatchcase(found[1], f"*: {only}")]
            if sample is not None:
                files = random.Random(0).sample(files, min(sample, len(files)))
            results = []
            for result in _measured(measure, files, jobs):
                results.append(result)
                if output is not None:
                    line = encode({"measure": measure, **asdict(result)}).decode()
                    print(line.rstrip("\n"), file=output, flush=True)
            click.echo("\n".join(_described(measure, results)))
            if table is not None:
                print("\n".join(_tabled(measure, results)), file=table, flush=True)


class _Unpacked:
    """The folder of a wheel, unpacked if it is a file."""

    def __init__(self, wheel: Path) -> None:
        self._wheel = wheel
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> Path:
        if self._wheel.is_dir():
            return self._wheel.resolve()
        self._folder = tempfile.TemporaryDirectory()
        zipfile.ZipFile(self._wheel).extractall(self._folder.name)
        return Path(self._folder.name)

    def __exit__(self, *_: object) -> None:
        if self._folder is not None:
            self._folder.cleanup()


def _files(root: Path, kind: str) -> Iterator[tuple[Path, str]]:
    """Yield each config that makes a list of this kind, and its name below the configs."""
    for package in DISTRIBUTIONS:
        configs = root / package / CONFIGS[package]
        for file in sorted((configs / kind).rglob("*.py")):
            if _makes(kind, file):
                yield file, f"{package}: {file.relative_to(configs)}"


def _makes(kind: str, file: Path) -> bool:
    """Return whether a file makes datasets, models or a summarizer itself, and does not only import those of others."""
    wanted = "summarizer" if kind == "summarizers" else kind
    try:
        nodes = list(ast.walk(ast.parse(file.read_text("utf-8"))))
    except SyntaxError:  # the peer cannot read it either, which is to be found
        return True
    targets = [target for node in nodes if isinstance(node, ast.Assign) for target in node.targets]
    return any(isinstance(target, ast.Name) and target.id.endswith(wanted) for target in targets)


def _measured(measure: Measure, files: Sequence[tuple[Path, str]], jobs: int) -> Iterator[FileResult]:
    context = multiprocessing.get_context("spawn")
    tasks = [(measure, str(file), name) for file, name in files]
    # A process is replaced from time to time: what some of their modules change stays for its life.
    with context.Pool(jobs, maxtasksperchild=50) as pool:
        for number, result in enumerate(pool.imap_unordered(_one, tasks), 1):
            if sys.stderr.isatty() or number % 100 == 0:
                click.echo(f"{measure}: {number} of {len(tasks)}", err=True)
            yield result


def _one(task: tuple[Measure, str, str]) -> FileResult:
    measure, file, name = task
    # A run says what it does; here only its outcome counts.
    sys.stdout = sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115
    begin = time.monotonic()
    try:
        with time_limit(SECONDS):
            result = MEASURES[measure](Path(file), name)
    except AisPromptError as error:
        result = FileResult(name, 0, (cause(error),))
    except Exception as error:  # a bug of this program, which is to be found
        result = FileResult(name, 0, (f"BUG {type(error).__name__}: {error}"[:200],))
    return replace(result, seconds=round(time.monotonic() - begin, 2))


def _described(measure: Measure, results: Sequence[FileResult]) -> Iterable[str]:
    passed = [result for result in results if not result.causes]
    yield f"{measure}: {len(passed)} of {len(results)} files ({len(passed) / max(1, len(results)):.1%})"
    settings = {key: verdict for result in results for key, verdict in result.settings.items()}
    if settings:
        counts = ", ".join(f"{verdict} {count:,}" for verdict, count in Counter(settings.values()).most_common())
        yield f"  {len(settings):,} distinct prompt settings: {counts}"
    broken = sum(1 for result in results if result.causes and result.causes[0].startswith(NO_BASE))
    if broken:
        yield f"  {broken} of the others cannot be loaded in the peer: a base config is missing"
    slowest = sorted(results, key=lambda result: -result.seconds)[:EXAMPLES]
    yield "  slowest: " + ", ".join(f"{result.file} {result.seconds:.1f} s" for result in slowest)
    for why, names in _by_cause(results):
        more = f", … ({len(names)})" if len(names) > EXAMPLES else ""
        yield f"  {len(names):4d}  {why}"
        yield f"        {', '.join(names[:EXAMPLES])}{more}"


def _by_cause(results: Sequence[FileResult]) -> list[tuple[str, list[str]]]:
    """Return each first cause with its files, the most frequent first."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for result in results:
        if result.causes:
            groups[result.causes[0]].append(result.file)
    return sorted(((why, sorted(names)) for why, names in groups.items()), key=lambda group: (-len(group[1]), group[0]))


def _tabled(measure: Measure, results: Sequence[FileResult]) -> Iterable[str]:
    """Yield a section of a Markdown page: the causes, each with all files that it keeps from passing."""
    passed = sum(not result.causes for result in results)
    yield f"## {measure}\n\n{passed:,} of {len(results):,} files pass. The others:\n"
    yield "| cause | files |\n|---|---|"
    for why, names in _by_cause(results):
        text = why.replace("|", "\\|").replace("<", "&lt;")
        yield f"| {text} | {'<br>'.join(f'`{name}`' for name in names)} |"
    yield ""


if __name__ == "__main__":
    main()
