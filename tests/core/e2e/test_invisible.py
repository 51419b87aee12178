"""What data says that cannot be seen, or that a terminal obeys, is shown as escapes wherever people read it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from ais_prompt.cli import main

HOSTILE = "\x1b\x07\x85\x9b\u202e\u2066\u200e\u200f\u061c\u200b\ufeff\u2028\U000e0041"
INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)
CONFIG = """
models = [dict(type='ScriptedModel', abbr='fake', answers={{'^0': 'x'}}, default='{hostile} 4')]
datasets = [dict(
    abbr='sums',
    path='sums.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(
        prompt_template=dict(type='PromptTemplate', template='{{question}}{end}'), inferencer=dict(type='GenInferencer')
    ),
    eval_cfg=dict(evaluator=dict(type='{evaluator}')),
)]
"""


def called(*args: str) -> str:
    done = CliRunner().invoke(main, args)
    assert done.exit_code in (0, 1), done.output
    return done.stdout + done.stderr


def write(root: Path, end: str, evaluator: str = "AccEvaluator") -> None:
    text = CONFIG.format(hostile=HOSTILE.encode("unicode_escape").decode(), end=end, evaluator=evaluator)
    root.joinpath("eval.py").write_text(text)


@pytest.mark.thorough
def test_no_verb_prints_it_and_no_file_for_review_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [{"question": f"{number}{HOSTILE}?", "answer": f"{number}{HOSTILE}"} for number in range(4)]
    tmp_path.joinpath("sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    write(tmp_path, "")
    said = [called("lock", "eval.py"), called("lock", "eval.py", "--check"), called("check", "eval.py")]
    said += [called("view-prompt", "eval.py", *more) for more in ([], ["--json"], ["--origins"])]
    files = ["--junit", "out.xml", "--markdown", "out.md", "--gate", "accuracy >= 50%"]
    said.append(called("run", "eval.py", *files))
    [first] = tmp_path.glob("outputs/eval/*")
    said.append(called("baseline", str(first), "-o", "base.json"))
    write(tmp_path, f"{HOSTILE.encode('unicode_escape').decode()} more")
    said += [called("lock", "eval.py", "--check"), called("lock", "eval.py", "--check", "--json")]
    said.append(called("run", "eval.py", *files, "--baseline", "base.json"))
    second = max(tmp_path.glob("outputs/eval/*"))
    for verb in ("diff", "compare"):
        said += [called(verb, str(first), str(second)), called(verb, str(first), str(second), "--json")]
    assert all("\\u202e" in said[number] for number in (3, 4, 5))
    found = {number: INVISIBLE.findall(text) for number, text in enumerate(said)}
    reviewed = ["eval.lock", "out.xml", "out.md", "base.json"]
    paths = [tmp_path / name for name in reviewed] + list(tmp_path.glob("outputs/eval/*/summary/*"))
    found |= {str(path): INVISIBLE.findall(path.read_text("utf-8")) for path in paths}
    assert not any(found.values()), {name: ascii(signs) for name, signs in found.items() if signs}
