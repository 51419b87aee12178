"""Compare the prompts of a config with those that the peer's own code makes of the same rows.

Both sides get the same made-up rows and the same models: one that takes texts without and with a meta template, and one
that takes messages. Their side is `tools.peer_side`, in a process of its own.
"""

from __future__ import annotations

import atexit
import pickle
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ais_prompt.config import LoadedConfig, Options, compose_config
from ais_prompt.errors import AisPromptError, MissingExtra, faults_of
from ais_prompt.extensions.peers.peer_packages import peer_package
from ais_prompt.inferencers import Conversation
from ais_prompt.plan import Plan, Task, read_spec
from ais_prompt.processes import Worker, WorkerDied
from ais_prompt.types import (
    Completion,
    DatasetSpec,
    Likelihood,
    LikelihoodQuery,
    PartSpec,
    Request,
    RunSpec,
    Sample,
    prompt_to_json,
)
from ais_prompt.utils import digest
from tools.made_up_rows import MEDIA_ROOTS, MadeUpRows, made_up
from tools.peer_files import FileResult, cause
from tools.peer_side import ANSWER, Asked, PeerModel, PromptsCall

Verdict: TypeAlias = Literal["different", "refused", "corrected", "equal", "fails there"]

SECONDS: Final = 120.0
"""Time limit of a dataset on their side."""
_TEXT_ROLES: Final = {
    "begin": "<s>",
    "round": [
        {"role": "HUMAN", "begin": "<|user|>\n", "end": "<|end|>\n"},
        {"role": "BOT", "begin": "<|bot|>\n", "end": "<|end|>\n", "generate": True},
    ],
    "reserved_roles": [{"role": "SYSTEM", "begin": "<|system|>\n", "end": "<|end|>\n"}],
}
_CHAT_ROLES: Final = {
    "round": [{"role": "HUMAN", "api_role": "HUMAN"}, {"role": "BOT", "api_role": "BOT", "generate": True}],
    "reserved_roles": [{"role": "SYSTEM", "api_role": "SYSTEM"}],
}
MODELS: Final = {
    "text": PeerModel(is_chat=False, meta_template=None),
    "text with roles": PeerModel(is_chat=False, meta_template=_TEXT_ROLES),
    "messages": PeerModel(is_chat=True, meta_template=_CHAT_ROLES),
}
"""Name → a model that both sides ask."""
_WITH_FILES: Final = re.compile(r"(\w.*\.icl_retriever\.)(?:[\w.]*\.)?(?:TopkRetriever|BM25Retriever|MDLRetriever)")


class Comparison(Struct, frozen=True):
    """What came of one prompt setting: ``reader_cfg`` and ``infer_cfg``.

    Attributes:
        setting: digest of both, which is equal for equal settings.
        verdict: ``refused`` by this program; ``corrected``: different on purpose; ``fails there``: their code raises
            an exception.
        why: what differs, or the error; empty if equal.
    """

    setting: str
    verdict: Verdict
    why: str = ""


def prompted(file: Path, name: str) -> FileResult:
    """Compare the prompts of all datasets of a file; a cause is what is different, refused, or fails there."""
    try:
        found = compared(file, name.partition(":")[0])
    except AisPromptError as error:
        return FileResult(name, 0, tuple(map(cause, faults_of(error))))
    causes = dict.fromkeys(f"{one.verdict}: {one.why}"[:200] for one in found if one.verdict != "equal")
    return FileResult(name, len(found), tuple(causes), settings={one.setting: one.verdict for one in found})


def compared(file: Path, package: str) -> list[Comparison]:
    """Compare the prompts of all datasets of a file, each setting once.

    Args:
        file: a dataset config of the peer.
        package: of the peer.

    Raises:
        AisPromptError: the file cannot be read, or the peer is not there.
    """
    if peer_package(package) is None:
        raise MissingExtra(f"{package} is not there", fix="name its folder")
    loaded = compose_config((), (str(file),))
    settings: dict[str, Mapping[str, Any]] = {}
    for dataset in loaded.values["datasets"]:
        setting = {name: dataset.get(name) for name in ("reader_cfg", "infer_cfg")}
        settings.setdefault(digest(repr(setting)), setting)
    return [_compared(key, setting, package, loaded) for key, setting in settings.items()]


def _compared(key: str, setting: Mapping[str, Any], package: str, loaded: LoadedConfig) -> Comparison:
    if not all(isinstance(part, Mapping) for part in setting.values()):
        return Comparison(key, "fails there", "it has no reader_cfg or infer_cfg")
    setting = _without_files_of_others(setting)
    try:
        plan = Plan(_spec(setting, loaded))
        rows = _rows(plan.spec.datasets[0])
    except AisPromptError as error:
        return Comparison(key, "refused", _line(error))
    has_media = "prompt_mm" in repr(setting)
    is_text = plan.spec.datasets[0].infer.inferencer.type == "LLInferencer"  # no chat model takes its prompts
    models = {
        name: model
        for name, model in MODELS.items()
        if (model.is_chat or not has_media) and not (model.is_chat and is_text)
    }
    theirs = _theirs(PromptsCall(package, str(peer_package(package)), setting, rows, tuple(models.values())))
    tasks = {task.spec.model.abbr: task for task in plan.tasks}
    verdicts = [
        Comparison(key, *_verdict(name, tasks[name], asked)) for name, asked in zip(models, theirs, strict=True)
    ]
    # The worst counts, except that CLP and LL inferencers take no messages: other models are compared then.
    return min(verdicts, key=lambda one: get_args(Verdict).index(one.verdict))


def _without_files_of_others(setting: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a setting for the made-up rows, without what needs other files.

    Ranges are for many rows. Retrievers that need an encoder or data of nltk become one that gives as many examples.
    """
    reader = {key: value for key, value in setting["reader_cfg"].items() if key not in ("train_range", "test_range")}
    infer = dict(setting["infer_cfg"])
    retriever = infer.get("retriever")
    if isinstance(retriever, Mapping) and (found := _WITH_FILES.fullmatch(str(retriever.get("type")))):
        ids = list(range(retriever.get("ice_num", 1)))
        infer["retriever"] = {"type": f"{found[1]}FixKRetriever", "fix_id_list": ids}
    return {"reader_cfg": reader, "infer_cfg": infer}


def _verdict(name: str, task: Task, asked: Asked) -> tuple[Verdict, str]:
    try:
        ours = [_plain(request) for sample in task.data.test for request in _requests(task, sample)]
    except AisPromptError as error:
        return ("fails there", asked.error) if asked.error else ("refused", f"{name}: {_line(error)}")
    if asked.error:
        return "fails there", f"{name}: {asked.error}"
    theirs = [list(prompt) for prompt in asked.prompts]
    if ours == theirs:
        return "equal", ""
    if [[_of_others(prompt), more] for prompt, more in ours] == [[_of_others(prompt), more] for prompt, more in theirs]:
        return "corrected", f"{name}: a SYSTEM turn in a round is sent; their code loses it"
    if len(ours) != len(theirs):
        return "different", f"{name}: {len(ours)} prompts here, {len(theirs)} there"
    mine, other = next(pair for pair in zip(ours, theirs, strict=True) if pair[0] != pair[1])
    return "different", f"{name}: {mine!r} here, {other!r} there"


def _spec(setting: Mapping[str, Any], loaded: LoadedConfig) -> RunSpec:
    """Return the config with the models and this one dataset, on made-up rows."""
    models = [
        {"type": "ScriptedModel", "abbr": name, "prompt_style": "messages" if model.is_chat else "text"}
        | ({"meta_template": model.meta_template} if model.meta_template else {})
        for name, model in MODELS.items()
    ]
    dataset = {"type": "MadeUp", "abbr": "dataset", **setting}
    spec = read_spec(Options(loaded=replace(loaded, values={"models": models, "datasets": [dataset]}))).spec
    [parsed] = spec.datasets
    source = PartSpec("tools.made_up_rows.MadeUpRows", made_up(parsed, "letter", varied=True), "datasets[0]")
    reader, infer = replace(parsed.reader, media_roots=MEDIA_ROOTS), replace(parsed.infer, allow_overlap=True)
    return replace(spec, datasets=(replace(parsed, source=source, reader=reader, infer=infer),))


def _rows(dataset: DatasetSpec) -> dict[str, list[Mapping[str, Any]]]:
    reader = MadeUpRows(**dataset.source.args)
    return {split: list(reader.read(split)) for split in reader.splits()}


def _requests(task: Task, sample: Sample) -> Iterator[Request]:
    """Yield what is asked about a sample, with the same answer to everything."""
    conversation: Conversation = task.inferencer.converse(sample, task.shots(sample), task.context)
    completions = None
    while True:
        try:
            requests = conversation.send(completions)  # type: ignore[arg-type]  # None begins a generator
        except StopIteration:
            return
        yield from requests
        completions = [_completion(request) for request in requests]


def _completion(request: Request) -> Completion:
    query = request.decoding
    if not isinstance(query, LikelihoodQuery):
        return Completion(ANSWER, "stop")
    return Completion(finish_reason="stop", likelihood=Likelihood(-1.0, 1, 1, 1, (-1.0,) * len(query.choices)))


def _plain(request: Request) -> list[Any]:
    query = request.decoding
    more = query.continuation if isinstance(query, LikelihoodQuery) else None
    return [_without_files(prompt_to_json(request.prompt)), more or ""]


def _of_others(prompt: Any) -> Any:
    """Return a prompt without messages of the system, and without the empty ones that their code sends for those."""
    if isinstance(prompt, str):
        return prompt
    return [message for message in prompt if message["role"] != "system" and message["content"]]


def _without_files(prompt: Any) -> Any:
    """Return a prompt without what is kept of its files for the journal, which is not sent."""
    if isinstance(prompt, str):
        return prompt
    return [
        message
        if isinstance(message["content"], str)
        else {**message, "content": [{k: v for k, v in part.items() if k != "file"} for part in message["content"]]}
        for message in prompt
    ]


def _line(error: AisPromptError) -> str:
    return "; ".join(f"{type(fault).__name__}: {fault.what}" for fault in faults_of(error))


def _theirs(call: PromptsCall) -> Sequence[Asked]:
    try:
        return msgspec.msgpack.decode(_worker().call(pickle.dumps(call), SECONDS), type=list[Asked])
    except (WorkerDied, TimeoutError) as error:
        _worker().stop()
        _worker.cache_clear()
        return [Asked(error=f"{type(error).__name__} {error}")] * len(call.models)


@cache
def _worker() -> Worker:
    worker = Worker("tools.peer_side")
    atexit.register(worker.stop)
    return worker
