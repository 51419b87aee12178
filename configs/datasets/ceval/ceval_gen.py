"""C-Eval without examples, one dataset a subject, the letter read from the answer."""

from mmengine.config import read_base

with read_base():
    from ._subjects import CEVAL_SUBJECTS, ceval_groups

summarizer = dict(summary_groups=ceval_groups)

PROMPT = (
    '{question}\n\n{options}\n\n'
    '请逐步思考，最后另起一行写“答案：X”，X 是所选选项的字母。'
)

datasets = [
    dict(
        abbr=f'ceval-{subject}',
        type='CatalogDataset',
        benchmark='ceval',
        only=dict(subject=subject),
        reader_cfg=dict(input_columns=['question', 'options'], output_column='answer', test_split='val'),
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
    for subject in CEVAL_SUBJECTS
]
