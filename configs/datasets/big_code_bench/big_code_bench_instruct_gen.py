"""BigCodeBench, instruct: functions from a description; run it with --allow-code-execution."""

from mmengine.config import read_base

with read_base():
    from .big_code_bench_gen import INSTRUCTION, datasets

PROMPT = INSTRUCTION + '{instruct_prompt}\n'

datasets = [
    {
        **datasets[0],
        'abbr': 'big-code-bench-instruct',
        'reader_cfg': {**datasets[0]['reader_cfg'], 'input_columns': ['instruct_prompt']},
        'infer_cfg': {
            **datasets[0]['infer_cfg'],
            'prompt_template': dict(
                type='PromptTemplate', template=dict(round=[dict(role='HUMAN', prompt=PROMPT)])
            ),
        },
    }
]
