"""How many answers the postprocessors find, and how often they find one where there is none.

    python -m bench.extraction [--peer OPENCOMPASS_WHEEL] [--missed] [--solutions FILE]
    python PATH/tools/bench/extraction.py --corpus PATH/tests/phrasings    # in a worktree of an earlier commit

The phrasings of ``tests/phrasings`` are filled with several golds. *Recall* is the share from which the gold comes
back, *false reads* the share of texts without an answer that give one. The folders ``held_out*`` and ``unseen*`` in it
hold phrasings that were written before any rule was tried on them; no rule was tried on ``unseen_final`` before the
rules had been improved on ``unseen_development``, nor on ``unseen_second`` before both. A second column is OpenCompass'
function of the same name, run in place from its published wheel.

``tests/phrasings/first_sight`` holds whole answers, half with a result, marked by « », and half without one: reasoning
that breaks off, refusals, hedges, suppositions, questions, plans, premises, lists of options. Its sets were written one
after the other, each before the rules were improved by it; ``eleventh`` was not looked at before the end. The figures
in the docs are those of that moment; this prints what the rules make of the sets now.

``--solutions`` names ``example_model_solutions.jsonl`` of github.com/openai/grade-school-math (Cobbe et al. 2021). Its
solutions end in "A: 18". Without that line they are answers without a marker; cut at a word, they have no answer. A
file of GSM8K itself, whose solutions end in "#### 18", will do as well.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import re
import tomllib
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple
from unicodedata import normalize

from ais_prompt.postprocess import to_decimal
from ais_prompt.registry import POSTPROCESSORS

CORPUS = Path(__file__).parents[1] / "tests" / "phrasings"
UNSEEN = tuple(CORPUS / name for name in ("unseen_development", "unseen_final", "unseen_second"))
CORPORA = (CORPUS, *(CORPUS / name for name in ("held_out", "held_out_again", "held_out_third")), *UNSEEN)
SETS = ("ordinary", "adversarial")
FUNCTIONS_AT = (
    "opencompass/utils/text_postprocessors.py",
    "opencompass/datasets/gsm8k.py",
    "opencompass/datasets/math.py",
    "opencompass/datasets/humaneval.py",
    "opencompass/datasets/generic.py",
)

FIRST_SIGHT: Final = CORPUS / "first_sight"
MODELS: Final = ("6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification")
_GOLD: Final = re.compile("«(.*?)»", re.DOTALL)

Function = Callable[..., Any]


class Subject(NamedTuple):
    """A postprocessor under test.

    Attributes:
        name: as in a config.
        corpus: which file of phrasings.
        golds: each with two wrong answers.
        options: arguments; ``peer_options`` are those of OpenCompass' function.
        means_same: whether an extracted text is the gold.
        reads_nothing: whether texts without an answer should give None; a "first capital" is found in any text.
    """

    name: str
    corpus: str
    golds: Sequence[tuple[str, str, str]]
    options: Mapping[str, str] = {}
    peer_options: Mapping[str, str] = {}
    means_same: Callable[[Any, str], bool] = lambda found, gold: str(found) == gold
    reads_nothing: bool = True


def same_number(found: Any, gold: str) -> bool:
    """Whether both are one decimal number."""
    return found is not None and to_decimal(str(found)) == to_decimal(gold) is not None


def same_maths(found: Any, gold: str) -> bool:
    """Whether both are one number or the same text, blanks, units in ``\\text{}`` and what ``=`` defines aside."""
    result, wanted = _bare_maths(str(found)), _bare_maths(gold)
    return same_number(result, wanted) or result == wanted


def _bare_maths(text: str) -> str:
    text = re.sub(r"\\text\{\s*([-\d.,]+)\}", r"\1", text)
    return re.sub(r"\s|\\?\$|\\text\{[^}]*\}", "", text.rpartition("=")[2])


_LETTERS = [("A", "B", "C"), ("B", "A", "D"), ("C", "D", "A"), ("D", "A", "B")]
_GROUPS = [("AC", "B", "D"), ("BD", "A", "C"), ("ABD", "C", "C"), ("B", "A", "C")]
_NUMBERS = [("42", "18", "7"), ("1,250", "900", "350"), ("3.5", "12", "8"), ("-8", "3", "11"), ("100", "64", "36")]
_MATHS = [
    ("\\frac{1}{2}", "3", "1"),
    ("x^2+1", "x", "1"),
    ("-8", "5", "1"),
    ("2\\sqrt{3}", "4", "1"),
    ("(1, 2)", "7", "1"),
]
_WORDS = [
    ("Paris", "Lyon", "Rome"),
    ("A", "B", "C"),
    ("3.14", "2.71", "1.41"),
    ("42", "17", "8"),
    ("巴黎", "里昂", "罗马"),
    ("blue whale", "elephant", "shark"),
]
_ABCD = {"options": "ABCD"}

SUBJECTS = (
    Subject("first_option_postprocess", "options", _LETTERS, _ABCD, _ABCD),
    Subject("last_option_postprocess", "options", _LETTERS, _ABCD, _ABCD),
    Subject("multiple_select_postprocess", "options", _GROUPS, _ABCD),
    Subject("first_capital_postprocess", "options", _LETTERS, reads_nothing=False),
    Subject("last_capital_postprocess", "options", _LETTERS, reads_nothing=False),
    Subject("first_capital_postprocess_multi", "options", _GROUPS, reads_nothing=False),
    Subject("gsm8k_postprocess", "numbers", _NUMBERS, means_same=same_number),
    Subject("first_number_postprocess", "numbers", _NUMBERS, means_same=same_number, reads_nothing=False),
    Subject("math_postprocess_v2", "maths", [*_MATHS, *_NUMBERS], means_same=same_maths),
    Subject("math_postprocess_v2", "numbers", _NUMBERS, means_same=same_maths),
    Subject("general_postprocess", "words", _WORDS),
)


def subjects(corpus: Path) -> list[Subject]:
    """The postprocessors for which a corpus has phrasings."""
    return [subject for subject in SUBJECTS if (corpus / f"{subject.corpus}.toml").exists()]


class Measured(NamedTuple):
    """What a function makes of one set of phrasings.

    Attributes:
        right, texts: how many texts give the gold back, or None where there is no answer, and how many there are.
        missed: text and what it gave, of all others.
    """

    right: int
    texts: int
    missed: list[tuple[str, Any]]


def texts(corpus: Path, subject: Subject, language: str, name: str) -> Iterator[tuple[str, str]]:
    """The filled phrasings of a set, each with its gold; the gold is empty for ``nothing``."""
    phrasings = tomllib.loads((corpus / f"{subject.corpus}.toml").read_text("utf-8"))[language][name]
    for phrasing in (one.replace("\\n", "\n") for one in phrasings):
        for gold, other, third in subject.golds if name != "nothing" else [("", "", "")]:
            words = {"GOLD": gold, "OTHER": other, "THIRD": third}
            yield re.sub("GOLD|OTHER|THIRD", partial(_word, words), phrasing), gold


def _word(words: Mapping[str, str], place: re.Match[str]) -> str:
    return words[place.group()]


def measure(corpus: Path, subject: Subject, function: Function, language: str, name: str) -> Measured:
    """Run a function on a set of phrasings."""
    every = [(text, gold, run(function, text)) for text, gold in texts(corpus, subject, language, name)]
    missed = [
        (text, found)
        for text, gold, found in every
        if not (subject.means_same(found, gold) if gold else found in (None, "", "NULL"))
    ]
    return Measured(len(every) - len(missed), len(every), missed)


def same_option(found: Any, gold: str) -> bool:
    """Return whether both are one letter, whatever its width and size."""
    return str(found) == normalize("NFKC", gold).upper()


class Family(NamedTuple):
    """What is extracted.

    Attributes:
        corpus: the file of its texts.
        function: the postprocessor.
        means_same: whether an extracted text is the gold.
        options: arguments of both functions.
    """

    corpus: str
    function: str
    means_same: Callable[[Any, str], bool]
    options: dict[str, str]


FAMILIES: Final = (
    Family("options", "first_option_postprocess", same_option, {"options": "ABCD"}),
    Family("options", "last_option_postprocess", same_option, {"options": "ABCD"}),
    Family("numbers", "gsm8k_postprocess", same_number, {}),
    Family("maths", "math_postprocess_v2", same_maths, {}),
)


class Readings(NamedTuple):
    """What a function makes of a set.

    Attributes:
        lost: texts with a result that is not read, or misread, each with what was read.
        read: texts without a result from which something is read.
        n: texts with a result; there are as many without.
    """

    lost: list[tuple[str, Any]]
    read: list[tuple[str, Any]]
    n: int


def sets(corpus: str) -> tuple[str, ...]:
    """Return the names of the sets of a corpus."""
    return tuple(tomllib.loads((FIRST_SIGHT / f"{corpus}.toml").read_text("utf-8")))


def whole_answers(corpus: str, name: str, language: str) -> Iterator[tuple[str, str | None]]:
    """Yield the texts of a set, each with its gold, None for those without a result."""
    both = tomllib.loads((FIRST_SIGHT / f"{corpus}.toml").read_text("utf-8"))[name][language]
    for text in both["answers"]:
        gold = _GOLD.search(text)
        yield _GOLD.sub(r"\1", text), gold[1] if gold else ""
    yield from ((text, None) for text in both["nothing"])


def measure_whole(family: Family, function: Function, name: str, language: str) -> Readings:
    """Run a function on a set."""
    every = [
        (text, gold, run(partial(function, **family.options), text))
        for text, gold in whole_answers(family.corpus, name, language)
    ]
    answers = [(text, gold, found) for text, gold, found in every if gold is not None]
    return Readings(
        [(text, found) for text, gold, found in answers if not family.means_same(found, gold)],
        [(text, found) for text, gold, found in every if gold is None and found not in (None, "", "NULL")],
        len(answers),
    )


def solutions(file: Path) -> tuple[list[tuple[str, str]], list[str]]:
    """Return solutions without their last line, each with its number, and beginnings of solutions.

    One of the four models is drawn for each question, and a word, not the first eight nor the last six.
    """
    draw = random.Random(7)
    complete, cut = [], []
    for line in file.read_text("utf-8").splitlines():
        row = json.loads(line)
        solution = row["answer"] if "answer" in row else row[draw.choice(MODELS)]["solution"]
        steps, _, number = solution.rpartition("\n#### " if "answer" in row else "\nA: ")
        steps = re.sub("<<.*?>>", "", steps)
        blanks = [blank.start() for blank in re.finditer(" ", steps)][8:-6]
        if steps and number:
            complete.append((steps, number.strip()))
            cut += [steps[: draw.choice(blanks)].rstrip()] if blanks else []
    return complete, cut


def _print_solutions(file: Path, function: Function, owner: str) -> None:
    complete, cut = solutions(file)
    right = sum(same_number(run(function, text), number) for text, number in complete)
    read = sum(run(function, text) not in (None, "", "NULL") for text in cut)
    print(f"{owner:12} {right} of {len(complete)} solutions without a marker, reads {read} of {len(cut)} beginnings")


def peer_functions(wheel: Path) -> dict[str, Function]:
    """The functions in OpenCompass' published wheel; of a module nothing but functions and constants is run."""
    found: dict[str, Function] = {}
    with zipfile.ZipFile(wheel) as files:
        for name in FUNCTIONS_AT:
            tree = ast.parse(files.read(name))
            kept: list[ast.stmt] = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.Assign)]
            for node in kept:
                if isinstance(node, ast.FunctionDef):
                    node.decorator_list, node.returns = [], None
                    for argument in (*node.args.args, *node.args.kwonlyargs):
                        argument.annotation = None
            names: dict[str, Any] = {"re": re}
            exec(compile(ast.Module(kept, []), name, "exec"), names)  # the wheel was named by the caller
            found |= {key: value for key, value in names.items() if callable(value)}
    return found


def run(function: Function, text: str) -> Any:
    """Call a function; an exception becomes the text that it returns."""
    try:
        return function(text)
    except Exception as error:  # a fault of the function under test
        return f"{type(error).__name__}: {error}"


def main() -> None:
    """Print a line for each postprocessor, language and set of phrasings."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", type=Path, help="wheel of OpenCompass 0.5.4, of which the same functions are run")
    parser.add_argument("--corpus", type=Path, action="append", help="folder of phrasings; all of them if not given")
    parser.add_argument("--missed", action="store_true", help="print every text that is read wrongly")
    parser.add_argument("--solutions", type=Path, help="of GSM8K, as above; print these figures only")
    args = parser.parse_args()
    peers = peer_functions(args.peer) if args.peer else {}
    if args.solutions:
        _print_solutions(args.solutions, POSTPROCESSORS.get("gsm8k_postprocess"), "ours")
        if peers:
            _print_solutions(args.solutions, peers["gsm8k_postprocess"], "OpenCompass")
        return
    for corpus in args.corpus or CORPORA:
        print(f"\n{corpus.name}\n{'postprocessor':34}{'phrasings':22}{'ours':>14}{'OpenCompass':>14}")
        for subject in subjects(corpus):
            for language in ("en", "zh"):
                for name in (*SETS, "nothing"):
                    _print_line(corpus, subject, language, name, peers.get(subject.name), args.missed)
    if not args.corpus:
        _print_whole_answers(peers, args.missed)


def _print_whole_answers(peers: Mapping[str, Function], show_missed: bool) -> None:
    print(f"\n{'postprocessor':28}{'set':18}{'n':>4}{'recall':>9}{'false reads':>13}   OpenCompass")
    for family in FAMILIES:
        for name, language in ((name, language) for name in sets(family.corpus) for language in ("en", "zh")):
            ours = measure_whole(family, POSTPROCESSORS.get(family.function), name, language)
            shown = f"{_recall(ours):>9}{_read(ours):>13}"
            if family.function in peers:
                theirs = measure_whole(family, peers[family.function], name, language)
                shown += f"{_recall(theirs):>9}{_read(theirs):>9}"
            print(f"{family.function:28}{f'{name}, {language}':18}{ours.n:>4}{shown}")
            if show_missed:
                print(*(f"    {text!r} gives {found!r}" for text, found in [*ours.lost, *ours.read]), sep="\n")


def _print_line(
    corpus: Path, subject: Subject, language: str, name: str, peer: Function | None, show_missed: bool
) -> None:
    function = partial(POSTPROCESSORS.get(subject.name), **subject.options)
    ours = measure(corpus, subject, function, language, name)
    shown = [_share(ours, name)]
    if peer:
        shown.append(_share(measure(corpus, subject, partial(peer, **subject.peer_options), language, name), name))
    columns = "".join(f"{one:>14}" for one in shown)
    print(f"{subject.name:34}{f'{subject.corpus}, {language}, {name}':22}{columns}")
    if show_missed and (name != "nothing" or subject.reads_nothing):
        print(*(f"    {text!r} gives {found!r}" for text, found in ours.missed), sep="\n")


def _share(measured: Measured, name: str) -> str:
    share = Decimal(100 * measured.right) / measured.texts
    return f"{share:.1f} %" if name != "nothing" else f"{100 - share:.1f} % read"


def _recall(measured: Readings) -> str:
    return f"{100 * (measured.n - len(measured.lost)) / measured.n:.0f} %"


def _read(measured: Readings) -> str:
    return f"{100 * len(measured.read) / measured.n:.0f} %"


if __name__ == "__main__":
    main()
