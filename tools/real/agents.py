"""Run agents of public frameworks, unchanged but for the address: ``python -m tools.real.agents [NAME…]``.

The frameworks are installed into an environment of their own below ``$AISPROMPT_REAL`` (default
``~/.cache/aisprompt-real``). Each agent solves two tasks on a scripted model, whose trajectory is known to the step; a
public MCP server gives its tools to `ToolLoopInferencer`. Exit code 1: a trajectory is not as scripted; 2: the
frameworks cannot be installed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click

from ais_prompt.extensions.agents.trajectory import called_tools
from ais_prompt.types import Completion
from tools.real.servers import install, served, small_model

CACHE: Final = Path(os.environ.get("AISPROMPT_REAL", "~/.cache/aisprompt-real")).expanduser()
ROOT: Final = Path(__file__).parents[2]
WHEELS: Final = (
    *("openai-agents==0.24.0", "pydantic-ai-slim[openai]==2.68.0", "langgraph==1.2.24", "langchain-openai==1.7.4"),
    *("anthropic==2.14.0", "mcp==2.3.0", "mcp-server-time==2026.10.19"),
)
TASKS: Final = {"(17 + 25) * 2": (17, 25, 42, 2, 84), "(5 + 6) * 3": (5, 6, 11, 3, 33)}
"""Task → two summands, their sum, a factor, the product."""
_TOOLS: Final = '''
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b
def multiply(a: int, b: int) -> int:
    """Multiply two numbers."""
    return a * b
'''
PROGRAMS: Final[Mapping[str, str]] = {
    "openai-agents": """
import sys
from agents import Agent, Runner, function_tool, set_tracing_disabled
set_tracing_disabled(True)
agent = Agent(name="Calculator", instructions="Use the tools.", tools=[function_tool(add), function_tool(multiply)])
print(Runner.run_sync(agent, sys.argv[1]).final_output)
""",
    "openai-agents, streamed": """
import asyncio, sys
from agents import Agent, Runner, function_tool, set_default_openai_api, set_tracing_disabled
set_tracing_disabled(True)
set_default_openai_api("chat_completions")
agent = Agent(name="Calculator", instructions="Use the tools.", tools=[function_tool(add), function_tool(multiply)])
async def main():
    run = Runner.run_streamed(agent, sys.argv[1])
    async for _ in run.stream_events():
        pass
    print(run.final_output)
asyncio.run(main())
""",
    "pydantic-ai": """
import sys
from pydantic_ai import Agent
agent = Agent("openai-chat:gpt-5", instructions="Use the tools.", tools=[add, multiply])
print(agent.run_sync(sys.argv[1]).output)
""",
    "langgraph": """
import operator, sys
from typing import Annotated, TypedDict
from langchain_core.messages import AnyMessage, HumanMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, StateGraph
from langgraph.prebuilt import ToolNode
tools = [tool(add), tool(multiply)]
model = ChatOpenAI(model="gpt-5").bind_tools(tools)
class State(TypedDict):
    messages: Annotated[list[AnyMessage], operator.add]
graph = StateGraph(State)
graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
graph.add_node("tools", ToolNode(tools))
graph.add_edge(START, "model")
graph.add_conditional_edges("model", lambda state: "tools" if state["messages"][-1].tool_calls else END)
graph.add_edge("tools", "model")
print(graph.compile().invoke({"messages": [HumanMessage(sys.argv[1])]})["messages"][-1].content)
""",
    "anthropic": """
import sys
from anthropic import Anthropic
client, own = Anthropic(), {"add": add, "multiply": multiply}
numbers = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}
tools = [{"name": name, "description": one.__doc__, "input_schema": numbers} for name, one in own.items()]
messages = [{"role": "user", "content": sys.argv[1]}]
while True:
    with client.messages.stream(model="claude-sonnet-5", max_tokens=500, messages=messages, tools=tools) as stream:
        reply = stream.get_final_message()
    calls = [block for block in reply.content if block.type == "tool_use"]
    if not calls:
        print(reply.content[0].text)
        break
    messages.append({"role": "assistant", "content": [block.model_dump() for block in reply.content]})
    results = [(one.id, str(own[one.name](**one.input))) for one in calls]
    content = [{"type": "tool_result", "tool_use_id": name, "content": text} for name, text in results]
    messages.append({"role": "user", "content": content})
""",
}
"""Name → an agent that reads its address and key from the environment, as every other program does."""
CONFIG: Final = """
model = dict(type='ScriptedModel', answers={script!r}, max_out_len=512)
models = {models}
datasets = [dict(type='LocalDataset', abbr='tasks', path='tasks.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{{question}}'), inferencer={inferencer}),
    eval_cfg=dict(evaluator=dict(type='TrajectoryEvaluator', tools='tools', order='exactly')))]
"""
TIMES: Final = {"get_current_time": {"timezone": "Asia/Tokyo"}}
SECONDS: Final = 300


@click.command()
@click.argument("names", nargs=-1)
@click.option("--keep", type=click.Path(path_type=Path), metavar="DIR", help="Keep the run folders there.")
def main(names: Sequence[str], keep: Path | None) -> None:
    """Run the agents of these NAMES, or all, the MCP server ``mcp``, and an agent on a ``real model``."""
    try:
        python = installed()
    except subprocess.CalledProcessError as error:
        click.echo(f"The frameworks cannot be installed: {error}", err=True)
        sys.exit(2)
    folder = (keep or CACHE / "agents-runs").absolute()
    shutil.rmtree(folder, ignore_errors=True)
    faults = 0
    for name in names or (*PROGRAMS, "mcp", "real model"):
        others = {"mcp": mcp_faults, "real model": real_faults}
        work = folder / name.replace(" ", "-")
        found = list(others[name](work, python) if name in others else agent_faults(name, work, python))
        faults += len(found)
        click.echo(f"{name}: {'; '.join(found) or 'as scripted'}")
    sys.exit(int(faults > 0))


def agent_faults(name: str, work: Path, python: Path) -> Iterator[str]:
    """Run an agent on all tasks, and yield what is not as scripted."""
    work.mkdir(parents=True)
    (work / "agent.py").write_text(_TOOLS + PROGRAMS[name], "utf-8")
    rows = [
        {
            "question": f"What is {task}?",
            "answer": str(product),
            "tools": [
                {"name": "add", "arguments": {"a": one, "b": other}},
                {"name": "multiply", "arguments": {"a": total, "b": factor}},
            ],
        }
        for task, (one, other, total, factor, product) in TASKS.items()
    ]
    command = [str(python), "agent.py", "{question}"]
    models = f"[dict(type='CommandModel', abbr='agent', command={command!r}, model=model)]"
    write(work, rows, CONFIG.format(script=script(), models=models, inferencer="dict(type='GenInferencer')"))
    completions = run(work)
    for row, completion in zip(rows, completions, strict=True):
        if completion.failure:
            yield f"{completion.failure.kind}: {completion.failure.message}"
            continue
        if completion.text != f"The result is {row['answer']}.":
            yield f"the answer is {completion.text!r}"
        if len(completion.trajectory) != 3:
            yield f"{len(completion.trajectory)} steps, not 3"
        calls = [{"name": call.name, "arguments": call.arguments} for call in called_tools(completion.trajectory)]
        if calls != row["tools"]:
            yield f"the calls are {calls}"
        results = [str(call.result) for call in called_tools(completion.trajectory)]
        expected = [str(number) for number in list(TASKS.values())[rows.index(row)][2::2]]
        if not all(number in result for number, result in zip(expected, results, strict=False)):
            yield f"the results are {results}"
    before = len(journal(work))
    run(work, "-r")
    if len(journal(work)) != before:
        yield "a resumed run asks again"


def script() -> dict[str, Any]:
    """Return the answers of the model: by what its last question and the results of tools after it hold."""
    answers: dict[str, Any] = {}
    for task, (one, other, total, factor, product) in TASKS.items():
        question = "(?s)" + task.replace("(", r"\(").replace(")", r"\)").replace("+", r"\+").replace("*", r"\*")
        multiply = {"name": "multiply", "arguments": {"a": total, "b": factor}}
        answers[rf"{question}.*\b{total}\b.*\b{product}\b"] = f"The result is {product}."
        answers[rf"{question}.*\b{total}\b"] = {"tool_calls": [multiply]}
        answers[question] = {"tool_calls": [{"name": "add", "arguments": {"a": one, "b": other}}]}
    return answers


def mcp_faults(work: Path, python: Path) -> Iterator[str]:
    """Let a scripted model call a public MCP server, and yield what is not as scripted."""
    work.mkdir(parents=True)
    [(name, arguments)] = TIMES.items()
    answers = {r"(?s)Tokyo.*Asia/Tokyo": "done", "Tokyo": {"tool_calls": [{"name": name, "arguments": arguments}]}}
    rows = [
        {"question": "What time is it in Tokyo?", "answer": "done", "tools": [{"name": name, "arguments": arguments}]}
    ]
    server = [str(python.with_name("mcp-server-time"))]
    inferencer = f"dict(type='ToolLoopInferencer', tools=[dict(mcp={server!r})])"
    write(work, rows, CONFIG.format(script=answers, models="[dict(abbr='agent', **model)]", inferencer=inferencer))
    [completion] = run(work, python=python)
    called = called_tools(completion.trajectory)
    if completion.failure or len(called) != 1 or "Asia/Tokyo" not in str(called[0].result):
        yield f"{completion.failure or called}"


def real_faults(work: Path, python: Path) -> Iterator[str]:
    """Run an agent on a small model behind llama.cpp's server: every request is answered and recorded."""
    work.mkdir(parents=True)
    (work / "agent.py").write_text(_TOOLS + PROGRAMS["pydantic-ai"], "utf-8")
    rows = [{"question": "Say hello.", "answer": "hello", "tools": []}]
    with served("llama.cpp", install("llama.cpp", small_model())) as running:
        asked = {"type": "OpenAIChatModel", "model": running.model, "base_url": running.url, "api_key": None}
        command = [str(python), "agent.py", "{question}"]
        models = f"[dict(type='CommandModel', abbr='agent', command={command!r}, model={asked!r})]"
        write(work, rows, CONFIG.format(script={}, models=models, inferencer="dict(type='GenInferencer')"))
        [completion] = run(work)
    answers = [call.completion for call in completion.trajectory]
    if not answers or any(answer.failure or not answer.usage.completion_tokens for answer in answers):
        yield f"{completion.failure or answers}"


def write(work: Path, rows: Sequence[Mapping[str, Any]], config: str) -> None:
    """Write a config and its data."""
    (work / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    (work / "config.py").write_text(config, "utf-8")


def run(work: Path, *options: str, python: Path | None = None) -> list[Completion]:
    """Run the config, and return the answers in the order of the rows.

    Args:
        work: its folder.
        options: of the command line.
        python: has packages that are not installed here.
    """
    more = [] if python is None else list(map(str, python.parent.parent.glob("lib/python*/site-packages")))
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *more])}
    command = [sys.executable, "-m", "ais_prompt", "run", "config.py", "-w", "out", *options]
    subprocess.run(command, cwd=work, env=variables, check=False, timeout=SECONDS, capture_output=True)
    [path] = work.glob("out/config/*/predictions/agent/tasks.jsonl")
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [Completion.from_json(line["completions"][0]) for line in lines]


def journal(work: Path) -> list[str]:
    """Return the lines of the journal of a run."""
    [path] = work.glob("out/config/*/journal/agent/tasks.jsonl")
    return path.read_text("utf-8").splitlines()


def installed() -> Path:
    """Return the interpreter of the environment with the frameworks; it is made when it is first needed."""
    folder = CACHE / "agents"
    python = folder / "bin/python"
    listed = folder / "wheels.txt"
    if not listed.exists() or listed.read_text("utf-8").split() != list(WHEELS):
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *WHEELS], check=True)
        listed.write_text("\n".join(WHEELS), "utf-8")
    return python


if __name__ == "__main__":
    main()
