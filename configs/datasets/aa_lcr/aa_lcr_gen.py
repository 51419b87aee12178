"""AA-LCR: questions about long documents, in the published form, each answer rated by a judge."""

PROMPT = (
    'BEGIN INPUT DOCUMENTS\n\n{documents}\n\nEND INPUT DOCUMENTS\n\n'
    'Answer the following question using the input documents provided above.\n\n'
    'START QUESTION\n\n{question}\n\nEND QUESTION\n'
)
RATING = (
    'A question, its right answer and a response follow.\n\n'
    'Question: {question}\n\nRight answer: {answer}\n\nResponse: {prediction}\n\n'
    'Does the response agree with the right answer? Do not solve the question yourself. Reply with one letter: A for '
    'yes, B for no or for no answer.'
)

datasets = [
    dict(
        abbr='aa-lcr',
        type='CatalogDataset',
        benchmark='aa_lcr',
        reader_cfg=dict(input_columns=['documents', 'question'], output_column='answer'),
        infer_cfg=dict(
            prompt_template=dict(
                type='PromptTemplate',
                template=dict(round=[dict(role='HUMAN', prompt=PROMPT), dict(role='BOT', prompt='{answer}')]),
            ),
            inferencer=dict(type='GenInferencer', max_out_len=8192),
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
