from opencompass.datasets import RiddleDataset
from opencompass.openicl.icl_evaluator import Detailed
from opencompass.openicl.icl_inferencer import GenInferencer
from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.openicl.icl_retriever import ZeroRetriever

riddles_datasets = [
    dict(
        abbr='riddles',
        type=RiddleDataset,
        path='org/riddles',
        reader_cfg=dict(input_columns=['q'], output_column='a'),
        infer_cfg=dict(
            prompt_template=dict(type=PromptTemplate, template='{q}'),
            retriever=dict(type=ZeroRetriever),
            inferencer=dict(type=GenInferencer),
        ),
        eval_cfg=dict(evaluator=dict(type=Detailed)),
    )
]
