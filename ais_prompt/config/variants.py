"""Variants: several items of ``models`` or ``datasets`` in place of one, each with another prompt or other options.

``prompts`` of a dataset and ``--sweep PATH=VALUE,VALUE`` say which. They are written out before the config is parsed:
everything behind sees more models and datasets, each with a ``variant`` that says what distinguishes it. The ``abbr``
of a variant depends on its own values alone, so a value that is added or taken out leaves the others as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.config.items import abbr_of_dataset, abbr_of_model
from ais_prompt.config.keys import PromptKeys
from ais_prompt.config.literals import parse_literal
from ais_prompt.config.load import LoadedConfig
from ais_prompt.config.overrides import changed_item, items_at
from ais_prompt.config.section import ConfigSection, Faults, parse_struct
from ais_prompt.errors import ConfigError
from ais_prompt.utils import digest

Kind: TypeAlias = Literal["models", "datasets"]
KINDS: Final[tuple[Kind, Kind]] = ("models", "datasets")
MARK: Final = "+"
"""Between the name that variants share and their values, in an ``abbr``."""
_ABBRS: Final = {"models": abbr_of_model, "datasets": abbr_of_dataset}
_LONGEST: Final = 24
"""Characters of a value that an ``abbr`` shows whole, and of a prompt that names itself."""
_MOST: Final = 1_000
"""Variants of an item; more are a mistake in most cases."""
_FIX: Final = "write models.0.generation_kwargs.temperature=0,0.7 or 'datasets.*.infer_cfg.retriever.ice_num=0,2,5'"
_CLOSES: Final = {"[": "]", "(": ")", "{": "}"}


class OptionSweep(Struct, frozen=True):
    """Values of one option.

    Attributes:
        kind: whether models or datasets have it.
        path: which of them, and the path below them: ``*.generation_kwargs.temperature``.
        values: at least one; all are different.
    """

    kind: Kind
    path: str
    values: tuple[Any, ...]

    @property
    def where(self) -> str:
        """The sweep in an error."""
        return f"--sweep {self.kind}.{self.path}"


class _Variant(Struct, frozen=True):
    """An item that is written out.

    Attributes:
        values: its config.
        base: the ``abbr`` of the item that it comes from.
        number: of that item.
        point: number of the point that it belongs to, where sweeps go together; None if it belongs to all.
    """

    values: Any
    base: str
    number: int
    point: int | None = None


def read_sweep(text: str) -> OptionSweep:
    """Read ``models.0.generation_kwargs.temperature=0,0.7``; values are separated by commas outside of brackets.

    Raises:
        ConfigError: it is not in this form, or has a value twice.
    """
    path, equals, written = text.partition("=")
    path = re.sub(r"\[(-?\d+|\*)\]", r".\1", path.strip())
    kind, _, rest = path.partition(".")
    where = f"--sweep {text}"
    if not equals or "." not in rest:
        raise ConfigError("this is no sweep", where=where, fix=_FIX)
    if kind not in KINDS:
        raise ConfigError(f"a sweep is about models or datasets, and not about {kind!r}", where=where, fix=_FIX)
    texts = list(_parts(written))
    if not all(texts):
        raise ConfigError("a value is empty", where=where, fix=_FIX)
    values = tuple(map(parse_literal, texts))
    if len({repr(value) for value in values}) < len(values):
        raise ConfigError("a value is there twice", where=where, fix="give each value once; n of a dataset repeats")
    return OptionSweep(kind, rest, values)


def with_variants(loaded: LoadedConfig, sweeps: Sequence[str] = (), *, zipped: bool = False) -> LoadedConfig:
    """Return a config with a model or dataset for each variant; the same config if there are none.

    Args:
        loaded: the config.
        sweeps: as on the command line; each point of their product is a variant.
        zipped: the first values of all sweeps go together, then the second values, in place of the product.

    Raises:
        ConfigError: a sweep leads nowhere, or a prompt does not fit its dataset.
    """
    read = list(map(read_sweep, sweeps))
    if zipped and len({len(sweep.values) for sweep in read}) > 1:
        numbers = " and ".join(str(len(sweep.values)) for sweep in read)
        raise ConfigError(f"the sweeps have {numbers} values", where="--sweep-zip", fix="give each as many values")
    items = {kind: loaded.values.get(kind) for kind in KINDS}
    has_prompts = any(isinstance(one, Mapping) and one.get("prompts") for one in _listed(items["datasets"]))
    if not read and not has_prompts:
        return loaded
    if twice := {one.where for one in read if sum(one.where == other.where for other in read) > 1}:
        raise ConfigError("there are two sweeps of one option", where=twice.pop(), fix="give all values in one")
    made = {kind: list(_variants(kind, items[kind], read, loaded, zipped=zipped)) for kind in KINDS}
    values = dict(loaded.values)
    for kind in KINDS:
        if items[kind]:
            values[kind] = [one.values for one in made[kind]]
    pairs = _pairs(made, values.get("model_dataset_combinations"))
    if pairs is not None:
        values["model_dataset_combinations"] = pairs
    if isinstance(values.get("summarizer"), Mapping):
        values["summarizer"] = _with_all_entries(values["summarizer"], made["datasets"])
    return replace(loaded, values=values, origins={**loaded.origins, **_origins(made, loaded)})


def keep_variants(values: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Return a translated config whose items have the ``variant`` that the items of the same name had before.

    Args:
        values: the config in terms of this program.
        before: the config before it was translated, with all variants written out.
    """
    changed = dict(values)
    for kind in KINDS:
        known = {
            one["abbr"]: one["variant"]
            for one in _listed(before.get(kind))
            if isinstance(one, Mapping) and "variant" in one and "abbr" in one
        }
        if known:
            changed[kind] = [
                {**one, "variant": known[one["abbr"]]} if isinstance(one, Mapping) and one.get("abbr") in known else one
                for one in values[kind]
            ]
    return changed


def name_of_prompt(text: str) -> str:
    """Return a name for a prompt that has none: its first words, with a digest where they do not say all of it."""
    words = "-".join(re.findall(r"\w+", text))
    if len(words) <= _LONGEST and re.fullmatch(r"[\w\s{}]*", text):
        return words
    return f"{words[:_LONGEST].strip('-')}-{digest(text, 4)}"


def _parts(text: str) -> Iterator[str]:
    """Yield the parts between commas that are in no bracket and no quotes."""
    open_: list[str] = []
    quote, start = "", 0
    for place, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote and not _is_escaped(text, place) else quote
        elif sign in "'\"" and (open_ or not text[start:place].strip()):
            quote = sign
        elif sign in _CLOSES:
            open_.append(_CLOSES[sign])
        elif open_ and sign == open_[-1]:
            open_.pop()
        elif sign == "," and not open_:
            yield text[start:place].strip()
            start = place + 1
    yield text[start:].strip()


def _is_escaped(text: str, place: int) -> bool:
    before = text[:place]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _listed(items: Any) -> Sequence[Any]:
    return items if isinstance(items, list | tuple) else ()


def _variants(
    kind: Kind, items: Any, sweeps: Sequence[OptionSweep], loaded: LoadedConfig, *, zipped: bool
) -> Iterator[_Variant]:
    """Yield the variants of all models or datasets, those of one item together."""
    items = _listed(items)
    own: dict[int, list[tuple[str, OptionSweep]]] = {}
    for sweep in sweeps:
        for number, path in items_at(items, sweep.path, kind, sweep.where) if sweep.kind == kind else ():
            if not path:
                raise ConfigError("a sweep changes an option, not a whole item", where=sweep.where, fix=_FIX)
            own.setdefault(number, []).append((path, sweep))
    for number, item in enumerate(items):
        where = f"{kind}[{number}]"
        prompts = item.get("prompts") if kind == "datasets" and isinstance(item, Mapping) else None
        if not isinstance(item, Mapping) or (number not in own and not prompts):
            yield _Variant(item, "", number)  # whatever is wrong with it is said later
            continue
        section = ConfigSection(item, where, Faults(loaded.place))
        base = _ABBRS[kind](section)
        section.faults.raise_any()
        swept = own.get(number, [])
        values = [sweep.values for _, sweep in swept]
        points = list(zip(*values, strict=True) if zipped and swept else product(*values))
        named = _prompts(item, loaded.place(f"{where}.prompts")) if prompts else {"": None}
        if len(points) * len(named) > _MOST:
            what = f"{base} would have {len(points) * len(named):,} variants"
            raise ConfigError(what, where="--sweep", fix=f"give fewer values: at most {_MOST:,} variants")
        for name, prompt in named.items():
            for place, point in enumerate(points):
                changed = {key: value for key, value in item.items() if key != "prompts"}
                if name:
                    infer = changed.get("infer_cfg")
                    infer = infer if isinstance(infer, Mapping) else {}
                    changed["infer_cfg"] = _with_prompt(infer, prompt, loaded.place(f"{where}.prompts.{name}"))
                for (path, sweep), value in zip(swept, point, strict=True):
                    changed = changed_item(changed, path, value, where, sweep.where)
                options = {path: value for (path, _), value in zip(swept, point, strict=True)}
                changed |= _identity(item, base, name, options)
                yield _Variant(changed, base, number, place if zipped and swept else None)


def _prompts(item: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    prompts = item["prompts"]
    if not isinstance(prompts, Mapping) or not all(isinstance(name, str) and name.strip() for name in prompts):
        fix = "write prompts=dict(short='…{question}…', steps='…')"
        raise ConfigError("prompts is no dict of name → prompt", where=where, fix=fix)
    return prompts


def _identity(item: Mapping[str, Any], base: str, prompt: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ``abbr`` and ``variant`` of an item; one that is a variant already keeps what distinguishes it."""
    before: Mapping[str, Any] = found if isinstance(found := item.get("variant"), Mapping) else {}
    lasts = [path.rpartition(".")[2] for path in options]
    parts = [_word(prompt)] if prompt else []
    for path, value in options.items():
        last = path.rpartition(".")[2]
        parts.append(f"{last if lasts.count(last) == 1 else path}={_word(value)}")
    variant = {"of": before.get("of", base)}
    if name := prompt or before.get("prompt", ""):
        variant["prompt"] = name
    if both := {**before.get("options", {}), **options}:
        variant["options"] = both
    return {"abbr": MARK.join([base, *parts]), "variant": variant}


def _word(value: Any) -> str:
    """Return a value as a part of a file's name; what is lost of it is in a digest."""
    text = value if isinstance(value, str) else repr(value)
    kept = re.sub(r"[^\w.+-]+", "-", text).strip("-")
    return kept if kept == text and len(text) <= _LONGEST else f"{kept[:_LONGEST]}-{digest(repr(value), 4)}"


def _pairs(made: Mapping[Kind, Sequence[_Variant]], combinations: Any) -> list[dict[str, Any]] | None:
    """Return ``model_dataset_combinations`` in terms of variants; None if every model runs on every dataset."""
    names = {kind: _names(made[kind]) for kind in KINDS}
    found: list[dict[str, Any]] = []
    for one in _listed(combinations):
        if not isinstance(one, Mapping):
            return None  # said when it is parsed
        found.append({**one, **{kind: _spread(_listed(one.get(kind)), names[kind]) for kind in KINDS}})
    points = {kind: {one.values["abbr"]: one.point for one in made[kind] if one.point is not None} for kind in KINDS}
    if not (points["models"] and points["datasets"]):
        return found or None
    found = found or [{kind: [_name_in(one.values) for one in made[kind]] for kind in KINDS}]
    pairs = []
    for one in found:
        for model in map(_name_in, one["models"]):
            point = points["models"].get(model)
            kept = [
                name
                for name in map(_name_in, one["datasets"])
                if point is None or points["datasets"].get(name, point) == point
            ]
            pairs += [{"models": [model], "datasets": kept}] if kept else []
    return pairs


def _name_in(item: Any) -> Any:
    return item.get("abbr") if isinstance(item, Mapping) else item


def _names(made: Sequence[_Variant]) -> dict[str, list[str]]:
    """Return the name of each item with variants → the names of these."""
    found: dict[str, list[str]] = {}
    for one in made:
        if one.base:
            found.setdefault(one.base, []).append(one.values["abbr"])
    return found


def _spread(items: Sequence[Any], names: Mapping[str, Sequence[str]]) -> list[Any]:
    """Return a list of names, or of items, with all variants in place of a name that has some."""
    return [variant for one in items for variant in names.get(_name_in(one), [one])]


def _with_all_entries(summarizer: Mapping[str, Any], made: Sequence[_Variant]) -> dict[str, Any]:
    """Return the summarizer in terms of variants: an entry for each, and a group for each point of its datasets."""
    names = _names(made)
    changed = dict(summarizer)
    groups: list[Any] = []
    grouped: dict[str, list[str]] = {}
    for group in _listed(summarizer.get("summary_groups")):
        subsets = _listed(group.get("subsets")) if isinstance(group, Mapping) else ()
        bases = {**names, **grouped}
        endings = dict.fromkeys(
            name.removeprefix(_entry_name(one)) for one in subsets for name in bases.get(_entry_name(one), ())
        )
        if not endings:
            groups.append(group)
            continue
        for ending in endings:
            in_group = [_entry(one, ending, bases) for one in subsets]
            weights = group.get("weights")
            if isinstance(weights, Mapping):
                pairs = {_entry_name(one): _entry_name(new) for one, new in zip(subsets, in_group, strict=True)}
                weights = {pairs.get(name, name): weight for name, weight in weights.items()}
            more = {} if weights is None else {"weights": weights}
            groups.append({**group, "name": f"{group.get('name')}{ending}", "subsets": in_group, **more})
        grouped[str(group.get("name"))] = [f"{group.get('name')}{ending}" for ending in endings]
    if groups:
        changed["summary_groups"] = groups
    bases = {**names, **grouped}
    if entries := _listed(summarizer.get("dataset_abbrs")):
        changed["dataset_abbrs"] = [
            new
            for one in entries
            for new in ([_renamed(one, name) for name in bases.get(_entry_name(one), ())] or [one])
        ]
    return changed


def _entry_name(entry: Any) -> Any:
    return entry[0] if isinstance(entry, list | tuple) and entry else entry


def _renamed(entry: Any, name: str) -> Any:
    return [name, *entry[1:]] if isinstance(entry, list | tuple) else name


def _entry(entry: Any, ending: str, names: Mapping[str, Sequence[str]]) -> Any:
    """Return the entry of a group at a point: a dataset without this point is the same at all of them."""
    name = f"{_entry_name(entry)}{ending}"
    return _renamed(entry, name) if name in names.get(_entry_name(entry), ()) else entry


def _origins(made: Mapping[Kind, Sequence[_Variant]], loaded: LoadedConfig) -> dict[str, Any]:
    """Return where each item is written, so that its faults have a file and a line."""
    found = {}
    for kind, items in made.items():
        for number, one in enumerate(items):
            before = f"{kind}[{one.number}]"
            if before in loaded.origins:
                found[f"{kind}[{number}]"] = loaded.origins[before]
            elif loaded.path is not None:
                found[f"{kind}[{number}]"] = loaded.path, before
    return found


def _with_prompt(infer: Mapping[str, Any], prompt: Any, where: str) -> dict[str, Any]:
    """Return an ``infer_cfg`` with another prompt; the given one stays as it is.

    Args:
        infer: of the dataset.
        prompt: a text in place of the question, a dialogue, a dict with the keys of `PromptKeys`, or None for the
            prompt that ``infer_cfg`` has.
        where: its config path.

    Raises:
        ConfigError: the prompt does not fit the template; `ConfigFaults` if its keys are wrong.
    """
    changed = dict(infer)
    if prompt is None:
        return changed
    if isinstance(prompt, str):
        prompt = {"text": prompt}
    if isinstance(prompt, Mapping) and "round" in prompt and prompt.keys() <= {"begin", "round", "end"}:
        prompt = {"template": prompt}
    if not isinstance(prompt, Mapping):
        raise ConfigError(f"a prompt cannot be {prompt!r:.60}", where=where, fix="give a text, a dialogue or a dict")
    faults = Faults(str)
    parse_struct(PromptKeys, prompt, where, faults)
    faults.raise_any()
    parts = ("prompt_template", "ice_template", "retriever", "inferencer")
    changed |= {key: prompt[key] for key in parts if key in prompt}
    if (template := prompt.get("template")) is not None:
        changed["prompt_template"] = {**_template(changed, where), "template": template}
    if (text := prompt.get("text")) is not None:
        changed |= _asked(changed, text, where)
    if (system := prompt.get("system")) is not None:
        changed["prompt_template"] = _with_system(_template(changed, where), system, where)
    if (shots := prompt.get("few_shot")) is not None:
        changed["retriever"] = _with_shots(changed.get("retriever"), shots, where)
    return changed


def _template(infer: Mapping[str, Any], where: str) -> dict[str, Any]:
    part = infer.get("prompt_template") or infer.get("ice_template") or {"type": "PromptTemplate"}
    if not isinstance(part, Mapping):
        raise ConfigError("the prompt_template of the dataset is no dict", where=where, fix="give a prompt_template")
    return dict(part)


def _asked(infer: Mapping[str, Any], text: str, where: str) -> dict[str, Any]:
    """Return the templates with another question: in examples too, if they ask as the prompt does."""
    part = _template(infer, where)
    before = _question_of(part)
    changed = {"prompt_template": _with_question(part, text, where)}
    examples = infer.get("ice_template")
    if "prompt_template" in infer and isinstance(examples, Mapping) and before and _question_of(examples) == before:
        changed["ice_template"] = _with_question(dict(examples), text, where)
    return changed


def _turns(part: Mapping[str, Any]) -> tuple[str, Sequence[Any], str, str]:
    """Return where the turns of a template are: (key, turns, role of the user, key of its text); none of others."""
    template = part.get("template")
    if isinstance(part.get("messages"), Sequence):
        return "messages", part["messages"], "user", "content"
    if isinstance(template, Mapping) and isinstance(template.get("round"), Sequence):
        return "round", template["round"], "HUMAN", "prompt"
    return "", (), "", ""


def _last_question(turns: Sequence[Any], role: str) -> int | None:
    return next((number for number in reversed(range(len(turns))) if _role(turns[number]) == role), None)


def _question_of(part: Mapping[str, Any]) -> Any:
    """Return the text of the last turn of the user; None without one."""
    _, turns, role, key = _turns(part)
    last = _last_question(turns, role)
    return None if last is None else turns[last].get(key)


def _with_question(part: dict[str, Any], text: str, where: str) -> dict[str, Any]:
    place, turns, role, key = _turns(part)
    if (last := _last_question(turns, role)) is not None:
        changed = [{**turn, key: text} if number == last else turn for number, turn in enumerate(turns)]
        if place == "messages":
            return {**part, "messages": changed}
        return {**part, "template": {**part["template"], "round": changed}}
    if isinstance(part.get("template"), str | None) and "messages" not in part:
        return {**part, "template": text}
    what = "the template of the dataset has no turn of the user that the text could replace"
    raise ConfigError(what, where=where, fix="write dict(template=...) in place of the text")


def _with_system(part: dict[str, Any], text: str, where: str) -> dict[str, Any]:
    """Return a template that begins with this system text, in place of its own."""
    place, turns, _, key = _turns(part)
    if place == "messages":
        others = (turn for turn in turns if _role(turn) != "system")
        return {**part, "messages": [{"role": "system", key: text}, *others]}
    template = part.get("template")
    if isinstance(template, str):
        template = {"round": [{"role": "HUMAN", "prompt": template}]}
    if not isinstance(template, Mapping) or "round" not in template:
        raise ConfigError("a system text needs a dialogue", where=where, fix="write dict(template=dict(round=[...]))")
    begin = template.get("begin") or []
    kept = [one for one in ([begin] if isinstance(begin, str) else begin) if _role(one) != "SYSTEM"]
    system = {"role": "SYSTEM", "fallback_role": "HUMAN", "prompt": text}
    round_ = [turn for turn in template["round"] if _role(turn) != "SYSTEM"]
    return {**part, "template": {**template, "begin": [system, *kept], "round": round_}}


def _role(turn: Any) -> Any:
    return turn.get("role") if isinstance(turn, Mapping) else None


def _with_shots(retriever: Any, shots: int, where: str) -> dict[str, Any]:
    if shots == 0:
        return {"type": "ZeroRetriever"}
    part = dict(retriever) if isinstance(retriever, Mapping) else {}
    if "fix_id_list" in part:
        return {**part, "fix_id_list": list(range(shots))}
    if not part or str(part.get("type")).endswith("ZeroRetriever"):
        what = "few_shot needs examples, and infer_cfg has no retriever that finds any"
        raise ConfigError(what, where=where, fix="give a retriever and an ice_template in infer_cfg")
    return {**part, "ice_num": shots}
