import json
from pathlib import Path
from datasets import Dataset, DatasetDict
from opencompass.registry import LOAD_DATASET
from opencompass.utils import get_data_path
from .base import BaseDataset


@LOAD_DATASET.register_module()


class RiddleDataset(BaseDataset):
    @staticmethod
    def load(path, name='easy'):
        folder = Path(get_data_path(path))
        found = {}
        for split in ('train', 'test'):
            lines = (folder / f'{name}_{split}.jsonl').read_text().splitlines()
            found[split] = Dataset.from_list([json.loads(line) for line in lines])
        return DatasetDict(found)


class Instance(BaseDataset):
    def load(self, rows):
        return Dataset.from_list([{'q': self.abbr, 'a': str(row)} for row in range(rows)])
