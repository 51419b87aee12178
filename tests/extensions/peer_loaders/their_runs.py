"""Write a run folder with the code of OpenCompass or AISBench; the package of the peer is the argument.

Their config, reader, inferencer, output handler and evaluation task are run; only the model is ours. The data are in
the working directory, and the run folder is made there: ``theirs/20240131_120000``.
"""

from __future__ import annotations

import asyncio
import copy
import re
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from ais_prompt.extensions.peers.code.importing import install_finders, resolve
from ais_prompt.extensions.peers.peer_packages import peer_package
from tools.peer_side import PeerModel, model_class

CHAT: Final = PeerModel(
    is_chat=True,
    meta_template={
        "round": [{"role": "HUMAN", "api_role": "HUMAN"}, {"role": "BOT", "api_role": "BOT", "generate": True}]
    },
)
TIME: Final = "20240131_120000"


def answer_to(prompt: Any) -> str:
    """Return the answer of the model: right for all but the third question."""
    number = int(re.findall(r"(\d)\+", str(prompt))[-1])
    return f"It is {2 * number + (number == 2)}."


def config(package: str) -> dict[str, Any]:
    """Return a config as a user of the peer has it."""
    top = "opencompass" if package == "opencompass" else "ais_bench.benchmark"
    icl = f"{top}.openicl"
    model = {
        "opencompass": {"type": "opencompass.models.OpenAI", "path": "gpt-4", "key": "ENV"},
        "ais_bench": {"type": f"{top}.models.VLLMCustomAPIChat", "attr": "service", "path": "", "model": "gpt-4"},
    }[package]
    dataset = {
        "abbr": "gsm8k",
        "type": f"{top}.datasets.GSM8KDataset",
        "path": "opencompass/gsm8k" if package == "opencompass" else "data/gsm8k",
        "reader_cfg": {"input_columns": ["question"], "output_column": "answer"},
        "infer_cfg": {
            "prompt_template": {
                "type": f"{icl}.icl_prompt_template.PromptTemplate",
                "template": {"round": [{"role": "HUMAN", "prompt": "Q: {question}"}, {"role": "BOT", "prompt": ""}]},
            },
            "retriever": {"type": f"{icl}.icl_retriever.ZeroRetriever"},
            "inferencer": {"type": f"{icl}.icl_inferencer.GenInferencer"},
        },
        "eval_cfg": {
            "evaluator": {"type": f"{top}.datasets.Gsm8kEvaluator"},
            "pred_postprocessor": {"type": f"{top}.datasets.gsm8k_postprocess"},
            "dataset_postprocessor": {"type": f"{top}.datasets.gsm8k_dataset_postprocess"},
        },
    }
    twice = {**copy.deepcopy(dataset), "abbr": "gsm8k_twice", "n": 2, "k": 2}
    return {"models": [{"abbr": "gpt", "max_out_len": 16, "batch_size": 1, **model}], "datasets": [dataset, twice]}


def write(package: str) -> None:
    """Write the run folder."""
    from mmengine.config import Config, ConfigDict

    install_finders({package: str(peer_package(package))})
    folder = Path("theirs") / TIME
    (folder / "configs").mkdir(parents=True)
    theirs = config(package)
    Config(copy.deepcopy(theirs)).dump(folder / "configs" / f"{TIME}_77.py")
    base = model_class(package, CHAT, [])
    registry = "opencompass.registry" if package == "opencompass" else "ais_bench.benchmark.registry"
    answering = _by_opencompass(base) if package == "opencompass" else _by_aisbench(base)
    resolve(f"{registry}.MODELS").register_module(name="Answering", module=answering)
    meta = {"type": "Answering", "abbr": "gpt", "path": "", "meta_template": CHAT.meta_template}
    for dataset in theirs["datasets"]:
        task = {
            "models": [{**meta, "max_out_len": 16, "batch_size": 1}],
            "datasets": [[dataset]],
            "work_dir": str(folder),
            "eval": {"runner": {"task": {"dump_details": True}}},
            "cli_args": {},
        }
        run = _run_opencompass if package == "opencompass" else _run_aisbench
        run(ConfigDict(task), folder)


def _by_opencompass(base: type) -> type:
    class Answering(base):  # type: ignore[misc, valid-type]
        def generate(self, inputs: Any, **_: Any) -> list[str]:
            return [answer_to(prompt) for prompt in inputs]

    return Answering


def _by_aisbench(base: type) -> type:
    class Answering(base):  # type: ignore[misc, valid-type]
        async def generate(self, prompt: Any, _: int, output: Any, **__: Any) -> None:
            output.content, output.success = answer_to(prompt), "3+3" not in str(prompt)
            output.error_info = "" if output.success else "After 2 retries, request failed with exception: 503"

    return Answering


def _run_opencompass(task: Any, _: Path) -> None:
    tasks = "opencompass.tasks"
    resolve(f"{tasks}.openicl_infer.OpenICLInferTask")(task).run()
    resolve(f"{tasks}.openicl_eval.OpenICLEvalTask")(task).run()


def _run_aisbench(task: Any, folder: Path) -> None:
    top = "ais_bench.benchmark"
    [[dataset]], [model] = task["datasets"], task["models"]
    infer = copy.deepcopy(dataset["infer_cfg"])
    built = resolve(f"{top}.utils.config.build.build_dataset_from_cfg")(dataset)
    retriever = resolve(f"{top}.registry.ICL_RETRIEVERS").build(
        {**infer["retriever"], "dataset": built, "prompt_template": infer["prompt_template"]}
    )
    inferencer = resolve(f"{top}.registry.ICL_INFERENCERS").build(
        {**infer["inferencer"], "model_cfg": copy.deepcopy(model), "output_json_filepath": str(folder)}
    )
    handler, output = inferencer.output_handler, folder / "predictions" / model["abbr"]
    (output / "tmp").mkdir(parents=True, exist_ok=True)
    consumer = threading.Thread(target=handler.run_cache_consumer, args=(f"{output}/tmp", "tmp.jsonl", False, 1))

    async def ask_all() -> None:
        consumer.start()
        for row in inferencer.get_data_list(retriever):
            await inferencer.do_request(row, None, None)

    asyncio.run(ask_all())
    handler.stop_cache_consumer()
    consumer.join()
    handler.write_to_json(str(output), False)
    state = SimpleNamespace(update_task_state=lambda _: None)
    resolve(f"{top}.tasks.openicl_eval.OpenICLEvalTask")(task).run(state)


if __name__ == "__main__":
    write(sys.argv[1])
