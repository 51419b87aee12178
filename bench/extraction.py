"""How many answers the postprocessors find, and how often they find one where there is none.

    python -m bench.extraction [--peer OPENCOMPASS_WHEEL]
    python PATH/tools/bench/extraction.py --corpus PATH/tests/phrasings    # in a worktree of an earlier commit

The phrasings of ``tests/phrasings`` are filled with several golds. *Recall* is the share from which the gold comes
back, *false reads* the share of texts without an answer that give one. The folders ``held_out*`` and ``unseen*`` in it
hold phrasings that were written before any rule was tried on them; no rule was tried on ``unseen_final`` before the
rules had been improved on ``unseen_development``, nor on ``unseen_second`` before both. A second column is OpenCompass'
function of the same name, run in place from its published wheel.
"""

from __future__ import annotations

import argparse
import ast
import re
import tomllib
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ais_prompt.postprocess.numbers import to_decimal
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
    args = parser.parse_args()
    peers = peer_functions(args.peer) if args.peer else {}
    for corpus in args.corpus or CORPORA:
        print(f"\n{corpus.name}\n{'postprocessor':34}{'phrasings':22}{'ours':>14}{'OpenCompass':>14}")
        for subject in subjects(corpus):
            for language in ("en", "zh"):
                for name in (*SETS, "nothing"):
                    _print_line(corpus, subject, language, name, peers.get(subject.name), args.missed)


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


if __name__ == "__main__":
    main()
