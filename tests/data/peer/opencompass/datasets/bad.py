import os, socket, sys, time


class Leaves:
    @staticmethod
    def load():
        sys.exit('bye')


class Crashes:
    @staticmethod
    def load():
        print('last words', flush=True)
        os._exit(3)


class Hangs:
    @staticmethod
    def load():
        time.sleep(600)


class Raises:
    @staticmethod
    def load():
        raise KeyError('answer')


class Downloads:
    @staticmethod
    def load():
        socket.create_connection(('192.0.2.1', 80), 1)


class Uncached:
    @staticmethod
    def load():
        raise ConnectionError("Couldn't reach 'org/rows' on the Hub")


class Asks:
    @staticmethod
    def load():
        raise ImportError('Please pip install riddle-tools')


class AsksInstead:
    @staticmethod
    def load():
        try:
            import riddle_solver
        except ImportError as error:
            raise ImportError('Please install it as the page says') from error
