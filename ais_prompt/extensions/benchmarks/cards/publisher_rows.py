"""From the rows of a publisher to ours: a column for what a template shows, letters as the gold of choices.

Rows of a form that many files have need no function here: their card names a shape (`ais_prompt.data.row_shape`).

A function of `MEDIA_ROWS`, for images or video, returns ``content`` as pieces, pairs of a kind and a value:
``("image", bytes)``, ``("video", path)``, ``("text", text)``. `marked` writes the images into files, whose names are
their SHA-256.
"""

from __future__ import annotations

import ast
import base64
import hashlib
import io
import json
import pickle
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

import filetype

from ais_prompt.data import LETTERS, Option, Row, option_columns
from ais_prompt.data import shuffled as shuffled_options
from ais_prompt.prompts import END, STARTS
from ais_prompt.utils import canonical, file_digest


def big_code_bench(row: Row) -> Row:
    """BigCodeBench: both prompts, the beginning of the program, its tests, and the libraries that it may use."""
    kept = ("task_id", "complete_prompt", "instruct_prompt", "canonical_solution", "code_prompt", "test")
    libraries = row["libs"]
    names = ast.literal_eval(libraries) if isinstance(libraries, str) else list(libraries)
    return {**{name: row[name] for name in kept}, "libs": names}


class _Texts(pickle.Unpickler):
    """Reads texts only: a pickle can name any function to be called."""

    def find_class(self, module: str, name: str) -> Any:
        """Refuse every name."""
        raise pickle.UnpicklingError(f"the tests of a question name {module}.{name}, and must be a text")


def tests_of(text: str) -> list[dict[str, str]]:
    """Return the tests in a column: JSON, or JSON that is pickled, compressed and in base64.

    Raises:
        ValueError: it is neither.
    """
    try:
        found = json.loads(text)
    except ValueError:
        try:
            found = json.loads(_Texts(io.BytesIO(zlib.decompress(base64.b64decode(text)))).load())
        except (zlib.error, pickle.UnpicklingError, EOFError, TypeError) as error:
            raise ValueError(f"the tests cannot be read: {error}") from error
    return list(found)


_WITH_CODE: Final = (
    "### Format: You will use the following starter code to write the solution to the problem and enclose your code "
    "within delimiters.\n```python\n{code}\n```\n\n"
)
_FROM_STDIN: Final = (
    "### Format: Read the inputs from stdin solve the problem and write the answer to stdout (do not directly test on "
    "the sample inputs). Enclose your code within delimiters as follows. Ensure that when the python program runs, it "
    "reads the inputs, runs the algorithm and writes output to STDOUT.\n```python\n# YOUR CODE HERE\n```\n\n"
)


def live_code_bench(row: Row) -> Row:
    """LiveCodeBench: a question with its format, all of its tests, and the month of its contest."""
    code = row["starter_code"]
    tests = [*tests_of(row["public_test_cases"]), *tests_of(row["private_test_cases"])]
    metadata = json.loads(row["metadata"] or "{}")
    return {
        "question_id": row["question_id"],
        "question": row["question_content"],
        "form": _WITH_CODE.format(code=code) if code else _FROM_STDIN,
        "platform": row["platform"],
        "difficulty": row["difficulty"],
        "month": str(row["contest_date"])[:7],
        "tests": json.dumps([{"input": test["input"], "output": test["output"]} for test in tests]),
        "method": metadata.get("func_name") or "",
        "answer": "",
    }


MakeRow: TypeAlias = Callable[[Row], Row]

_ARTEFACTS: Final = re.compile(r"\[.*?\]")


def with_choices(texts: Sequence[str], gold: int | None) -> Row:
    """Return the columns of choices, and the letter of the gold as ``answer``.

    Args:
        texts: the choices.
        gold: number of the right one, from 0; None if it is not known.
    """
    lettered = dict(zip(LETTERS, (str(text).strip() for text in texts), strict=False))
    return {**option_columns(lettered), "answer": "" if gold is None else LETTERS[gold]}


def shuffled(texts: Sequence[str], gold: int, key: str) -> tuple[list[str], int]:
    """Return choices in an order that depends on the question only, and the new place of the gold."""
    marked = [Option("", text, place == gold) for place, text in enumerate(texts)]
    order = shuffled_options(marked, key)
    return [option.text for option in order], [option.right for option in order].index(True)


def mmlu_pro(row: Row) -> Row:
    """MMLU-Pro: up to ten choices."""
    texts = [text for text in row["options"] if text != "N/A"]
    return {**row, **with_choices(texts, LETTERS.index(row["answer"]))}


def lettered(row: Row) -> Row:
    """CMMLU and C-Eval: four columns of choices, and the letter of the right one."""
    columns = {name.lower() if len(name) > 1 else name: value for name, value in row.items()}
    texts = [columns[letter] for letter in "ABCD"]
    answer = str(columns.get("answer") or "").strip()
    return {**columns, **with_choices(texts, LETTERS.index(answer) if answer else None)}


def gpqa(row: Row) -> Row:
    """GPQA: the right answer and three wrong ones, in an order that depends on the question."""
    texts = [row["Correct Answer"], *(row[f"Incorrect Answer {number}"] for number in (1, 2, 3))]
    question = row["Question"].strip()
    return {"question": question, **with_choices(*shuffled(texts, 0, question))}


def hellaswag(row: Row) -> Row:
    """HellaSwag: four endings of a text. Marks of the source, such as [title], are left out."""
    context = f"{row['activity_label']}: {row['ctx_a']} {str(row['ctx_b']).capitalize()}"
    gold = int(row["label"]) if str(row["label"]) else None
    return {"context": _plain(context), **with_choices(list(map(_plain, row["endings"])), gold)}


def _plain(text: str) -> str:
    """Return a text of WikiHow without its marks."""
    return " ".join(_ARTEFACTS.sub("", text.replace(" [title]", ". ")).split())


def winogrande(row: Row) -> Row:
    """WinoGrande: a sentence with a gap, and two words for it. ``start_A`` is the sentence up to and with the first."""
    start, _, end = row["sentence"].partition("_")
    texts = [row["option1"], row["option2"]]
    starts = {f"start_{letter}": start + text for letter, text in zip("AB", texts, strict=True)}
    gold = int(row["answer"]) - 1 if str(row["answer"]) else None
    return {"sentence": row["sentence"], "end": end.strip(), **starts, **with_choices(texts, gold)}


def piqa(row: Row) -> Row:
    """PIQA: a goal, and two ways to reach it."""
    gold = row["label"] if row["label"] in (0, 1) else None
    return {"goal": row["goal"], **with_choices([row["sol1"], row["sol2"]], gold)}


def boolq(row: Row) -> Row:
    """BoolQ: yes or no; some versions call the gold ``label``."""
    gold = row["answer"] if "answer" in row else row["label"]
    question = str(row["question"]).strip().rstrip("?")
    return {"passage": row["passage"], "question": question + "?", "answer": "yes" if gold else "no"}


def truthfulqa(row: Row) -> Row:
    """TruthfulQA: the choices and the right ones among them, for one right choice (MC1) and for several (MC2).

    The right choice comes first in the data, so ``options`` has those of MC1 in another order.
    """
    single = row["mc1_targets"]
    gold = list(single["labels"]).index(1)
    return {
        "question": row["question"],
        **{
            f"{name}_{column}": choices
            for name in ("mc1", "mc2")
            for column, choices in _marked_choices(row[f"{name}_targets"]).items()
        },
        **with_choices(*shuffled(single["choices"], gold, row["question"])),
    }


def _marked_choices(targets: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return all choices and the right ones of TruthfulQA, whose labels are 1 and 0."""
    texts = list(targets["choices"])
    return {"choices": texts, "right": [text for text, label in zip(texts, targets["labels"], strict=True) if label]}


def logiqa(row: Row) -> Row:
    """LogiQA: a text, a question and four choices; the gold is a letter or a number."""
    label = row["label"] if "label" in row else row["correct_option"]
    gold = LETTERS.index(label.upper()) if isinstance(label, str) else int(label)
    texts = [re.sub(r"^\s*[A-D][.)]\s*", "", text) for text in row["options"]]
    question = row["question"] if "question" in row else row["query"]
    return {"context": row["context"], "question": question, **with_choices(texts, gold)}


def triviaqa(row: Row) -> Row:
    """TriviaQA: all spellings of the answer."""
    answer = row["answer"]
    spellings = dict.fromkeys([answer["value"], *answer["aliases"]])
    return {"question": row["question"], "answers": list(spellings)}


def drop(row: Row) -> Row:
    """DROP: the accepted answers as lists of spans and as texts, from any of the forms in which it is published."""
    if "answers_spans" in row:
        found = [list(row["answers_spans"]["spans"])]
    else:
        found = [_drop_spans(one) for one in [row["answer"], *_objects(row["validated_answers"])]]
    spans = list(dict.fromkeys(tuple(one) for one in found if any(one)))
    texts = [text for one in spans for text in (", ".join(one), *one)]
    return {
        "passage": row["passage"],
        "question": row["question"],
        "answers": list(dict.fromkeys(filter(None, texts))),
        "spans": list(map(list, spans)),
    }


def _objects(value: Any) -> list[Mapping[str, Any]]:
    """Return a list of objects, which Arrow may have stored as an object of lists."""
    if isinstance(value, Mapping):
        return [dict(zip(value, one, strict=True)) for one in zip(*value.values(), strict=True)]
    return list(value or ())


def _drop_spans(answer: Mapping[str, Any]) -> list[str]:
    if answer["number"]:
        return [str(answer["number"])]
    if answer["spans"]:
        return list(answer["spans"])
    return [" ".join(part for part in (answer["date"][name] for name in ("day", "month", "year")) if part)]


def mgsm(row: Row) -> Row:
    """MGSM: the answer as a number; the hub has it in a column of its own, the files as a text with commas."""
    number = row.get("answer_number")
    answer = str(number if number is not None else row["answer"]).replace(",", "")
    question = re.sub(r"^(?:Question|Frage|问题)\s*[:：]\s*", "", row["question"])
    return {**row, "question": question, "answer": answer}


def mbpp(row: Row) -> Row:
    """MBPP: its tests, one a line."""
    text = row["text"] if "text" in row else row["prompt"]
    tests = row["test_list"]
    tests = ast.literal_eval(tests) if isinstance(tests, str) else tests
    setup = row["test_setup_code"] if "test_setup_code" in row else "\n".join(row.get("test_imports") or ())
    return {
        "task_id": row["task_id"],
        "text": text,
        "code": row["code"],
        "test_list": "\n".join(tests),
        "test_setup_code": setup or "",
    }


def mbpp_plus(row: Row) -> Row:
    """MBPP+: the three tests that the question shows, and as ``test_list`` the program that tests the answer."""
    shown = mbpp(row)
    return {**shown, "shown_tests": shown["test_list"], "test_list": row["test"]}


def instructions(row: Row) -> Row:
    """IFEval and IFBench: the arguments of each instruction as JSON, since their keys differ from row to row."""
    kwargs = [{name: value for name, value in one.items() if value is not None} for one in row["kwargs"]]
    return {**row, "key": str(row["key"]), "kwargs": [canonical(one) for one in kwargs]}


def mt_bench(row: Row) -> Row:
    """MT-Bench: two questions, and the reference answers of some; the hub has them as ``prompt``.

    They are in columns of their own, and together as ``turns`` and ``references``.
    """
    turns = row["prompt"] if "prompt" in row else row["turns"]
    references = list(row.get("reference") or ())
    first, second, *_ = [*references, "", ""]
    return {
        "question_id": row["prompt_id"] if "prompt_id" in row else row["question_id"],
        "category": row["category"],
        "turn_1": turns[0],
        "turn_2": turns[1],
        "reference_1": first,
        "reference_2": second,
        "turns": list(turns[:2]),
        "references": [first, second],
    }


def super_gpqa(row: Row) -> Row:
    """SuperGPQA: up to ten choices, and the letter of the right one."""
    return {**row, **with_choices(row["options"], LETTERS.index(row["answer_letter"]))}


def hle(row: Row) -> Row:
    """Humanity's Last Exam: questions and answers, and whether there is an image, which is not kept."""
    kept = {name: row[name] for name in ("id", "question", "answer", "answer_type", "category")}
    return {**kept, "shows": "image" if row.get("image") else "text"}


def mrcr(row: Row) -> Row:
    """MRCR: a conversation of many turns whose last question has one right answer, word by word."""
    messages = json.loads(row["prompt"]) if isinstance(row["prompt"], str) else row["prompt"]
    questions = [message["content"] for message in messages if message["role"] == "user"]
    answers = [message["content"] for message in messages if message["role"] == "assistant"]
    return {
        "question": questions,
        "answer": [*answers, row["answer"]],
        "n_needles": int(row["n_needles"]),
        "n_chars": int(row["n_chars"]),
    }


def healthbench(row: Row) -> Row:
    """HealthBench: a conversation, the criteria of an answer to its last message, and the theme of the question."""
    tags = dict(tag.split(":", 1) for tag in row["example_tags"] if ":" in tag)
    return {
        "prompt_id": row["prompt_id"],
        "messages": [{"role": one["role"], "content": one["content"]} for one in row["prompt"]],
        "rubrics": [{name: one[name] for name in ("criterion", "points", "tags")} for one in row["rubrics"]],
        "theme": tags.get("theme", ""),
    }


def aa_lcr(row: Row) -> Row:
    """AA-LCR: the documents of a question in one text, each between the marks of the published prompt."""
    marked = (f"BEGIN DOCUMENT {n}:\n{text}\nEND DOCUMENT {n}" for n, text in enumerate(row["texts"], 1))
    kept = ("question_id", "question", "answer", "document_category")
    return {**{name: row[name] for name in kept}, "documents": "\n\n".join(marked)}


_API_TYPES: Final = {"dict": "object", "float": "number", "tuple": "array", "any": "string"}
"""Type in a description of BFCL → type of JSON schemas, where they differ."""


def bfcl(row: Row) -> Row:
    """BFCL: messages, tools in the form of the OpenAI API, and the accepted calls; the last three as JSON."""
    functions = row["function"]
    tools = [
        {"type": "function", "function": {**_as_schema(one), "name": one["name"].replace(".", "_")}}
        for one in functions
    ]
    [messages] = row["question"]
    return {
        **row,
        "messages": [{"role": one["role"], "content": one["content"]} for one in messages],
        "tools": canonical(tools),
        "functions": canonical(functions),
        "answers": canonical(row.get("ground_truth", [])),
    }


def _as_schema(value: Any) -> Any:
    """Return a description with the types of JSON schemas."""
    if isinstance(value, Mapping):
        kind = value.get("type")
        typed = {"type": _API_TYPES.get(kind, kind)} if isinstance(kind, str) else {}
        return {**{name: _as_schema(one) for name, one in value.items()}, **typed}
    return [_as_schema(one) for one in value] if isinstance(value, list) else value


ROWS: Final[Mapping[str, MakeRow]] = {
    function.__name__: function
    for function in (
        *(aa_lcr, bfcl, big_code_bench, boolq, drop, gpqa, healthbench, hellaswag, hle),
        *(instructions, lettered, live_code_bench, logiqa, mbpp, mbpp_plus, mgsm, mmlu_pro, mrcr, mt_bench),
        *(piqa, super_gpqa, triviaqa, truthfulqa, winogrande),
    )
}
"""Name in a card → function."""


Pieces: TypeAlias = Sequence[tuple[str, Any]]

FOLDER: Final = "media"
"""The folder of images beside the rows."""
_IMAGE: Final = re.compile(r"<image (\d+)>")
_VIDEOS: Final = "videomme_videos"
"""The folder of the videos of Video-MME in that of all data; ``data get`` does not bring them."""


def marked(pieces: Pieces, folder: Path, name: str) -> str:
    """Write the images of a row into files, and return its content with the markers of `MMPromptTemplate`.

    Args:
        pieces: kind and value of each piece.
        folder: of the benchmark's rows.
        name: of the benchmark; a file is named from the folder of all data: ``NAME/media/DIGEST.png``.

    Raises:
        ValueError: an image is of no known kind.
    """
    return "".join(
        f"{STARTS[kind]}{_file(value, folder, name) if kind == 'image' else value}{END}" for kind, value in pieces
    )


def _file(content: bytes, folder: Path, name: str) -> str:
    kind = filetype.guess(content)
    if kind is None:
        raise ValueError("the image is of no known kind")
    file = f"{hashlib.sha256(content).hexdigest()}.{kind.extension}"
    path = folder / FOLDER / file
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    return f"{name}/{FOLDER}/{file}"


def _bytes(image: Any) -> bytes:
    """Return the content of an image: an object of the hub's Parquet files, or base64."""
    return bytes(image["bytes"]) if isinstance(image, Mapping) else base64.b64decode(image)


def visual_choices(row: Row) -> Row:
    """MMStar and AI2D: the choices in columns, a list, or the question itself; the gold is a letter or a number."""
    texts = row.get("options") or [row[letter] for letter in LETTERS if row.get(letter)]
    gold = str(row["answer"])
    choices = with_choices(texts, int(gold) if gold.isdecimal() else LETTERS.index(gold)) if texts else {"answer": gold}
    options = f"\n{choices['options']}" if texts else ""
    pieces = [("image", _bytes(row["image"])), ("text", f"{row['question']}{options}")]
    return {**row, **choices, "content": pieces}


def visual_answer(row: Row) -> Row:
    """DocVQA, TextVQA, ChartQA, OCRBench and RealWorldQA: a question, and a list of right answers."""
    gold = next(row[name] for name in ("answers", "label", "answer") if row.get(name) is not None)
    if isinstance(gold, str):
        gold = _list(gold)
    pieces = [("image", _bytes(row["image"])), ("text", row["question"] if "question" in row else row["query"])]
    return {**row, "question": pieces[1][1], "answers": list(map(str, gold)), "content": pieces}


def _list(text: str) -> list[Any]:
    """Return a list that is written as Python does, or one text."""
    try:
        value = ast.literal_eval(text) if text.startswith("[") else [text]
    except (SyntaxError, ValueError):
        value = [text]
    return value if isinstance(value, list) else [text]


def mmmu(row: Row) -> Row:
    """MMMU: images inside of questions and choices; up to nine choices, or a list of right answers."""
    texts = [str(text) for text in _list(row["options"])]
    is_choice = row["question_type"] == "multiple-choice"
    choices = (
        with_choices(texts, LETTERS.find(row["answer"]) if row["answer"] in LETTERS else None) if is_choice else {}
    )
    text = "\n".join(filter(None, (row["question"], choices.get("options"))))
    images = {str(number): _bytes(row[f"image_{number}"]) for number in range(1, 8) if row.get(f"image_{number}")}
    return {
        **row,
        **choices,
        "answer": row["answer"] if is_choice else "",
        "answers": [row["answer"]] if is_choice else list(map(str, _list(row["answer"]))),
        "options": choices.get("options", ""),
        "content": list(_split(text, images)),
    }


def _split(text: str, images: Mapping[str, bytes]) -> Iterator[tuple[str, Any]]:
    """Yield texts, and images where the text names them; images before the text if it names none."""
    named = _IMAGE.split(text)
    if len(named) == 1:
        yield from (("image", image) for image in images.values())
    for place, part in enumerate(named):
        if place % 2:
            yield "image", images[part]
        elif part.strip():
            yield "text", part.strip()


def mathvista(row: Row) -> Row:
    """MathVista: choices or a number; the question with its hint is in ``query``, the unit and precision inside it."""
    texts = list(row["choices"] or ())
    choices = with_choices(texts, texts.index(row["answer"])) if texts else {"answer": str(row["answer"])}
    pieces = [("image", _bytes(row["decoded_image"])), ("text", row["query"])]
    return {**row, **choices, "precision": int(row["precision"] or 0), "content": pieces}


def videomme(row: Row) -> Row:
    """Video-MME: four choices, each with its letter."""
    options = "\n".join(row["options"])
    pieces = [("video", f"{_VIDEOS}/{row['videoID']}.mp4"), ("text", f"{row['question']}\n{options}")]
    return {**row, "options": options, "content": pieces}


MEDIA_ROWS: Final[Mapping[str, MakeRow]] = {
    function.__name__: function for function in (mathvista, mmmu, videomme, visual_answer, visual_choices)
}
"""Name in a card → function."""


def changed_media(folder: Path) -> list[str]:
    """Return a sentence for each stored image that is not what its name says; empty if there are none."""
    files = sorted((folder / FOLDER).glob("*"))
    return [f"the image {file.name} changed" for file in files if file_digest(file) != file.stem]
