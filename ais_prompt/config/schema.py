"""Every kind of dict in a config: its keys, their meaning, and their defaults.

The checks read their keys from these tables, and the reference (`aisprompt describe`) shows them.
The arguments of parts are not listed here: they are the parameters of the class that ``type`` names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Final

from msgspec import Struct

from ais_prompt.steps import extensions
from ais_prompt.utils import key_advice

NEEDED: Final = "(required)"
"""In place of a default: the key must be there."""


class Key(Struct, frozen=True):
    """One key of a dict.

    Attributes:
        name: the key.
        kind: what its value is, in words.
        meaning: what it does.
        default: what holds without it, in words; `NEEDED` if it must be there.
    """

    name: str
    kind: str
    meaning: str
    default: str = "none"


class KeyTable(Struct, frozen=True, dict=True):
    """One kind of dict.

    Attributes:
        title: what it is called.
        where: the config path at which it is written.
        about: one or two sentences on its purpose, and on other keys that it may have.
        keys: its keys, in the order in which people write them.
    """

    title: str
    where: str
    about: str
    keys: tuple[Key, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Return the names of the keys."""
        return tuple(key.name for key in self.keys)

    def unknown(self, values: Mapping[Any, Any]) -> Iterator[tuple[Any, str]]:
        """Yield each key of a dict that is not in the table, with what to write instead."""
        for key in values:
            if key not in self.names:
                yield key, key_advice(str(key), self.names)


SECTIONS: Final = {name: entry for one in extensions() for name, entry in one.sections.items()}
"""Key → section of an extension."""

CONFIG: Final = KeyTable(
    "The config",
    "",
    "The variables at the top of a config file. Other variables are helpers of your own.",
    (
        Key("models", "list of models", "what is evaluated", NEEDED),
        Key("datasets", "list of datasets", "on what", NEEDED),
        Key(
            "model_dataset_combinations",
            "list of dicts",
            "`dict(models=[...], datasets=[...])`, by `abbr` or as above: which models run on which datasets",
            "every model on every dataset",
        ),
        Key("summarizer", "dict", "which scores the summary shows, and averages of groups", "all datasets"),
        Key("gates", "list of texts", "conditions that decide the exit code: `'gsm8k*: accuracy >= 80%'`"),
        Key("budget", "dict", "how much a session may ask", "no limit"),
        *(Key(name, "dict", entry.line) for name, entry in SECTIONS.items()),
        Key("runner", "part", "starts shards, on this machine or elsewhere", "one process asks everything"),
        Key("partitioner", "part", "divides the tasks among shards", "every shard asks a part of each dataset"),
        Key("work_dir", "text", "the folder of all runs", "`'outputs'`"),
        Key("run_name", "text", "the folder of this config below `work_dir`", "the name of the file"),
        Key("cache", "text", "a folder of answers that runs share"),
        Key("custom_imports", "dict", "`dict(imports=['my_parts'])`: modules with parts of your own"),
        Key("paths_relative_to", "text", "the folder that relative paths of data start from", "the config's folder"),
    ),
)

MODEL: Final = KeyTable(
    "A model",
    "models[i]",
    "Further keys are arguments of the class that `type` names.",
    (
        Key("type", "class, name or dotted path", "the class of the model", NEEDED),
        Key("abbr", "text", "its name in files and tables", "from `path`, `model` or `type`"),
        Key("meta_template", "dict, or list of messages", "the format of dialogues"),
        Key("prompt_template", "dict or dotted path", "a role template, in place of `meta_template`"),
        Key("pred_postprocessor", "part", "reads each text before that of the dataset", "the text as it is"),
        Key("price", "dict", "what its tokens cost"),
        Key("run_cfg", "dict", "`num_gpus`: GPUs of a started server or a worker process; other keys are not used"),
    ),
)

PRICE: Final = KeyTable(
    "The price of a model",
    "models[i].price",
    "With it, `check` and `--dry-run` show the cost of a run, and `budget` can limit it.",
    (
        Key("input", "number", "price of the tokens of prompts", NEEDED),
        Key("output", "number", "price of the tokens of answers, thoughts included", NEEDED),
        Key("currency", "text", "the same for all models", "`'USD'`"),
        Key("per", "number", "for how many tokens `input` and `output` are", "`1_000_000`"),
    ),
)

BUDGET: Final = KeyTable(
    "budget",
    "budget",
    "How much one session may ask. When it is used up, the run is paused and can be taken up with `-r`.",
    (
        Key("max_requests", "number", "requests; retries do not count", "no limit"),
        Key("max_tokens_total", "number", "tokens of prompts and answers together", "no limit"),
        Key("max_cost", "number", "cost, in the currency of the prices; every model needs a `price`", "no limit"),
    ),
)

META_TEMPLATE: Final = KeyTable(
    "A meta template",
    "models[i].meta_template",
    "What a model sees around and between the turns of a dialogue.",
    (
        Key("begin", "text or token ids; chat models: a turn or a list of turns", "in front of the whole prompt"),
        Key("round", "list of roles and texts", "the roles of a round, in order", "the turns as the dataset has them"),
        Key("end", "text or token ids; no meaning for chat models", "after a prompt whose log-likelihood is asked"),
        Key("reserved_roles", "list of roles", "roles for `begin` and `end` of templates, outside of rounds"),
        Key("eos_token_id", "token id or list of them", "tokens that end an answer, besides the tokenizer's own"),
    ),
)

META_ROLE: Final = KeyTable(
    "A role of a meta template",
    "models[i].meta_template.round[j]",
    "The text around what one role says. A turn of a dataset may have the same keys, which then count.",
    (
        Key("role", "text", "the name by which turns find it", NEEDED),
        Key("begin", "text, token id, or a list of them", "in front of what is said", "`''`"),
        Key("end", "text, token id, or a list of them", "after it", "`''`"),
        Key("prompt", "text with `{column}`", "what the role says where the dataset says nothing"),
        Key("generate", "True or False", "the model starts to write here", "`False`"),
        Key(
            "api_role",
            "text",
            "chat models: the role of the message: `HUMAN`, `BOT`, `SYSTEM`, `TOOL`",
            "chat models need it",
        ),
    ),
)

MESSAGE: Final = KeyTable(
    "A message of a meta template",
    "models[i].meta_template[j]",
    "A `meta_template` that is a list holds messages in OpenAI form, for `RawPromptTemplate` only.",
    (
        Key("role", "text", "`system`, `user` or `assistant`", NEEDED),
        Key("content", "text", "what is said", NEEDED),
    ),
)

ROLE_TEMPLATE: Final = KeyTable(
    "A role template",
    "models[i].prompt_template",
    "A table of role → (text before, text after), as in torchtune; a role that is missing stays bare.",
    (
        Key("system", "pair of texts", "around what our `SYSTEM` says"),
        Key("user", "pair of texts", "around what our `HUMAN` says"),
        Key("assistant", "pair of texts", "around what our `BOT` says; the model continues after the first"),
        Key("ipython", "pair of texts", "around what our `TOOL` says"),
        Key("tool", "pair of texts", "another name that torchtune has for a tool's messages"),
    ),
)

DATASET: Final = KeyTable(
    "A dataset",
    "datasets[i]",
    "Further keys are arguments of the reader that `type` names.",
    (
        Key("type", "class, name or dotted path", "the reader", "`LocalDataset`"),
        Key("abbr", "text", "its name in files and tables", "from `path`"),
        Key("reader_cfg", "dict", "columns, splits and ranges", NEEDED),
        Key("infer_cfg", "dict", "how the model is asked", NEEDED),
        Key("eval_cfg", "dict", "how answers are scored", "only predictions are made"),
        Key("n", "number", "answers to each question; the `n` of the inferencer comes first", "`1`"),
        Key("k", "number or list", "the k of pass@k; the `k` of `eval_cfg` comes first"),
    ),
)

READER: Final = KeyTable(
    "reader_cfg",
    "datasets[i].reader_cfg",
    "Which columns and rows of the data are used.",
    (
        Key("input_columns", "list of names, or a text of names", "the columns of the question", NEEDED),
        Key("output_column", "name or None", "the column of the gold answer", NEEDED),
        Key("gold_columns", "list of names", "further columns that evaluators are given", "`[]`"),
        Key("train_split", "name", "the split of the in-context examples", "`'train'`"),
        Key("test_split", "name", "the split of the questions", "`'test'`"),
        Key("train_range", "number, fraction or slice", "which rows of the train split", "all"),
        Key("test_range", "number, fraction or slice", "which rows of the test split", "all"),
        Key("input_template", "text, or a `PromptTemplate` of one", "what retrievers compare", "the `input_columns`"),
        Key("media_roots", "list of folders and URLs", "from where else rows may take media", "the data folder only"),
        Key("allow_missing", "bool", "leave out input columns that the data do not have, with a warning", "`False`"),
        Key("control", "dict(type='blank', 'swap' or 'shuffle', columns=[…], seed=0)", "spoil the questions", "`None`"),
        Key("sample", "number, '±points', or dict(size=…, by='column', seed=0)", "draw questions at random", "all"),
    ),
)

INFER: Final = KeyTable(
    "infer_cfg",
    "datasets[i].infer_cfg",
    "Each key is a part, `dict(type=..., **arguments)`.",
    (
        Key("ice_template", "part", "what an in-context example looks like"),
        Key("prompt_template", "part", "what the prompt looks like", "the `ice_template`"),
        Key("retriever", "part", "which rows are shown as examples", "`ZeroRetriever`"),
        Key("inferencer", "part", "how the model is asked", NEEDED),
    ),
)

TEMPLATE: Final = KeyTable(
    "A dialogue",
    "datasets[i].infer_cfg.prompt_template.template",
    "A `template` with only these keys is a dialogue. With any other key it is a table of label → text or dialogue.",
    (
        Key("begin", "text, turn, or a list of both", "in front of the examples and the question"),
        Key("round", "list of turns", "who says what; in-context examples use it alone", NEEDED),
        Key("end", "text, turn, or a list of both", "after the rounds; not sent where the model continues"),
    ),
)

TURN: Final = KeyTable(
    "A turn",
    "datasets[i].infer_cfg.prompt_template.template.round[j]",
    "What one role says. `begin`, `end`, `generate` and `api_role` count before those of the meta template.",
    (
        Key("role", "text", "who says it: `HUMAN`, `BOT`, `SYSTEM`, or a role of your meta template", NEEDED),
        Key("fallback_role", "text", "who says it where the model has no such role"),
        Key("prompt", "text with `{column}`", "what is said", "the `prompt` of the meta template's role"),
        Key("prompt_mm", "dict", "`MMPromptTemplate`: what each kind of medium becomes, in place of `prompt`"),
        Key("begin", "text or list of texts", "in front of what is said", "that of the meta template"),
        Key("end", "text or list of texts", "after it", "that of the meta template"),
        Key("generate", "True or False", "the model starts to write here", "that of the meta template"),
        Key("api_role", "text", "chat models: the role of the message", "that of the meta template"),
    ),
)

EVAL: Final = KeyTable(
    "eval_cfg",
    "datasets[i].eval_cfg",
    "How answers are scored.",
    (
        Key("evaluator", "part", "what compares answers with the gold"),
        Key("pred_postprocessor", "part", "takes the answer out of the model's text", "the text as it is"),
        Key("dataset_postprocessor", "part", "takes the answer out of the gold", "the gold as it is"),
        Key("repeat_evaluator", "part", "gives further scores of repeated answers"),
        Key("k", "number or list", "the k of pass@k"),
        Key("cluster", "name", "the column whose values group samples that depend on each other"),
    ),
)

REFERENCE_ANSWERS: Final = KeyTable(
    "baseline",
    "datasets[i].eval_cfg.evaluator.baseline",
    "The answers that `PairwiseEvaluator` compares with those of the models: a column, or the answers of a model.",
    (
        Key("column", "name", "the column of the data that holds them"),
        Key("model", "name", "`abbr` of the model that gave them: in this run, or in that of `path`"),
        Key("path", "path", "the folder of an earlier run, or a file of its predictions", "this run"),
    ),
)

SUMMARIZER: Final = KeyTable(
    "summarizer",
    "summarizer",
    "Which rows the summary has.",
    (
        Key("dataset_abbrs", "list of names, or of (name, metric)", "its rows, in order", "all datasets"),
        Key("summary_groups", "list of groups", "averages over several datasets", "`[]`"),
        Key(
            "missing",
            "`'fault'` or `'show'`",
            "what a name that is not in the run is: `'show'` has a row `-`",
            "`'fault'`",
        ),
        Key("type", "anything", "accepted from configs of OpenCompass, and not used"),
        Key("attr", "anything", "accepted from configs of AISBench, and not used"),
        Key("calculator", "dict", "as in AISBench: its `type` and `stats_list` say what is shown of a load"),
        Key("prompt_db", "anything", "accepted from configs of OpenCompass, and not used"),
    ),
)

GROUP: Final = KeyTable(
    "A group of the summary",
    "summarizer.summary_groups[i]",
    "The average of several datasets. A group of which no dataset is in the run is left out.",
    (
        Key("name", "text", "the name of its row", NEEDED),
        Key("subsets", "list of names, or of (name, metric)", "the datasets or groups in it", NEEDED),
        Key("weights", "dict of name → number, or `'n'`", "their weights; `'n'`: the number of answers", "equal"),
        Key("metric", "text", "the name of its score", "`naive_average`, `weighted_average`"),
        Key("std", "True or False", "the standard deviation of the scores, in place of the average", "`False`"),
        Key("sum", "True or False", "their sum", "`False`"),
        Key("harmonic_mean", "True or False", "their harmonic mean", "`False`"),
        Key("transforms", "dict of name → expression of `x`", "what a score in percent becomes: `'(2 - x) / 2 * 100'`"),
    ),
)

TABLES: Final = (
    CONFIG,
    BUDGET,
    MODEL,
    PRICE,
    META_TEMPLATE,
    META_ROLE,
    MESSAGE,
    ROLE_TEMPLATE,
    DATASET,
    READER,
    INFER,
    TEMPLATE,
    TURN,
    EVAL,
    REFERENCE_ANSWERS,
    SUMMARIZER,
    GROUP,
)
"""All kinds of dicts of the core, in the order of the reference."""
