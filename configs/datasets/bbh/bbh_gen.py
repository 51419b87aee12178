"""BIG-Bench Hard without examples, one dataset a task, what follows "answer is" compared with the gold."""

TASKS = [
    'boolean_expressions', 'causal_judgement', 'date_understanding', 'disambiguation_qa', 'dyck_languages',
    'formal_fallacies', 'geometric_shapes', 'hyperbaton', 'logical_deduction_five_objects',
    'logical_deduction_seven_objects', 'logical_deduction_three_objects', 'movie_recommendation',
    'multistep_arithmetic_two', 'navigate', 'object_counting', 'penguins_in_a_table',
    'reasoning_about_colored_objects', 'ruin_names', 'salient_translation_error_detection', 'snarks',
    'sports_understanding', 'temporal_sequences', 'tracking_shuffled_objects_five_objects',
    'tracking_shuffled_objects_seven_objects', 'tracking_shuffled_objects_three_objects', 'web_of_lies',
    'word_sorting',
]
summarizer = dict(summary_groups=[dict(name='bbh', subsets=[f'bbh-{task}' for task in TASKS])])

PROMPT = (
    '{question}\n\n'
    'Think step by step. End with the sentence "So the answer is X." If there are options, X is one of them: '
    'its letter in brackets, or its word.'
)

datasets = [
    dict(
        abbr=f'bbh-{task}',
        type='CatalogDataset',
        benchmark='bbh',
        only=dict(task=task),
        reader_cfg=dict(input_columns=['question'], output_column='answer'),
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
            evaluator=dict(type='BBHEvaluator'),
            pred_postprocessor=dict(type='bbh_freeform_postprocess'),
        ),
    )
    for task in TASKS
]
