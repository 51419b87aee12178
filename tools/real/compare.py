"""Compare what a peer and this program wrote about the same questions."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from msgspec import Struct, field

from ais_prompt.extensions.peers.old_run import open_old_run
from ais_prompt.extensions.peers.parts import inside
from ais_prompt.extensions.peers.table import find_row
from ais_prompt.extensions.peers.tables import ALL, tables_of
from ais_prompt.models import PROBE
from ais_prompt.store import RunFolder, read_scores
from ais_prompt.utils import decode

MODEL: Final = "demo"
"""The model of every case."""
ROLES: Final = {"HUMAN": "user", "BOT": "assistant", "SYSTEM": "system"}
TOLERANCE: Final = 1e-3
"""Relative difference of perplexities that rounding of the network explains."""
VOLATILE: Final = (
    "stream",
    "stream_options",
    "max_tokens",
    "max_completion_tokens",
    "n",
    "stop",
    "seed",
    "num_return_sequences",
)
"""Fields of a request that say the same in other ways, or nothing about the question."""


class Found(Struct, frozen=True):
    """What one program wrote about one question.

    Attributes:
        prompts: what the model saw: label → text for log-likelihoods, "" → text or messages otherwise.
        prediction: as it was written; a list for repeats.
        values: label → perplexity or log-likelihood; empty for texts, and for a prediction that is a perplexity.
        gold: as it was written; None if it was not.
    """

    prompts: Mapping[str, Any]
    prediction: Any
    values: Mapping[str, float]
    gold: Any = None


class Difference(Struct, frozen=True):
    """Something that is not equal.

    Attributes:
        where: dataset and row, metric, or number of the request.
        values: what is there, and what is here.
    """

    where: str
    values: str

    def __str__(self) -> str:
        return f"{self.where}: {self.values}"


class Count(Struct):
    """How many of some things are equal, and what is not."""

    equal: int = 0
    of: int = 0
    differences: list[Difference] = field(default_factory=list)

    def add(self, one: Any, other: Any, where: str, *, equal: bool | None = None) -> None:
        """Count a pair."""
        self.of += 1
        if one == other if equal is None else equal:
            self.equal += 1
        else:
            self.differences.append(Difference(where, f"there {_short(one)}, here {_short(other)}"))

    def __str__(self) -> str:
        return f"{self.equal}/{self.of}" if self.of else "–"


def judged_names(run: Path) -> dict[str, str]:
    """Return the names under which AISBench keeps replies and scores of judges → the dataset that they are about."""
    found = {}
    for dataset in (open_old_run(run).config or {}).get("datasets", ()):
        judge = (dataset.get("judge_infer_cfg") or {}).get("judge_model")
        if judge:
            found[f"{dataset['abbr']}-{judge['abbr']}"] = str(dataset["abbr"])
    return found


def their_answers(run: Path) -> dict[str, list[Found]]:
    """Return dataset → what OpenCompass or AISBench wrote, in the order of the rows; repeats follow each other."""
    found: dict[str, dict[int, Found]] = {}
    judged = judged_names(run)
    for path in sorted(run.glob("predictions/demo/**/*.json*")):
        name = _dataset_of(path, run / "predictions/demo")
        # A conversation leaves its last state; replies of judges are compared by what they make of the scores.
        if path.name.startswith("tmp_") or name.removesuffix("-cached") in judged:
            continue
        entries = _entries(path)
        part = name.rpartition("_")
        start = 0
        if part[2].isdecimal() and (path.with_name(f"{part[0]}_0{path.suffix}")).exists():
            name, start = part[0], len(found.get(part[0], {}))
        group = found.setdefault(name, {})
        for number, (_, entry) in enumerate(sorted(_conversations(entries), key=lambda one: one[0])):
            group[start + number] = _their_answer(entry)
    return {name: [group[number] for number in sorted(group)] for name, group in found.items()}


def _dataset_of(path: Path, folder: Path) -> str:
    """Return the dataset of a file as it is called here; a slash in its name makes a folder there."""
    return path.relative_to(folder).with_suffix("").as_posix().replace("/", "_")


def _entries(path: Path) -> list[tuple[int, dict[str, Any]]]:
    if path.suffix == ".jsonl":
        rows = [decode(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
        return [(int(row["id"]), row) for row in rows]
    return [(int(key), row) for key, row in json.loads(path.read_text("utf-8")).items()]


def _conversations(entries: Sequence[tuple[int, dict[str, Any]]]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Join the turns of each conversation, which AISBench writes one by one; prompts of repeats are equally long."""
    rows: dict[int, list[dict[str, Any]]] = {}
    for row, entry in entries:
        rows.setdefault(row, []).append(entry)
    for row, group in rows.items():
        turns = sorted(group, key=_prompt_length)
        if len(set(map(_prompt_length, turns))) == len(turns) > 1:
            yield row, {**turns[0], **{key: [turn[key] for turn in turns] for key in ("origin_prompt", "prediction")}}
        else:
            yield from ((row, entry) for entry in group)


def _prompt_length(entry: Mapping[str, Any]) -> int:
    return len(entry.get("origin_prompt") or ())


def _their_answer(entry: Mapping[str, Any]) -> Found:
    labels = {key.partition(": ")[2]: one for key, one in entry.items() if key.startswith("label: ")}
    if not labels and "ppl_list" in entry:  # AISBench
        pairs = zip(entry["ppl_list"], entry["origin_prompt"], strict=True)
        labels = {str(one["label"]): {"prompt": prompt, "PPL": one["ppl"]} for one, prompt in pairs}
    numbers = {
        label: next((float(one[key]) for key in ("PPL", "Loglikelihood", "ppl") if key in one), math.nan)
        for label, one in labels.items()
    }
    prompts = {label: plain(one.get("prompt")) for label, one in labels.items()}
    prediction = entry.get("prediction", entry.get("ppl"))
    if isinstance(prediction, list) and prediction and isinstance(prediction[0], Mapping) and "round" in prediction[0]:
        prediction, prompts = [one["assistant"] for one in prediction], {}  # a conversation, whose prompts are not kept
    elif not prompts:
        prompts = {"": plain(entry.get("origin_prompt", entry.get("prompt")))}
    return Found(
        prompts,
        prediction,
        numbers,
        entry.get("gold"),
    )


def our_answers(run: Path) -> dict[str, list[Found]]:
    """Return dataset → what this program wrote, in the order of the rows."""
    return {
        path.stem: [
            _our_answer(row)
            for row in sorted(map(decode, path.read_text("utf-8").splitlines()), key=lambda one: one["index"])
        ]
        for path in sorted(run.glob("predictions/demo/*.jsonl"))
    }


def _our_answer(row: Mapping[str, Any]) -> Found:
    labels = {label: one for label, one in row.get("labels", {}).items() if "prompt" in one}
    values = {label: one["ppl"] for label, one in labels.items()}
    prompts = {label: plain(one["prompt"]) for label, one in labels.items()}
    return Found(prompts or {"": plain(row["origin_prompt"])}, row["prediction"], values, row.get("gold"))


def plain(prompt: Any) -> Any:
    """Return a prompt in one form for both: a text, (role, text) of each message, or these of each turn."""
    if not isinstance(prompt, list):
        return prompt
    if prompt and isinstance(prompt[0], list):
        return tuple(map(plain, prompt))
    return tuple(
        (ROLES.get(one["role"], one["role"]), _content(one.get("content", one.get("prompt")))) for one in prompt
    )


def _content(content: Any) -> Any:
    """Return the content of a message without the digests of files, which only this program keeps."""
    if not isinstance(content, list):
        return content
    return [{key: value for key, value in part.items() if key != "file"} for part in content]


def close(one: float, other: float) -> bool:
    """Return whether two perplexities, or a log-likelihood and its negative, are equal."""
    return any(math.isclose(one, sign * other, rel_tol=TOLERANCE, abs_tol=1e-4) for sign in (1, -1))


def their_scores(run: Path) -> dict[str, dict[str, float]]:
    """Return dataset → metric → number; a dataset without scores has none."""
    judged = judged_names(run)
    whole = {_dataset_of(path, run / "predictions/demo"): path for path in run.glob("predictions/demo/**/*.json*")}
    found: dict[str, dict[str, float]] = {
        name: {}
        for name, path in whole.items()
        if not path.name.startswith("tmp_") and not _is_part(name, whole) and name.removesuffix("-cached") not in judged
    }
    compared = [path for path in run.glob("results/*") if "judged-by--" in path.name]
    for folder in compared:
        base = folder.name.partition(f"{MODEL}_judged-by--")[0].removesuffix("_")
        prefix = f"{base}/" if base and len(compared) > 1 else ""
        for path in folder.glob("**/*.json"):
            found.setdefault(_dataset_of(path, folder), {}).update(
                {f"{prefix}{key}": one for key, one in _numbers_of(path).items()}
            )
    for path in sorted(run.glob("results/demo/**/*.json")):
        if re.search(r"_replica\d+$", path.stem):  # what a judge said
            continue
        name = _dataset_of(path, run / "results/demo")
        found[judged.get(name, name)] = _numbers_of(path)
    return {name: found[name] for name in found if found[name] or not compared}  # replies that only a table sums up


def _numbers_of(path: Path) -> dict[str, float]:
    values = json.loads(path.read_text("utf-8"))
    return {key: float(one) for key, one in values.items() if type(one) in (int, float)}


def _is_part(name: str, names: Mapping[str, Any]) -> bool:
    """Return whether a file has a part of a dataset only: ``gsm8k_1`` beside ``gsm8k_0``."""
    whole, _, number = name.rpartition("_")
    return number.isdecimal() and f"{whole}_0" in names


def our_names(run: Path) -> dict[str, Mapping[str, str]]:
    """Return dataset → name of a metric there → its name here, by the row of its evaluator in our table.

    `score` is `accuracy` here, for example. With their own evaluator it keeps its name.
    """
    config = open_old_run(run).config or {}
    found: dict[str, Mapping[str, str]] = {}
    for dataset in config.get("datasets", ()):
        evaluator = inside(dataset, "eval_cfg", "evaluator")
        row = find_row("evaluators", str(evaluator.get("type"))) if isinstance(evaluator, Mapping) else None
        if row is not None and "abbr" in dataset:
            found[str(dataset["abbr"])] = row.metrics
    return found


def their_table(run: Path) -> dict[tuple[str, str], float]:
    """Return (dataset, metric) → number of the tables of a run.

    The dataset is empty where a table has only metrics or the name of a benchmark, and the metric where a row shows the
    number of a dataset.
    """
    judged = judged_names(run)
    names = {str(dataset.get("abbr")) for dataset in (open_old_run(run).config or {}).get("datasets", ())}
    found: dict[tuple[str, str], float] = {}
    for path in sorted(run.glob("summary/**/*.csv")):
        rows = list(csv.reader(path.open(encoding="utf-8")))
        cells = (
            _table_of_ratings(rows)
            or _table_of_datasets(rows)
            or _table_of_models(rows)
            or _table_of_judgements(rows, path.stem, names)
        )
        for dataset, metric, value in cells:
            name = judged.get(dataset, dataset)
            if _is_number(value):
                found[("", metric) if name not in names and name and metric else (name, metric)] = float(value)
    return found


_Cell: TypeAlias = tuple[str, str, str]
"""Dataset, metric, value."""


_RATED: Final = ("rating", "predicted_win_rate", "num_battles")


def _table_of_ratings(rows: Sequence[Sequence[str]]) -> list[_Cell]:
    """Read a table of ratings: one row a model, of a dataset or of all."""
    if not rows or "model_name" not in rows[0]:
        return []
    cells = [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]
    return [(one.get("dataset", ALL), f"{one['model_name']} {key}", one[key]) for one in cells for key in _RATED]


def _table_of_datasets(rows: Sequence[Sequence[str]]) -> list[_Cell]:
    """Read the table that most runs have: one row a dataset and metric."""
    if not rows or list(rows[0][:2]) != ["dataset", "version"]:
        return []
    return [(name, metric, value) for name, _, metric, *_, value in rows[1:]]


def _table_of_models(rows: Sequence[Sequence[str]]) -> list[_Cell]:
    """Read a table of a subjective suite with one row a model, and one column a metric."""
    if rows and rows[0][0] == "0":  # AlignBench has numbers above two lines of names
        rows = rows[2:]
    if not rows or not {"model", "模型"} & {*rows[0][:3]}:
        return []
    head, *lines = rows
    place = next(place for place, name in enumerate(head) if name in ("model", "模型"))
    return [
        ("", name, one)
        for line in lines
        if line[place] == MODEL
        for name, one in zip(head[place + 1 :], line[place + 1 :], strict=True)
    ]


def _table_of_judgements(rows: Sequence[Sequence[str]], file: str, names: Collection[str]) -> list[_Cell]:
    """Read a table of a subjective suite with one row a metric, and one column a comparison or the model.

    Only the last column is read: the mean over the base models.
    """
    if not rows:
        return []
    head, *lines = rows
    if head[0] == "Dataset":  # of SubjectiveSummarizer: a benchmark, its metric, the model
        return [(metric, "", value) if metric in names else (name, metric, value) for name, metric, value in lines]
    if "_vs_" in head[0]:  # AlpacaEval: one row a comparison
        return [("", name, value) for name, value in zip(head[1:], lines[0][1:], strict=True)]
    dataset = max((name for name in names if name in file), key=len, default="")
    cells = [(name.partition("_")[2] if "/" in name else name, line[-1]) for name, *line in lines]  # CompassBench
    return [(name, "", value) if name in names else (dataset, name, value) for name, value in cells]


def our_table(run: Path) -> list[tuple[str, str, float]]:
    """Return dataset or group, metric, and number in percent, of each row of the tables of a run, groups first."""
    file = run / "summary/summary.csv"
    datasets = {path.stem for path in run.glob("results/demo/*.json")}
    rows = [
        (row["dataset"], row["metric"], float(row["score"]) * (100 if row["fraction"] == "True" else 1))
        for row in (csv.DictReader(file.open(encoding="utf-8")) if file.is_file() else ())
        if row["score"]
    ]
    rated = [
        (table.dataset, f"{row.model_name} {key}", getattr(row, key))
        for table in tables_of(RunFolder(run))
        for row in table.rows
        for key in _RATED
    ]
    return sorted([*rows, *rated], key=lambda row: row[0] in datasets)


def find_cell(
    table: Sequence[tuple[str, str, float]], name: str, metric: str, names: Mapping[str, Mapping[str, str]]
) -> float | None:
    """Return our number for a cell of their table: the first row with its dataset and metric, as far as it has them.

    Args:
        table: ours.
        name: their dataset; empty for a benchmark.
        metric: theirs; empty for the headline number of a dataset.
        names: as from `our_names`.
    """
    name = name.replace("/", "_")
    meant = {metric, names.get(name, {}).get(metric, metric)}
    fitting = (value for here, shown, value in table if name in ("", here) and (not metric or shown in meant))
    return next(fitting, None)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def our_scores(run: Path) -> dict[str, dict[str, float]]:
    """Return dataset → metric → number, in percent as the peers write it."""
    return {
        path.stem: {
            one.metric: one.value * (100 if one.fraction else 1) for one in read_scores(path) if one.value is not None
        }
        for path in sorted(run.glob("results/demo/*.json"))
    }


def bodies(requests: Sequence[Mapping[str, Any]], model: str) -> list[str]:
    """Return the bodies of the requests to a model in a form that can be compared."""
    found = []
    for one in requests:
        body = one["body"]
        # This program asks for a text of its own once, to find out how a server returns log-likelihoods.
        if one["path"].endswith("completions") and body.get("model") == model and body.get("prompt") != PROBE:
            body = {key: value for key, value in body.items() if key not in VOLATILE and value is not None}
            found.append(json.dumps(body, sort_keys=True, ensure_ascii=False))
    return found


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 400 else f"{text[:200]} … {text[-200:]}"
