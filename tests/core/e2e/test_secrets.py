"""No secret is written or printed, wherever it is in a config, whatever becomes of the run."""

from __future__ import annotations

import base64
import gzip
import html
import json
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus, unquote

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from ais_prompt.cli import main
from ais_prompt.secrets import SECRETS
from tests.support.servers import MockServer

pytestmark = pytest.mark.process


PLACES = ("cookie", "key", "named", "query", "named_query", "login", "variable", "option", "judge", "proxy", "token")
LONG = st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="$*"), min_size=14, max_size=30)
SHORT = st.from_regex(r"Zq[0-9]{5}", fullmatch=True)
"""Nothing else in a run folder looks like it."""
# An example takes seconds, and a smaller one tells no more.
SEARCH = settings(suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate])
ECHO = {"error": {"message": "refused: {request}"}}

CONFIG = """
COOKIE = {cookie!r}
TEMPLATE = dict(type='PromptTemplate', template='{{question}}')
JUDGING = dict(type='PromptTemplate', template='{{prediction}}: A or B?')
def model(abbr, **more):
    return dict(type='OpenAIChatModel', abbr=abbr, model='m', retry=0, max_concurrency=1, **more)
models = [
    model(
        'served',
        base_url={base_url!r},
        api_key={api_key!r},
        headers={{'Cookie': COOKIE, 'Ocp-Apim-Subscription-Key': {key!r}, 'X-Named': 'Token $NAMED', 'Accept': '*/*'}},
        generation_kwargs=dict(user_api_key={option!r}, {more}),
    ),
]
datasets = [dict(
    abbr='sums',
    path='sums.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(prompt_template=TEMPLATE, inferencer=dict(type='GenInferencer')),
    eval_cfg=dict(evaluator=dict(
        type='GenericLLMEvaluator',
        judge_cfg=model('judge', base_url={judge_url!r}, api_key=None, headers=dict(Authorization={judge!r})),
        prompt_template=JUDGING,
    )),
)]
{broken}
"""


@dataclass
class Work:
    """A folder with a config in which a secret is in every place.

    Attributes:
        secrets: place → secret.
        server: is asked directly for the judge, and as the proxy of the model.
        kind: how it answers; see `answering`.
    """

    root: Path
    secrets: Mapping[str, str]
    server: MockServer
    kind: str
    printed: str = ""

    def write_config(self, more: str = "", broken: str = "", login: bool = True) -> None:
        # What was in the config before and is no longer, no later process can know.
        sent = [secret for name, secret in self.secrets.items() if login or name != "login"]
        self.server.follow(answering(sent, self.kind))
        s = {name: secret.replace("$", "$$") for name, secret in self.secrets.items()}
        user = f"me:{quote(s['login'], safe='')}@" if login else ""
        query = f"api-version=2024-10-21&sig={quote(s['query'], safe='')}&code=$NAMED_QUERY"
        self.root.joinpath("eval.py").write_text(
            CONFIG.format(
                base_url=f"http://{user}far-away.test/v1?{query}",
                api_key=None if login else "MY_KEY",
                judge_url=self.server.base_url,
                more=more,
                broken=broken,
                **{name: s[name] for name in ("cookie", "key", "option", "judge")},
            )
        )

    def environment(self) -> dict[str, str | None]:
        address = self.server.base_url.removesuffix("/v1").removeprefix("http://")
        proxy = f"http://me:{quote(self.secrets['proxy'], safe='')}@{address}"
        return {
            "NAMED": self.secrets["named"],
            "NAMED_QUERY": self.secrets["named_query"],
            "MY_KEY": self.secrets["variable"],
            "HF_TOKEN": self.secrets["token"],
            "http_proxy": proxy,
            "HTTP_PROXY": proxy,
            "no_proxy": "",
            "NO_PROXY": "",
        }

    def call(self, *args: str, code: int | None = None) -> None:
        SECRETS.clear()  # each call is a process of its own
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", ["aisprompt", *args])
            done = CliRunner().invoke(main, args, env=self.environment())
        self.printed += done.stdout + done.stderr
        if code is not None:
            assert done.exit_code == code, done.stdout + done.stderr

    def leaks(self) -> list[str]:
        """Where a secret can be found, and in which form."""
        # The config and the data are the user's own.
        files = [path for path in self.root.rglob("*") if path.is_file() and path.name != "eval.py"]
        texts = {str(path): path.read_bytes().decode("utf-8", "replace") for path in files}
        texts |= {"the terminal": self.printed, "names of files": "\n".join(map(str, files))}
        return [
            f"{name}: {place} as {form}"
            for name, text in texts.items()
            for opened in opened_up(text)
            for place, secret in self.secrets.items()
            for form, written in forms(secret)
            if written in opened
        ]


def forms(secret: str) -> Iterator[tuple[str, str]]:
    yield "itself", secret
    yield "upper case", secret.upper()
    yield "URL", quote(secret, safe="")
    yield "URL with slashes", quote(secret)
    yield "form", quote_plus(secret)
    yield "JSON", json.dumps(secret)[1:-1]
    yield "Python", repr(secret)[1:-1]
    yield "HTML", html.escape(secret)


def opened_up(text: str) -> Iterator[str]:
    """The text, and what it holds in base64 at any position, and the packed parts of a report."""
    yield text
    yield unquote(text)
    for packed in re.findall(r'<script type="text/plain"[^>]*>([^<]*)</script>', text):
        yield gzip.decompress(base64.b64decode(packed)).decode()
    for run in re.findall(r"[A-Za-z0-9+/_-]{16,}", text) if len(text) < 200_000 else ():
        content = run.replace("-", "+").replace("_", "/")
        for start in range(4):
            piece = content[start : start + (len(content) - start) // 4 * 4]
            yield base64.b64decode(piece).decode("latin-1")


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def work_with(
    secrets: Sequence[str],
    server: MockServer,
    kind: str,
    here: Path,
    patch: pytest.MonkeyPatch,
    places: Sequence[str] = PLACES,
) -> Work:
    root = Path(tempfile.mkdtemp(dir=here))
    patch.chdir(root)
    root.joinpath("tmp").mkdir()
    patch.setattr(tempfile, "tempdir", str(root / "tmp"))
    rows = [{"question": f"{number}+{number}=?", "answer": str(2 * number)} for number in range(3)]
    root.joinpath("sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return Work(root, dict(zip(places, secrets, strict=True)), server, kind)


def use_everything(work: Work, *, debug: Sequence[str] = ("--debug",)) -> None:
    """Every verb that writes or prints, over a run that was resumed with another config."""
    override = ["--set", f"models.0.headers.Cookie={work.secrets['cookie']}", "--set", "models.0.headers.X-More=$NAMED"]
    files = ["--junit", "out.xml", "--markdown", "out.md", "--gate", "accuracy >= 99%"]
    work.write_config()
    work.call("check", "eval.py", *debug, code=0)
    work.call("view-prompt", "eval.py", "-a", "--json", code=0)
    work.call("lock", "eval.py", code=0)
    work.call("run", "eval.py", *files, *debug)
    work.write_config(more="temperature=0.5", login=False)
    work.call("run", "eval.py", *override, "-r", *files, *debug)
    work.call("lock", "eval.py", "--check", "--json")
    work.call("baseline", "eval", "-o", "baseline.json")
    work.call("run", "eval.py", "--baseline", "baseline.json", *debug)
    work.call("score", "eval", *debug)
    work.call("compare", "eval", "eval", "--html", "compare.html", "--json")
    work.write_config(broken="raise ValueError(models)")
    work.call("check", "eval.py", *debug, code=2)
    work.write_config(broken="models[0]['headers'] = COOKIE; models[0]['api_key'] = models[0]['generation_kwargs']")
    work.call("check", "eval.py", *override, *debug, code=2)


def answering(secrets: Sequence[str], kind: str) -> dict[str, Any]:
    if kind == "answers":
        told = " ".join(written for secret in secrets for _, written in forms(secret))
        encoded = " ".join(
            base64.b64encode(f"{'x' * n}{secret}y".encode()).decode() for n, secret in enumerate(secrets)
        )
        return {"answer": f"A {told}\n{encoded}", "reasoning": told}
    if kind == "short answers":
        return {"answer": "A"}
    return {"status": int(kind), "body": {"error": "try later"} if kind == "503" else ECHO}


@pytest.mark.slow
@settings(SEARCH, max_examples=3)
@given(st.lists(LONG, min_size=len(PLACES), max_size=len(PLACES), unique=True))
@pytest.mark.parametrize("kind", ["answers", "401", "500"])
def test_no_long_secret_is_written_or_printed(
    kind: str, server: MockServer, here: Path, monkeypatch: pytest.MonkeyPatch, secrets: list[str]
) -> None:
    work = work_with(secrets, server, kind, here, monkeypatch)
    use_everything(work)
    assert work.leaks() == []


@settings(SEARCH, max_examples=3)
@given(st.lists(SHORT, min_size=len(PLACES), max_size=len(PLACES), unique=True))
@pytest.mark.parametrize("kind", ["short answers", "503"])
def test_no_short_secret_is_written_or_printed_where_it_is_one(
    kind: str, server: MockServer, here: Path, monkeypatch: pytest.MonkeyPatch, secrets: list[str]
) -> None:
    work = work_with(secrets, server, kind, here, monkeypatch)
    use_everything(work)
    assert work.leaks() == []


ECHOED = """
models = [dict(type='OpenAIChatModel', abbr='m', model='m', base_url={url!r}, api_key='MY_KEY', retry=0,
               headers={{'X-Named': 'Token $NAMED'}})]
datasets = [dict(
    abbr='sums',
    path='sums.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{{question}}'),
                   inferencer=dict(type='GenInferencer')),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator')),
)]
"""


@pytest.mark.parametrize("reply", [{"status": 401, "body": ECHO}, {"status": 400, "body": ECHO}, {"answer": "{echo}"}])
def test_a_short_key_that_a_server_repeats_is_hidden(
    server: MockServer, here: Path, monkeypatch: pytest.MonkeyPatch, reply: dict[str, Any]
) -> None:
    keys = ["sk-wrong", "k3y!"]
    work = work_with(keys, server, "", here, monkeypatch, places=("variable", "named"))
    said = " ".join(f"no key {key}, or '{key}'" for key in keys)
    server.follow(json.loads(json.dumps(reply).replace("{request}", said).replace("{echo}", said)))
    work.root.joinpath("eval.py").write_text(ECHOED.format(url=server.base_url))
    monkeypatch.setenv("MY_KEY", "sk-wrong")
    monkeypatch.setenv("NAMED", "k3y!")
    SECRETS.clear()
    done = CliRunner().invoke(main, ["run", "eval.py"])
    work.printed = done.stdout + done.stderr
    assert work.leaks() == []
    assert "***" in work.printed + "".join(path.read_text("utf-8") for path in work.root.rglob("*.jsonl"))
