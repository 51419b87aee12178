"""Ask with the inferencers of OpenCompass and AISBench, and keep what a model is given. For a worker process.

Their templates, readers, retrievers and inferencers are run as their own task runs them; only the rows and the model
are ours. The other side is `tools.peer_prompts`.
"""

from __future__ import annotations

import asyncio
import copy
import os
import pickle
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from ais_prompt.extensions.peers.code.importing import install_finders, resolve
from ais_prompt.parts import exception_line
from ais_prompt.processes import serve

ANSWER: Final = "an answer"
"""What every model answers."""
ROLES: Final = {"HUMAN": "user", "BOT": "assistant", "SYSTEM": "system"}
LABEL_BY_LABEL: Final = ("PPLInferencer", "LLInferencer")
"""Inferencers of OpenCompass that ask about all rows with one label after the other."""


class PeerModel(Struct, frozen=True):
    """A model that is asked.

    Attributes:
        is_chat: whether it takes messages, and no text.
        meta_template: of the model.
    """

    is_chat: bool
    meta_template: Mapping[str, Any] | None


class PromptsCall(Struct, frozen=True):
    """A dataset whose prompts are wanted.

    Attributes:
        package: of the peer.
        folder: where that package is.
        dataset: ``reader_cfg`` and ``infer_cfg``, as the peer's config has them.
        rows: split → its rows.
        models: those that are asked.
    """

    package: str
    folder: str
    dataset: Mapping[str, Any]
    rows: Mapping[str, Sequence[Mapping[str, Any]]]
    models: Sequence[PeerModel]


class Asked(Struct, frozen=True):
    """What one model was given.

    Attributes:
        prompts: a text, or messages, each with what is to continue it; in the order of rows.
        error: why their code failed, in one line.
    """

    prompts: Sequence[Any] = ()
    error: str = ""


def asked(call: PromptsCall) -> list[Asked]:
    """Return what each model was given."""
    if call.package not in _INSTALLED:
        install_finders({call.package: call.folder})
        _INSTALLED.add(call.package)
    return [_asked(call, model) for model in call.models]


def _asked(call: PromptsCall, model: PeerModel) -> Asked:
    try:
        with tempfile.TemporaryDirectory() as folder:
            ask = _by_opencompass if call.package == "opencompass" else _by_aisbench
            return Asked(ask(call, model, folder))
    except BaseException as error:  # their code may also call `exit`
        return Asked(error=exception_line(error))


def _by_opencompass(call: PromptsCall, model: PeerModel, folder: str) -> list[Any]:
    from mmengine.config import ConfigDict

    given: list[Any] = []
    config = {
        "models": [_registered(call.package, model, given)],
        "datasets": [[_with_rows(call, "opencompass.datasets.base.BaseDataset")]],
        "work_dir": folder,
    }
    resolve("opencompass.tasks.openicl_infer.OpenICLInferTask")(ConfigDict(config)).run()
    inferencer = str(call.dataset["infer_cfg"]["inferencer"]["type"]).rpartition(".")[2]
    if inferencer not in LABEL_BY_LABEL:
        return given
    rows = len(call.rows[call.dataset["reader_cfg"].get("test_split", "test")])
    return [prompt for row in range(rows) for prompt in given[row::rows]]


def _by_aisbench(call: PromptsCall, model: PeerModel, folder: str) -> list[Any]:
    from mmengine.config import ConfigDict

    given: list[Any] = []
    dataset = ConfigDict(_with_rows(call, "ais_bench.benchmark.datasets.base.BaseDataset"))
    infer = dataset["infer_cfg"]
    registries = "ais_bench.benchmark.registry"
    built = resolve("ais_bench.benchmark.utils.config.build.build_dataset_from_cfg")(dataset)
    templates = {name: infer.get(name) for name in ("prompt_template", "ice_template")}
    retriever = resolve(f"{registries}.ICL_RETRIEVERS").build({**infer["retriever"], "dataset": built, **templates})
    options = {"model_cfg": ConfigDict(_registered(call.package, model, given)), "output_json_filepath": folder}
    inferencer = resolve(f"{registries}.ICL_INFERENCERS").build({"batch_size": 1, **infer["inferencer"], **options})

    async def ask_all() -> None:
        for row in inferencer.get_data_list(retriever):
            await inferencer.do_request(row, None, None)

    asyncio.run(ask_all())
    return given


def _with_rows(call: PromptsCall, base: str) -> dict[str, Any]:
    """Return the dataset's config with a loader that gives the rows; it is registered with the peer."""
    from datasets import Dataset, DatasetDict

    def load(*_: Any, **__: Any) -> Any:
        return DatasetDict({split: Dataset.from_list(list(rows)) for split, rows in call.rows.items()})

    loader = type("GivenRows", (resolve(base),), {"load": staticmethod(load)})
    registry = f"{call.package}.registry" if call.package == "opencompass" else f"{call.package}.benchmark.registry"
    resolve(f"{registry}.LOAD_DATASET").register_module(name="GivenRows", module=loader, force=True)
    return {**copy.deepcopy(dict(call.dataset)), "type": "GivenRows", "abbr": "dataset"}


def _registered(package: str, model: PeerModel, given: list[Any]) -> dict[str, Any]:
    """Return the config of a model that keeps what it is given; it is registered with the peer."""
    registry = "opencompass.registry" if package == "opencompass" else "ais_bench.benchmark.registry"
    resolve(f"{registry}.MODELS").register_module(
        name="GivenModel", module=model_class(package, model, given), force=True
    )
    meta = copy.deepcopy(model.meta_template)
    return {
        "type": "GivenModel",
        "abbr": "model",
        "path": "",
        "meta_template": meta,
        "max_out_len": 16,
        "batch_size": 1,
    }


def model_class(package: str, model: PeerModel, given: list[Any]) -> type:
    """Return a model of the peer that answers `ANSWER` to everything, and adds what it is given to a list."""
    return (_opencompass_model if package == "opencompass" else _aisbench_model)(model, given)


def _opencompass_model(model: PeerModel, given: list[Any]) -> type:
    import torch

    parser = resolve("opencompass.models.base_api.APITemplateParser") if model.is_chat else None

    class Tokenizer:
        def encode(self, text: str, *_: Any) -> list[int]:
            return [len(text)]

    class GivenModel(resolve("opencompass.models.base.BaseModel")):  # type: ignore[misc]
        is_api = model.is_chat
        tokenizer = Tokenizer()

        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            if parser is not None:
                self.template_parser = parser(options["meta_template"])

        def generate(self, inputs: Sequence[Any], **_: Any) -> list[str]:
            given.extend((sent(one, model), "") for one in inputs)
            return [ANSWER] * len(inputs)

        def get_ppl(self, inputs: Sequence[Any], mask_length: Any = None) -> Any:  # noqa: ARG002
            given.extend((sent(one, model), "") for one in inputs)
            return torch.ones(len(inputs))

        def get_loglikelihood(self, inputs: Sequence[Any], continuations: Sequence[str]) -> Any:
            for one, more in zip(inputs, continuations, strict=True):  # their models take it out of the prompt
                prompt = sent(one, model)
                given.append((prompt.removesuffix(more) if isinstance(prompt, str) else prompt, more))
            return torch.ones(len(inputs))

        def get_logits(self, inputs: Sequence[Any]) -> Any:
            given.extend((sent(one, model), "") for one in inputs)
            return torch.zeros(len(inputs), 64, 64), None

        def get_token_len(self, prompt: str) -> int:  # noqa: ARG002
            return 1

    return GivenModel


def _aisbench_model(model: PeerModel, given: list[Any]) -> type:
    module = "ais_bench.benchmark.models"
    base = resolve(f"{module}.api_models.base_api.BaseAPIModel")
    parser = resolve(f"{module}.local_models.base.LMTemplateParser")

    class GivenModel(base):  # type: ignore[misc, valid-type]
        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            if not model.is_chat:
                self.template_parser = parser(options["meta_template"])

        def _get_url(self) -> str:
            return ""

        def get_token_len(self, prompt: str) -> int:  # noqa: ARG002
            return 1

        async def generate(self, prompt: Any, _: int, output: Any, **__: Any) -> None:
            given.append((sent(prompt, model), ""))
            output.content, output.success = ANSWER, True

        async def get_ppl(self, prompt: Any, _: int, output: Any, **__: Any) -> None:
            given.append((sent(prompt, model), ""))
            output.ppl, output.success, output.input = 1.0, True, prompt

    return GivenModel


def sent(prompt: Any, model: PeerModel) -> Any:
    """Return a prompt as the peers' models send it: a text, or messages; a chat model sends a text as one message."""
    if isinstance(prompt, str):
        return [{"role": "user", "content": str(prompt)}] if model.is_chat else str(prompt)
    return [
        dict(turn) if "content" in turn else {"role": ROLES.get(turn["role"], turn["role"]), "content": turn["prompt"]}
        for turn in prompt
    ]


_INSTALLED: set[str] = set()


def _answer(message: bytes) -> bytes:
    return msgspec.msgpack.encode(asked(pickle.loads(message)))


if __name__ == "__main__":
    from tools import peer_side  # calls are values of the module's classes, not of those of `__main__`

    with Path(os.devnull).open("w") as nothing:
        os.dup2(nothing.fileno(), 2)  # what their code prints
    serve(peer_side._answer)
