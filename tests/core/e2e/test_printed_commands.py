"""Every command of the pages that newcomers read runs as it is printed, in the order of its page.

Only what names something of the reader is replaced: the address of a server, and `STANDS_FOR`. Sessions behind ``$``
are compared with their output in tests/core/unit/test_docs.py.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from typing import Any, Final

import pytest

from tests.core.e2e.project import Project
from tests.support.cli import ROOT
from tests.support.gguf_files import DEMO_MODEL
from tests.support.markdown import blocks
from tests.support.servers import MockServer

pytestmark = [pytest.mark.thorough, pytest.mark.torch]

CODE: Final = re.compile(r"^```sh\n(.*?)^```$|((?:^    .*\n)+)", re.MULTILINE | re.DOTALL)
ADDRESS: Final = "http://127.0.0.1:8000/v1"
NOT_RUN: Final = ("init", "view")
"""These verbs ask questions, and serve pages until they are stopped."""
STANDS_FOR: Final = {
    "--url openai": f"--url {ADDRESS}",
    "--url … --data questions.csv": f"--url {ADDRESS} --data questions.csv",
    "FIRST_RUN SECOND_RUN": "eval/20260131_090000Z eval/20260201_090000Z",
    "compare latest": "compare first+1__gsm8k",  # here many runs begin in one second
    "compare … --html": "compare eval eval/20260201_090000Z --html",
}
"""What is printed → what is run."""

DATASETS: Final = """\
from mmengine.config import read_base

with read_base():
    from ais_prompt.configs.datasets.demo.demo_chat_sums import datasets

datasets[0]['reader_cfg']['test_range'] = '[:12]'
"""
MODELS: Final = """\
price = dict(input=0.15, output=0.6, currency='USD')
models = [
    dict(type='OpenAIChatModel', abbr=name, model='mock', base_url='{url}', api_key=None, price=price)
    for name in {names}
]
"""


def printed(page: str) -> list[list[str]]:
    """The commands of a page; a backslash continues a line, and what a command is piped to is left out."""
    text = (ROOT / page).read_text("utf-8")
    lines = [line for block in CODE.findall(text) for line in "".join(block).replace("\\\n", " ").splitlines()]
    found = [line.strip().partition(" | ")[0] for line in lines if re.match(r" *(aisprompt|git add) ", line)]
    for there, instead in STANDS_FOR.items():
        found = [line.replace(there, instead) for line in found]
    return [shlex.split(line, comments=True) for line in found]


@pytest.fixture
def home(project: Project, server: MockServer) -> Project:
    """A folder with all that the pages name: a sheet, configs, models, a dataset, two runs and weights."""
    project.environment |= {"OPENAI_API_KEY": "sk-of-this-test", "MY_API_KEY": "sk-of-this-test"}
    [readme, _] = blocks((ROOT / "README.md").read_text("utf-8"), "python")
    both = DATASETS + MODELS.format(url=server.base_url, names=("llama", "qwen"))
    files = {
        "questions.csv": "question,answer\n" + "".join(f"{n}+{n + 1}=?,{2 * n + 1}\n" for n in range(12)),
        "my_eval.py": readme.replace(ADDRESS, server.base_url),
        "eval.py": both,
        "configs/eval.py": both,
        "configs/datasets/gsm8k.py": DATASETS,
        **{
            f"configs/models/{name}.py": MODELS.format(url=server.base_url, names=[name])
            for name in ("first", "second")
        },
    }
    for name, text in files.items():
        (project.root / name).parent.mkdir(parents=True, exist_ok=True)
        (project.root / name).write_text(text)
    (project.root / "path" / "to").mkdir(parents=True)
    (project.root / "path" / "to" / "model").symlink_to(DEMO_MODEL)
    return project


def run_all(page: str, home: Project, server: MockServer) -> None:
    for command in printed(page):
        words = [word.replace(ADDRESS, server.base_url) for word in command]
        if words[0] == "git":
            subprocess.run(words, cwd=home.root, check=True)
        elif words[1] not in NOT_RUN:
            done = home.run(*words[1:])
            assert done.returncode == 0, f"{page}: {shlex.join(command)}\n{done.stdout[-3000:]}\n{done.stderr}"


@pytest.mark.parametrize("page", ["README.md", "docs/tutorial.md", "docs/recipes.md", "docs/compare.md"])
def test_every_command_of_a_page_runs(page: str, home: Project, server: MockServer) -> None:
    if page != "README.md":
        assert home.run("run", "eval.py").returncode == 0
        [run] = (home.root / "outputs" / "eval").iterdir()
        for name in ("20260131_090000Z", "20260201_090000Z"):
            shutil.copytree(run, run.with_name(name), symlinks=True)
    if page == "docs/recipes.md":
        (home.root / "eval.py").unlink()  # a command of the page writes it
    run_all(page, home, server)


@pytest.mark.skipif(shutil.which("git") is None, reason="the page uses git")
def test_the_recipe_for_ci_goes_on_from_a_command_line(home: Project, server: MockServer) -> None:
    """Its ``eval.py`` is what ``--save-config`` has written."""
    (home.root / "questions.csv").rename(home.root / "demo-addition.csv")
    (home.root / "eval.py").unlink()
    described = ("--url", server.base_url, "--data", "demo-addition.csv")
    assert home.run("run", *described, "--save-config", "eval.py").returncode == 0
    subprocess.run(["git", "init", "-q"], cwd=home.root, check=True)
    run_all("docs/ci.md", home, server)
    assert (home.root / "junit.xml").exists()
    assert (home.root / "summary.md").exists()


def test_the_lines_of_python_in_the_readme_run(home: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home.root)
    monkeypatch.setenv("MY_API_KEY", "sk-of-this-test")
    [_, lines] = blocks((ROOT / "README.md").read_text("utf-8"), "python")
    names: dict[str, Any] = {"my_app": lambda _: "It is 3."}
    exec(lines, names)
    assert names["run"].status == "finished"
