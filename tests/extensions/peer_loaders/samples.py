"""Small files of our own in the layout that loaders of OpenCompass and AISBench read, for those without a counterpart.

`SAMPLES` maps the dotted name of a loader to a function that writes its files into a folder and returns the arguments
of its ``load``, with the number of rows and the columns that come out.
"""

from __future__ import annotations

import base64
import gzip
import io
import json
import pickle
import wave
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

OPENCOMPASS = "opencompass.datasets"
AISBENCH = "ais_bench.benchmark.datasets"


class Sample(Struct, frozen=True):
    """A loader and its files.

    Attributes:
        write: writes the files, and returns the arguments.
        rows: number of rows of the split ``test``.
        columns: columns that they have.
    """

    write: Callable[[Path], dict[str, Any]]
    rows: int
    columns: Sequence[str]


SAMPLES: dict[str, Sample] = {}


def sample(*loaders: str, rows: int, columns: str) -> Callable[[Callable[[Path], dict[str, Any]]], Any]:
    """Register a function for loaders."""

    def register(write: Callable[[Path], dict[str, Any]]) -> Any:
        for loader in loaders:
            SAMPLES[loader] = Sample(write, rows, columns.split())
        return write

    return register


def write(folder: Path, files: Mapping[str, Any]) -> str:
    """Write files: text and bytes as they are, a list of dicts as JSONL if the name says so, anything else as JSON."""
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            file.write_bytes(content)
        elif name.endswith(".jsonl") and not isinstance(content, str):
            file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in content), "utf-8")
        else:
            file.write_text(content if isinstance(content, str) else json.dumps(content, ensure_ascii=False), "utf-8")
    return str(folder)


def parquet(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Return rows as a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows)), sink)
    return sink.getvalue()


def picture() -> bytes:
    """Return a small PNG."""
    from PIL import Image

    sink = io.BytesIO()
    Image.new("RGB", (4, 3), "red").save(sink, "PNG")
    return sink.getvalue()


def table(columns: str, *rows: Sequence[str]) -> str:
    """Return a TSV."""
    return "".join("\t".join(row) + "\n" for row in [columns.split(), *rows])


LONG = "The harbour was quiet in the morning, and the boats had not come back yet. "
NEEDLES = [
    {"language": "English", "needle": f"Ann hid the {thing} in the {place}.", "arg1": place, "arg2": thing,
     "retrieval_question": f"What did Ann hide? Please answer in the format 'Ann hid the ____ in the {place}.'"}
    for place, thing in (("attic", "lamp"), ("barn", "rope"), ("cellar", "coin"))
]  # fmt: skip
CHAINS = {
    "English": {"2": [{"needles": ["Ann knows Ben.", "Ben has the key."], "answer": "the key", "last_person": "Ben",
                       "retrieval_question": "What does the friend of Ann have?"}]}
}  # fmt: skip
ESSAYS = [{"text": LONG * 20}]


@sample(f"{OPENCOMPASS}.BabiLongDataset", rows=1, columns="prompt answer")
def babilong(folder: Path) -> dict[str, Any]:
    row = {"input": "Ann went home.", "question": "Where is Ann?", "target": "home"}
    return {"path": write(folder, {"qa1/0k.json": [row]}), "task": "qa1", "split_name": "0k"}


@sample(f"{OPENCOMPASS}.LiveMathBenchDataset", rows=2, columns="question answer prompt subdivision")
def livemathbench(folder: Path) -> dict[str, Any]:
    rows = [{"question": f"What is {n} + 1?", "answer": str(n + 1), "question_type": "x"} for n in range(2)]
    path = write(folder, {"202412/AMC_en.jsonl": rows})
    return {"path": path, "dataset_splits": ["AMC"], "dataset_languages": ["en"]}


@sample(f"{OPENCOMPASS}.BigCodeBenchDataset", rows=1, columns="task_id complete_prompt test")
def bigcodebench(folder: Path) -> dict[str, Any]:
    row = {"task_id": "B/0", "complete_prompt": "def f():", "test": "pass", "entry_point": "f"}
    return {"path": write(folder, {"BigCodeBench-v0.1.2.jsonl": [row]})}


@sample(f"{OPENCOMPASS}.MRCRDataset", rows=1, columns="context question gold")
def mrcr(folder: Path) -> dict[str, Any]:
    row = {"context": "so", "question": "Prepend Xy1 to the second poem", "answers": ["Xy1 rose"]}
    card = "---\nconfigs:\n- config_name: short\n  data_files:\n  - split: test\n    path: test.jsonl\n---\n"
    return {"path": write(folder, {"test.jsonl": [row], "README.md": card}), "subset": "short"}


@sample(f"{OPENCOMPASS}.korbenchDataset", rows=1, columns="question answer prompt rule_content")
def korbench(folder: Path) -> dict[str, Any]:
    rule = {"idx": "1", "rule_content": "Every letter moves by one."}
    task = {"rule_id": "1", "question": "Encode AB.", "answer": "BC"}
    path = write(folder, {"cipher/rule.json": [rule], "cipher/sample.json": [task]})
    return {"path": path, "prompt_mode": "0_shot", "category": "cipher"}


@sample(
    f"{OPENCOMPASS}.MMLUProDataset", f"{AISBENCH}.MMLUProDataset", rows=1, columns="question answer_string options_str"
)
def mmlu_pro(folder: Path) -> dict[str, Any]:
    row = {"question": "Which?", "options": ["one", "two"], "answer": "B", "category": "law", "cot_content": "A: x"}
    files = {"test.jsonl": [row, row | {"category": "math"}], "validation.jsonl": [row]}
    return {"path": write(folder, files), "category": "law"}


@sample(f"{OPENCOMPASS}.HumanevalXDataset", f"{AISBENCH}.HumanevalXDataset", rows=1, columns="task_id prompt test")
def humaneval_x(folder: Path) -> dict[str, Any]:
    row = {"task_id": "Python/0", "prompt": "def f():", "test": "pass", "declaration": "def f():"}
    path = write(folder, {"humanevalx_python.jsonl.gz": gzip.compress(json.dumps(row).encode())})
    return {"path": path, "language": "python"}


@sample(f"{OPENCOMPASS}.needlebench_v2.atc.NeedleBenchATCDataset", rows=4, columns="prompt answer question_type")
def needlebench_atc(folder: Path) -> dict[str, Any]:
    path = write(folder, {"names.json": {"English": "Ann,Ben,Cid,Dot,Eve,Fay"}})
    return {"path": path, "file_name": "names.json", "num_needles": 3, "language": "English", "repeats": 1}


@sample(f"{OPENCOMPASS}.AlignmentBenchDataset", rows=1, columns="question judge ref")
def alignbench(folder: Path) -> dict[str, Any]:
    row = {"question": "Why?", "capability": "logic", "others": {"reference": "because", "subcategory": "x"}}
    return {"path": write(folder, {"bench.json": [row]}), "name": "bench"}


@sample(f"{OPENCOMPASS}.CIBenchDataset", rows=1, columns="experiment questions references")
def cibench(folder: Path) -> dict[str, Any]:
    out = [{"output_type": "stream", "name": "stdout", "text": ["2\n"]}]
    cells = [
        {"cell_type": "markdown", "source": ["Add one and one.\n\nThought: easy"]},
        {"cell_type": "code", "source": ["print(1 + 1)"], "outputs": out},
    ]
    return {"path": write(folder, {"a.ipynb": {"cells": cells, "metadata": {}}})}


@sample(f"{OPENCOMPASS}.CompassArenaSubjectiveBench", rows=1, columns="question judge pointwise_judge_prompt")
def compass_arena(folder: Path) -> dict[str, Any]:
    row = {"category": "推理", "question": {"content": "Why?"}, "answer": {"content": "so"}, "difficulty": "easy"}
    return {"path": write(folder, {"singleturn.json": [row]}), "name": "singleturn"}


@sample(f"{OPENCOMPASS}.GaokaoBenchDataset", rows=1, columns="question answer")
def gaokao(folder: Path) -> dict[str, Any]:
    write(folder, {"choice.json": {"example": [{"question": "Which?", "answer": ["A"], "index": 0}]}})
    return {"path": str(folder), "filename": "/choice.json", "name": "choice"}


@sample(f"{OPENCOMPASS}.LCDataset", rows=2, columns="prompt test_case test_column")
def leetcode(folder: Path) -> dict[str, Any]:
    row = {"prompt": "Do it", "test_list": ["assert True"], "Difficulty": "Easy"}
    write(folder, {"rows.jsonl": [{**row, "Contest id": number} for number in range(7)]})
    return {"path": str(folder / "rows.jsonl")}


@sample(f"{OPENCOMPASS}.RulerCweDataset", rows=2, columns="prompt answer")
def ruler_cwe(folder: Path) -> dict[str, Any]:
    return {"max_seq_length": 6000, "num_samples": 2, "freq_cw": 3, "freq_ucw": 1}


@sample(f"{OPENCOMPASS}.RulerFweDataset", rows=2, columns="prompt answer")
def ruler_fwe(folder: Path) -> dict[str, Any]:
    return {"max_seq_length": 3000, "num_samples": 2}


@sample(f"{OPENCOMPASS}.RulerVtDataset", rows=2, columns="prompt answer")
def ruler_vt(folder: Path) -> dict[str, Any]:
    return {"max_seq_length": 4000, "num_samples": 2, "num_hops": 1}


@sample(f"{OPENCOMPASS}.RulerNiahDataset", rows=2, columns="prompt answer")
def ruler_niah(folder: Path) -> dict[str, Any]:
    path = write(folder, {"essays.jsonl": ESSAYS})
    return {"base_path": path, "file_path": "essays.jsonl", "max_seq_length": 2000, "num_samples": 2}


@sample(f"{OPENCOMPASS}.RulerQaDataset", rows=2, columns="prompt answer")
def ruler_qa(folder: Path) -> dict[str, Any]:
    paragraphs = [
        {
            "context": f"{name} lives in house {n}. {LONG}",
            "qas": [{"question": f"Where does {name} live?", "answers": [{"text": str(n)}], "is_impossible": False}],
        }
        for n, name in enumerate(("Ann", "Ben", "Cid", "Dot"))
    ]
    write(folder, {"squad.json": {"data": [{"paragraphs": paragraphs}]}})
    return {"path": str(folder / "squad.json"), "dataset": "squad", "max_seq_length": 2000, "num_samples": 2}


@sample(f"{OPENCOMPASS}.SmolInstructDataset", rows=1, columns="input output task")
def smol_instruct(folder: Path) -> dict[str, Any]:
    row = {"input": "C", "output": "methane", "task": "naming", "split": "test"}
    path = write(folder, {"validation.jsonl": [row], "test.jsonl": [row, row | {"task": "other"}]})
    return {"path": path, "name": "naming"}


@sample(f"{OPENCOMPASS}.LCBCodeExecutionDataset", rows=1, columns="prompt evaluation_sample")
def code_execution(folder: Path) -> dict[str, Any]:
    row = {"code": "def f(x):\n    return x", "input": "f(1)", "output": "1", "id": "a", "question_id": "1"}
    return {"path": write(folder, {"test.jsonl": [row]})}


@sample(
    f"{OPENCOMPASS}.LCBCodeGenerationDataset",
    f"{AISBENCH}.LCBCodeGenerationDataset",
    rows=2,
    columns="question_content format_prompt evaluation_sample contest_date",
)
def code_generation(folder: Path) -> dict[str, Any]:
    case = json.dumps([{"input": "1", "output": "1", "testtype": "functional"}])
    hidden = base64.b64encode(zlib.compress(pickle.dumps(case))).decode()
    names = ("question_content", "starter_code", "public_test_cases", "private_test_cases", "contest_date", "metadata")
    rows = [dict(zip(names, ("Add.", "", case, hidden, f"202{n}-01-01T00:00:00", "{}"), strict=True)) for n in "123"]
    path = write(folder, {f"test{n}.jsonl": [row] for n, row in zip(("", "2", "3"), rows, strict=True)})
    return {"path": path, "release_version": "release_v2"}


@sample(f"{OPENCOMPASS}.LCBTestOutputPredictionDataset", rows=1, columns="prompt evaluation_sample testcase_input")
def test_output(folder: Path) -> dict[str, Any]:
    case = [{"input": "1", "output": "1", "testtype": "functional"}]
    row = {
        "question_content": "Return it.",
        "starter_code": "def f(x):\n    pass",
        "test": json.dumps(case),
        "function_name": "f",
    }
    return {"path": write(folder, {"test.jsonl": [row | {"question_id": "1", "test_id": 0}]})}


def needles(folder: Path, **arguments: Any) -> dict[str, Any]:
    """Return the arguments that loaders of NeedleBench share."""
    path = write(folder, {"PaulGrahamEssays.jsonl": ESSAYS, "needles.jsonl": NEEDLES, "multi.json": CHAINS})
    shared = {"path": path, "length": 1500, "tokenizer_model": "gpt-4", "file_list": ["PaulGrahamEssays.jsonl"]}
    return {**shared, "num_repeats_per_file": 2, "length_buffer": 600, "language": "English", **arguments}


@sample(f"{AISBENCH}.needlebench_v2.origin.NeedleBenchOriginDataset", rows=2, columns="prompt answer")
def needles_v2(folder: Path) -> dict[str, Any]:
    return needles(folder, depth=50, needle_file_name="needles.jsonl")


@sample(f"{OPENCOMPASS}.needlebench.origin.NeedleBenchOriginDataset", rows=2, columns="prompt answer")
def needles_v1(folder: Path) -> dict[str, Any]:
    return needles(folder, depth=50, needle_file_name="needles.jsonl", guide=True)


@sample(f"{AISBENCH}.needlebench_v2.parallel.NeedleBenchParallelDataset", rows=2, columns="prompt answer")
def parallel_v2(folder: Path) -> dict[str, Any]:
    return needles(folder, depths=[10, 90], needle_file_name="needles.jsonl")


@sample(f"{OPENCOMPASS}.needlebench.parallel.NeedleBenchParallelDataset", rows=2, columns="prompt answer")
def parallel_v1(folder: Path) -> dict[str, Any]:
    return needles(folder, depths=[10, 90], needle_file_name="needles.jsonl", guide=True)


@sample(f"{OPENCOMPASS}.needlebench.multi.NeedleBenchMultiDataset", rows=2, columns="prompt answer")
def multi_v1(folder: Path) -> dict[str, Any]:
    one = {"derivation_count": 2, "derivations": ["Ann knows Ben.", "Ben has it."], "answer": "it", "question": "What?"}
    found = needles(folder, depth=50, needle_file_name="chains.json", guide=True, num_needles=2, diff=10)
    write(folder, {"chains.json": [one]})
    return found


@sample(f"{AISBENCH}.needlebench_v2.multi.NeedleBenchMultiDataset", rows=2, columns="prompt answer")
def multi_v2(folder: Path) -> dict[str, Any]:
    found = needles(folder, depth=50, needle_file_name="names.json", num_needles=2, diff=10)
    write(folder, {"names.json": {"English": "Ann,Ben,Cid,Dot,Eve,Fay"}})
    return found


@sample(f"{AISBENCH}.LCSTSDataset", rows=2, columns="content abst")
def lcsts(folder: Path) -> dict[str, Any]:
    return {"path": write(folder, {"test.src.txt": "长的一句\n又一句\n", "test.tgt.txt": "短\n又\n"})}


@sample(f"{AISBENCH}.TEXTVQADataset", rows=1, columns="question answer image_url")
def textvqa(folder: Path) -> dict[str, Any]:
    row = {"question_id": 1, "question": "What is written?", "image": str(folder / "a.png")}
    answers = {"annotations": [{"question_id": 1, "answers": [{"answer": "exit"}]}]}
    write(folder, {"val.jsonl": [row], "val_annotations.json": answers, "a.png": picture()})
    return {"path": str(folder / "val.jsonl"), "image_type": "image_path"}


@sample(f"{AISBENCH}.DAPOMathDataset", rows=1, columns="answer")
def dapo(folder: Path) -> dict[str, Any]:
    row = {"prompt": [{"role": "user", "content": "1 + 1?"}], "reward_model": {"ground_truth": "2"}}
    return {"path": write(folder, {"dapo-math-17k.parquet": parquet([row])})}


def pictures(folder: Path, columns: str, values: Sequence[str]) -> dict[str, Any]:
    """Return the arguments of a loader of a TSV with pictures in base64."""
    row = ["0", base64.b64encode(picture()).decode(), *values]
    write(folder, {"rows.tsv": table(f"index image {columns}", row)})
    return {"path": str(folder / "rows.tsv")}


@sample(f"{AISBENCH}.MMMUProOptions10Dataset", rows=1, columns="content answer")
def mmmu_options(folder: Path) -> dict[str, Any]:
    return pictures(folder, "question A B answer category", ["Which <image 1>?", "one", "two", "A", "Art"])


@sample(f"{AISBENCH}.MMMUProVisionDataset", rows=1, columns="content answer")
def mmmu_vision(folder: Path) -> dict[str, Any]:
    return pictures(folder, "A B answer category", ["one", "two", "A", "Art"])


@sample(f"{AISBENCH}.MMStarDataset", rows=1, columns="content answer")
def mmstar(folder: Path) -> dict[str, Any]:
    values = ["Which?", "one", "two", "A", "coarse", "l2"]
    return pictures(folder, "question A B answer category l2_category", values)


@sample(f"{AISBENCH}.RealworldQADataset", rows=1, columns="content answer")
def realworldqa(folder: Path) -> dict[str, Any]:
    row = {"question": "Which way?", "answer": "left", "image": {"bytes": picture(), "path": "a.webp"}}
    write(folder, {"data/test-0.parquet": parquet([row])})
    return {"path": str(folder / "data/test-0.parquet")}


@sample(
    *(f"{AISBENCH}.{name}" for name in ("RefCOCODataset", "RefCOCOPlusDataset", "RefCOCOgDataset")),
    rows=2,
    columns="content answer",
)
def refcoco(folder: Path) -> dict[str, Any]:
    row = {
        "question_id": "1",
        "file_name": "a.png",
        "bbox": [0.0, 0.0, 2.0, 2.0],
        "answer": ["the red one", "left"],
        "image": {"bytes": picture(), "path": "a.png"},
    }
    return {"path": write(folder, {"val-0.parquet": parquet([row])}), "split": "val"}


@sample(f"{AISBENCH}.VideoBenchDataset", rows=1, columns="question answer video_url")
def videobench(folder: Path) -> dict[str, Any]:
    asked = {"7": {"vid_path": "./Set/7.mp4", "video_id": "7", "question": "Who?", "choices": {"A": "Ann", "B": "Ben"}}}
    path = write(folder, {"Set_new.json": asked, "answer/ANSWER.json": {"Set": {"7": {"answer": "A"}}}})
    return {"path": path, "video_type": "video_path"}


@sample(f"{AISBENCH}.VocalSoundDataset", rows=1, columns="content answer audio_url")
def vocalsound(folder: Path) -> dict[str, Any]:
    sound = io.BytesIO()
    with wave.open(sound, "wb") as stream:
        stream.setnchannels(1)
        stream.setsampwidth(2)
        stream.setframerate(8000)
        stream.writeframes(b"\0\0" * 80)
    return {"path": write(folder, {"001_cough.wav": sound.getvalue()}), "audio_type": "audio_path"}


@sample(f"{AISBENCH}.SyntheticDataset", rows=3, columns="question answer")
def synthetic(folder: Path) -> dict[str, Any]:
    length = {"Method": "uniform", "Params": {"MinValue": 2, "MaxValue": 4}}
    config = {"Type": "string", "RequestCount": 3, "StringConfig": {"Input": length, "Output": length}}
    return {"config": config}
