DATASETS_MAPPING = {'org/riddles': {'local': './data/riddles/', 'hf_id': '', 'ms_id': None}}
DATASETS_URL = {'/riddles': {'url': 'http://127.0.0.1/riddles.zip', 'md5': ''}}
