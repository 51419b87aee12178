"""A file is read by what is in it, where its name does not tell; and in the encoding and with the delimiter it has."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import logging
import lzma
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ais_prompt.data import LocalDataset, guess_encoding, guessed_csv_form, read_file
from ais_prompt.errors import DataError
from tests.support.sheets import write_zip

Write: TypeAlias = Callable[[str, str | bytes], Path]
ROWS = [{"q": "1+1, or: 2", "a": "2"}, {"q": "2+2", "a": "4"}]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS)
CSV = 'q,a\n"1+1, or: 2",2\n2+2,4\n'


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file


def rows_of(path: Path) -> list[dict[str, Any]]:
    """Return the rows that ``--data`` gets."""
    (split,) = LocalDataset(str(path)).splits()
    return list(LocalDataset(str(path), **guessed_csv_form(path)).read(split))  # type: ignore[arg-type]


def fault_of(path: Path) -> DataError:
    with pytest.raises(DataError) as caught:
        rows_of(path)
    assert str(path) in caught.value.where
    return caught.value


def parquet() -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(ROWS), sink)
    return sink.getvalue()


CONTENTS: dict[str, str | bytes] = {
    "lines": LINES,
    "lines with a mark": "\ufeff\n" + LINES,
    "one line": LINES,
    "list": json.dumps(ROWS),
    "list over lines": json.dumps(ROWS, indent=1),
    "list of lines": "[\n" + LINES.replace("}\n{", "},\n{") + "]",
    "object": json.dumps({"data": ROWS}),
    "object over lines": json.dumps({"data": ROWS}, indent=2),
    "task of BIG-bench": json.dumps({"name": "sums", "keywords": ["a"], "examples": ROWS}, indent=1),
    "columns": json.dumps({name: [row[name] for row in ROWS] for name in ROWS[0]}),
    "csv": CSV,
    "packed csv": gzip.compress(CSV.encode(), mtime=0),
    "packed lines": gzip.compress(LINES.encode(), mtime=0),
    "semicolons": CSV.replace('"1+1, or: 2",2', "1+1, or: 2;2").replace("q,a", "q;a").replace("2+2,4", "2+2;4"),
    "tabs": "q\ta\n1+1, or: 2\t2\n2+2\t4\n",
    "Unicode text of Excel": "q\ta\r\n1+1, or: 2\t2\r\n2+2\t4\r\n".encode("utf-16"),
    "parquet": parquet(),
}


def test_a_file_is_read_by_what_is_in_it(write: Write) -> None:
    for name, content in CONTENTS.items():
        for ending in ("", ".txt", ".jsonl.txt", ".data"):
            assert rows_of(write(name.replace(" ", "_") + ending, content)) == ROWS, (name, ending)
            assert list(read_file(write(name, content))) == ROWS, name


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("lines.json", LINES),
        ("lines.ndjson", LINES),
        ("lines.NDJSON.gz", gzip.compress(LINES.encode(), mtime=0)),
        ("list.jsonl", json.dumps(ROWS)),
        ("list_over_lines.jsonl", json.dumps(ROWS, indent=1)),
        ("object.jsonl", json.dumps({"data": ROWS}, indent=1)),
        ("packed.jsonl", gzip.compress(LINES.encode(), mtime=0)),
        ("packed.csv", gzip.compress(CSV.encode(), mtime=0)),
    ],
)
def test_json_that_is_named_like_another(write: Write, name: str, content: str | bytes) -> None:
    assert rows_of(write(name, content)) == ROWS


def test_one_row_of_json(write: Write) -> None:
    assert rows_of(write("a", '{"q": "1", "choices": ["a"]}\n')) == [{"q": "1", "choices": ["a"]}]
    assert rows_of(write("a.jsonl", '{"data": [{"q": 1}]}\n')) == [{"data": [{"q": 1}]}]


@pytest.mark.parametrize(
    ("name", "content", "where", "what"),
    [
        ("a.jsonl", '{"q": 1\n{"q": 2}\n', "", "not JSON"),
        ("a.jsonl", '{"q": "unfinished\n{"q": 2}\n', ":1", "the line is not JSON"),
        ("a.jsonl", '["q", "a"]\n["1", "2"]\n', ":1", "not an object with columns but list"),
        ("a", '{"q": 1}\n{"q": 2\n', ":2", "the line is not JSON"),
        ("a.txt", "What is it?\nThat, and this, too.\n", "", "neither the ending nor the content"),
        ("a", "question\n1+1\n2+2\n", "", "neither the ending nor the content"),
        ("a", "q,a\n", "", "neither the ending nor the content"),
        ("a", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "", "neither the ending nor the content"),
        ("a.txt", b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", "", "neither the ending nor the content"),
    ],
)
def test_what_cannot_be_told(write: Write, name: str, content: str | bytes, where: str, what: str) -> None:
    path = write(name, content)
    fault = fault_of(path)
    assert what in fault.what
    assert fault.where.startswith(f"{path}{where}")
    assert "set format" in fault.fix or ":" in where or "name it .jsonl" in fault.fix


def tar(content: bytes) -> bytes:
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w") as archive:
        member = tarfile.TarInfo("a.csv")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return sink.getvalue()


def test_other_archives_are_refused_with_the_command(write: Write, tmp_path: Path) -> None:
    text = CSV.encode()
    zipped = write_zip(tmp_path / "b", {"a.csv": CSV}).read_bytes()
    archives = {
        "unzip": zipped,
        "bunzip2 -k": bz2.compress(text),
        "unxz -k": lzma.compress(text),
        "unzstd": b"\x28\xb5\x2f\xfd\x04\x00\x09\x00\x00a",
        "7z x": b"7z\xbc\xaf\x27\x1c\x00\x04",
        "tar -xf": tar(text),
    }
    for command, content in archives.items():
        for name in ("a", "a b.csv", "a.csv.zip", "a.jsonl"):
            path = write(name, content)
            fault = fault_of(path)
            assert "archive" in fault.what
            assert fault.fix.startswith(f"unpack it: {command} ")
            assert name in fault.fix
    assert fault_of(write("a.tar.gz", gzip.compress(tar(text)))).fix.startswith("unpack it: tar -xf ")


def test_documents_of_other_programs_are_no_tables(tmp_path: Path) -> None:
    documents = {
        "a.docx": {"[Content_Types].xml": "", "word/document.xml": ""},
        "a.odt": {"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": ""},
        "a.numbers": {"Index/Document.iwa": ""},
    }
    for name, members in documents.items():
        fault = fault_of(write_zip(tmp_path / name, members))
        assert "a document of another program" in fault.what
        assert "save its table" in fault.fix


CODE_PAGES: dict[str, tuple[str, ...]] = {
    "gb18030": (
        "问题,答案\n法国的首都是哪里？,巴黎\n",
        "question,answer\n北京,首都\n",
        "题干,选项A,选项B,答案\n下列词语中加点字的读音完全正确的一项是,孱弱,狡黠,A\n",
        "字,音\n饕餮,tao\n踟蹰,chi\n下列词语中加点字的读音,一\n全部正确的一项是哪个,二\n",
        "题目,答案\n世界上最大的洋？,太平洋\n",
    ),
    "big5": ("問題,答案\n法國的首都是哪裡？,巴黎\n台灣最高的山是什麼？,玉山\n",),
    "cp932": ("質問,答え\nフランスの首都はどこですか。,パリ\n", "question,answer\n日本の首都は？,東京\n"),
    "euc_jp": ("質問,答え\nフランスの首都はどこですか。,パリ\n日本で一番高い山は？,富士山\n",),
    "cp949": ("질문,답\n프랑스의 수도는 어디입니까?,파리\n한국에서 가장 높은 산은?,한라산\n",),
    "cp1251": ("Вопрос,Ответ\nКто написал роман «Война и мир»?,Лев Толстой\n", "question,answer\nСтолица?,Москва\n"),
    "cp1252": (
        "question_n°,réponse_a\n2ème ?,3ème\n",
        "question,réponse\nQuelle est la capitale à l’été ?,Paris\n",
        "Frage,Lösung\nWie heißt die größte Stadt?,Köln\n",
        "pregunta,respuesta\n¿Cuál es la capital de España?,Madrid\n",
        "spørgsmål,svar\nHvad er ø på Færøerne?,Å\n",
        "question,answer\nWhat’s “it” – really…?,€5\n",
    ),
    "latin-1": ("question,réponse\nÀ combien s'élève 1+1 ?,deux\n",),
    "utf-16": ("question,answer\n2+2?,4\n", "问题,答案\n2+2?,四\n"),
    "utf-16-le": ("question,answer\n2+2?,4\n",),
    "utf-8-sig": ("question,answer\né,à\n",),
    "utf-8": ("question,answer\né,à\n",),
}


def test_code_pages(write: Write, caplog: pytest.LogCaptureFixture) -> None:
    for encoding, texts in CODE_PAGES.items():
        for number, text in enumerate(texts):
            path = write(f"{encoding} {number}.csv", text.encode(encoding))
            caplog.clear()
            with caplog.at_level(logging.WARNING):
                form = guessed_csv_form(path)
                guessed_csv_form(path)
            (split,) = LocalDataset(str(path)).splits()
            reader = LocalDataset(str(path), **form)  # type: ignore[arg-type]
            assert [tuple(row.values()) for row in reader.read(split)] == [
                tuple(line.split(",")) for line in text.splitlines()[1:]
            ], (encoding, text)
            said = [message for message in caplog.messages if "the text is read as" in message]
            assert len(said) == (not encoding.startswith("utf-8")), "said once, and only of what is guessed"


UNKNOWN: dict[str, str] = {
    "cp1250": "otázka,odpověď\nJaké je hlavní město České republiky?,Praha příliš žluťoučký kůň\n",
    "iso8859_2": "pytanie,odpowiedź\nJak się nazywa stolica Polski, która jest największa?,Łódź\n",
    "koi8_r": "вопрос,ответ\nКак называется столица Франции?,Париж\n",
    "cp866": "вопрос,ответ\nКак называется столица Франции?,Париж\n",
    "mac_roman": "question,réponse\nQuelle est la capitale à l'été ?,Paris\n",
    "cp1253": "ερώτηση,απάντηση\nΠοια είναι η πρωτεύουσα της Ελλάδας;,Αθήνα\n",
    "cp1254": "soru,cevap\nTürkiye'nin başkenti neresidir?,Ankara\n",
    "cp1255": "שאלה,תשובה\nמהי בירת ישראל?,ירושלים\n",
    "cp1256": "سؤال,جواب\nما هي عاصمة مصر؟,القاهرة\n",
    "cp874": "คำถาม,คำตอบ\nเมืองหลวงของไทยคืออะไร,กรุงเทพ\n",
}


def test_a_code_page_that_cannot_be_told_is_not_guessed(write: Write) -> None:
    for encoding, text in UNKNOWN.items():
        assert guess_encoding(text.encode(encoding)) is None, encoding
        fault = fault_of(write(f"{encoding}.csv", text.encode(encoding)))
        assert fault.fix == "save it as UTF-8, or set encoding"


def test_the_first_foreign_letter_may_come_late(write: Write) -> None:
    lines = ["question,answer", *["1+1,2"] * 100_000, "Où est né Émile Zola ?,à Paris"]
    path = write("a.csv", "\n".join(lines).encode("cp1252"))
    assert guessed_csv_form(path) == {"encoding": "cp1252"}


@pytest.mark.parametrize(
    ("content", "delimiter"),
    [
        ("q,a\n1;2,3;4\n", None),
        ("q;a\n1,2;3,4\n", ";"),
        ("q\ta\n1,2;\t3\n", "\t"),
        ("q|a\n1|2\n", "|"),
        ("q;a\r1,5;2\r2,5;3\r", ";"),
        ('"question, please";answer\n1;2\n', ";"),
        ("question, please;answer\n1;2\n3;4\n", ";"),
        ('"a;b",c\n1,2\n', None),
        ('q;a\n"two\nlines; one, field";3\n', ";"),
        ("\ufeffq;a\n1;2\n", ";"),
        ("q\n1\n2, 3\n", None),
        ("id,q;x,a\n1,2;3,4\n1,2,3\n", None),
        ("sep=;\nq;a\n1;2\n", ";"),
        ("\ufeffsep=|\r\nq|a\r\n1|2\r\n", "|"),
    ],
)
def test_the_delimiter_is_in_the_header_and_the_rows_agree(write: Write, content: str, delimiter: str | None) -> None:
    assert guessed_csv_form(write("a.csv", content)) == ({"delimiter": delimiter} if delimiter else {})


def test_a_long_file_is_guessed_from_its_beginning(write: Write) -> None:
    rows = "".join(f'{number};"a, b; c\n{"word " * 200}"\n' for number in range(500))
    assert guessed_csv_form(write("a.csv", "q;a\n" + rows)) == {"delimiter": ";"}


def test_a_line_that_names_the_separator_is_no_header(write: Write) -> None:
    path = write("a.csv", "\ufeffsep=;\r\nq;a\r\n1,5;2\r\n3\r\n")
    fault = fault_of(path)
    assert fault.where == f"{path}:4"
    assert rows_of(write("a.csv", "sep=;\r\nq;a\r\n1,5;2\r\n")) == [{"q": "1,5", "a": "2"}]
    assert list(read_file(write("a.csv", "sep=;\nq;a\n1,5;2\n"))) == [{"q": "1,5", "a": "2"}]
    assert list(read_file(write("a", "sep=;\nid;q;a\n1;1,5;2\n"))) == [{"id": "1", "q": "1,5", "a": "2"}]


def test_the_files_of_a_folder_are_written_alike(write: Write, tmp_path: Path) -> None:
    write("train.csv", "问题;答案\n1;2\n".encode("gb18030"))
    write("test.csv", "问题;答案\n3;4\n".encode("gb18030"))
    write("notes.csv", "a,b\n")
    assert guessed_csv_form(tmp_path) == {"delimiter": ";", "encoding": "gb18030"}
    write("test.csv", "问题,答案\n3,4\n")
    with pytest.raises(DataError, match="written differently"):
        guessed_csv_form(tmp_path)
    (tmp_path / "test.csv").unlink()
    write("test.jsonl", LINES)
    assert guessed_csv_form(tmp_path) == {"delimiter": ";", "encoding": "gb18030"}
    assert guessed_csv_form(tmp_path / "nowhere.csv") == {}
