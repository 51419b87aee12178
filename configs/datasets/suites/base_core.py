"""A suite for base models: choices by likelihood, with examples for MMLU."""

from mmengine.config import read_base

with read_base():
    from ..arc_challenge.arc_challenge_ppl import datasets as arc_challenge_datasets
    from ..arc_easy.arc_easy_ppl import datasets as arc_easy_datasets
    from ..boolq.boolq_ppl import datasets as boolq_datasets
    from ..commonsenseqa.commonsenseqa_ppl import datasets as commonsenseqa_datasets
    from ..hellaswag.hellaswag_ppl import datasets as hellaswag_datasets
    from ..mmlu._subjects import mmlu_ppl_groups
    from ..mmlu.mmlu_ppl import datasets as mmlu_datasets
    from ..piqa.piqa_ppl import datasets as piqa_datasets
    from ..winogrande.winogrande_ll import datasets as winogrande_datasets

datasets = [
    *mmlu_datasets, *arc_easy_datasets, *arc_challenge_datasets, *boolq_datasets, *commonsenseqa_datasets,
    *hellaswag_datasets, *piqa_datasets, *winogrande_datasets,
]
PARTS = [
    'mmlu-ppl', 'arc-easy-ppl', 'arc-challenge-ppl', 'boolq-ppl', 'commonsenseqa-ppl', 'hellaswag-ppl', 'piqa-ppl',
    'winogrande-ll',
]
summarizer = dict(summary_groups=[*mmlu_ppl_groups, dict(name='base-core', subsets=PARTS)])
