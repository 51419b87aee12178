class BaseDataset:
    def __init__(self, reader_cfg=None, k=1, n=1, **kwargs):
        self.dataset = self.load(**kwargs)
