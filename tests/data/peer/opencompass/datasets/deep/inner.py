from opencompass.registry import ICL_EVALUATORS


class Deep:
    @staticmethod
    def load():
        return []


class Share:
    def __init__(self, factor):
        self.factor = factor
    def score(self, predictions, references):
        right = sum(p == r for p, r in zip(predictions, references))
        return {'share': self.factor * right / len(predictions)}
for factor in (1, 100):
    def _register(factor):
        ICL_EVALUATORS.register_module(name='Share' + '_' + str(factor), module=lambda: Share(factor))
    _register(factor)
