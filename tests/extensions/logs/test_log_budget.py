"""Small logs that would cost much: each is read or refused in little memory, and every reader is linear."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ais_prompt.extensions.logs import log_files, rules
from tests.extensions.logs.writers import (
    ASKED,
    inspect_header,
    inspect_samples,
    write_evalscope,
    write_every_eval_ever,
    write_helm,
    write_inspect_json,
    write_json,
    write_lines,
    write_lm_eval,
    write_nemo,
)
from tests.support.cli import run_cli
from tests.support.memory import little_memory

pytestmark = [pytest.mark.process, pytest.mark.thorough]


def edited(path: Path, change: Callable[[Any], Any]) -> None:
    """Change the value of a JSON file, or of each line."""
    if path.suffix == ".jsonl":
        write_lines(path, [change(json.loads(line)) for line in path.read_text().splitlines()])
    else:
        write_json(path, change(json.loads(path.read_text())))


def event(pool: int, references: int, **more: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": more.pop("content", "x")}] * pool
    model = {"event": "model", "model": "openai/m", "input": [], "input_refs": [[0, pool]] * references}
    return {"events": [model], "events_data": {"messages": messages}, **more}


def inspect_with(**fields: Any) -> Callable[[Path], object]:
    def write(folder: Path) -> None:
        with zipfile.ZipFile(folder / "log.eval", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("header.json", json.dumps(inspect_header()))
            archive.writestr("samples/1_epoch_1.json", json.dumps({**inspect_samples()[0], **fields}))

    return write


def inspect_scorer(answer: str, name: str, **options: Any) -> Callable[[Path], object]:
    def write(folder: Path) -> None:
        head = inspect_header()
        head["eval"]["scorers"] = [{"name": name, "options": options}]
        head["results"]["scores"] = [{"name": name, "scorer": name, "metrics": {"accuracy": {"value": 1}}}]
        samples = inspect_samples([replace(ASKED[0], answer=answer)] * 30)
        for number, one in enumerate(samples):
            one |= {"id": number, "scores": {name: {"value": "C", "answer": "B"}}}
        write_json(folder / "log.json", {**head, "samples": samples})

    return write


def text(content: str, name: str = "log.json") -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_text(content)


def beside(folder: Path) -> None:
    write_every_eval_ever(folder)
    (folder / "other.json").write_text('{"' + '\\"' * 120_000)


def many_filters(folder: Path) -> None:
    write_lm_eval(folder)
    [path] = folder.glob("samples*")
    [line, *_] = map(json.loads, path.read_text().splitlines())
    write_lines(path, [{**line, "filter": f"filter {number}"} for number in range(1500)])


def slow_filters(folder: Path) -> None:
    write_lm_eval(folder)
    [path], [results] = folder.glob("samples*"), folder.glob("results*")
    [line, *_] = map(json.loads, path.read_text().splitlines())
    names = [f"filter {number}" for number in range(300)]
    write_lines(path, [{**line, "filter": name, "resps": [["a" * 60 + "!"]]} for name in names])

    def slow(value: Any) -> Any:
        step = [{"function": "regex", "regex_pattern": r"(\w|\w\w)+$"}]
        value["configs"]["sums"]["filter_list"] = [
            {"name": name, "filter": [{**step[0], "regex_pattern": rf"{name}|(\w|\w\w)+$"}]} for name in names
        ]
        return value

    edited(results, slow)


def many_evaluations(folder: Path) -> None:
    write_every_eval_ever(folder)
    [line, *_] = map(json.loads, (folder / "samples.jsonl").read_text().splitlines())
    write_lines(folder / "samples.jsonl", [{**line, "evaluation_name": f"e{number}"} for number in range(1500)])


def many_options(folder: Path) -> None:
    write_helm(folder)
    texts = [f"text {number}" for number in range(20_000)]

    def change(value: Any) -> Any:
        for state in value["request_states"]:
            state["instance"]["references"] = [{"output": {"text": one}, "tags": ["correct"]} for one in texts]
            state["output_mapping"] = {str(number): one for number, one in enumerate(texts)}
        return value

    edited(folder / "scenario_state.json", change)


def many_metrics(folder: Path) -> None:
    write_inspect_json(folder, [replace(ASKED[0], question=f"{number} = ?") for number in range(300)])

    def change(value: Any) -> Any:
        for number, sample in enumerate(value["samples"]):
            sample["scores"] = {f"scorer {number} {other}": {"value": 1.0} for other in range(100)}
        return value

    edited(folder / "log.json", change)


def many_choices(folder: Path) -> None:
    write_lm_eval(folder)
    [path], [results] = folder.glob("samples*"), folder.glob("results*")
    choices = ["a" * 300 + str(number) for number in range(3000)]
    edited(path, lambda line: {**line, "doc": {"question": "q", "choices": choices}, "resps": [["a" * 300_000]]})

    def change(value: Any) -> Any:
        step = {"function": "multi_choice_regex", "regex_pattern": r"(\([A-Z]\))"}
        value["configs"]["sums"]["filter_list"] = [{"name": one, "filter": [step]} for one in ("strict", "flexible")]
        return value

    edited(results, change)


def slow_template(folder: Path) -> None:
    write_evalscope(folder)
    template = "".join(f"{{x{number}}}a" for number in range(40)) + "{question}b"
    config = {"dataset_args": {"sums": {"prompt_template": template}}}
    (folder / "configs/task.yaml").write_text(json.dumps(config))
    for kind in ("predictions", "reviews"):
        edited(folder / kind / "m/sums_main.jsonl", lambda line: {**line, "input": "a" * 3000})


def many_repeats(folder: Path) -> None:
    write_nemo(folder)
    [line, *_] = map(json.loads, (folder / "results.jsonl").read_text().splitlines())
    write_lines(folder / "results.jsonl", [{**line, "repeat": number} for number in range(20_000)])


BOMBS: dict[str, tuple[Callable[[Path], object], str]] = {
    "quotes without an end": (text('{"' + '\\"' * 120_000), "could not be|none of|no run"),
    "quotes without an end beside a log": (beside, ""),
    "a key that comes again at the end": (
        text("{" + ",".join(f'"{n}":1' for n in range(300_000)) + ',"eval":1,"status":1,"eval":2}'),
        "",
    ),
    "empty lists": (text('{"eval": 1, "status": 1, "x": [' + "[]," * 9_000_000 + "1]}"), "more than 8,388,608 values"),
    "empty lists in a line": (
        text('{"problem_idx": 1, "reward": 1, "x": [' + "[]," * 9_000_000 + "1]}\n", "results.jsonl"),
        "more than 8,388,608 values",
    ),
    "references to a pool": (inspect_with(**event(3000, 3000)), "more than 300 times its size"),
    "references to a long text": (
        inspect_with(**event(1000, 3, content="attachment://a", attachments={"a": "x" * 100_000})),
        "more than 300 times its size",
    ),
    "a long text in every place": (
        inspect_with(messages=["attachment://a"] * 100_000, attachments={"a": "x" * 10_000}),
        "more than 300 times its size",
    ),
    "many filters": (many_filters, ""),
    "many slow filters": (slow_filters, "takes more than"),
    "many evaluations": (many_evaluations, ""),
    "many options": (many_options, ""),
    "many metrics": (many_metrics, ""),
    "many choices": (many_choices, ""),
    "a template that matches in many ways": (slow_template, ""),
    "many answers to one question": (many_repeats, ""),
    "white space behind a marker": (inspect_scorer("ANSWER: A" + " " * 20_000 + "x", "choice"), ""),
    "white space behind a dollar": (inspect_scorer("$a" + " " * 20_000 + "x", "choice"), ""),
    "a pattern of many sets": (inspect_scorer("x", "pattern", pattern="(?i)" + "[a-\uffff]" * 1600), ""),
}


LARGE = ("many filters", "many evaluations", "many options", "many metrics", "many answers to one question")
"""Logs that are read whole, which takes a second or two."""


@pytest.mark.parametrize(
    ("write", "said"),
    [pytest.param(*one, id=name, marks=[pytest.mark.slow] * (name in LARGE)) for name, one in BOMBS.items()],
)
def test_a_small_log_costs_little(
    write: Callable[[Path], object], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "MOST_SECONDS", 0.1)
    if "takes more than" in said:
        monkeypatch.setattr(log_files, "SECONDS", 0.3)
    (tmp_path / "log").mkdir()
    write(tmp_path / "log")
    with little_memory():
        done = run_cli("import", "log", folder=tmp_path)
    assert done.returncode in (0, 2), done.stderr
    assert any(one in done.stderr for one in said.split("|")), done.stderr
    assert "no memory left" not in done.stderr
