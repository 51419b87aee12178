"""Options that select a config and the part of it to run. Each option is declared once, in `Options`.

From the fields come the options of the command line (`ais_prompt.cli.options`), the keywords of the Python API
(`ais_prompt.verbs.api`), and what both say about them. Only the standard library is imported: ``--help`` loads this.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache, partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeAlias, get_args

from ais_prompt.errors import ConfigError

if TYPE_CHECKING:
    from ais_prompt.config.load import LoadedConfig
    from ais_prompt.types import Budget

HfType: TypeAlias = Literal["chat", "base"]
OptionGroup: TypeAlias = Literal["config", "run", "sample", "cache", "budget"]
"""What options are about: which config, how much of it and where, which questions, shared answers, limits."""


class Need(NamedTuple):
    """Another option, without which an option means nothing.

    Attributes:
        name: its field.
        what: what is wrong without it, behind the name of the option.
        fix: how to give it.
    """

    name: str
    what: str
    fix: str


@dataclass(frozen=True, slots=True)
class OptionSpec:
    """What a field of `Options` or of a `Session` is as an option; its type and default are those of the field.

    Attributes:
        meaning: what it does, for ``--help`` and for the keyword of the Python API.
        flags: its names on the command line, separated by blanks; empty for that of the field, None for a keyword of
            Python alone.
        group: of the options of `Options`; commands have some groups.
        metavar: what ``--help`` shows for its value.
        least, most: the range of a number.
        words: value on the command line → value of the field, if the type does not say it.
        parse: makes the value of a text; raises ValueError with what is wrong.
        once: refuse it if it is given several times.
        needs: the option that it belongs to.
        is_keyword: whether it is a keyword of the Python API too.
    """

    meaning: str
    flags: str | None = ""
    group: OptionGroup = "config"
    metavar: str | None = None
    least: int | None = None
    most: int | None = None
    words: Mapping[str, object] | None = None
    parse: Callable[[str], object] | None = None
    once: bool = False
    needs: Need | None = None
    is_keyword: bool = False


_everywhere = partial(OptionSpec, is_keyword=True)
_of_data = partial(
    OptionSpec,
    once=True,
    needs=Need(
        "data",
        "describes the file of --data",
        "add --data FILE; in a config it is in infer_cfg or eval_cfg of the dataset",
    ),
)
_OF_SAMPLE = Need("sample", "is about the questions that --sample draws", "add --sample N")


@dataclass(frozen=True)
class Options:
    """What a command line, or a call of the Python API, names: a config, and what of it is run.

    Attributes:
        config: path or shipped name of a config; None if models and datasets are named.
        answered_by: who answered elsewhere; takes the place of the config's models, which are not needed then.
            They answered one dataset, so only one is left.
        answered: ``abbr`` of the dataset that was answered elsewhere; None if the config has only one.
        loaded: a config that is loaded already, in place of all others.
        dataset: the config of a dataset that an extension makes of its options.
        stand_in: the model if none is named, or if its server does not answer, for verbs that ask no model; None
            refuses that.
        ignores_runner: leave out the runner of the config, which a shard does not use.
        options: the options of extensions that are given, by the name of their parameter.
    """

    config: str | None = None
    url: Annotated[
        tuple[str, ...],
        _everywhere(
            "A server, such as http://127.0.0.1:8000/v1, or a provider. Repeat it for replicas.", metavar="URL"
        ),
    ] = ()
    model: Annotated[
        str | None,
        _everywhere(
            "With --url: the model (default: its only one).",
            metavar="NAME",
            needs=Need("url", "is the model of a server", "add --url http://…/v1, or a provider: --url openai"),
        ),
    ] = None
    data: Annotated[
        str | None, OptionSpec("A file with your questions: CSV, Excel, JSONL, …", metavar="FILE", once=True)
    ] = None
    prompt: Annotated[
        tuple[str, ...],
        _of_data(
            'With --data: "Translate: {question}", or @FILE (default: the question). Repeat it to compare prompts.',
            metavar="TEXT",
            once=False,
        ),
    ] = ()
    answer: Annotated[
        str | None, _of_data("With --data: the column of the right answer (default: by name).", metavar="COLUMN")
    ] = None
    postprocessor: Annotated[
        str | None, _of_data("With --data: extracts the answer; none scores the whole text.", metavar="NAME")
    ] = None
    evaluator: Annotated[
        str | None, _of_data("With --data: compares the answer with the right one.", metavar="NAME")
    ] = None
    few_shot: Annotated[
        int | None, _of_data("With --data: show N other rows before each question.", metavar="N", least=1)
    ] = None
    models: Annotated[Sequence[str], _everywhere("Model configs by name; see `aisprompt list`.", metavar="NAME…")] = ()
    datasets: Annotated[
        Sequence[str],
        _everywhere("Dataset configs by name or pattern, or benchmarks: gsm8k is gsm8k_gen.", metavar="NAME…"),
    ] = ()
    hf_path: Annotated[
        str | None, _everywhere("A local model, in place of a model config: a folder or hub id.", metavar="PATH")
    ] = None
    hf_type: Annotated[HfType, _everywhere("With --hf-path (default: chat).")] = "chat"
    overrides: Annotated[
        Sequence[str], _everywhere("Change one value: models.0.max_out_len=64.", "--set", metavar="PATH=VALUE")
    ] = ()
    sweep: Annotated[
        tuple[str, ...],
        _everywhere(
            "Compare values of an option: 'models.*.generation_kwargs.temperature=0,0.7'. Several make a grid.",
            metavar="PATH=V,V…",
        ),
    ] = ()
    sweep_zip: Annotated[
        bool,
        _everywhere(
            "With several --sweep: their first values together, then their second values, in place of a grid.",
            needs=Need("sweep", "is about several --sweep", "add --sweep PATH=V,V"),
        ),
    ] = False
    control: Annotated[
        str | None,
        _everywhere(
            "Spoil the questions: blank or swap columns, or shuffle options. A score above chance needs no reading.",
            metavar="KIND[=COLUMN,…]",
        ),
    ] = None
    summarizer: Annotated[str | None, OptionSpec("The config of the summary.", metavar="NAME")] = None
    dataset_num_runs: Annotated[
        int | None, OptionSpec("Ask every question N times (n of a dataset).", metavar="N", least=1, most=10_000)
    ] = None
    hf_num_gpus: Annotated[int | None, OptionSpec("With --hf-path: spread it over GPUs.", metavar="N", least=0)] = None
    num_prompts: Annotated[
        int | None,
        _everywhere(
            "Only the first N questions of each, which are no random sample: see --sample.",
            "--num-prompts --limit",
            metavar="N",
            least=1,
            group="run",
        ),
    ] = None
    work_dir: Annotated[
        str | None,
        _everywhere("Where run folders are made (default: the config's).", "-w --work-dir", metavar="DIR", group="run"),
    ] = None
    allow_code_execution: Annotated[
        bool | Literal["unsafe"],
        _everywhere(
            "Let evaluators run programs that a model wrote, in a sandbox; =unsafe also where there is none.",
            metavar="[=unsafe]",
            words={"sandboxed": True, "unsafe": "unsafe"},
            group="run",
        ),
    ] = False
    sample: Annotated[
        str | None,
        _everywhere(
            "Draw N questions at random, or as many as an interval of ±POINTS needs. ± is then that of all questions.",
            metavar="N|±POINTS",
            group="sample",
        ),
    ] = None
    sample_by: Annotated[
        str | None,
        _everywhere(
            "With --sample: each value of the column gets its part of the questions, and at least one.",
            metavar="COLUMN",
            needs=_OF_SAMPLE,
            group="sample",
        ),
    ] = None
    sample_seed: Annotated[
        int | None,
        _everywhere(
            "With --sample: other questions (default: 0).", metavar="N", least=0, needs=_OF_SAMPLE, group="sample"
        ),
    ] = None
    cache: Annotated[
        str | None,
        _everywhere(
            "Answers that runs share: what any of them has asked is not asked again.", metavar="DIR", group="cache"
        ),
    ] = None
    max_requests: Annotated[
        int | None,
        OptionSpec(
            "Pause after so many requests of this session (exit code 4); -r resumes.",
            metavar="N",
            least=1,
            group="budget",
        ),
    ] = None
    max_tokens_total: Annotated[
        int | None, OptionSpec("Pause after so many tokens, in and out.", metavar="N", least=1, group="budget")
    ] = None
    max_cost: Annotated[
        float | None,
        OptionSpec(
            "Pause at this cost; every model needs a price in the config.", metavar="X", least=0, group="budget"
        ),
    ] = None
    answered_by: str | None = None
    answered: str | None = None
    loaded: "LoadedConfig | None" = None
    dataset: Mapping[str, Any] | None = None
    stand_in: Mapping[str, Any] | None = None
    ignores_runner: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def names_model(self) -> bool:
        """Whether a model without a config is described."""
        return bool(self.url) or self.hf_path is not None

    @property
    def names_dataset(self) -> bool:
        """Whether any dataset is named."""
        return bool(self.datasets) or self.data is not None or self.dataset is not None

    @property
    def budget(self) -> "Budget":
        """The limits that replace those of the config."""
        from ais_prompt.types import Budget

        return Budget(self.max_requests, self.max_tokens_total, self.max_cost)


class DeclaredOption(NamedTuple):
    """An option: a field and its declaration.

    Attributes:
        name: of the field; the parameter of a command and the keyword of Python have the same name.
        kind: its type.
        default: its default.
        spec: its declaration.
    """

    name: str
    kind: Any
    default: Any
    spec: OptionSpec

    @property
    def flags(self) -> list[str]:
        """Its names on the command line."""
        return [f"--{self.name.replace('_', '-')}"] if self.spec.flags == "" else (self.spec.flags or "").split()

    @property
    def in_words_of_python(self) -> str:
        """The meaning for a keyword, with the form of the option."""
        form = " ".join(filter(None, [max(self.flags, key=len, default=""), self.spec.metavar]))
        return f"{in_python(self.spec.meaning).rstrip('.')}{f' (``{form}``)' if form else ''}."


@cache
def declared_options(owner: type) -> Mapping[str, DeclaredOption]:
    """Return the options among the fields of a dataclass such as `Options`, by name and in their order."""
    found: dict[str, DeclaredOption] = {}
    for one in fields(owner):
        if hasattr(one.type, "__metadata__"):
            kind, spec = get_args(one.type)
            found[one.name] = DeclaredOption(one.name, kind, one.default, spec)
    return found


def refuse_lone_options(options: Any) -> None:
    """Refuse an option without the option that it belongs to.

    Args:
        options: a dataclass such as `Options`.

    Raises:
        ConfigError: the other is not given.
    """
    owner: type = type(options)
    for option in declared_options(owner).values():
        need = option.spec.needs
        if need and getattr(options, option.name) != option.default and not getattr(options, need.name):
            [flag] = option.flags
            raise ConfigError(f"{flag} {need.what}", where=flag, fix=need.fix)


def in_python(text: str) -> str:
    """Name keywords of the Python API in place of options of the command line: ``--sample-by COLUMN``."""
    option = re.compile(r"--(?P<name>[a-z]+(?:-[a-z]+)*)(?P<value> (?=[A-Z]+\b))?")
    text = re.sub(r"`?(?<![\w-])-r(?![\w-])`?", "reuse='latest'", text)
    return option.sub(lambda found: found["name"].replace("-", "_") + ("=" if found["value"] else ""), text)
