from .odd import Odd as Passed


class Hidden:
    @staticmethod
    def load():
        return [{'q': 'hidden', 'a': '1'}]
