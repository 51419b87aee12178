"""SimpleQA without examples, each answer rated by a judge that reads question and gold."""

RATING = (
    'A question, its right answer and the answer of a student follow.\n\n'
    'Question: {question}\nRight answer: {answer}\nStudent: {prediction}\n\n'
    'Does the student give the right answer, in any wording and without a contradiction? '
    'Reply with one letter: A for yes, B for no or for an answer that is not attempted.'
)

datasets = [
    dict(
        abbr='simpleqa',
        type='CatalogDataset',
        benchmark='simpleqa',
        reader_cfg=dict(input_columns=['question'], output_column='answer'),
        infer_cfg=dict(
            prompt_template=dict(
                type='PromptTemplate',
                template=dict(
                    round=[
                        dict(role='HUMAN', prompt='{question}'),
                        dict(role='BOT', prompt='{answer}'),
                    ]
                ),
            ),
            inferencer=dict(type='GenInferencer', max_out_len=512),
        ),
        eval_cfg=dict(
            evaluator=dict(
                type='GenericLLMEvaluator',
                prompt_template=dict(type='PromptTemplate', template=RATING),
                judge_cfg=dict(type='OpenAIChatModel', abbr='judge', model='gpt-4o', max_out_len=16),
            ),
        ),
    )
]
