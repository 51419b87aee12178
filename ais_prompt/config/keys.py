"""Every kind of dict in a config: its keys, their types and defaults, and what they mean.

Each key is a field of one struct, marked with a `Key`. Where the value that a run uses has the same fields, the struct
is that value (`ReaderSpec`); the other structs are here. Parsing (`ConfigSection.read`), the advice on misspellings and
the reference are made from them. The arguments of parts are not listed: they are the parameters of the class that
``type`` names.
"""

import typing
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from types import UnionType
from typing import Annotated, Any, Final, Literal, TypeAlias

from msgspec import NODEFAULT, Meta, Struct
from msgspec.structs import FieldInfo, fields

from ais_prompt.parts import key_advice
from ais_prompt.steps import extensions
from ais_prompt.types import (
    NEEDED,
    Budget,
    ControlSpec,
    Count,
    DrawSpec,
    EvalSpec,
    InferSpec,
    Key,
    MetaTemplateSpec,
    PartSpec,
    Price,
    ReaderSpec,
    ReferenceAnswersSpec,
    RoleSpec,
    Text,
    VariantSpec,
    as_list,
    number_of_gpus,
    printable,
)

SECTIONS: Final = {name: entry for one in extensions() for name, entry in one.sections.items()}
"""Key → section of an extension."""
MODEL_KEYS: Final = {name: entry for one in extensions() for name, entry in one.model_keys.items()}
"""Key of a model → its form, which an extension brings."""
DEFAULT_WORK_DIR: Final = "outputs"
Entries: TypeAlias = tuple[str | tuple[str, str], ...]
ENTRIES: Final = "a list of names, or of (name, metric)"
MESSAGES_FIX: Final = "write dict(role='system', content='...'), or dict(round=[...]) for dialogues"
ENTRY_FIX: Final = "give an abbr, or a list of abbr and metric"


class ModelKeys(Struct, frozen=True, kw_only=True):
    """Further keys are arguments of the class that `type` names.

    Attributes:
        type: the class of the model.
        abbr: its name in files and tables.
        meta_template: the format of dialogues.
        prompt_template: a role template, in place of `meta_template`: role → (before, after).
        price: what its tokens cost.
        pred_postprocessor: reads each text of this model when it is scored, before that of the dataset.
        num_gpus: `num_gpus`: GPUs of a started server or a worker process; other keys are not used.
        variant: what distinguishes it from other variants of the same model.
    """

    type: Annotated[Text, Key("a class, a registered name or a dotted path")]
    args: Mapping[str, Any]
    abbr: Annotated[str, Key("a short name", "from `path`, `model` or `type`")] = ""
    meta_template: Annotated[Mapping[Any, Any] | list[Any] | None, Key("a dict, a list of messages, or None")] = None
    prompt_template: Annotated[
        Mapping[Any, Any] | str | None, Key("a dict of role → (before, after), or a dotted path")
    ] = None
    price: Annotated[Price | None, Key()] = None
    pred_postprocessor: Annotated[PartSpec | None, Key(default="the text as it is")] = None
    num_gpus: Annotated[
        Annotated[int, Meta(ge=0)] | None, Key("dict(num_gpus=...)", fix="write 1", name="run_cfg", read=number_of_gpus)
    ] = None
    variant: Annotated[VariantSpec | None, Key(default="none; `--sweep` writes it")] = None


class MessageKeys(Struct, frozen=True):
    """A `meta_template` that is a list holds messages in OpenAI form, for `RawPromptTemplate` only.

    Attributes:
        role: who says it.
        content: what is said.
    """

    role: Annotated[Literal["system", "user", "assistant"], Key("'system', 'user' or 'assistant'", fix=MESSAGES_FIX)]
    content: Annotated[str, Key()]


class RoleTemplateKeys(Struct, frozen=True):
    """A table of role → (text before, text after), as in torchtune; a role that is missing stays bare.

    Attributes:
        system: around what our `SYSTEM` says.
        user: around what our `HUMAN` says.
        assistant: around what our `BOT` says; the model continues after the first.
        ipython: around what our `TOOL` says.
        tool: another name that torchtune has for a tool's messages.
    """

    system: Annotated[Any, Key("a pair of texts")] = None
    user: Annotated[Any, Key("a pair of texts")] = None
    assistant: Annotated[Any, Key("a pair of texts")] = None
    ipython: Annotated[Any, Key("a pair of texts")] = None
    tool: Annotated[Any, Key("a pair of texts")] = None


class DatasetKeys(Struct, frozen=True, kw_only=True):
    """Further keys are arguments of the reader that `type` names.

    Attributes:
        type: the reader.
        abbr: its name in files and tables.
        reader_cfg: columns, splits and ranges.
        infer_cfg: how the model is asked.
        eval_cfg: how answers are scored.
        n: answers to each question; the `n` of the inferencer comes first.
        k: the k of pass@k; the `k` of `eval_cfg` comes first.
        prompts: name → a text in place of the question, or a dict as below; each is a variant of the dataset. None
            is the prompt of `infer_cfg`.
        variant: what distinguishes it from other variants of the same questions.
    """

    type: Annotated[Text, Key("a class, a registered name or a dotted path")] = "LocalDataset"
    args: Mapping[str, Any]
    abbr: Annotated[str, Key("a short name", "from `path`")] = ""
    reader_cfg: Annotated[ReaderSpec, Key()]
    infer_cfg: Annotated[InferSpec, Key()]
    eval_cfg: Annotated[EvalSpec, Key(default="only predictions are made")] = EvalSpec()
    n: Annotated[tuple[Count, ...], Key("a number from 1, or a list of them", "`1`", read=as_list)] = ()
    k: Annotated[tuple[Count, ...], Key("a number from 1, or a list of them", read=as_list)] = ()
    prompts: Annotated[Mapping[Any, Any] | None, Key("a dict of name → prompt", "that of `infer_cfg`")] = None
    variant: Annotated[VariantSpec | None, Key(default="none; `prompts` and `--sweep` write it")] = None


class PromptKeys(Struct, frozen=True):
    """A prompt in `prompts` that is a dict. What it leaves out is that of `infer_cfg`.

    Attributes:
        text: the question as the user asks it.
        template: the template of the prompt.
        system: a system text.
        few_shot: number of in-context examples.
        prompt_template: a part, in place of that of `infer_cfg`.
        ice_template: a part, in place of that of `infer_cfg`.
        retriever: a part, in place of that of `infer_cfg`.
        inferencer: a part, in place of that of `infer_cfg`.
    """

    text: Annotated[str | None, Key("a text with {column}")] = None
    template: Annotated[Any, Key("a text, or a dialogue")] = None
    system: Annotated[str | None, Key("a text with {column}")] = None
    few_shot: Annotated[Annotated[int, Meta(ge=0)] | None, Key("a number from 0")] = None
    prompt_template: Annotated[PartSpec | None, Key()] = None
    ice_template: Annotated[PartSpec | None, Key()] = None
    retriever: Annotated[PartSpec | None, Key()] = None
    inferencer: Annotated[PartSpec | None, Key()] = None


class EvaluatorKeys(Struct, frozen=True, kw_only=True):
    """One of several evaluators. Further keys are arguments of the class that `type` names.

    Attributes:
        type: the class of the evaluator.
        pred_postprocessor: takes the answer out of the model's text.
        dataset_postprocessor: takes the answer out of the gold.
    """

    type: Annotated[Text, Key("a class, a registered name or a dotted path")]
    args: Mapping[str, Any]
    pred_postprocessor: Annotated[PartSpec | None, Key(default="that of `eval_cfg`")] = None
    dataset_postprocessor: Annotated[PartSpec | None, Key(default="that of `eval_cfg`")] = None


class TemplateKeys(Struct, frozen=True, kw_only=True):
    """A `template` with only these keys is a dialogue. With any other key it is a table of label → text or dialogue.

    Attributes:
        begin: in front of the examples and the question.
        round: who says what; in-context examples use it alone.
        end: after the rounds; not sent where the model continues.
    """

    begin: Annotated[Any, Key("text, turn, or a list of both")] = None
    round: Annotated[Any, Key("a list of turns")]
    end: Annotated[Any, Key("text, turn, or a list of both")] = None


class TurnKeys(Struct, frozen=True):
    """What one role says. `begin`, `end`, `generate` and `api_role` count before those of the meta template.

    Attributes:
        role: who says it: `HUMAN`, `BOT`, `SYSTEM`, or a role of your meta template.
        fallback_role: who says it where the model has no such role.
        prompt: what is said.
        prompt_mm: `MMPromptTemplate`: what each kind of medium becomes, in place of `prompt`.
        begin: in front of what is said.
        end: after it.
        generate: the model starts to write here.
        api_role: chat models: the role of the message.
    """

    role: Annotated[str, Key()]
    fallback_role: Annotated[str | None, Key()] = None
    prompt: Annotated[str | None, Key("a text with `{column}`", "the `prompt` of the meta template's role")] = None
    prompt_mm: Annotated[Mapping[Any, Any] | None, Key()] = None
    begin: Annotated[Any, Key("text or list of texts", "that of the meta template")] = None
    end: Annotated[Any, Key("text or list of texts", "that of the meta template")] = None
    generate: Annotated[bool | None, Key(default="that of the meta template")] = None
    api_role: Annotated[str | None, Key(default="that of the meta template")] = None


class GroupKeys(Struct, frozen=True, kw_only=True):
    """The average of several datasets. A group of which no dataset is in the run is left out.

    Attributes:
        name: the name of its row.
        subsets: the datasets or groups in it.
        weights: their weights; `'n'`: the number of answers; `'@METRIC'`: this score of each.
        metric: the name of its score.
        std: the standard deviation of the scores, in place of the average.
        sum: their sum.
        harmonic_mean: their harmonic mean.
        transforms: what a score in percent becomes: `'(2 - x) / 2 * 100'`.
    """

    name: Annotated[Text, Key("the name of the group")]
    subsets: Annotated[Entries, Key(ENTRIES, NEEDED, ENTRY_FIX)] = ()
    weights: Annotated[Mapping[Any, Any] | str | None, Key("a dict of name → number, 'n', or '@METRIC'", "equal")] = (
        None
    )
    metric: Annotated[str | None, Key("the name of its score", "`naive_average`, `weighted_average`")] = None
    std: Annotated[bool, Key()] = False
    sum: Annotated[bool, Key()] = False
    harmonic_mean: Annotated[bool, Key()] = False
    transforms: Annotated[Mapping[Any, Any] | None, Key("a dict of name → expression of `x`")] = None
    where: str = ""


class SummarizerKeys(Struct, frozen=True):
    """Which rows the summary has.

    Attributes:
        dataset_abbrs: its rows, in order.
        summary_groups: averages over several datasets.
        missing: what a name that is not in the run is: `'show'` has a row `-`.
        type: accepted from configs of OpenCompass, and not used.
        attr: accepted from configs of AISBench, and not used.
        calculator: as in AISBench: its `type` and `stats_list` say what is shown of a load.
        prompt_db: accepted from configs of OpenCompass, and not used.
    """

    dataset_abbrs: Annotated[Entries, Key(ENTRIES, "all datasets", ENTRY_FIX)] = ()
    summary_groups: Annotated[tuple[GroupKeys, ...], Key("a list of groups")] = ()
    missing: Annotated[Literal["fault", "show"], Key("'fault' or 'show'")] = "fault"
    type: Annotated[Any, Key("anything")] = None
    attr: Annotated[Any, Key("anything")] = None
    calculator: Annotated[Any, Key("dict(...)")] = None
    prompt_db: Annotated[Any, Key("anything")] = None
    where: str = "summarizer"


class PairKeys(Struct, frozen=True):
    """Which models run on which datasets.

    Attributes:
        models: the models, by `abbr` or as in the config.
        datasets: the datasets, by `abbr` or as in the config.
    """

    models: Annotated[tuple[Any, ...], Key("a list of models")]
    datasets: Annotated[tuple[Any, ...], Key("a list of datasets")]
    where: str = ""


class ConfigKeys(Struct, frozen=True, kw_only=True):
    """The variables at the top of a config file. Other variables are helpers of your own.

    Attributes:
        models: what is evaluated.
        datasets: on what.
        model_dataset_combinations: `dict(models=[...], datasets=[...])`, by `abbr` or as above: which models run on
            which datasets.
        summarizer: which scores the summary shows, and averages of groups.
        gates: conditions that decide the exit code: `'gsm8k*: accuracy >= 80%'`.
        budget: how much a session may ask.
        runner: starts shards, on this machine or elsewhere.
        partitioner: divides the tasks among shards.
        work_dir: the folder of all runs.
        run_name: the folder of this config below `work_dir`.
        cache: a folder of answers that runs share.
        custom_imports: `dict(imports=['my_parts'])`: modules with parts of your own.
        paths_relative_to: the folder that relative paths of data start from.
    """

    models: Annotated[tuple[Any, ...], Key("a list of models", NEEDED)] = ()
    datasets: Annotated[tuple[Any, ...], Key("a list of datasets", NEEDED)] = ()
    model_dataset_combinations: Annotated[
        tuple[PairKeys, ...], Key("a list of dict(models=[...], datasets=[...])", "every model on every dataset")
    ] = ()
    summarizer: Annotated[SummarizerKeys, Key(default="all datasets")] = SummarizerKeys()
    gates: Annotated[tuple[Any, ...], Key("a list of conditions")] = ()
    budget: Annotated[Budget, Key(default="no limit")] = Budget()
    runner: Annotated[PartSpec | None, Key(default="one process asks everything")] = None
    partitioner: Annotated[PartSpec | None, Key(default="every shard asks a part of each dataset")] = None
    work_dir: Annotated[str, Key("a folder", read=printable)] = DEFAULT_WORK_DIR
    run_name: Annotated[str, Key("the name of a folder", "the name of the file", read=printable)] = ""
    cache: Annotated[str, Key("a folder", read=printable)] = ""
    custom_imports: Annotated[Any, Key("dict(imports=[...])")] = None
    paths_relative_to: Annotated[str, Key("a folder", "the config's folder", read=printable)] = ""


class ConfigKey(Struct, frozen=True):
    """A key of a dict, made from the field of its struct.

    Attributes:
        name: the key.
        field: the field of the struct.
        type: of its values.
        key: its `Key`.
        kind: what its values are, in words with an article.
        default: what holds without it; `msgspec.NODEFAULT` if there is nothing to go on with.
        is_needed: whether it must be there.
        struct: what its value, or each item of it, is parsed into; None if the value is plain.
        is_list: whether the value is a list of these.
        has_texts: whether items of that list may be texts.
    """

    name: str
    field: str
    type: Any
    key: Key
    kind: str
    default: Any
    is_needed: bool
    struct: type[Struct] | None = None
    is_list: bool = False
    has_texts: bool = False

    @property
    def default_words(self) -> str:
        """What holds without it, as the reference shows it."""
        if self.is_needed:
            return NEEDED
        return self.key.default or ("none" if self.default in (None, "", ()) else f"`{self.default!r}`")


@cache
def keys_of(struct: type[Struct]) -> Mapping[str, ConfigKey]:
    """Return the keys that a struct has, by name, in the order of its fields."""
    keys = (_key_of(field) for field in fields(struct))
    return {key.name: key for key in keys if key is not None}


class KeyTable(Struct, frozen=True, dict=True):
    """One kind of dict.

    Attributes:
        title: what it is called.
        where: the config path at which it is written.
        struct: its keys; its docstring says what it is for.
        more: keys of extensions → what they are for; each is a dict.
    """

    title: str
    where: str
    struct: type[Struct]
    more: Mapping[str, str] = {}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the keys."""
        return (*keys_of(self.struct), *self.more)

    def unknown(self, values: Mapping[Any, Any]) -> Iterator[tuple[Any, str]]:
        """Yield each key of a dict that is not in the table, with what to write instead."""
        return ((key, key_advice(str(key), self.names)) for key in values if key not in self.names)


_KINDS: Final[Mapping[Any, str]] = {
    **{str: "a text", bool: "True or False", int: "a number", float: "a number"},
    **{PartSpec: "dict(type=...)", Mapping: "dict(...)"},
}


def _key_of(field: FieldInfo) -> ConfigKey | None:
    if typing.get_origin(field.type) is not Annotated:
        return None
    inner, *metadata = typing.get_args(field.type)
    key = next((one for one in metadata if isinstance(one, Key)), None)
    if key is None:
        return None
    limits = tuple(one for one in metadata if one is not key)
    members = list(_members(field.type))
    items = [item for one in members if typing.get_origin(one) is tuple for item in _members(typing.get_args(one)[0])]
    struct = next((one for one in (*members, *items) if isinstance(one, type) and issubclass(one, Struct)), None)
    default = field.default if field.default_factory is NODEFAULT else field.default_factory()
    first = typing.get_origin(members[0]) or members[0]
    return ConfigKey(
        name=key.name or field.name,
        field=field.name,
        type=Annotated[(inner, *limits)] if limits else inner,
        key=key,
        kind=key.kind or _KINDS.get(first, "dict(...)"),
        default=default,
        is_needed=key.default == NEEDED or default is NODEFAULT,
        struct=None if key.read else struct,
        is_list=struct in items,
        has_texts=str in items,
    )


def _members(kind: Any) -> Iterator[Any]:
    """Yield the types of a union, without their metadata."""
    origin = typing.get_origin(kind)
    if origin is Annotated:
        yield from _members(typing.get_args(kind)[0])
    elif origin in (typing.Union, UnionType):
        for one in typing.get_args(kind):
            yield from _members(one)
    else:
        yield kind


CONFIG: Final = KeyTable("The config", "", ConfigKeys, {name: entry.line for name, entry in SECTIONS.items()})
DATASET: Final = KeyTable("A dataset", "datasets[i]", DatasetKeys)
PROMPT: Final = KeyTable("A prompt", "datasets[i].prompts[name]", PromptKeys)
READER: Final = KeyTable("reader_cfg", "datasets[i].reader_cfg", ReaderSpec)
INFER: Final = KeyTable("infer_cfg", "datasets[i].infer_cfg", InferSpec)
EVAL: Final = KeyTable("eval_cfg", "datasets[i].eval_cfg", EvalSpec)
META_TEMPLATE: Final = KeyTable("A meta template", "models[i].meta_template", MetaTemplateSpec)
META_ROLE: Final = KeyTable("A role of a meta template", "models[i].meta_template.round[j]", RoleSpec)
ROLE_TEMPLATE: Final = KeyTable("A role template", "models[i].prompt_template", RoleTemplateKeys)
TEMPLATE: Final = KeyTable("A dialogue", "datasets[i].infer_cfg.prompt_template.template", TemplateKeys)
TURN: Final = KeyTable("A turn", "datasets[i].infer_cfg.prompt_template.template.round[j]", TurnKeys)
SUMMARIZER: Final = KeyTable("summarizer", "summarizer", SummarizerKeys)
GROUP: Final = KeyTable("A group of the summary", "summarizer.summary_groups[i]", GroupKeys)
TABLES: Final = (
    CONFIG,
    KeyTable("A combination of models and datasets", "model_dataset_combinations[i]", PairKeys),
    KeyTable("budget", "budget", Budget),
    KeyTable("A model", "models[i]", ModelKeys, {name: entry.line for name, entry in MODEL_KEYS.items()}),
    KeyTable("The price of a model", "models[i].price", Price),
    META_TEMPLATE,
    META_ROLE,
    KeyTable("A message of a meta template", "models[i].meta_template[j]", MessageKeys),
    ROLE_TEMPLATE,
    KeyTable("variant", "models[i].variant", VariantSpec),
    DATASET,
    PROMPT,
    READER,
    KeyTable("control", "datasets[i].reader_cfg.control", ControlSpec),
    KeyTable("sample", "datasets[i].reader_cfg.sample", DrawSpec),
    INFER,
    TEMPLATE,
    TURN,
    EVAL,
    KeyTable("One of several evaluators", "datasets[i].eval_cfg.evaluator[j]", EvaluatorKeys),
    KeyTable("baseline", "datasets[i].eval_cfg.evaluator.baseline", ReferenceAnswersSpec),
    SUMMARIZER,
    GROUP,
)
"""All kinds of dicts of the core, in the order of the reference."""
