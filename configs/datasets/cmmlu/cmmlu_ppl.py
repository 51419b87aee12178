"""CMMLU with five examples of its subject, by perplexity: each letter is written as the answer."""

from mmengine.config import read_base

with read_base():
    from ._subjects import CMMLU_SUBJECTS, cmmlu_ppl_groups

summarizer = dict(summary_groups=cmmlu_ppl_groups)

QUESTION = '{question}\n{options}\n答案：'

datasets = [
    dict(
        abbr=f'cmmlu-ppl-{subject}',
        type='CatalogDataset',
        benchmark='cmmlu',
        only=dict(subject=subject),
        reader_cfg=dict(
            input_columns=['question', 'options'],
            output_column='answer',
            train_split='dev',
            test_split='test',
        ),
        infer_cfg=dict(
            ice_template=dict(type='PromptTemplate', template={label: QUESTION + label + '\n\n' for label in 'ABCD'}),
            prompt_template=dict(
                type='PromptTemplate',
                template={label: '</E>' + QUESTION + label for label in 'ABCD'},
                ice_token='</E>',
            ),
            retriever=dict(type='FixKRetriever', fix_id_list=[0, 1, 2, 3, 4]),
            inferencer=dict(type='PPLInferencer', labels=list('ABCD')),
        ),
        eval_cfg=dict(evaluator=dict(type='AccEvaluator')),
    )
    for subject in CMMLU_SUBJECTS
]
