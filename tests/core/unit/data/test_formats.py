from __future__ import annotations

import gzip
import json
import logging
import math
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.data import BATCH_BYTES, LocalDataset, Table, join_tables, read_file, split_name, store_rows
from ais_prompt.errors import ConfigError, DataError

WriteJsonl: TypeAlias = Callable[[str, Sequence[Mapping[str, Any]]], str]
ROWS = [{"q": "1+1=?", "a": 2}, {"q": "问题 {a} \u2028 «", "a": 3}]


def rows_of(path: Path | str, *args: Any) -> list[dict[str, Any]]:
    return list(read_file(Path(path), *args))


def fault_of(path: Path | str, *args: Any) -> DataError:
    with pytest.raises(DataError) as caught:
        rows_of(path, *args)
    assert caught.value.fix
    assert str(path) in caught.value.where
    return caught.value


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    def write_file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file


Write: TypeAlias = Callable[[str, str | bytes], Path]


def test_every_format_gives_the_same_rows(tmp_path: Path, write: Write, write_jsonl: WriteJsonl) -> None:
    lines = "".join(json.dumps(row) + "\n" for row in ROWS)
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "a.parquet")
    paths = [
        write("a.jsonl", lines),
        write("a.jsonl.gz", gzip.compress(lines.encode())),
        write("list.json", json.dumps(ROWS, indent=1)),
        write("data.json", json.dumps({"version": "1.1", "data": ROWS})),
        write("columns.json", json.dumps({"q": [row["q"] for row in ROWS], "a": [2, 3]})),
        write("a.json.gz", gzip.compress(json.dumps(ROWS).encode())),
        tmp_path / "a.parquet",
    ]
    for path in paths:
        assert rows_of(path) == ROWS, path.name
        assert read_file(path).origins == (str(path),)


def test_format_goes_before_the_ending(write: Write) -> None:
    path = write("rows.csv", '{"q": "1"}\n')
    assert rows_of(path, "jsonl") == [{"q": "1"}]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("train.jsonl.gz", ("train", "jsonl")),
        ("my.data.CSV", ("my.data", "csv")),
        ("README.md", ("README.md", None)),
        (".jsonl", (".jsonl", None)),
    ],
)
def test_split_name(name: str, expected: tuple[str, str | None]) -> None:
    assert split_name(Path("folder") / name) == expected


def test_jsonl_as_it_is_found(write: Write) -> None:
    path = write("a.jsonl", b'\xef\xbb\xbf{"q": "a\\u2028b"}\r\n\r\n   \n{"q": "\xe2\x80\xa8"}')
    assert rows_of(path) == [{"q": "a\u2028b"}, {"q": "\u2028"}]


def test_nan_stays_a_number(write: Write) -> None:
    (row,) = rows_of(write("a.jsonl", '{"x": NaN}'))
    assert math.isnan(row["x"])


def test_nested_values(write: Write) -> None:
    rows = [{"choices": {"text": ["a", "b"], "label": []}, "turns": [["q", "a"]], "none": None}]
    assert rows_of(write("a.json", json.dumps(rows))) == rows


@pytest.mark.parametrize(
    ("content", "line", "what"),
    [
        ('{"q": 1}\n\n{"q": "unfinished', 3, "the line is not JSON: Unterminated string"),
        ('{"q": 1}\n[1, 2]\n', 2, "not an object with columns but list"),
        ('{"q": 1}\n{"q": 1, "q": 2}\n', 2, "the key 'q' occurs twice"),
        (b'{"q": 1}\n{"q": "\xff"}\n', 2, "not UTF-8"),
        (b"\x00\x01\x02\n", 1, "not JSON"),
        ('{"q": "a"}\n\n{"q": "\\ud800"}\n', 3, "surrogates not allowed"),
        ("{}\n", 1, "no columns"),
    ],
)
def test_a_broken_line_is_named(write: Write, content: str | bytes, line: int, what: str) -> None:
    path = write("a.jsonl", content)
    fault = fault_of(path)
    assert fault.where == f"{path}:{line}"
    assert what in fault.what


NESTED = (
    None,
    [],
    [1, "a", None, 10**30],
    {},
    {"A": "x"},
    {"B": "y", "A": None},
    [{"name": "f", "parameters": {"type": "object"}}, {"name": "g", "strict": True}],
    [[1], [2.5, [{"": 0}]]],
)
VALUES = {
    "a": st.sampled_from(("a", "", *NESTED)),
    "b": st.sampled_from((5, 7.5, 5.0, -0.0, 1e300, *NESTED)),
    "c": st.sampled_from((True, False, *NESTED)),
}
DRAWN_ROWS = st.lists(st.fixed_dictionaries({}, optional=VALUES).filter(bool), min_size=1, max_size=6)


@given(DRAWN_ROWS)
def test_each_value_comes_back_exactly_as_it_was_written(rows: list[dict[str, Any]]) -> None:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    whole = [{name: row.get(name) for name in columns} for row in rows]
    for batch_bytes in (1, BATCH_BYTES):  # one batch a row, and one of all
        stored = store_rows(enumerate(rows), str, batch_bytes)
        table = Table(stored, [])
        assert repr(list(table)) == repr(whole)
        assert repr([table.row(number) for number in range(len(table))]) == repr(whole)
        assert repr(list(join_tables([table, table]))) == repr(whole + whole)


@pytest.mark.thorough
@pytest.mark.parametrize("content", ['"two"', "true", "1" + "0" * 30, '"\\ud800"'])
@pytest.mark.parametrize("before", [1, 9000])
def test_a_value_of_another_kind_names_its_line(write: Write, content: str, before: int) -> None:
    path = write("a.jsonl", '{"q": 1}\n' * before + f'{{"q": {content}}}\n' + '{"q": 2}\n' * 500)
    fault = fault_of(path)
    assert fault.where == f"{path}:{before + 1}"
    assert "column 'q' cannot hold" in fault.what


def test_columns_that_not_all_rows_have(write: Write, caplog: pytest.LogCaptureFixture) -> None:
    path = write("a.jsonl", '{"q": "1", "a": "2"}\n{"q": "3", "hint": "y"}\n{"q": "4", "hint": "x"}\n')
    with caplog.at_level(logging.WARNING):
        assert rows_of(path) == [
            {"q": "1", "a": "2", "hint": None},
            {"q": "3", "a": None, "hint": "y"},
            {"q": "4", "a": None, "hint": "x"},
        ]
    assert [record.getMessage() for record in caplog.records] == [
        f"{path}:2: not all rows have the column 'a'; it is None in the others",
        f"{path}:2: not all rows have the column 'hint'; it is None in the others",
    ]


@pytest.mark.parametrize(
    ("content", "line", "what"),
    [
        ('[{"q": 1},\n {"q": }]', ":2", "not JSON: Expecting value"),
        ('{"q": 1}\n  "q"', ":2", "not JSON: Extra data"),
        ('[{"q": 1, "q": 2}]', "", "occurs twice"),
        ("[" * 100_000, "", "nested too deep"),
        ('[{"q": 1}, 7]', "", "a list whose row 1 is int"),
        ('{"q": [1, 2], "a": [1]}', "", "differ in length: {'q': 2, 'a': 1}"),
        ('{"q": "a"}', "", "no table but an object"),
        (
            '{"columns": ["q", "a"], "data": [["1", "2"], ["3"]]}',
            ", row 1",
            "the row has 1 value",
        ),
        ("3", "", "no table but int"),
        (b'[{"q": "\xff"}]', "", "not UTF-8"),
        ("[]", "", "no rows"),
        ('{"q": []}', "", "no rows"),
        (" \n", "", "empty"),
    ],
)
def test_json_that_is_no_table(write: Write, content: str | bytes, line: str, what: str) -> None:
    path = write("a.json", content)
    fault = fault_of(path)
    assert fault.where == f"{path}{line}"
    assert what in fault.what


IDS = [{"id": "x1", "q": "1", "a": 2}, {"id": "x2", "q": "3", "a": 4}]


@pytest.mark.parametrize(
    "value",
    [
        {row["id"]: {"q": row["q"], "a": row["a"]} for row in IDS},
        {row["id"]: row for row in IDS},
        {"name": "mine", "eval_set": IDS},
        {"columns": ["id", "q", "a"], "index": [0, 1], "data": [list(row.values()) for row in IDS]},
        {name: {number: IDS[int(number)][name] for number in ("10" if name == "q" else "01")} for name in IDS[0]},
        {"data": [{"id": one["id"], "paragraphs": [{"q": one["q"], "qas": [{"a": one["a"]}]}]} for one in IDS]},
    ],
    ids=["by id", "by id, with ids", "under any key", "split", "columns by number", "nested"],
)  # fmt: skip
def test_json_in_other_forms_of_tables(write: Write, value: object) -> None:
    assert rows_of(write("a.json", json.dumps(value))) == IDS


def test_lists_of_objects_in_a_list_of_rows_stay(write: Write) -> None:
    rows = [{"q": "1", "qas": [{"a": "2"}]}]
    assert rows_of(write("a.json", json.dumps(rows))) == rows
    passages = [{"question": "1", "paragraphs": [{"text": "2"}, {"text": "3"}]}]
    assert rows_of(write("b.json", json.dumps({"data": passages}))) == passages


def test_columns_of_json_may_be_objects(write: Write) -> None:
    value = {"q": ["1", "2"], "a": [{"text": "x"}, {"text": "y"}]}
    assert rows_of(write("a.json", json.dumps(value))) == [
        {"q": "1", "a": {"text": "x"}},
        {"q": "2", "a": {"text": "y"}},
    ]


def test_a_table_of_markdown_is_refused(write: Write) -> None:
    fault = fault_of(write("a.md", "| q | a |\n|---|:-:|\n| 1 | 2 |\n"))
    assert (fault.what, fault.fix) == ("the file is a table of Markdown", "save it as CSV UTF-8 or JSON lines")


def test_csv_values_stay_text(write: Write) -> None:
    path = write("a.csv", '\ufeffid,q,a\r\n007,"one, ""two""\r\nthree", 1.0\r\n\r\n,NA,\r\n')
    assert rows_of(path) == [{"id": "007", "q": 'one, "two"\r\nthree', "a": " 1.0"}, {"id": "", "q": "NA", "a": ""}]


def test_empty_rows_of_a_sheet_are_left_out_of_its_csv(write: Write) -> None:
    assert rows_of(write("a.csv", ";;\nq;a;\n;;\n1;2;\n;\n".replace(";", ","))) == [{"q": "1", "a": "2"}]


def test_tsv(write: Write) -> None:
    assert rows_of(write("a.tsv", 'q\ta\nit\'s 5" , wide\t"x"\n')) == [{"q": "it's 5\" , wide", "a": '"x"'}]


def test_a_field_as_long_as_a_book(write: Write) -> None:
    text = "word " * 100_000
    assert rows_of(write("a.csv", f"q,a\n{text},1\n"))[0]["q"] == text


@pytest.mark.parametrize(
    ("content", "line", "what"),
    [
        ('q,a\n"1\n2",3\n4\n', ":4", "the record has 1 field, the header 2 columns"),
        ("q,a\n1,2\n1,2,3\n", ":3", "the record has 3 fields, the header 2 columns"),
        ('q,a\n1,2\n"open,3\n4,5\n6,7\n', ":3", "the record is broken"),
        ("q,q\n1,2\n", ":1", "two columns have one name"),
        ("Set of May,,\nid,q,a\n1,x,y\n", ":2", "the first line names one of 3 columns: Set of May"),
        ("q,a\n", ":1", "a header and no rows: q, a"),
        ("\n\nq,a\n\n", ":3", "a header and no rows: q, a"),
        ("", "", "empty"),
        ("\n", "", "no rows"),
        ("question;answer\n1+1;2\n", ":2", "whose parts ';' seems to separate"),
        ("q,a\n1,2\n3,\0\n", ":3", "NUL"),
        (b"q,a\n\xff\xfe,1\n", "", "not UTF-8"),
    ],
)
def test_csv_that_is_no_table(write: Write, content: str | bytes, line: str, what: str) -> None:
    path = write("a.csv", content)
    fault = fault_of(path)
    assert fault.where == f"{path}{line}"
    assert what in fault.what


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("a.parquet", b"PAR1 but no more than that", "not Parquet"),
        ("a.parquet", b"", "empty"),
        ("a.jsonl.gz", b'{"q": 1}\n', "cannot read the file: Not a gzipped file"),
        ("a.jsonl.gz", gzip.compress(b'{"q": 1}\n' * 99, mtime=0)[:-9], "cannot read the file: Compressed file ended"),
        ("a.csv.gz", gzip.compress(b"q\n1\n" * 99, mtime=0)[:12] + Random(1).randbytes(99), "cannot read the file"),
        ("a.jsonl", b"", "empty"),
        ("a", b"", "empty"),
        ("a.jsonl", b"\n \n", "no rows"),
    ],
)
def test_a_file_that_is_broken_or_empty(write: Write, name: str, content: bytes, what: str) -> None:
    assert what in fault_of(write(name, content)).what


def test_a_folder_named_like_a_column_adds_none(tmp_path: Path) -> None:
    folder = tmp_path / "split=train"
    folder.mkdir()
    pq.write_table(pa.Table.from_pylist(ROWS), folder / "a.parquet")
    assert rows_of(folder / "a.parquet") == ROWS


def test_a_folder_in_place_of_a_file(tmp_path: Path) -> None:
    assert "it is a folder" in fault_of(tmp_path, "jsonl").what


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(write: Write) -> None:
    path = write("a.jsonl", '{"q": 1}')
    path.chmod(0)
    assert "Permission denied" in fault_of(path).what


def test_a_missing_file_offers_the_nearest_name(write: Write) -> None:
    path = write("test.jsonl", '{"q": 1}')
    assert fault_of(path.with_name("tets.jsonl")).fix == "did you mean 'test.jsonl'?"
    assert "check the path" in fault_of(path.parent / "nowhere" / "test.jsonl").fix


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), min_size=1, max_size=5))
def test_columns_of_text_come_back_as_they_were(texts: list[str]) -> None:
    table = Table(store_rows(enumerate({"text": text} for text in texts), str), ["texts"])
    assert [row["text"] for row in table] == texts


@pytest.mark.process
def test_reading_texts_and_numbers_does_not_import_pandas(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"question": "1+1=?", "answer": "二", "n": -3, "x": 0.5}\n')
    program = (
        "import sys; from pathlib import Path; from ais_prompt.data.formats import read_file;"
        f"print(list(read_file(Path({str(tmp_path / 'x.jsonl')!r}))), 'pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[{'question': '1+1=?', 'answer': '二', 'n': -3, 'x': 0.5}] False"


@pytest.mark.thorough
def test_many_rows_are_the_same_as_few(tmp_path: Path, write_jsonl: WriteJsonl) -> None:
    rows = [
        {"id": number, "q": f"问 {number} " + "word " * (number % 90), "list": [number % 7]} for number in range(5000)
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    for path in (write_jsonl("a.jsonl", rows), tmp_path / "a.parquet"):
        table = read_file(Path(path))
        assert len(table.batches.starts) > 10
        assert list(table) == rows
        assert [table.row(number) for number in range(0, 5000, 97)] == rows[::97]
        assert list(table.rows(range(1234, 1999))) == rows[1234:1999]
        assert list(table.rows([4999, 0, 4999])) == [rows[4999], rows[0], rows[4999]]


@pytest.mark.thorough
def test_other_values_far_down(write_jsonl: WriteJsonl, caplog: pytest.LogCaptureFixture) -> None:
    rows: list[dict[str, Any]] = [{"n": number, "o": {"a": 1}, "t": None} for number in range(3000)]
    path = write_jsonl("a.jsonl", [*rows, {"n": 0.5, "o": {"b": [2]}, "t": "text", "x": 1}])
    table = read_file(Path(path))
    assert repr(table.row(7)) == "{'n': 7, 'o': {'a': 1}, 't': None, 'x': None}"
    assert repr(table.row(3000)) == "{'n': 0.5, 'o': {'b': [2]}, 't': 'text', 'x': 1}"
    assert [record.getMessage().partition(": ")[0] for record in caplog.records] == [f"{path}:3001"]


def test_a_fault_far_down_names_its_line(write: Write) -> None:
    lines = ['{"q": 1, "a": "x"}'] * 9000
    path = write("a.jsonl", "\n".join([*lines, '{"q": 1, "a": "\\ud800"}', "no JSON"]))
    fault = fault_of(path)
    assert fault.where == f"{path}:9001"
    assert "column 'a' cannot hold" in fault.what


def test_columns_without_a_name_are_left_out(write: Write) -> None:
    assert rows_of(write("a.csv", ",q,a,,\n0,1+1,2,,\n1,2+2,4,,\n")) == [{"q": "1+1", "a": "2"}, {"q": "2+2", "a": "4"}]


def test_quotation_marks_of_tsv_are_text(write: Write, caplog: pytest.LogCaptureFixture) -> None:
    path = write("a.tsv", 'q\ta\n"Who?"\tOslo\nthe "end\t"x\n"1\t2"\n')
    assert [[row["q"], row["a"]] for row in rows_of(path)] == [['"Who?"', "Oslo"], ['the "end', '"x'], ['"1', '2"']]
    path = write("b.tsv", 'q\ta\n"Who?"\tOslo\n"1\n2"\tx\n')
    with caplog.at_level(logging.WARNING):
        rows = list(LocalDataset(str(path), quotechar='"').read("b"))
    assert rows == [{"q": "Who?", "a": "Oslo"}, {"q": "1\n2", "a": "x"}]
    assert f"{path}:3" in caplog.text
    single = write("c.csv", "q,a\n'1,2',3\n")
    assert list(LocalDataset(str(single), quotechar="'").read("c")) == [{"q": "1,2", "a": "3"}]


def test_a_parquet_file_may_say_much_of_its_columns(tmp_path: Path) -> None:
    table = pa.table({"q": pa.array(["a", "b", "a"]).dictionary_encode()})
    pq.write_table(table.replace_schema_metadata({"notes": "x" * 10**6}), tmp_path / "a.parquet")
    assert rows_of(tmp_path / "a.parquet") == [{"q": "a"}, {"q": "b"}, {"q": "a"}]


@pytest.mark.process
def test_memory_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    program = """
import resource, sys
from ais_prompt.data.reader import load_dataset
from ais_prompt.data.local import LocalDataset
from ais_prompt.types import ReaderSpec

def read(path):
    data = load_dataset(LocalDataset(path), ReaderSpec(("q",), "a"))
    for sample in data.test:
        pass
    return data.digest and resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

few = read(sys.argv[1])
print(read(sys.argv[2]) - few)
"""
    for rows in (500, 40_000):
        with (tmp_path / f"{rows}.jsonl").open("w") as file:
            for number in range(rows):
                file.write(json.dumps({"q": f"{number} " * 100, "a": str(number)}) + "\n")
    command = [sys.executable, "-c", program, str(tmp_path / "500.jsonl"), str(tmp_path / "40000.jsonl")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert float(done.stdout) < 12  # MiB; the rows have 23 as text, and more than 60 as Python values


def test_fields_and_encoding_of_a_table_can_be_named(write: Write) -> None:
    path = write("a.csv", "问题;答案\n1+1,5=?;2,5\n".encode("gb18030"))
    assert list(LocalDataset(str(path), delimiter=";", encoding="gb18030").read("a")) == [
        {"问题": "1+1,5=?", "答案": "2,5"}
    ]
    assert fault_of(path).fix == "save it as UTF-8, or set encoding='gb18030'"
    assert list(LocalDataset(str(write("b.tsv", "q|a\n1|2\n")), delimiter="|").read("b")) == [{"q": "1", "a": "2"}]


@pytest.mark.parametrize(
    "form", [{"delimiter": ""}, {"delimiter": ";;"}, {"delimiter": "\n"}, {"quotechar": "ab"}, {"encoding": "gb99"}]
)
def test_a_wrong_form_of_a_table_is_an_error_of_the_config(write: Write, form: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match=repr(next(iter(form.values()))).replace("\\", r"\\")):
        LocalDataset(str(write("a.csv", "q,a\n1,2\n")), **form)
