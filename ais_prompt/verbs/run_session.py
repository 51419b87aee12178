"""Options of one session of a run that its config does not hold. Each option is declared once, in `Session`.

As in `ais_prompt.config.options`, options of the command line and keywords of the Python API come from the fields.
Only the standard library is imported: ``run --help`` loads this.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from ais_prompt.config import OptionSpec

if TYPE_CHECKING:
    from ais_prompt.checks import PromptWarning

RunMode: TypeAlias = Literal["all", "infer", "eval", "viz"]


@dataclass(frozen=True, slots=True)
class FailureLimit:
    """How many samples may fail.

    Attributes:
        number: samples, or percent of all samples.
        percent: whether ``number`` is a percentage.
    """

    number: Fraction
    percent: bool = False

    @classmethod
    def parse(cls, text: str) -> "FailureLimit":
        """Read ``10`` or ``5%``.

        Raises:
            ValueError: it is neither.
        """
        percent = text.endswith("%")
        try:
            # Exactly what is written: as a float, 0.29 % of 10,000 would be less than 29.
            number = Fraction(Decimal(text.removesuffix("%"))) if percent else Fraction(int(text))
        except (ValueError, ArithmeticError):
            number = Fraction(-1)
        if number < 0 or (percent and number > 100):
            raise ValueError(f"{text!r} is neither a number of samples (10) nor a percentage (5%)")
        return cls(number, percent)

    def allows(self, failed: int, asked: int) -> bool:
        """Return whether so many failures are within the limit."""
        return failed <= (self.number * asked / 100 if self.percent else self.number)

    def __str__(self) -> str:
        return f"{float(self.number):.12g}{' %' if self.percent else ''}"


def _longer(text: str) -> int:
    """Return the number of ``max_out_len=N``."""
    name, _, number = text.partition("=")
    if name != "max_out_len" or not number.isdecimal() or not int(number):
        raise ValueError(f"{text!r} is not max_out_len=N, such as max_out_len=8192")
    return int(number)


_everywhere = partial(OptionSpec, is_keyword=True)


@dataclass(frozen=True)
class Session:
    """One session of a run. What only a command does before or after it, such as ``dry_run``, is not for `run_source`.

    Attributes:
        audits: find out whether scores depend on how answers are read.
        command: the command line without secrets, for the record.
        warnings: of the prompts, to be logged before anything is asked.
    """

    mode: Annotated[
        RunMode,
        _everywhere("All, only predictions, only scores of stored predictions, or only the summary", "-m --mode"),
    ] = "all"
    reuse: Annotated[
        str | None,
        _everywhere("Go on with a run: ask only what is missing.", "-r --reuse", metavar="[latest|TIMESTAMP]"),
    ] = None
    retry_truncated: Annotated[
        int | None,
        _everywhere(
            "With -r: ask truncated answers again with this max_out_len. Both answers are kept.",
            metavar="max_out_len=N",
            parse=_longer,
        ),
    ] = None
    save_config: Annotated[
        str | None, OptionSpec("Write the config of this command line; ask nothing.", metavar="FILE")
    ] = None
    max_num_workers: Annotated[
        int | None,
        _everywhere(
            "Compute local models in N worker processes, each with GPUs of its own (default: in this process).",
            metavar="N",
            least=1,
            most=1000,
        ),
    ] = None
    dry_run: Annotated[bool, OptionSpec("Show the tasks, requests, tokens and cost; ask nothing.")] = False
    max_failures: Annotated[
        FailureLimit,
        OptionSpec("More samples than this that failed: exit code 1.", metavar="N|N%", parse=FailureLimit.parse),
    ] = FailureLimit(Fraction(0))
    shard: Annotated[
        str | None,
        OptionSpec("Ask one part of N of the samples: 0/8 to 7/8, or auto/8 in an array job.", metavar="I/N"),
    ] = None
    runner: Annotated[str | None, OptionSpec("Start shards and follow them", metavar="NAME")] = None
    report: Annotated[bool, _everywhere("Whether ``report.html`` is written.", flags=None)] = True
    quiet: Annotated[
        bool,
        _everywhere(
            "Show neither progress nor warnings; ``warnings`` of the run has those of the prompts.", flags=None
        ),
    ] = False
    audits: bool = False
    command: str = ""
    warnings: Sequence["PromptWarning"] = ()
