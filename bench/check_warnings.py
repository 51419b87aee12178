"""Which warnings `aisprompt check` gives for real datasets, and how many of the datasets have any.

    python -m bench.check_warnings FOLDER... [--show]

Each folder holds published data as its authors publish it: the tasks of BIG-Bench Hard (``examples`` with ``input`` and
``target``), or JSON lines with ``question`` and ``answer`` (GSM8K), ``input`` and ``golden`` (CMATH), ``prompt``
(HumanEval, IFBench), ``turns`` (MT-Bench), ``question``, ``options`` and ``label`` (AGIEval), or lines of a question, a
tab and a number (MGSM). Other files are left out, and files with the same questions as an earlier one. A warning about
such data is a false alarm unless it is true: read those that remain.
"""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import ais_prompt

Row = Mapping[str, Any]


def main() -> None:
    """Print a line for each dataset, and how many have a warning."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    parser.add_argument("--show", action="store_true", help="print the warnings")
    options = parser.parse_args()
    warned = total = 0
    seen = set()
    for folder in options.folders:
        for name, rows in datasets(folder):
            if (questions := tuple(row["question"] for row in rows)) in seen:
                continue
            seen.add(questions)
            found = warnings_of(rows)
            warned, total = warned + bool(found), total + 1
            print(f"{name:60} {len(rows):6} rows  {len(found)} warnings", flush=True)
            for what in found if options.show else ():
                print(f"    {what}", flush=True)
    print(f"{warned} of {total} datasets have a warning")


def datasets(folder: Path) -> Iterator[tuple[str, Sequence[Row]]]:
    """Yield the name and the rows of each dataset: the columns ``question``, ``answer`` and those of the choices."""
    for file in sorted(folder.rglob("*")):
        if file.suffix in (".json", ".jsonl", ".tsv", ".gz") and (rows := [*filter(None, map(_row, _read(file)))]):
            yield str(file.relative_to(folder)), rows


def warnings_of(rows: Sequence[Row]) -> list[str]:
    """Return the warnings of a dataset whose prompts show everything except the answer."""
    columns = [column for column in rows[0] if column != "answer" and any(row.get(column) for row in rows)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "test.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        template = "Question:\n" + "\n".join(f"{{{column}}}" for column in columns) + "\nAnswer: {answer}"
        dataset = {
            "type": "LocalDataset",
            "path": folder,
            "reader_cfg": {"input_columns": columns, "output_column": "answer"},
            "infer_cfg": {
                "prompt_template": {"type": "PromptTemplate", "template": template},
                "retriever": {"type": "ZeroRetriever"},
                "inferencer": {"type": "GenInferencer"},
            },
            "eval_cfg": {"evaluator": {"type": "AccEvaluator"}},
        }
        found = ais_prompt.check({"models": [{"type": "ScriptedModel"}], "datasets": [dataset]})
    return [warning.what for warning in found.warnings]


def _read(file: Path) -> list[Any]:
    opened = gzip.open if file.suffix == ".gz" else open
    with opened(file, "rt", encoding="utf-8") as stream:
        text = stream.read()
    if file.suffix == ".tsv":
        return [line.split("\t") for line in text.split("\n") if line]
    if file.suffix == ".json":
        document = json.loads(text)
        return document.get("examples", []) if isinstance(document, dict) else []
    return [json.loads(line) for line in text.split("\n") if line.strip()]


def _row(row: Any) -> Row | None:
    """Return a row of one of the known forms; None of another."""
    match row:
        case {"finish_reason": _}:  # an answer
            return None
        case [str(question), str(answer)]:
            return {"question": question, "answer": answer}
        case {"passage": passage, "question": question, "options": list(options), "label": str(label)}:
            choices = dict(zip("ABCDEFGHIJ", options, strict=False))
            return dict(passage=passage or "", question=question, **choices, answer=label)
        case {"question": str(question), "answer": str(answer)} if "####" in answer or "passage" in row:
            return {"question": question, "answer": answer.rpartition("####")[2].strip()}
        case {"input": str(question), "target": str(answer)} | {"input": str(question), "golden": str(answer)}:
            return {"question": question, "answer": answer}
        case {"prompt": str(question), "canonical_solution": str(answer)}:
            return {"question": question, "answer": answer}
        case {"prompt": str(question), "instruction_id_list": list(names)}:
            return {"question": question, "answer": ", ".join(names)}
        case {"turns": [str(question), *_], "category": str(answer)}:
            return {"question": question, "answer": answer}
    return None


if __name__ == "__main__":
    main()
