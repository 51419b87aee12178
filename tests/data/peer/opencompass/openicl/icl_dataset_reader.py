class DatasetReader:
    def __init__(self, dataset, input_columns, output_column):
        self.dataset = dataset
        self.input_columns = input_columns
