"""Does an answer follow instructions that a program can check? IFEval and IFBench."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final, Literal
from unittest.mock import patch

from ais_prompt.errors import ConfigError, DataError
from ais_prompt.metrics import mean_scores
from ais_prompt.registry import EVALUATORS
from ais_prompt.types import SampleScore, Score
from ais_prompt.utils import listed, require, require_installed

Benchmark = Literal["ifeval", "ifbench"]

_EXTRA: Final = "instructions"
_PROMPT_METRICS: Final = ("prompt_strict", "prompt_loose")
_INSTRUCTION_METRICS: Final = ("instruction_strict", "instruction_loose")
_COLUMNS: Final = ("prompt", "instruction_id_list", "kwargs")


@EVALUATORS.register_module()
class InstructionEvaluator:
    """IFEval and IFBench: which instructions of a prompt an answer follows, checked by the package `if-verifiable`.

    - ``prompt_strict``: the share of answers that follow all instructions of their prompt;
    - ``instruction_strict``: the share of all instructions that are followed;
    - ``prompt_loose``, ``instruction_loose``: the same, but an instruction also counts as followed if it is in the
      answer without its first line, its last line, both, or its asterisks;
    - ``strict KIND``: `instruction_strict` of the instructions of one kind, such as ``strict keywords``.

    The gold is a mapping: ``reader_cfg=dict(gold_columns=['prompt', 'instruction_id_list', 'kwargs'], ...)``.
    ``kwargs`` has the arguments of each instruction, as a mapping or as JSON. A few instructions need data of NLTK;
    where they are missing, these samples fail with a message that names the data. Nothing is downloaded.

    Source: Zhou et al. 2023, "Instruction-Following Evaluation for Large Language Models"; Pyatkin et al. 2025,
    "Generalizing Verifiable Instruction Following".

    Args:
        benchmark: whose instructions these are.

    Raises:
        ConfigError: ``benchmark`` is neither.
        MissingExtra: the package is not installed.
    """

    metrics: tuple[str, ...] = (*_PROMPT_METRICS, *_INSTRUCTION_METRICS)

    def __init__(self, benchmark: Benchmark) -> None:
        if benchmark not in ("ifeval", "ifbench"):
            raise ConfigError(f"there are no instructions of {benchmark!r}", fix="write 'ifeval' or 'ifbench'")
        require_installed("if_verifiable", extra=_EXTRA, why=type(self).__name__)
        self.benchmark: Benchmark = benchmark

    def score(self, extracted: Any, gold: Any) -> Mapping[str, float]:
        """Return the metrics of one answer, and ``strict KIND`` of each kind in its prompt, 0 to 1.

        Raises:
            DataError: the gold lacks a column, an instruction is unknown, or data of NLTK are missing.
        """
        prompt, names, arguments = _instructions(gold)
        text = "" if extracted is None else str(extracted)
        verdicts = [self._verdict(name, one, prompt, text) for name, one in zip(names, arguments, strict=True)]
        strict, loose = (list(column) for column in zip(*verdicts, strict=True))
        values = {
            "prompt_strict": float(all(strict)),
            "prompt_loose": float(all(loose)),
            "instruction_strict": sum(strict) / len(strict),
            "instruction_loose": sum(loose) / len(loose),
        }
        kinds = list(map(_kind, names))
        for kind in dict.fromkeys(kinds):
            own = [passed for passed, one in zip(strict, kinds, strict=True) if one == kind]
            values[f"strict {kind}"] = sum(own) / len(own)
        return values

    def aggregate(self, scores: Sequence[SampleScore]) -> list[Score]:
        """Return the mean over prompts, the shares of all instructions, and the shares of each kind."""
        kinds = sorted({kind for score in scores for kind in _kinds_of(score)})
        found = mean_scores(_PROMPT_METRICS, scores)
        found += [_share(metric, None, scores) for metric in _INSTRUCTION_METRICS]
        return found + [_share(f"strict {kind}", kind, scores) for kind in kinds]

    def _verdict(self, name: str, arguments: Mapping[str, Any], prompt: str, text: str) -> tuple[bool, bool]:
        """Return whether an instruction is followed, strictly and loosely."""
        check = _checker(self.benchmark, name, arguments, prompt)
        try:
            return check(text), any(map(check, _variants(text)))
        except LookupError as error:
            resource = next((line.strip() for line in str(error).splitlines() if "nltk.download" in line), "")
            name_of = resource.partition("('")[2].partition("')")[0] or "its data"
            what = f"the instruction {name} needs {name_of} of NLTK, which is not on this machine"
            fix = f"python -m nltk.downloader {name_of}, or set NLTK_DATA to a folder that has it"
            raise DataError(what, fix=fix) from None


def _share(metric: str, kind: str | None, scores: Sequence[SampleScore]) -> Score:
    """Return the share of the instructions of a kind, or of all: the mean over prompts by number of instructions."""

    def weight(score: SampleScore) -> int:
        kinds = _kinds_of(score)
        return len(kinds) if kind is None else kinds.count(kind)

    return mean_scores((metric,), scores, weight_of=weight)[0]


def _kinds_of(score: SampleScore) -> list[str]:
    """Return the kind of each instruction of a prompt; none if its gold cannot be used, for which it failed."""
    names = score.gold.get("instruction_id_list") if isinstance(score.gold, Mapping) else None
    return [_kind(str(name)) for name in names] if isinstance(names, list | tuple) else []


def _kind(name: str) -> str:
    """Return the kind of an instruction: ``keywords`` of ``keywords:existence``."""
    return name.partition(":")[0]


def _instructions(gold: Any) -> tuple[str, list[str], list[Mapping[str, Any]]]:
    """Return the prompt, the names of its instructions, and their arguments."""
    if not isinstance(gold, Mapping) or any(column not in gold for column in _COLUMNS):
        fix = f"reader_cfg=dict(gold_columns={list(_COLUMNS)}, ...)"
        raise DataError(f"the gold has not all of the columns {', '.join(_COLUMNS)}", fix=fix)
    names = list(map(str, gold["instruction_id_list"]))
    arguments = [json.loads(one) if isinstance(one, str) else one for one in gold["kwargs"]]
    if not names or len(names) != len(arguments):
        raise DataError(f"{len(names)} instructions, and arguments for {len(arguments)}", fix="check the data")
    given: list[Mapping[str, Any]] = [
        {key: value for key, value in one.items() if value is not None} for one in arguments
    ]
    return str(gold["prompt"]), names, given


def _checker(benchmark: Benchmark, name: str, arguments: Mapping[str, Any], prompt: str) -> Callable[[str], bool]:
    """Return the check of an instruction: whether a text follows it.

    Raises:
        DataError: there is no such instruction, or it does not take these arguments.
    """
    known = _registry(benchmark)
    if name not in known:
        raise DataError(f"{benchmark} has no instruction {name!r}", fix=f"known ones: {listed(sorted(known))}")
    instruction = known[name](name)
    try:
        instruction.build_description(**arguments)
        if "prompt" in (instruction.get_instruction_args() or ()):
            instruction.build_description(prompt=prompt)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"the instruction {name} does not take {dict(arguments)}: {error}", fix="check the data"
        ) from None
    return lambda text: bool(text.strip()) and bool(instruction.check_following(text))


def _variants(text: str) -> list[str]:
    """Return the texts of which one must follow an instruction loosely."""
    require("if_verifiable", extra=_EXTRA, why="InstructionEvaluator")
    from if_verifiable.common import get_loose_transformations

    return list(get_loose_transformations(text))


@cache
def _registry(benchmark: Benchmark) -> Mapping[str, Any]:
    """Return name → class of the instructions. What the package would download at its import is not downloaded."""
    nltk = require("nltk", extra=_EXTRA, why="InstructionEvaluator")
    with patch.object(nltk, "download", lambda *_, **__: False):
        module = require(f"if_verifiable.{benchmark}.instructions_registry", extra=_EXTRA, why="InstructionEvaluator")
    langdetect = require("langdetect", extra=_EXTRA, why="InstructionEvaluator")
    langdetect.DetectorFactory.seed = 0  # it draws at random otherwise
    found: Mapping[str, Any] = module.INSTRUCTION_DICT
    return found
