"""With folders that `datasets` itself has written; the hub is out of reach on purpose."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ais_prompt.data import HuggingFaceDataset, LocalDataset, load_dataset, to_table
from ais_prompt.errors import ConfigError, DataError
from ais_prompt.registry import READERS
from ais_prompt.types import ReaderSpec
from tests.support.lazy import Lazy

datasets = Lazy("datasets")

SPEC = ReaderSpec(("q",), "a")
ROWS = [{"q": f"q{number}", "a": number} for number in range(5)]


@pytest.fixture(autouse=True)
def no_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")


def test_it_is_registered() -> None:
    assert READERS.get("HuggingFaceDataset") is HuggingFaceDataset


def test_a_saved_folder_with_splits(tmp_path: Path) -> None:
    whole = datasets.Dataset.from_list(ROWS)
    datasets.DatasetDict(train=whole.select([3, 1]), test=whole.shuffle(seed=1)).save_to_disk(str(tmp_path / "saved"))
    reader = HuggingFaceDataset(str(tmp_path / "saved"))
    assert reader.splits() == ("train", "test")
    data = load_dataset(reader, SPEC)
    assert [sample.fields for sample in data.train] == [ROWS[3], ROWS[1]]
    assert [sample.fields["q"] for sample in data.test] == whole.shuffle(seed=1)["q"][:]
    assert all(Path(origin).is_file() for origin in data.origins)


def test_a_saved_folder_without_splits(tmp_path: Path) -> None:
    datasets.Dataset.from_list(ROWS).save_to_disk(str(tmp_path / "saved"))
    data = load_dataset(HuggingFaceDataset(str(tmp_path / "saved")), SPEC)
    assert [sample.gold for sample in data.train] == [sample.gold for sample in data.test] == [0, 1, 2, 3, 4]


def test_rows_are_the_same_as_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    datasets.Dataset.from_list(ROWS).save_to_disk(str(tmp_path / "saved"), num_shards=2)
    saved = load_dataset(HuggingFaceDataset(str(tmp_path / "saved")), SPEC)
    local = load_dataset(LocalDataset(str(tmp_path / "test.jsonl")), SPEC)
    assert list(saved.test) == list(local.test)
    assert len(saved.origins) == 2


def test_rows_that_were_chosen_are_the_rows_that_are_read() -> None:
    # `save_to_disk` writes only the chosen rows; in memory the table beneath still has all of them.
    table = to_table(datasets.Dataset.from_list(ROWS).select([4, 0]), "in memory")
    assert list(table) == [ROWS[4], ROWS[0]]
    assert table.origins == ("in memory",)


def test_a_folder_of_data_files(tmp_path: Path) -> None:
    for split in ("train", "test"):
        (tmp_path / f"{split}.csv").write_text(f"q,a\n{split},1\n")
    data = load_dataset(HuggingFaceDataset(str(tmp_path)), SPEC)
    assert [sample.fields["q"] for sample in (*data.train, *data.test)] == ["train", "test"]
    named = HuggingFaceDataset("csv", data_files={"dev": str(tmp_path / "test.csv")})
    assert named.splits() == ("dev",)


@pytest.mark.parametrize("name", ["nowhere", "example/nothing"])
def test_a_data_set_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match=f"datasets cannot load it: .*{name}") as caught:
        HuggingFaceDataset(name, "main").splits()
    assert caught.value.where == f"{name} main"
    assert "\n" not in caught.value.what


def test_without_a_connection_the_second_subset_does_not_wait_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def load_dataset(path: str, name: str, **_: object) -> None:
        asked.append(name)
        raise ConnectionError(f"Couldn't reach {path!r} on the Hub")

    monkeypatch.setattr("datasets.load_dataset", load_dataset)
    monkeypatch.setattr("ais_prompt.utils.hub.SLOW_SECONDS", -1.0)
    monkeypatch.setattr("ais_prompt.utils.hub._failed", {})
    for name in ("one", "two"):
        with pytest.raises(DataError, match="Couldn't reach 'owner/dataset' on the Hub"):
            HuggingFaceDataset("owner/dataset", name).splits()
    assert asked == ["one"]


def test_a_broken_file_is_told_in_the_words_of_datasets(tmp_path: Path) -> None:
    (tmp_path / "test.jsonl").write_text('{"q": 1}\n{"q":\n')
    with pytest.raises(DataError, match=r"generating the dataset: .*JSON parse error"):
        HuggingFaceDataset(str(tmp_path)).splits()


def test_a_saved_folder_that_is_damaged(tmp_path: Path) -> None:
    datasets.Dataset.from_list(ROWS).save_to_disk(str(tmp_path / "saved"))
    for path in (tmp_path / "saved").glob("*.arrow"):
        path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(DataError, match="datasets cannot load it"):
        HuggingFaceDataset(str(tmp_path / "saved")).splits()


def test_a_saved_folder_is_read_without_naming_the_reader(tmp_path: Path) -> None:
    whole = datasets.Dataset.from_list(ROWS)
    datasets.DatasetDict(train=whole.select([3, 1]), test=whole).save_to_disk(str(tmp_path / "splits"))
    whole.save_to_disk(str(tmp_path / "single"))
    for name in ("splits", "single"):
        path = str(tmp_path / name)
        default, named = (load_dataset(reader(path), SPEC) for reader in (LocalDataset, HuggingFaceDataset))
        assert (list(default.train), list(default.test)) == (list(named.train), list(named.test))
    joined = [{"q": ["a", "b"], "a": 1}]
    datasets.Dataset.from_list(joined).save_to_disk(str(tmp_path / "lists"))
    [sample] = load_dataset(LocalDataset(str(tmp_path / "lists"), join_lines=["q"]), SPEC).test
    assert sample.fields["q"] == "a\nb"


@pytest.mark.parametrize("reader", [LocalDataset, HuggingFaceDataset])
def test_an_empty_path_is_refused_and_means_no_folder(reader: type) -> None:
    with pytest.raises(ConfigError, match="path"):
        reader(path="")
