"""A suite for chat models: knowledge, mathematics, reasoning and reading, all as dialogues without examples."""

from mmengine.config import read_base

with read_base():
    from ..arc_challenge.arc_challenge_gen import datasets as arc_datasets
    from ..bbh.bbh_gen import TASKS, datasets as bbh_datasets
    from ..drop.drop_gen import datasets as drop_datasets
    from ..gpqa.gpqa_gen import datasets as gpqa_datasets
    from ..gsm8k.gsm8k_gen import datasets as gsm8k_datasets
    from ..math500.math500_gen import datasets as math500_datasets
    from ..mmlu_pro.mmlu_pro_gen import CATEGORIES, datasets as mmlu_pro_datasets

datasets = [
    *mmlu_pro_datasets, *gpqa_datasets, *arc_datasets, *gsm8k_datasets, *math500_datasets, *bbh_datasets,
    *drop_datasets,
]
CATEGORY_NAMES = [f"mmlu-pro-{category.replace(' ', '-')}" for category in CATEGORIES]
summarizer = dict(
    summary_groups=[
        dict(name='mmlu-pro', subsets=CATEGORY_NAMES, weights='n'),
        dict(name='bbh', subsets=[f'bbh-{task}' for task in TASKS]),
        dict(name='chat-core', subsets=['mmlu-pro', 'gpqa', 'arc-challenge', 'gsm8k', 'math500', 'bbh', 'drop']),
    ]
)
