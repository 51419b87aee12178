from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from msgspec.structs import replace

from ais_prompt.data import LocalDataset, load_dataset
from ais_prompt.errors import ConfigError, DataError
from ais_prompt.types import ReaderSpec, Sample

WriteJsonl: TypeAlias = Callable[[str, Sequence[Mapping[str, Any]]], str]
SPEC = ReaderSpec(("q",), "a", where="datasets[0].reader_cfg")
ROWS = [{"q": f"r{number}", "a": str(number)} for number in range(8)]


def questions(samples: Iterable[Sample]) -> list[str]:
    return [sample.fields["q"] for sample in samples]


def test_one_split_serves_as_train_and_test(write_jsonl: WriteJsonl) -> None:
    path = write_jsonl("data.jsonl", ROWS)
    data = load_dataset(LocalDataset(path), replace(SPEC, train_range="[:2]", test_range="[-3:]"))
    assert questions(data.train) == ["r0", "r1"]
    assert questions(data.test) == ["r5", "r6", "r7"]
    assert (data.columns, data.origins, list(data.tables)) == (("q", "a"), (path,), ["data"])


def test_split_names_of_reader_cfg(write_jsonl: WriteJsonl) -> None:
    for name in ("train", "dev", "test"):
        path = Path(write_jsonl(f"{name}.jsonl", [{"q": name, "a": ""}]))
    data = load_dataset(LocalDataset(str(path.parent)), replace(SPEC, train_split="dev", test_split="train"))
    assert (questions(data.train), questions(data.test)) == (["dev"], ["train"])
    assert [Path(origin).name for origin in data.origins] == ["dev.jsonl", "train.jsonl"]


def test_a_sample_knows_its_row_and_gold(write_jsonl: WriteJsonl) -> None:
    data = load_dataset(LocalDataset(write_jsonl("data.jsonl", ROWS)), replace(SPEC, test_range="[4:]"))
    first, last = data.test[0], data.test[-1]
    assert first == Sample(first.id, 0, {"q": "r4", "a": "4"}, "4", first.row_id)
    assert last == Sample(last.id, 3, {"q": "r7", "a": "7"}, "7", last.row_id)
    assert [sample.index for sample in data.test] == [0, 1, 2, 3]
    with pytest.raises(IndexError):
        data.test[4]


def test_without_an_output_column_there_is_no_gold(write_jsonl: WriteJsonl) -> None:
    data = load_dataset(LocalDataset(write_jsonl("data.jsonl", ROWS)), replace(SPEC, output_column=None))
    assert data.test[0].gold is None


def test_several_columns_can_be_the_gold_together(write_jsonl: WriteJsonl) -> None:
    path = write_jsonl("data.jsonl", [{"q": "r0", "a": "0", "test": "t"}])
    data = load_dataset(LocalDataset(path), replace(SPEC, gold_columns=("q", "test")))
    assert data.test[0].gold == {"q": "r0", "test": "t"}
    with pytest.raises(DataError, match="no column 'tests'") as caught:
        load_dataset(LocalDataset(path), replace(SPEC, gold_columns=("tests",)))
    assert "gold_columns" in caught.value.fix


def test_a_slice_is_a_lazy_sequence_of_its_own(write_jsonl: WriteJsonl) -> None:
    data = load_dataset(LocalDataset(write_jsonl("data.jsonl", ROWS)), replace(SPEC, test_range=5))
    part = data.test[1:3]
    assert not isinstance(part, list)
    assert questions(part) == questions(data.test)[1:3]
    assert [sample.index for sample in part] == [0, 1]
    assert [sample.id for sample in part] == [sample.id for sample in data.test][1:3]


def test_ids_belong_to_the_content_and_not_to_the_place(tmp_path: Path, write_jsonl: WriteJsonl) -> None:
    whole = load_dataset(LocalDataset(write_jsonl("a.jsonl", ROWS)), SPEC)
    ids = {sample.fields["q"]: sample.id for sample in whole.test}
    assert len(set(ids.values())) == len(ROWS)
    assert all(len(sample_id) == 12 and int(sample_id, 16) >= 0 for sample_id in ids.values())
    turned = load_dataset(LocalDataset(write_jsonl("b.jsonl", ROWS[::-1])), replace(SPEC, test_range="[::2]"))
    assert all(sample.id == ids[sample.fields["q"]] for sample in turned.test)
    as_json = tmp_path / "c.json"
    as_json.write_text(json.dumps(ROWS))
    other = load_dataset(LocalDataset(str(as_json)), SPEC)
    assert [sample.id for sample in other.test] == list(ids.values())
    assert other.tables["c"].digest == whole.tables["a"].digest != turned.tables["b"].digest


def test_an_id_is_the_same_in_every_version(write_jsonl: WriteJsonl) -> None:
    # Runs are resumed by it: a change makes every stored answer useless.
    data = load_dataset(LocalDataset(write_jsonl("data.jsonl", [{"q": "1+1=?", "a": 2}])), SPEC)
    assert data.test[0].id == "9dc8def19aa2"  # printf %s '{"q":"1+1=?"}' | sha256sum
    assert data.test[0].row_id == "4e785706e587"  # printf %s '{"a":2,"q":"1+1=?"}' | sha256sum


def test_equal_rows_are_counted_before_the_range_is_applied(write_jsonl: WriteJsonl) -> None:
    path = write_jsonl("data.jsonl", [ROWS[0], ROWS[1], ROWS[0], ROWS[0]])
    first, other, second, third = load_dataset(LocalDataset(path), SPEC).test
    assert (second.id, third.id) == (f"{first.id}-2", f"{first.id}-3")
    assert other.id != first.id
    assert load_dataset(LocalDataset(path), replace(SPEC, test_range="[3]")).test[0].id == third.id


def test_the_digest_is_of_all_rows_whatever_is_used(write_jsonl: WriteJsonl) -> None:
    path = write_jsonl("data.jsonl", ROWS)
    digest = load_dataset(LocalDataset(path), SPEC).digest
    assert load_dataset(LocalDataset(path), replace(SPEC, test_range="[:1]")).digest == digest
    assert load_dataset(LocalDataset(write_jsonl("data.jsonl", [*ROWS[:7], ROWS[0]])), SPEC).digest != digest


def test_a_split_that_is_not_there(write_jsonl: WriteJsonl) -> None:
    write_jsonl("d/train.jsonl", ROWS)
    folder = str(Path(write_jsonl("d/test.jsonl", ROWS)).parent)
    with pytest.raises(DataError, match=r"no split 'tset' \(there are 'train', 'test'\)") as caught:
        load_dataset(LocalDataset(folder), replace(SPEC, test_split="tset"))
    assert (caught.value.where, caught.value.fix) == ("datasets[0].reader_cfg.test_split", "did you mean 'test'?")
    with pytest.raises(DataError, match="no split 'dev'"):
        load_dataset(LocalDataset(folder), replace(SPEC, train_split="dev"))


def test_a_name_that_the_only_split_does_not_have(write_jsonl: WriteJsonl) -> None:
    with pytest.raises(DataError, match=r"no split 'validation' \(there is 'data'\)"):
        load_dataset(LocalDataset(write_jsonl("data.jsonl", ROWS)), replace(SPEC, test_split="validation"))


def test_without_a_train_split_there_are_no_shots(write_jsonl: WriteJsonl) -> None:
    write_jsonl("d/dev.jsonl", ROWS)
    folder = str(Path(write_jsonl("d/test.jsonl", ROWS)).parent)
    data = load_dataset(LocalDataset(folder), SPEC)
    assert (len(data.train), len(data.test), list(data.tables)) == (0, 8, ["test"])


def test_a_column_that_is_not_there(write_jsonl: WriteJsonl) -> None:
    path = write_jsonl("data.jsonl", [{"qn": 1, "answer": 2}])
    with pytest.raises(DataError, match=r"no column 'q' \(it has 'qn', 'answer'\)") as caught:
        load_dataset(LocalDataset(path), SPEC)
    assert caught.value.where == path
    assert "did you mean 'qn'" in caught.value.fix
    assert "input_columns" in caught.value.fix
    with pytest.raises(DataError, match="no column 'a'") as caught:
        load_dataset(LocalDataset(path), replace(SPEC, input_columns=("qn",)))
    assert "output_column" in caught.value.fix


def test_a_column_missing_in_train_matters_only_when_shots_are_taken(write_jsonl: WriteJsonl) -> None:
    train = write_jsonl("d/train.jsonl", [{"text": "x"}])
    data = load_dataset(LocalDataset(str(Path(write_jsonl("d/test.jsonl", ROWS)).parent)), SPEC)
    assert len(data.test) == 8
    with pytest.raises(DataError, match="no column 'q'") as caught:
        data.train[0]
    assert caught.value.where == train


def test_a_range_that_cannot_be_used_names_its_place_in_the_config(write_jsonl: WriteJsonl) -> None:
    path = write_jsonl("data.jsonl", ROWS)
    with pytest.raises(ConfigError) as caught:
        load_dataset(LocalDataset(path), replace(SPEC, train_range="[99]"))
    assert caught.value.where == "datasets[0].reader_cfg.train_range"


def test_missing_input_columns_are_left_out_if_the_config_allows_it(
    write_jsonl: WriteJsonl, caplog: pytest.LogCaptureFixture
) -> None:
    reader = LocalDataset(write_jsonl("data.jsonl", ROWS))
    spec = replace(SPEC, input_columns=("q", "hint"))
    with pytest.raises(DataError, match="no column 'hint'"):
        load_dataset(reader, spec)
    data = load_dataset(reader, replace(spec, allow_missing=True))
    assert [sample.id for sample in data.test] == [sample.id for sample in load_dataset(reader, SPEC).test]
    assert "the data have no column 'hint'" in caplog.text
    with pytest.raises(DataError, match="no column 'b'"):  # the gold is needed
        load_dataset(reader, replace(SPEC, output_column="b", allow_missing=True))
