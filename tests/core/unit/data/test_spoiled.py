"""Spoiled questions: what each control changes, and what stays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.data import spoil
from ais_prompt.errors import DataError
from ais_prompt.types import ControlSpec, ReaderSpec, Sample
from tests.support.cli import run_cli


def samples(rows: list[dict[str, Any]]) -> list[Sample]:
    return [Sample(f"id{number}", number, row, row.get("gold"), f"row{number}") for number, row in enumerate(rows)]


def controlled(rows: list[dict[str, Any]], kind: Any, *columns: str, seed: int = 0) -> Any:
    spec = ReaderSpec(tuple(rows[0]), "gold", where="reader_cfg", control=ControlSpec(kind, columns, seed))
    return spoil(samples(rows), tuple(rows[0]), spec)


@given(st.lists(st.sampled_from("abcd"), min_size=2, max_size=30), st.integers(0, 9))
def test_swapped_columns_are_those_of_another_row(passages: list[str], seed: int) -> None:
    rows = [{"passage": passage, "q": str(number), "gold": "x"} for number, passage in enumerate(passages)]
    if 2 * max(map(passages.count, passages)) > len(passages):
        with pytest.raises(DataError, match="too many to swap"):
            controlled(rows, "swap", "passage", seed=seed)
        return
    found = list(controlled(rows, "swap", "passage", seed=seed))
    assert all(one.fields["passage"] != row["passage"] for one, row in zip(found, rows, strict=True))
    assert sorted(one.fields["passage"] for one in found) == sorted(passages)
    assert [(one.id, one.fields["q"]) for one in found] == [(f"id{n}", str(n)) for n in range(len(rows))]


@pytest.mark.parametrize("form", ["columns", "text", "letter of a list", "text of a list", "0", "1"])
@given(st.permutations(["red", "blue", "green"]), st.integers(0, 2), st.integers(0, 50))
def test_shuffled_options_keep_their_right_answer(form: str, options: list[str], right: int, seed: int) -> None:
    letters = "ABC"
    gold: Any = {"columns": letters[right], "letter of a list": letters[right], "0": right, "1": right + 1}.get(
        form, options[right]
    )
    in_list = form not in ("columns", "text")
    values = {"options": options} if in_list else dict(zip(letters, options, strict=True))
    rows = [{**values, "gold": gold}]
    if form in "01":  # another row tells from where the numbers count
        rows.append({**values, "gold": int(form)})
    [first, *_] = controlled(rows, "shuffle", *(["options"] if in_list else letters), seed=seed)
    moved = first.fields["options"] if in_list else [first.fields[name] for name in letters]
    assert sorted(moved) == sorted(options)
    found = first.gold
    if form in "01":
        found = moved[found - int(form)]
    elif found in letters:
        found = moved[letters.index(found)]
    assert found == options[right]
    assert first.fields["gold"] == first.gold


def test_a_gold_that_names_no_option_is_a_fault() -> None:
    with pytest.raises(DataError, match="its gold 'Z' is none of them"):
        list(controlled([{"A": "red", "B": "blue", "gold": "Z"}], "shuffle", "A", "B"))
    with pytest.raises(DataError, match="no column 'C'"):
        controlled([{"A": "red", "B": "blue", "gold": "Z"}], "blank", "C")


def test_blanks_keep_the_kind_of_a_value_and_slices_count_anew() -> None:
    found = controlled([{"q": "why?", "c": ["x"], "gold": str(n)} for n in range(5)], "blank", "q", "c")
    assert [one.fields for one in found[2:4]] == [{"q": "", "c": [], "gold": "2"}, {"q": "", "c": [], "gold": "3"}]
    assert [(one.index, one.id) for one in found[2:4]] == [(0, "id2"), (1, "id3")]
    assert found[-1].fields["gold"] == "4"
    assert len(found) == 5


CONFIG = """
models = [dict(type='ScriptedModel', abbr='m', answers={'sky': 'blue'}, default=DEFAULT)]
datasets = [dict(type='LocalDataset', abbr='colours', path='rows.jsonl',
    reader_cfg=dict(input_columns=['question', 'hint'], output_column='a'),
    infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{hint} {question}'),
                   inferencer=dict(type='GenInferencer')),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator')))]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [{"question": f"What colour is {n}?", "hint": f"h{n}", "a": "ab"[n % 2]} for n in range(40)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


@pytest.mark.process
@pytest.mark.parametrize("answers", ["'a'", "'b'"])
def test_chance_is_no_answer_without_reading(folder: Path, answers: str) -> None:
    (folder / "e.py").write_text(CONFIG.replace("DEFAULT", answers))
    done = run_cli("run", "e.py", "--control", "blank", folder=folder)
    assert done.returncode == 0, done.stderr
    assert "the most frequent gold alone gets 50.0 %: no answer without reading is shown" in done.stderr
    assert list((folder / "outputs/e-blank").iterdir())
    prompt = run_cli("view-prompt", "e.py", "--control", "blank", folder=folder).stdout
    assert "What colour" not in prompt
    assert "h0" in prompt


@pytest.mark.process
def test_answers_from_what_is_left_are_found_and_paired(folder: Path) -> None:
    odd = "{'^h([0-9]*[13579]) ': 'b'}"
    (folder / "e.py").write_text(CONFIG.replace("{'sky': 'blue'}", odd).replace("DEFAULT", "'a'"))
    assert run_cli("run", "e.py", folder=folder).returncode == 0
    done = run_cli("run", "e.py", "--control", "blank=question", folder=folder)
    assert "or more are answered without reading" in done.stderr
    compared = run_cli("compare", "e", "e-blank", "--json", folder=folder)
    assert json.loads(compared.stdout)["comparisons"][0]["n"] == 40
    swapped = run_cli("run", "e.py", "--control", "swap=hint", folder=folder)
    assert "no answer without reading is shown" in swapped.stderr


@pytest.mark.parametrize(
    ("control", "words"),
    [
        ("mix", "there is no control 'mix'"),
        ("swap", "no column says what to swap"),
        ("blank=colour", "the dataset has no column colour"),
    ],
)
def test_a_control_that_cannot_be_is_refused(folder: Path, control: str, words: str) -> None:
    (folder / "e.py").write_text(CONFIG.replace("DEFAULT", "'a'"))
    done = run_cli("run", "e.py", "--control", control, folder=folder)
    assert done.returncode == 2
    assert words in done.stderr
    (folder / "e.py").write_text(
        CONFIG.replace("DEFAULT", "'a'").replace("output_column='a'", "output_column='a', control=dict(type='mix')")
    )
    assert "control.type is 'mix' (str), not 'blank', 'swap' or" in run_cli("check", "e.py", folder=folder).stderr
