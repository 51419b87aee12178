"""Translate a loaded config of OpenCompass or AISBench into one of this program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Final

from ais_prompt.catalog import PARTS
from ais_prompt.config import Faults, Note
from ais_prompt.errors import ConfigError
from ais_prompt.extensions.peers.agent import without_agents
from ais_prompt.extensions.peers.custom import chatml_dataset, custom_dataset, is_custom, with_paths
from ais_prompt.extensions.peers.dataset import translate_dataset
from ais_prompt.extensions.peers.model import has_default_roles, translate_model
from ais_prompt.extensions.peers.parts import Translation, accepted, inside, is_part
from ais_prompt.extensions.peers.summary import translate_summarizer
from ais_prompt.extensions.peers.table import PEERS

_OF_RUN: Final = {
    "attack": "prompts are not attacked",
    "lark_bot_url": "no messages are sent",
    "read_from_station": "runs are compared by their folders: aisprompt compare",
    "rs_exist_results": "a run is resumed with -r",
    "station_path": "runs are compared by their folders: aisprompt compare",
}
"""Keys at the top of a config that the peers read → why they mean nothing here."""


def translate(
    values: Mapping[str, Any],
    *,
    peer_scores: bool = False,
    in_process: bool = False,
    foreign_summary: bool = False,
    folder: Path | None = None,
    place: Callable[[str], str] = str,
) -> tuple[dict[str, Any], tuple[Note, ...]]:
    """Return the config in terms of this program, and notes on what is dropped or means something else.

    A config that names no part of a peer is returned as it is. What is wrong in other ways is left in place: the
    parser and `check` report it.

    Args:
        values: the loaded config; it is not changed.
        peer_scores: use postprocessors and evaluators that give the peer's numbers.
        in_process: run the models of vLLM and LMDeploy with transformers; else a server is started for them.
        foreign_summary: whether the summarizer was made for any run, so that it may name what is not in this one.
        folder: the folder of the config, where relative paths are looked up too.
        place: from a config path to the words that tell the user where that is.

    Raises:
        ConfigFaults: what is missing to translate it, such as the name of a judge.
    """
    translation = Translation(Faults(place), peer_scores=peer_scores, in_process=in_process)
    values = without_agents(_with_chatml(values, translation), translation)
    translated = dict(values)
    models = _items(values.get("models"))
    translation.has_system_rounds = any(map(_has_system_round, models))
    translation.judges = judges_of(values)
    translation.summarizer = values.get("summarizer")
    translation.repeats = max(map(_sequences, filter(is_part, models)), default=1)
    changed = foreign_summary
    is_aisbench = any(str(one.get("type")).startswith("ais_bench.") for one in models if is_part(one))
    translate_data = partial(_translate_dataset, folder, is_aisbench)
    for key, translate_item in (("models", translate_model), ("datasets", translate_data)):
        if isinstance(items := values.get(key), list | tuple):
            translated[key] = [translate_item(item, f"{key}[{i}]", translation) for i, item in enumerate(items)]
            changed = changed or any(one is not other for one, other in zip(items, translated[key], strict=True))
    if isinstance(combinations := values.get("model_dataset_combinations"), list | tuple):
        translated["model_dataset_combinations"] = [_named(one, values, translated) for one in combinations]
    _repeat(models, translated, translation.faults)
    if changed:
        _rename_doubles(translated, translation)
    summarizer = values.get("summarizer")
    if isinstance(summarizer, Mapping) and (changed or _is_peer(summarizer.get("type"))):
        run = [one for one in _items(translated.get("datasets")) if isinstance(one, Mapping)]
        translated["summarizer"] = translate_summarizer(summarizer, run, "summarizer", translation)
    _translate_running(values, translated, translation, is_peer=changed)
    translation.faults.raise_any()
    return translated, tuple(translation.notes)


def _with_chatml(values: Mapping[str, Any], translation: Translation) -> Mapping[str, Any]:
    """Return a config whose datasets include those of ``chatml_datasets``."""
    items = values.get("chatml_datasets")
    if not isinstance(items, list | tuple) or not items:
        return values
    datasets = list(values.get("datasets") or ())
    places = {one.get("abbr"): n for n, one in enumerate(datasets) if isinstance(one, Mapping)}
    for index, item in enumerate(items):
        if not isinstance(item, Mapping):
            translation.faults.add("it is no dict", f"chatml_datasets[{index}]", "write dict(abbr=..., path=...)")
            continue
        try:
            if item.get("abbr") in places:  # the run folder of OpenCompass has both
                place = places[item["abbr"]]
                datasets[place] = with_paths(datasets[place])
            else:
                datasets.append(chatml_dataset(item, f"chatml_datasets[{index}]", translation))
        except ConfigError as error:
            translation.faults.add(error.what, f"chatml_datasets[{index}]", error.fix)
    return {**{key: value for key, value in values.items() if key != "chatml_datasets"}, "datasets": datasets}


def _translate_running(
    values: Mapping[str, Any], translated: dict[str, Any], translation: Translation, *, is_peer: bool
) -> None:
    """Translate what says where the work is done, and note what else the peers read at the top of a config."""
    infer, evaluation, runner = (values.get(key) for key in ("infer", "eval", "runner"))
    notes = translation.notes
    if isinstance(infer, Mapping):
        translation.known(infer, ("partitioner", "runner"), {}, "infer")
        if "partitioner" in infer and "partitioner" in values:
            notes.note("'infer.partitioner' is not used: the config has a partitioner of its own", "infer.partitioner")
        elif (partitioner := translate_partitioner(infer, translation)) is not None:
            translated["partitioner"] = partitioner
        if "runner" in infer:
            notes.note("'infer.runner' is not used: without `runner`, one process asks everything", "infer.runner")
    if isinstance(evaluation, Mapping) and (is_peer or {"partitioner", "runner"} & evaluation.keys()):
        notes.note("'eval' is not used: scoring runs beside the asking", "eval")
    if isinstance(runner, Mapping) and _is_peer(runner.get("type")):
        notes.note("the runner of a peer is not used: see docs/runners.md", "runner")
        del translated["runner"]
    for key in values.keys() & _OF_RUN.keys() if is_peer else ():
        notes.note(f"{key!r} is not used: {_OF_RUN[key]}", key)


def _translate_dataset(
    folder: Path | None, is_aisbench: bool, values: Any, where: str, translation: Translation
) -> Any:
    if is_custom(values):
        try:
            values = custom_dataset(values, folder, peer_scores=translation.peer_scores, is_aisbench=is_aisbench)
        except ConfigError as error:
            translation.faults.add(error.what, where, error.fix)
            return values
        except (OSError, ValueError) as error:
            what = f"the dataset {values['path']!r} cannot be read: {error}"
            translation.faults.add(what, f"{where}.path", "give a JSONL or CSV file whose first row has 'question'")
            return values
    return translate_dataset(values, where, translation)


def _named(combination: Any, values: Mapping[str, Any], translated: Mapping[str, Any]) -> Any:
    """Return one of ``model_dataset_combinations`` with the names of its models and datasets in place of dicts."""
    if not isinstance(combination, Mapping):
        return combination
    names = {}
    for key, items in combination.items():
        theirs, ours = values.get(key), translated.get(key)
        known = zip(theirs, ours, strict=True) if isinstance(theirs, list | tuple) and isinstance(ours, list) else ()
        abbrs = [(other, one["abbr"]) for other, one in known]
        names[key] = [next((abbr for other, abbr in abbrs if other == item), item) for item in items]
    return names


def _repeat(models: Sequence[Any], translated: dict[str, Any], faults: Faults) -> None:
    """Set ``n`` of the datasets where the peers' models answer each question several times."""
    peer_models = [one for one in models if is_part(one) and _is_peer(one["type"])]
    repeats = {_sequences(model) for model in peer_models}
    if not repeats or repeats == {1} or not isinstance(translated.get("datasets"), list | tuple):
        return
    if len(repeats) > 1 or len(peer_models) < len(models):
        what = "num_return_sequences differs between the models of the config, and here n belongs to the datasets"
        faults.add(what, "models", "run the models one by one")
        return
    [n] = repeats
    of_aisbench = any(model["type"].startswith(f"{PEERS[1]}.") for model in peer_models)
    asked = {"n": n, "k": n} if of_aisbench else {"n": n}
    translated["datasets"] = [
        {**asked, **dataset} if _generates(dataset) and "n" not in dataset else dataset
        for dataset in translated["datasets"]
    ]


def _sequences(model: Mapping[str, Any]) -> int:
    number = inside(model, "generation_kwargs", "num_return_sequences")
    return number if isinstance(number, int) else 1


def _generates(dataset: Any) -> bool:
    """Return whether the inferencer of a translated dataset can ask a question several times."""
    inferencer = inside(dataset, "infer_cfg", "inferencer")
    return is_part(inferencer) and bool(accepted("inferencers", inferencer["type"], ("n",)))


def _rename_doubles(translated: dict[str, Any], translation: Translation) -> None:
    """Give datasets and models of the same name a number: the peers let the later ones overwrite or skip the others."""
    for key in ("models", "datasets"):
        if not isinstance(translated.get(key), list):
            continue
        seen: dict[str, Any] = {}
        kept = []
        for index, item in enumerate(translated[key]):
            abbr = item.get("abbr") if isinstance(item, Mapping) else None
            if isinstance(abbr, str) and seen.get(abbr) == item:
                translation.notes.note(f"{key} that are listed twice are run once", f"{key}[{index}]")
                continue
            if isinstance(abbr, str) and abbr in seen:
                number = next(n for n in count(2) if f"{abbr}_{n}" not in seen)
                translation.notes.note(f"{key} with one abbr get a number: {abbr}_{number}", f"{key}[{index}].abbr")
                item = {**item, "abbr": f"{abbr}_{number}"}
            if isinstance(abbr, str):
                seen[item["abbr"]] = item
            kept.append(item)
        translated[key] = kept


def judges_of(values: Mapping[str, Any]) -> Sequence[Any]:
    """Return the judges of a run: at its top, or only in the partitioner of the evaluation."""
    return _items(values.get("judge_models") or inside(values, "eval", "partitioner", "judge_models"))


def _items(value: Any) -> Sequence[Any]:
    """Return what should be a list; empty if it is none, which the parser reports."""
    return value if isinstance(value, list | tuple) else ()


def _has_system_round(model: Any) -> bool:
    """Return whether the meta template of a model has the role SYSTEM in its round."""
    if not isinstance(model, Mapping):
        return False
    meta = model.get("meta_template")
    if not meta and has_default_roles(str(model.get("type"))):
        return True
    turns = inside(meta, "round")
    return isinstance(turns, list) and any(isinstance(turn, Mapping) and turn.get("role") == "SYSTEM" for turn in turns)


def _is_peer(name: Any) -> bool:
    return isinstance(name, str) and name.partition(".")[0] in PEERS


_FILES: Final = "sizes are read from the data, and shards are recorded in the run folder"
_OWN_FILES: Final = dict.fromkeys(("out_dir", "keep_keys", "force_rebuild", "dataset_size_path"), _FILES)
"""Options about files of the peers → why they mean nothing here."""


def translate_partitioner(section: Mapping[str, Any], translation: Translation) -> dict[str, Any] | None:
    """Return the partitioner that does the same here; None for one without effect, with a note.

    Args:
        section: ``infer`` of the config.
        translation: takes the notes.
    """
    where = "infer.partitioner"
    partitioner = section.get("partitioner")
    if not isinstance(partitioner, Mapping):
        return None
    name = str(partitioner.get("type")).rpartition(".")[2]
    if name not in PARTS["partitioners"]:
        translation.notes.note(f"{name} is not used: each shard asks a part of every dataset", where)
        return None
    translation.notes.note("the partitioner is used in runs with shards only: see docs/runners.md", where)
    kept = [key for key in partitioner if key not in _OWN_FILES]
    return {**translation.known(partitioner, kept, _OWN_FILES, where), "type": name}
