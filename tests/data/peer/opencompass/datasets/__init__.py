from .riddles import *
from .deep import *
from .odd import Odd as Renamed
