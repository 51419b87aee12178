class RiddleTemplate:
    def generate_item(self, entry, *args, **kwargs):
        return [{'section': 'round', 'pos': 'begin'}, {'role': 'HUMAN', 'prompt': f"Solve ({len(entry['q'])}): {entry['q']}"},
                {'section': 'round', 'pos': 'end'}]


class TwoTurns:
    def generate_item(self, entry, *args, **kwargs):
        return [{'role': 'SYSTEM', 'prompt': 'Be kind.'}, {'role': 'HUMAN', 'prompt': entry['q']}]
