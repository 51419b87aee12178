"""Configs of the peers as their users have them, with rows of our own in the layout of the real data."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from tools.real import further, subjective
from tools.real.suite import Suite, aisbench, opencompass

Files: TypeAlias = Mapping[str, str | Sequence[Mapping[str, Any]]]
Peer: TypeAlias = Literal["opencompass", "ais_bench"]

DEMO_MODEL: Final = Path(__file__).parents[2] / "configs/data/demo_model"


class Case(Struct, frozen=True):
    """One config of a peer.

    Attributes:
        peer: the package whose command runs it.
        config: the file, with ``{url}``, ``{port}`` and ``{model}`` for the server and the folder of the model.
        files: path below the folder of data → its content: text, or rows of a JSONL file.
        real: ask SmolLM2-135M-Instruct instead of the demo model.
        tokens: words that the demo model gets as tokens of their own.
        answers: text in a question → what the mock server answers: always the same, or each of several in turn.
    """

    peer: Peer
    config: str
    files: Files
    real: bool = False
    tokens: Sequence[str] = ()
    answers: Mapping[str, str | Sequence[str]] = {}


def write_files(files: Files, folder: Path) -> None:
    """Write the files of a case."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else "".join(json.dumps(row) + "\n" for row in content)
        path.write_text(text, "utf-8")


def opencompass_config(model: str, datasets: str, more: str = "", max_out_len: int = 24) -> str:
    """Return a config that reads dataset files of OpenCompass."""
    modules = "\n".join(f"    from opencompass.configs.{name} import *" for name in datasets.split())
    return (
        "from mmengine.config import read_base\n"
        "from opencompass.models import (HuggingFace, HuggingFaceBaseModel, HuggingFaceCausalLM,\n"
        "    HuggingFacewithChatTemplate, OpenAISDK)\n"
        "from opencompass.utils.text_postprocessors import extract_non_reasoning_content\n\n"
        f"with read_base():\n{modules}\n\n"
        "datasets = sum((v for k, v in locals().items() if k.endswith('_datasets') and k != 'chatml_datasets'), [])\n"
        f"models = [dict(abbr='demo', max_out_len={max_out_len}, run_cfg=dict(num_gpus=0), {model})]\n{more}"
    )


def aisbench_config(model: str, datasets: str, more: str = "") -> str:
    """Return a config that reads dataset files of AISBench."""
    modules = "\n".join(f"    from ais_bench.benchmark.configs.{name} import *" for name in datasets.split())
    return (
        "from mmengine.config import read_base\n"
        "from ais_bench.benchmark.models import (HuggingFacewithChatTemplate, VLLMCustomAPI, VLLMCustomAPIChat,\n"
        "    VLLMCustomAPIChatStream)\n"
        "from ais_bench.benchmark.utils.postprocess.model_postprocessors import extract_non_reasoning_content\n\n"
        f"with read_base():\n{modules}\n    from ais_bench.benchmark.configs.summarizers.example import summarizer\n\n"
        "datasets = sum((v for k, v in locals().items() if k.endswith('_datasets')), [])\n"
        f"models = [dict(abbr='demo', {model})]\n{more}"
    )


_LOCAL: Final = (
    "path='{model}', tokenizer_path='{model}', max_seq_len=2048, batch_size=1, "
    "model_kwargs=dict(torch_dtype='torch.float')"
)
_BATCHES: Final = _LOCAL.replace("batch_size=1", "batch_size=8")
BASE: Final = f"type=HuggingFaceBaseModel, {_LOCAL}"
_CAUSAL: Final = f"type=HuggingFaceCausalLM, {_LOCAL}"
_CHAT: Final = f"type=HuggingFacewithChatTemplate, {_LOCAL}"
SDK: Final = (
    "type=OpenAISDK, path='{name}', tokenizer_path='{model}', key='none', openai_api_base='{url}', query_per_second=8, "
    "batch_size=2, max_seq_len=4096, temperature=0.0, retry=2, "
    "meta_template=dict(round=[dict(role='HUMAN', api_role='HUMAN'), dict(role='BOT', api_role='BOT', generate=True)])"
)
_SERVICE: Final = (
    "attr='service', path='{model}', model='{name}', stream=False, request_rate=0, retry=2, api_key='', "
    "host_ip='127.0.0.1', host_port={port}, max_out_len=24, batch_size=2, trust_remote_code=False, "
    "generation_kwargs=dict({options})"
)


def service(name: str, options: str = "temperature=0.0") -> str:
    return f"type={name}, " + _SERVICE.replace("{options}", options)


_SUMS: Final = [
    {"question": f"Ann has {a} nuts and finds {b} more. What is {a} + {b}?", "answer": f"Add them.\n#### {a + b}"}
    for a, b in ((2, 3), (10, 4), (1200, 34), (7, 8))
]
_GSM8K: Final[Files] = {"gsm8k/train.jsonl": _SUMS[:2], "gsm8k/test.jsonl": _SUMS}
_ARC_ROWS: Final = [
    {
        "id": f"{again}-{number}",
        "question": {
            "stem": stem + " So" * again,
            "choices": [{"text": text, "label": "ABCD"[n]} for n, text in enumerate(texts)],
        },
        "answerKey": key,
    }
    for again in range(3)
    for number, (stem, texts, key) in enumerate(
        [
            ("What falls from clouds?", ("rain", "a very large number of small stones", "wood", "iron"), "A"),
            ("Which one is a fruit?", ("a chair", "a pear", "a lamp", "a river with many long bends"), "B"),
            ("Which is 2 + 2?", ("1", "2", "3", "4"), "D"),
        ]
    )
]
_ARC: Final[Files] = {f"ARC/ARC-c/ARC-Challenge-{split}.jsonl": _ARC_ROWS for split in ("Dev", "Test")}
_EVERYDAY: Final = Path(__file__).parents[2] / "configs/data/everyday"


def _everyday(name: str) -> list[dict[str, str]]:
    """Return the shipped questions that SmolLM2 is asked."""
    return [json.loads(line) for line in (_EVERYDAY / name / "test.jsonl").read_text("utf-8").splitlines()]


_FACTS: Final[Files] = {
    f"ARC/ARC-c/ARC-Challenge-{split}.jsonl": [
        {
            "id": str(number),
            "question": {
                "stem": row["question"],
                "choices": [{"text": row[label], "label": label} for label in "ABCD"],
            },
            "answerKey": row["answer"],
        }
        for number, row in enumerate(_everyday("facts"))
    ]
    for split in ("Dev", "Test")
}
_WORD_PROBLEMS: Final[Files] = {
    f"gsm8k/{split}.jsonl": [{**row, "answer": f"#### {row['answer']}"} for row in _everyday("sums")[:16]]
    for split in ("train", "test")
}
_WINOGRANDE_ROWS: Final = [
    {"sentence": sentence, "option1": one, "option2": two, "answer": answer}
    for sentence, one, two, answer in (
        ("The boat passed the rock because the _ was fast.", "boat", "rock", "1"),
        ("Ann thanked Eve, since _ had helped with the garden.", "Ann", "Eve", "2"),
        ("The lamp fell on the _ and it broke in two.", "table", "carpet that was so very soft", "1"),
        ("Ben wrote to Cid, and _ was glad to read it.", "Ben", "Cid", "2"),
        ("The key did not fit the lock, so the _ was filed.", "key", "lock", "1"),
        ("Dot sold Fay the bike, because _ had two.", "Dot", "Fay", "1"),
    )
]
_WINOGRANDE: Final[Files] = {
    "winogrande/dev.jsonl": _WINOGRANDE_ROWS,
    "winogrande/train_xs.jsonl": [*_WINOGRANDE_ROWS, *_WINOGRANDE_ROWS],
}
_PIQA_ROWS: Final = [
    {"id": "a", "goal": "Open a jar.", "sol1": "Turn the lid.", "sol2": "Put it in the oven and wait for a full day."},
    {"id": "b", "goal": "Dry a shirt.", "sol1": "Put it under water again and again.", "sol2": "Hang it up."},
    {"id": "c", "goal": "Cut bread.", "sol1": "Use a knife.", "sol2": "Use a spoon."},
]
_PIQA: Final[Files] = {
    **{f"piqa/{split}.jsonl": _PIQA_ROWS for split in ("train", "dev")},
    **{f"piqa/{split}-labels.lst": "0\n1\n0\n" for split in ("train", "dev")},
}
_STORY: Final[Files] = {
    f"xstory_cloze/en_{split}.jsonl": [
        {
            **{f"input_sentence_{n}": f"Ann walked {way} {n} times." for n in range(1, 5)},
            "sentence_quiz1": "She was tired.",
            "sentence_quiz2": "Then the whole of the town came out and sang a long song about walking.",
            "answer_right_ending": 1 + (way == "home"),
        }
        for way in ("home", "far")
    ]
    for split in ("train", "eval")
}
_JIGSAW: Final[Files] = {
    "jigsawmultilingual/test.csv": "".join(
        f"{n},text {n} of a person,{lang}\n" for n, lang in enumerate(("es", "fr", "it", "pt", "ru", "tr") * 3)
    ),
    "jigsawmultilingual/test_labels.csv": "".join(f"{n},{int(n % 4 == 1 or n > 11)}\n" for n in range(18)),
}
_OWN_CSV: Final = "question,A,B,C,answer\nWhat is 1 + 1?,1,2,3,B\nWhich comes first?,x,y,z,A\nWhat is 2 + 2?,4,5,6,A\n"
_OWN_META: Final = json.dumps({"abbr": "mine", "data_type": "mcq", "infer_method": "gen"})
_OWN_OF_AISBENCH: Final = """
from ais_bench.benchmark.datasets import CustomDataset
from ais_bench.benchmark.openicl.icl_evaluator import AccEvaluator
from ais_bench.benchmark.openicl.icl_inferencer import GenInferencer
from ais_bench.benchmark.openicl.icl_prompt_template import PromptTemplate
from ais_bench.benchmark.openicl.icl_retriever import ZeroRetriever
asked = dict(type=PromptTemplate, template='Question: {question}\\nAnswer: {answer}')
datasets = [dict(abbr='own', type=CustomDataset, path='ais_bench/datasets/sums.jsonl', meta_path=None,
    reader_cfg=dict(input_columns=['question', 'max_out_len'], output_column='answer'),
    infer_cfg=dict(prompt_template=asked, retriever=dict(type=ZeroRetriever), inferencer=dict(type=GenInferencer)),
    eval_cfg=dict(evaluator=dict(type=AccEvaluator), pred_role='BOT'))]
"""
_OWN_SUMS: Final = [{"question": f"What is {n} + 1?", "answer": str(n + 1), "max_tokens": 8 + n} for n in range(3)]
_OWN_LOAD: Final = {
    "request_count": 5,
    "output_config": {"method": "percentage", "params": {"percentage_distribute": [[6, 0.4], [9, 0.6]]}},
}
_CHATML: Final = [
    {"question": [{"role": "user", "content": f"What is {n} + {n}?"}], "answer": [str(2 * n)]} for n in range(1, 5)
]

_PNG: Final = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
_PICTURES: Final = "index\timage\tquestion\tA\tB\tanswer\tcategory\tl2_category\n" + "".join(
    f"{n}\t{_PNG}\tWhich colour is picture {n}?\tred\tgreen\t{'AB'[n % 2]}\tcoarse\tcolour\n" for n in range(3)
)

_OWN_CHATML: Final[Files] = {**_GSM8K, "own.jsonl": _CHATML}
_JUDGE: Final = f"dict({SDK}, abbr='judge', max_out_len=16)"
CUTS_THOUGHTS: Final = "pred_postprocessor=dict(type=extract_non_reasoning_content)"
"""The argument of a model whose thoughts are cut, in both peers."""
_SAID: Final = (
    *("A", "B", "A.", "CORRECT", "CORRECT.", "INCORRECT", "The answer is B", "The answer is A", "Grade\n\nA", "a"),
    *("<think>Or B?</think>A", "<think>Or A?</think>\nB", "<think>It is A", "", "I do not know"),
)
"""What a judge says, in many forms."""
_JUDGED_SUMS: Final[list[dict[str, Any]]] = [
    {"question": [{"role": "user", "content": f"What is {n} + {n}?"}], "answer": [str(2 * n + n % 2)]}
    for n in range(21, 21 + len(_SAID))
]
_JUDGED_ROWS: Final[Files] = {**_GSM8K, "own.jsonl": _JUDGED_SUMS}
_VERDICTS: Final = {
    f"{row['question'][0]['content']}\n<Original Question End>": said
    for row, said in zip(_JUDGED_SUMS, _SAID, strict=True)
}
_REPEATED_SUMS: Final = [{"question": f"(repeat {n}) What is 20 + {n}?", "answer": f"#### {20 + n}"} for n in range(5)]
_REPEATED: Final[Files] = {f"gsm8k/{split}.jsonl": _REPEATED_SUMS for split in ("train", "test")}
_REPEATS: Final = {
    f"(repeat {n})": [f"It is {20 + n if right else 7}." for right in rights]
    for n, rights in enumerate(((1, 1, 1, 1), (0, 0, 0, 0), (1, 0, 1, 0), (1, 1, 1, 0), (0, 0, 0, 1)))
}
_THOUGHTS: Final = {
    f"(thought {n})": said
    for n, said in enumerate(
        (
            *("It is 30.", "<think>Is it 9?</think>It is 31.", "It is 32.<think>Or 9?</think>", "<think>It is 33"),
            *("so it is 9?</think>It is 34.", "<think>It is 9</think>", "", "<think>", "<think>a</think>39<think>38"),
        )
    )
}
_THOUGHT_SUMS: Final = [
    {"question": f"({text[1:-1]}) What is 30 + {n}?", "answer": f"#### {30 + n}"} for n, text in enumerate(_THOUGHTS)
]
_THOUGHTFUL: Final[Files] = {f"gsm8k/{split}.jsonl": _THOUGHT_SUMS for split in ("train", "test")}
_JUDGED_BY_AISBENCH: Final = """
for one in datasets:
    one['judge_infer_cfg']['judge_model'].update(model='{name}', path='{model}', host_port={port},
        host_ip='127.0.0.1', stream=False, generation_kwargs=dict(temperature=0.0))
"""
_AIME: Final = [{"question": row["question"][0]["content"], "answer": row["answer"][0]} for row in _JUDGED_SUMS]


def _judged(evaluator: str) -> str:
    """Return a config whose own dataset has an evaluator with a judge."""
    more = f"datasets = []\nchatml_datasets = [dict(abbr='own', path='data/own.jsonl', evaluator={evaluator}, n=1)]\n"
    return opencompass_config(SDK, "datasets.gsm8k.gsm8k_0shot_v2_gen_a58960", more)


_SUITE, _SUITE_OF_AISBENCH = opencompass(), aisbench()


def _modules(suite: Suite) -> str:
    return " ".join(f"datasets.{module}" for module in suite.modules)


_CHAT_SUITE, _PPL_SUITE = further.generation(), further.perplexity()
_TALKS, _CHAT_SUITE_OF_AISBENCH = further.conversations(), further.aisbench()


def _only(few: Sequence[str], *many: str) -> str:
    """Return lines of a config that leave only ``few`` of the datasets whose names begin with ``many``."""
    return f"""
few, many = {(*few,)}, {many}
datasets = list({{one['abbr']: one for one in datasets}}.values())  # a file that joins others has them twice
datasets = [one for one in datasets if one['abbr'] in few or not one['abbr'].startswith(many)]
"""


ROWS: Final = _only(("lukaemon_mmlu_marketing", "ceval-logic", "cmmlu-anatomy"), "lukaemon_mmlu_", "ceval-", "cmmlu-")
_PARTS: Final = ("bbh-", "mmlu_pro_", "LongBench_")
EXAM_ROWS: Final = f"""{_only(further.EXAMS + further.TASKS, "agieval-", *_PARTS)}
for one in datasets:
    if 'llm_evaluator' in one['eval_cfg']['evaluator']:
        one['eval_cfg']['evaluator']['llm_evaluator']['judge_cfg'] = {_JUDGE}
"""
# AISBench starts a process for each dataset.
_FEW_LANGUAGES: Final = _only(
    ("mgsm_en", "mgsm_zh", "bbh-navigate", "mmlu_pro_math", "LongBench_2wikimqa", "LongBench_lcc"), "mgsm_", *_PARTS
)
_RATED: Final = """
from opencompass.partitioners import NaivePartitioner
from opencompass.partitioners.sub_naive import SubjectiveNaivePartitioner
from opencompass.runners import LocalRunner
from opencompass.summarizers import DefaultSubjectiveSummarizer, SubjectiveSummarizer
from opencompass.tasks import OpenICLInferTask
from opencompass.tasks.subjective_eval import SubjectiveEvalTask
infer = dict(partitioner=dict(type=NaivePartitioner),
    runner=dict(type=LocalRunner, max_num_workers=1, task=dict(type=OpenICLInferTask)))
judge_models = [{judge}]
eval = dict(partitioner=dict(type=SubjectiveNaivePartitioner, models=models, judge_models=judge_models),
    runner=dict(type=LocalRunner, max_num_workers=1, task=dict(type=SubjectiveEvalTask)))
summarizer = dict(type=SubjectiveSummarizer, function='subjective')
"""


def _subjective() -> dict[str, Case]:
    """Return a case for each subjective suite."""
    found = {}
    for name, suite in subjective.suites().items():
        more = _RATED.replace("{judge}", _JUDGE)
        if suite.reads_itself:
            more = more.replace("SubjectiveSummarizer, function='subjective'", "DefaultSubjectiveSummarizer")
        config = opencompass_config(SDK, f"datasets.subjective.{suite.module}", more + suite.config)
        found[name] = Case("opencompass", config, suite.files, answers=suite.answers)
    return found


CASES: Final[Mapping[str, Case]] = {
    "suite": Case(
        "opencompass",
        opencompass_config(SDK, _modules(_SUITE), ROWS),
        _SUITE.files,
        answers=_SUITE.answers,
    ),
    "more of a suite": Case(
        "opencompass",
        opencompass_config(SDK, _modules(_CHAT_SUITE), EXAM_ROWS),
        _CHAT_SUITE.files,
        answers=_CHAT_SUITE.answers,
    ),
    "suite, PPL": Case("opencompass", opencompass_config(BASE, _modules(_PPL_SUITE), ROWS), _PPL_SUITE.files),
    "conversations, rated": Case(
        "opencompass",
        opencompass_config(SDK, _modules(_TALKS), _RATED.replace("{judge}", _JUDGE)),
        _TALKS.files,
        answers=_TALKS.answers,
    ),
    **_subjective(),
    "gen, base model": Case("opencompass", opencompass_config(BASE, "datasets.piqa.piqa_gen_1194eb"), _PIQA),
    "gen, chat template": Case("opencompass", opencompass_config(_CHAT, "datasets.ARC_c.ARC_c_gen_1e0de5"), _ARC),
    "few-shot, chat template": Case(
        "opencompass", opencompass_config(_CHAT, "datasets.ARC_c.ARC_c_few_shot_gen_e9b043"), _ARC
    ),
    "PPL": Case("opencompass", opencompass_config(BASE, "datasets.ARC_c.ARC_c_ppl_2ef631"), _ARC),
    "PPL, integer labels": Case("opencompass", opencompass_config(_CAUSAL, "datasets.piqa.piqa_ppl_1cf9f0"), _PIQA),
    "PPL, labels of other length": Case(
        "opencompass", opencompass_config(BASE, "datasets.storycloze.storycloze_ppl_496661"), _STORY
    ),
    "LL": Case("opencompass", opencompass_config(_CAUSAL, "datasets.winogrande.winogrande_ll_c5cf57"), _WINOGRANDE),
    "LL, few-shot": Case(
        "opencompass",
        opencompass_config(_CAUSAL, "datasets.winogrande.winogrande_5shot_ll_252f01"),
        _WINOGRANDE,
    ),
    "CLP": Case(
        "opencompass",
        opencompass_config(_CAUSAL, "datasets.jigsawmultilingual.jigsawmultilingual_clp_fe50d8"),
        _JIGSAW,
        tokens=("yes", "no"),
    ),
    "SmolLM2, PPL": Case(
        "opencompass",
        opencompass_config(BASE, "datasets.ARC_c.ARC_c_ppl_2ef631"),
        _FACTS,
        real=True,
    ),
    "SmolLM2, gen": Case(
        "opencompass",
        opencompass_config(f"type=HuggingFaceBaseModel, {_BATCHES}", "datasets.ARC_c.ARC_c_gen_1e0de5"),
        _FACTS,
        real=True,
    ),
    "SmolLM2, chat template": Case(
        "opencompass",
        opencompass_config(
            f"type=HuggingFacewithChatTemplate, {_BATCHES}",
            "datasets.gsm8k.gsm8k_0shot_v2_gen_a58960",
            "datasets[0]['infer_cfg']['inferencer'].update(max_out_len=64)  # 512 take minutes\n",
        ),
        _WORD_PROBLEMS,
        real=True,
    ),
    "chat API": Case("opencompass", opencompass_config(SDK, "datasets.gsm8k.gsm8k_0shot_v2_gen_a58960"), _GSM8K),
    "n": Case(
        "opencompass",
        opencompass_config(SDK, "datasets.gsm8k.gsm8k_0shot_v2_gen_a58960", "datasets[0].update(n=4, k=[2, 4])\n"),
        _REPEATED,
        answers=_REPEATS,
    ),
    "thoughts": Case(
        "opencompass",
        opencompass_config(f"{SDK}, {CUTS_THOUGHTS}", "datasets.gsm8k.gsm8k_0shot_v2_gen_a58960"),
        _THOUGHTFUL,
        answers=_THOUGHTS,
    ),
    "thoughts that stay": Case(
        "opencompass",
        opencompass_config(SDK, "datasets.gsm8k.gsm8k_0shot_v2_gen_a58960"),
        _THOUGHTFUL,
        answers=_THOUGHTS,
    ),
    "split": Case(
        "opencompass",
        opencompass_config(
            SDK,
            "datasets.gsm8k.gsm8k_0shot_v2_gen_a58960",
            "from opencompass.partitioners import NumWorkerPartitioner\n"
            "from opencompass.runners import LocalRunner\n"
            "from opencompass.tasks import OpenICLInferTask\n"
            "infer = dict(partitioner=dict(type=NumWorkerPartitioner, num_worker=2, min_task_size=1),\n"
            "    runner=dict(type=LocalRunner, max_num_workers=1, task=dict(type=OpenICLInferTask)))\n",
        ),
        _GSM8K,
    ),
    "chatml_datasets": Case(
        "opencompass",
        opencompass_config(
            SDK,
            "datasets.gsm8k.gsm8k_0shot_v2_gen_a58960",
            "chatml_datasets = [dict(abbr='own', path='data/own.jsonl', evaluator=dict(type='math_evaluator'), n=1)]\n",
        ),
        _OWN_CHATML,
    ),
    "judge": Case(
        "opencompass", _judged(f"dict(type='llm_evaluator', judge_cfg={_JUDGE})"), _JUDGED_ROWS, answers=_VERDICTS
    ),
    "judge that thinks": Case(
        "opencompass",
        _judged(f"dict(type='llm_evaluator', judge_cfg=dict({_JUDGE}, {CUTS_THOUGHTS}))"),
        _JUDGED_ROWS,
        answers=_VERDICTS,
    ),
    "cascade": Case(
        "opencompass",
        _judged(
            "dict(type='cascade_evaluator', rule_evaluator=dict(type='math_evaluator'),\n"
            f"    llm_evaluator=dict(type='llm_evaluator', judge_cfg={_JUDGE}))"
        ),
        _JUDGED_ROWS,
        answers=_VERDICTS,
    ),
    "own CSV": Case(
        "opencompass",
        opencompass_config(
            SDK, "datasets.gsm8k.gsm8k_0shot_v2_gen_a58960", "datasets = [dict(path='data/mine.csv')]\n"
        ),
        {"mine.csv": _OWN_CSV, "mine.csv.meta.json": _OWN_META, **_GSM8K},
    ),
    "own CSV, circular": Case(
        "opencompass",
        opencompass_config(
            SDK,
            "datasets.gsm8k.gsm8k_0shot_v2_gen_a58960",
            "datasets = [dict(path='data/mine.csv', data_type='circular-mcq', infer_method='gen')]\n",
        ),
        {"mine.csv": _OWN_CSV, **_GSM8K},
    ),
    "AISBench, own data": Case(
        "ais_bench",
        aisbench_config(
            service("VLLMCustomAPIChat"), "datasets.gsm8k.gsm8k_gen_0_shot_cot_chat_prompt", _OWN_OF_AISBENCH
        ),
        {"sums.jsonl": _OWN_SUMS, "sums.jsonl.meta.json": json.dumps(_OWN_LOAD), **_GSM8K},
    ),
    "AISBench, chat API": Case(
        "ais_bench",
        aisbench_config(service("VLLMCustomAPIChat"), "datasets.gsm8k.gsm8k_gen_0_shot_cot_chat_prompt"),
        _GSM8K,
    ),
    "AISBench, suite": Case(
        "ais_bench",
        aisbench_config(service("VLLMCustomAPIChat"), _modules(_SUITE_OF_AISBENCH), ROWS),
        _SUITE_OF_AISBENCH.files,
        answers=_SUITE_OF_AISBENCH.answers,
    ),
    "AISBench, more of a suite": Case(
        "ais_bench",
        aisbench_config(service("VLLMCustomAPIChatStream"), _modules(_CHAT_SUITE_OF_AISBENCH), _FEW_LANGUAGES),
        _CHAT_SUITE_OF_AISBENCH.files,
        answers=_CHAT_SUITE_OF_AISBENCH.answers,
    ),
    "AISBench, completions API": Case(
        "ais_bench", aisbench_config(service("VLLMCustomAPI"), "datasets.gsm8k.gsm8k_gen_4_shot_cot_str"), _GSM8K
    ),
    "AISBench, stream": Case(
        "ais_bench",
        aisbench_config(service("VLLMCustomAPIChatStream"), "datasets.ARC_c.ARC_c_gen_0_shot_chat_prompt"),
        _ARC,
    ),
    "AISBench, num_return_sequences": Case(
        "ais_bench",
        aisbench_config(
            service("VLLMCustomAPIChat", "temperature=0.5, num_return_sequences=2"),
            "datasets.gsm8k.gsm8k_gen_0_shot_cot_chat_prompt",
        ),
        _GSM8K,
    ),
    "AISBench, n": Case(
        "ais_bench",
        aisbench_config(
            service("VLLMCustomAPIChat"),
            "datasets.gsm8k.gsm8k_gen_0_shot_cot_chat_prompt",
            "datasets[0].update(n=4, k=2)\n",
        ),
        _REPEATED,
        answers=_REPEATS,
    ),
    "AISBench, thoughts": Case(
        "ais_bench",
        aisbench_config(
            f"{service('VLLMCustomAPIChat')}, {CUTS_THOUGHTS}", "datasets.gsm8k.gsm8k_gen_0_shot_cot_chat_prompt"
        ),
        _THOUGHTFUL,
        answers=_THOUGHTS,
    ),
    "AISBench, judge": Case(
        "ais_bench",
        aisbench_config(
            service("VLLMCustomAPIChat"), "datasets.aime2025.aime2025_gen_0_shot_llmjudge", _JUDGED_BY_AISBENCH
        ),
        {"aime2025/aime2025.jsonl": _AIME},
        answers={f"{row['question']}\n<Original Question End>": said for row, said in zip(_AIME, _SAID, strict=True)},
    ),
    "AISBench, PPL": Case(
        "ais_bench", aisbench_config(service("VLLMCustomAPI"), "datasets.piqa.piqa_ppl_0_shot_str"), _PIQA
    ),
    "AISBench, pictures": Case(
        "ais_bench",
        aisbench_config(service("VLLMCustomAPIChat"), "datasets.mmstar.mmstar_gen"),
        {"mmstar/MMStar.tsv": _PICTURES},
    ),
    "AISBench, chat template": Case(
        "ais_bench",
        aisbench_config(
            "type=HuggingFacewithChatTemplate, attr='local', path='{model}', tokenizer_path='{model}', max_out_len=24, "
            "batch_size=1, max_seq_len=2048, model_kwargs=dict(torch_dtype='torch.float'), "
            # Without these keys AISBench ends with a KeyError: it takes them out before it generates.
            "generation_kwargs=dict(is_synthetic=False, batch_size=1, do_performance=False), "
            "run_cfg=dict(num_gpus=0, num_procs=1)",
            "datasets.ARC_c.ARC_c_gen_0_shot_chat_prompt",
        ),
        _ARC,
    ),
}
"""Name → case."""
