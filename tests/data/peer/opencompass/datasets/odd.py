class Odd:
    @staticmethod
    def load():
        return [{'q': 'odd', 'a': '1'}]
