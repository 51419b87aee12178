from opencompass.registry import TEXT_POSTPROCESSORS


class Detailed:
    def __init__(self, pred_postprocessor=None):
        self.pred_postprocessor = pred_postprocessor
    def score(self, predictions, references, test_set, origin_prompt):
        if self.pred_postprocessor:
            change = TEXT_POSTPROCESSORS.get(self.pred_postprocessor['type'])
            predictions = [change(text) for text in predictions]
        details = {str(i): {'correct': p == r, 'prompt': o} for i, (p, r, o) in
                   enumerate(zip(predictions, references, origin_prompt))}
        right = sum(one['correct'] for one in details.values())
        return {'accuracy': 100 * right / len(details), 'questions': len(test_set),
                'lengths': {'q': len(test_set[0]['q'])}, 'details': details}


class Asked:
    def score(self, predictions, origin_prompt):
        return {turn['role']: len(turn['prompt']) for turns in origin_prompt for turn in turns}


class WantsHints:
    def score(self, predictions, references, hints):
        return {'score': 1}


class Complains:
    def score(self, predictions, references):
        return {'error': 'lengths differ'}


class WholeOnly:
    def score(self, predictions, references, test_set):
        assert len(test_set) == len(predictions)
        return {'score': 100 * sum(p == r for p, r in zip(predictions, references)) / len(predictions)}
