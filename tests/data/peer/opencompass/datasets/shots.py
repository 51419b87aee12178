class LastRows:
    """Shows the last rows of the train split that share the first input column with a question."""

    def __init__(self, dataset, ice_separator='\n', ice_eos_token='\n', ice_num=1):
        self.dataset, self.ice_num = dataset, ice_num

    def retrieve(self):
        [column] = self.dataset.reader.input_columns
        train = self.dataset.train[column]
        found = []
        for row in self.dataset.test:
            same = [number for number, text in enumerate(train) if text == row[column]]
            found.append(same[-self.ice_num:])
        return found


class Outside(LastRows):
    def retrieve(self):
        return [[7] for _ in self.dataset.test]
