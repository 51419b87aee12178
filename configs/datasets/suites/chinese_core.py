"""A suite for chat models in Chinese: knowledge and mathematics, without examples."""

from mmengine.config import read_base

with read_base():
    from ..ceval._subjects import ceval_groups
    from ..ceval.ceval_gen import datasets as ceval_datasets
    from ..cmath.cmath_gen import datasets as cmath_datasets
    from ..cmmlu._subjects import cmmlu_groups
    from ..cmmlu.cmmlu_gen import datasets as cmmlu_datasets

datasets = [*ceval_datasets, *cmmlu_datasets, *cmath_datasets]
summarizer = dict(
    summary_groups=[*ceval_groups, *cmmlu_groups, dict(name='chinese-core', subsets=['ceval', 'cmmlu', 'cmath'])]
)
