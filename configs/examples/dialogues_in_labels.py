"""A dialogue for each label, scored by perplexity, as configs for MMLU have it; a scripted model that likes B best."""

from ais_prompt import FixKRetriever, PPLInferencer, PromptTemplate

LABELS = ['A', 'B', 'C', 'D']
QUESTION = '{question}\nA. {A}\nB. {B}\nC. {C}\nD. {D}\nAnswer: '
INSTRUCTION = 'The following are multiple choice questions (with answers) about physics.\n'


def dialogue(label, begin=()):
    """The question, answered with a label."""
    return dict(begin=list(begin), round=[dict(role='HUMAN', prompt=QUESTION), dict(role='BOT', prompt=label)])


models = [
    dict(
        type='ScriptedModel',
        abbr='likes-b',
        prompt_style='text',
        likelihoods={r'Answer: B\n$': 1.0, '': 2.0},
        meta_template=dict(
            round=[dict(role='HUMAN'), dict(role='BOT', end='\n', generate=True)],
            reserved_roles=[dict(role='SYSTEM', end='\n')],
        ),
    )
]
datasets = [
    dict(
        abbr='physics',
        type='LocalDataset',
        path='data/examples/labels',
        reader_cfg=dict(input_columns=['question', *LABELS], output_column='answer'),
        infer_cfg=dict(
            ice_template=dict(type=PromptTemplate, template={label: dialogue(label) for label in LABELS}),
            prompt_template=dict(
                type=PromptTemplate,
                template={
                    label: dialogue(label, [dict(role='SYSTEM', fallback_role='HUMAN', prompt=INSTRUCTION), '</E>'])
                    for label in LABELS
                },
                ice_token='</E>',
            ),
            retriever=dict(type=FixKRetriever, fix_id_list=[0, 1]),
            inferencer=dict(type=PPLInferencer),
        ),
        eval_cfg=dict(evaluator=dict(type='AccEvaluator')),
    )
]
