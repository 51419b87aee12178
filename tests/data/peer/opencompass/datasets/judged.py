from opencompass.registry import DICT_POSTPROCESSORS


@DICT_POSTPROCESSORS.register_module('ratings')
def ratings(output, output_path, scale=1):
    said = [one['prediction'].partition('[[')[2].partition(']]')[0] for one in output.values()]
    points = [scale * float(one) for one in said]
    kinds = {one['gold']['kind']: 0 for one in output.values()}
    return {**kinds, 'total': sum(points) / len(points),
            'details': {key: {'total': one} for key, one in zip(output, points)}}


def duels(output, output_path):
    matches = []
    for one in output.values():
        gold = one['gold']
        assert gold['base_models'] == ['old'] and gold['prediction1']
        winner = {'A': 'model_a', 'B': 'model_b'}.get(one['prediction'], 'tie')
        matches.append({'winner': winner, 'model_a': gold['answer1'], 'model_b': gold['answer2']})
    return {'matches': matches}


def by_rows(output, output_path, dataset):
    rows = dataset.reader.dataset['test']
    return {'score': sum(rows[int(key)]['prediction'] in one['prediction'] for key, one in output.items()),
            'rows': len(rows)}
