"""MMLU without examples, one dataset a subject, the letter read from the answer."""

from mmengine.config import read_base

with read_base():
    from ._subjects import MMLU_SUBJECTS, mmlu_groups

summarizer = dict(summary_groups=mmlu_groups)

PROMPT = (
    '{question}\n\n{options}\n\n'
    'Think step by step. End with a line "Answer: X", where X is the letter of your choice.'
)

datasets = [
    dict(
        abbr=f'mmlu-{subject}',
        type='CatalogDataset',
        benchmark='mmlu',
        only=dict(subject=subject),
        reader_cfg=dict(input_columns=['question', 'options'], output_column='answer'),
        infer_cfg=dict(
            prompt_template=dict(
                type='PromptTemplate',
                template=dict(
                    round=[
                        dict(role='HUMAN', prompt=PROMPT),
                        dict(role='BOT', prompt='{answer}'),
                    ]
                ),
            ),
            inferencer=dict(type='GenInferencer', max_out_len=2048),
        ),
        eval_cfg=dict(
            evaluator=dict(type='AccEvaluator'),
            pred_postprocessor=dict(type='last_option_postprocess', options='ABCD'),
        ),
    )
    for subject in MMLU_SUBJECTS
]
