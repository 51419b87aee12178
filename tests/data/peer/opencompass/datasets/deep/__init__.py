from .inner import *


class InInit:
    @staticmethod
    def load():
        return [{'q': 'x', 'a': 'y'}]
