"""A config in which one value is odd: three lines or a result, never a crash, whichever key it has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.e2e.project import ROWS
from tests.support.cli import run_cli
from tests.support.parts import write_rows

pytestmark = pytest.mark.thorough

CONFIG: Final = r"""
models = «[dict(type=«'ScriptedModel'», abbr=«'fake'», answers=«{r'^3': '6'}», default=«'4'», meta_template=«None»,
    max_out_len=«16», max_seq_len=«None», stop_words=«[]», delay=«0», run_cfg=«dict(num_gpus=«0»)»)]»
datasets = «[dict(abbr=«'sums'», type=«'LocalDataset'», path=«'data/sums.jsonl'», n=«1», k=«1», format=«None»,
    delimiter=«None», encoding=«'utf-8'»,
    reader_cfg=«dict(input_columns=«['question']», output_column=«'answer'», test_range=«'[0:4]'», media_roots=«[]»)»,
    infer_cfg=«dict(
        ice_template=«dict(type=«'PromptTemplate'», template=«'{question} {answer}'»)»,
        prompt_template=«dict(type=«'PromptTemplate'», template=«'</E>{question}'», ice_token=«'</E>'»)»,
        retriever=«dict(type=«'FixKRetriever'», fix_id_list=«[0]», allow_overlap=«True»)»,
        inferencer=«dict(type=«'GenInferencer'», max_out_len=«5», stopping_criteria=«[]», seed=«None»)»)»,
    eval_cfg=«dict(evaluator=«dict(type=«'Gsm8kEvaluator'»)», pred_postprocessor=«dict(type=«'gsm8k_postprocess'»)»)»)]»
summarizer = «dict(dataset_abbrs=«['sums']», summary_groups=«[dict(name=«'all'», subsets=«['sums']»)]»)»
work_dir = «'outputs'»
"""
HELPERS: Final = """
import decimal
import enum
import re
class Repr:
    def __repr__(self): raise RuntimeError('repr')
class Attribute:
    def __getattr__(self, name): raise RuntimeError(name)
class Equal:
    __hash__ = None
    def __eq__(self, other): raise RuntimeError('eq')
class Listed(list):
    def __iter__(self): raise ValueError('iter')
class Keyed(dict):
    def items(self): raise ValueError('items')
class Text(str):
    def __str__(self): return 5
class Truth:
    def __bool__(self): raise ValueError('bool')
def itself():
    value = []
    value.append(value)
    return value
def deep(value):
    for _ in range(3000): value = [value]
    return value
"""
ODD: Final = (
    *("None", "True", "-1", "0", "10**5000", "-10**30", "2**63", "1e400", "float('nan')", "1j", "1.5", "''", "' '"),
    *(r"'\x00'", r"'\ud800'", "'x' * 100_000", "'a/b'", "'../..'", r"'a\nb'", r"'\x1b[31m'", "b'x'", "'9' * 5000"),
    *("[]", "{}", "()", "set()", "{1: 2}", "{None: 1}", "{'a': {}}", "[None]", "[[]]", "['']", "[1]", "[{}]"),
    *("dict(type=1)", "dict(type='')", "dict(type='NoSuch')", "dict(type=int)", "dict(type=Repr)", "dict(type=None)"),
    *("Repr()", "Attribute()", "Equal()", "Listed([1])", "Keyed(a=1)", "Text('x')", "Truth()", "Repr", "int", "print"),
    *("lambda: 1", "iter([1])", "range(10**12)", "itself()", "deep('x')", "decimal.Decimal('NaN')", "object()", "..."),
    *("re.compile('(a+)+$')", "'(a+'", "'{'", "'}'", "'{question.x}'", "'{0}'", "'{}'", "'{question!r:>1000000000}'"),
    *("'[:'", "'[5:2]'", "'[::0]'", "'/'", "'.'", "'~'", "'http://['", "enum.Enum('X', 'a').a", "dict(type='X', a=1)"),
)


def places(text: str) -> Iterator[tuple[int, int]]:
    """The start and end of each value between « and »."""
    begun = []
    for place, character in enumerate(text):
        if character == "«":
            begun.append(place)
        elif character == "»":
            yield begun.pop(), place


def with_value(place: tuple[int, int], value: str) -> str:
    text = f"{CONFIG[: place[0]]}{value}{CONFIG[place[1] + 1 :]}"
    return HELPERS + text.replace("«", "").replace("»", "")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("odd")
    write_rows(made / "data/sums.jsonl", ROWS)
    return made


def test_the_config_is_right_without_an_odd_value(folder: Path) -> None:
    (folder / "eval.py").write_text(HELPERS + CONFIG.replace("«", "").replace("»", ""))
    done = run_cli("run", "eval.py", folder=folder)
    assert done.returncode == 0, done.stderr


@given(
    place=st.sampled_from(sorted(places(CONFIG))), value=st.sampled_from(ODD), verb=st.sampled_from(["check", "run"])
)
def test_an_odd_value_never_crashes(folder: Path, place: tuple[int, int], value: str, verb: str) -> None:
    (folder / "eval.py").write_text(with_value(place, value))
    done = run_cli(verb, "eval.py", folder=folder)
    assert done.returncode in (0, 1, 2, 3), done.stderr
    assert "Traceback" not in done.stderr
    if done.returncode > 1:
        assert "Error: " in done.stderr
