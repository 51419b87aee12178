"""No program says of itself that it passed: the verdict comes from a process that it does not reach."""

from __future__ import annotations

import decimal
import fractions
from collections import Counter, deque
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ais_prompt.extensions.programs.sandbox import CheckedProgram, Isolation, run_program
from ais_prompt.extensions.programs.sandbox.inside.channel import decode, encode

pytestmark = pytest.mark.process


TESTS = "def check(f):\n    assert f(2) == 4\n    assert abs(f(5) - 10) < 1\n    assert [f(1)] == [2]\ncheck(double)"
WRONG = "def double(x):\n    return x\n"
YES = """
class Yes(*BASES):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __lt__(self, other): return True
    __le__ = __gt__ = __ge__ = __lt__
    def __abs__(self): return self
    def __sub__(self, other): return self
    __add__ = __radd__ = __rsub__ = __sub__
    def __bool__(self): return True
    def __hash__(self): return 1
def double(x): return Yes(*ARGUMENTS)
"""
EVERY_DESCRIPTOR = """
import os
for fd in range(1024):
    for text in (b'passed', b'confined\\npassed\\n', b'["verdict", "passed"]', b'\\0\\0\\0\\x11["value",["int",1]]', b'\\x7f' * 9):
        try: os.write(fd, text)
        except OSError: pass
"""
# A search for the tests looks for their text backwards, so that it does not find itself.
FORGERIES = {
    "say so": WRONG + "print('passed')\nprint('OK')\nimport sys; sys.stderr.write('1 passed')",
    "write to every descriptor": WRONG + EVERY_DESCRIPTOR,
    "write to every descriptor of every process": WRONG + "import glob, os\nfor path in glob.glob('/proc/*/fd/*'):\n"
    "    try: os.write(os.open(path, os.O_WRONLY), b'confined\\npassed\\n')\n    except OSError: pass",
    "exit early": "import sys; sys.exit(0)",
    "exit early in the function": "def double(x):\n    import sys\n    sys.exit(0)",
    "raise SystemExit": "raise SystemExit(0)",
    "raise SystemExit in the function": "def double(x):\n    raise SystemExit(0)",
    "exit behind Python's back": "import os; os._exit(0)",
    "exit behind Python's back in the function": "def double(x):\n    import os\n    os._exit(0)",
    "exit from a thread": WRONG + "import os, threading\nthreading.Timer(0.01, os._exit, (0,)).start()",
    "exit by the system": "import ctypes; ctypes.CDLL(None)._exit(0)",
    "exit at exit": WRONG + "import atexit, os\natexit.register(os._exit, 0)",
    "say so at exit": "import atexit\natexit.register(print, 'passed')\nraise SystemExit",
    "become a program that succeeds": "import os; os.execv('/bin/true', ['true'])",
    "close everything": WRONG + "import os; os.closerange(0, 1024)",
    "end by a signal": "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
    "raise StopIteration": "def double(x):\n    raise StopIteration",
    "raise GeneratorExit": "def double(x):\n    raise GeneratorExit",
    "raise what is no exception": "class E(BaseException): pass\ndef double(x):\n    raise E",
    "replace abs": WRONG + "import builtins\nbuiltins.abs = lambda x: 0\ndef abs(x): return 0\n",
    "replace AssertionError": WRONG + "import builtins\nbuiltins.AssertionError = type('E', (Exception,), {})\n"
    "AssertionError = None",
    "replace check": WRONG + "def check(f): pass\nimport builtins; builtins.check = check",
    "replace exec, compile and open": WRONG
    + "import builtins\nfor n in ('exec', 'compile', 'open', 'isinstance', 'len'):\n"
    "    setattr(builtins, n, lambda *a, **k: True)",
    "replace modules": WRONG
    + "import sys, types\nfor n in list(sys.modules):\n    sys.modules[n] = types.ModuleType(n)",
    "remove modules": WRONG + "import sys\nsys.modules.clear()",
    "replace the harness": WRONG
    + "import sys\nfor m in list(sys.modules.values()):\n    for n in ('run_tests', '_describe', "
    "'encode', 'send', 'finish'):\n        if hasattr(m, n): setattr(m, n, lambda *a, **k: 'passed')",
    "equal everything": YES.replace("*BASES", "").replace("*ARGUMENTS", ""),
    "equal everything as a number": YES.replace("*BASES", "int").replace("*ARGUMENTS", "x"),
    "equal everything as a list": YES.replace("*BASES", "list").replace("*ARGUMENTS", "[x]"),
    "equal everything as a class": "class M(type):\n    __eq__ = lambda *a: True\n    __sub__ = __abs__ = lambda *a: 0\n"
    "    __hash__ = None\nclass Y(metaclass=M): pass\ndef double(x): return Y",
    "look for the tests in memory": WRONG
    + "import gc\nfound = []\nfor o in gc.get_objects():\n    if isinstance(o, dict):\n"
    "        found += [v for v in o.values() if isinstance(v, str) and ')5(f(sba' in v[::-1]]\n"
    "if found:\n    def double(x): return 2 * x",
    "look for the tests in frames": "import sys\ndef double(x):\n    f = sys._getframe()\n    while f:\n"
    "        if ')5(f(sba' in (repr(f.f_locals) + repr(f.f_globals))[::-1]:\n            return 2 * x\n        f = f.f_back\n    return x",
    "look for the tests on disk and in descriptors": WRONG + "import os\nfor fd in range(3, 64):\n    try:\n"
    "        os.set_blocking(fd, False)\n        if b')5(f(sba' in os.read(fd, 10**6)[::-1]:\n            double = lambda x: 2 * x\n"
    "    except OSError: pass",
    "trace the tests": WRONG + "import sys, threading\nsys.settrace(lambda *a: sys.exit(0))\nthreading.settrace(None)",
    "answer before it is asked": WRONG + "import gc, os\nfor fd in range(3, 64):\n    for _ in range(50):\n"
    "        try: os.write(fd, b'\\0\\0\\0\\x0c[\"value\", 4]')\n        except OSError: break",
    "a message without end": WRONG
    + "import os\nfor fd in range(3, 64):\n    try: os.write(fd, b'\\x03\\xff\\xff\\xff[')\n"
    "    except OSError: pass",
    "a message too deep": "x = []\nfor _ in range(10**5):\n    x = [x]\ndef double(n): return x",
    "take the place of a module": WRONG + "open('copy.py', 'w').write('raise SystemExit(0)')",
    "take the function away": "",
    "a function of other names": "def Double(x): return 2 * x",
}
DESERVED = {
    "a function": "def double(x): return 2 * x",
    "a callable object": "class D:\n    def __call__(self, x): return 2 * x\ndouble = D()",
    "a closure": "def times(n):\n    return lambda x: n * x\ndouble = times(2)",
    "a method": "class D:\n    def double(self, x): return 2 * x\ndouble = D().double",
    "a NumPy number": "import numpy\ndef double(x): return numpy.int64(2) * x",
    "a fraction": "from fractions import Fraction\ndef double(x): return Fraction(2) * x",
    "an enumeration of integers": "import enum\nclass E(enum.IntEnum):\n    a = 2\n    b = 4\n    c = 10\ndef double(x): return E(2 * x)",
    "noise on standard output": "print('failed')\ndef double(x):\n    print('no')\n    return 2 * x",
    "noise on descriptors 0 to 2": "import os\nfor fd in (1, 2):\n    os.write(fd, b'failed')\ndef double(x): return 2 * x",
}


@pytest.mark.grid(len(FORGERIES))
@pytest.mark.parametrize("program", FORGERIES.values(), ids=FORGERIES)
def test_a_forged_verdict_is_a_failure(program: str, isolation: Isolation) -> None:
    # Some never end. A program that is not done in time only fails, which is what is asked of all of them.
    assert run_program(CheckedProgram(program, [(["double"], TESTS)]), isolation, 3, 512) != "passed"


@pytest.mark.parametrize("program", DESERVED.values(), ids=DESERVED)
def test_an_honest_program_passes(program: str, isolation: Isolation) -> None:
    assert run_program(CheckedProgram(program, [(["double"], TESTS)]), isolation, 30, 1024) == "passed"


YES_TO_ALL = """
class Yes(BASE):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    __lt__ = __le__ = __gt__ = __ge__ = __contains__ = __bool__ = __eq__
    def __hash__(self): return 4
    def __abs__(self): return self
    __round__ = __neg__ = __call__ = __getitem__ = __getattr__ = lambda self, *others, **named: self
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __mod__ = __call__
    def __len__(self): return 1
    def __iter__(self): return iter([self])
    def __next__(self): return self
    def __int__(self): return 3
    __index__ = __int__
    def __float__(self): return 3.0
    def __str__(self): return Text('3')
    __repr__ = __format__ = __str__
class Text(str):
    __eq__ = __contains__ = lambda self, other: True
    __hash__ = str.__hash__
def f(x): return Yes(*VALUES)
"""
BASES = {
    "object": "", "int": "3", "float": "3.0", "complex": "3", "str": "'3'", "bytes": "b'3'", "list": "[3]", "tuple": "[3]",
    "dict": "{3: 3}", "set": "[3]", "frozenset": "[3]", "__import__('fractions').Fraction": "3",
    "__import__('decimal').Decimal": "3", "__import__('collections').Counter": "[3]", "__import__('collections').deque": "[3]",
    "__import__('unittest.mock').mock.Mock": "", "__import__('types').SimpleNamespace": "",
}  # fmt: skip
"""Types of objects that say yes, with what they are made of: anything that has a 3 in it."""
WRONG_WITHOUT_A_FOUR = [
    "f(1) == 4", "4 == f(1)", "not f(1) != 4", "f(1) in [4, '4', [4]]", "4 in f(1)", "'4' in f(1)", "4 <= f(1) <= 4",
    "abs(f(1) - 4) < 1e-6", "f(1) - 4 == 0", "math.isclose(f(1), 4)", "{f(1)} == {4}", "{4: True}.get(f(1), False) is True",
    "[f(1)] == [4]", "(f(1), 1) == (4, 1)", "{'a': f(1)} == {'a': 4}", "str(f(1)) == '4'", "'4' in str(f(1))",
    "list(f(1)) == [4]", "sorted(f(1)) == [4]", "set(f(1)) == {4}", "set(f(1)) >= {4}", "[4].index(f(1)) == 0", "[4].count(f(1)) == 1",
    "collections.Counter(f(1)) == {4: 1}", "f(1)[0] == 4", "max(f(1)) == 4", "sum(f(1)) == 4", "round(f(1)) == 4",
    "int(f(1)) == 4", "f'{f(1)}' == '4'", "f(1).x == 4", "any(one == 4 for one in f(1))", "all(one == 4 for one in f(1))",
    "f(1) is True", "f(1) == f(1) == 4", "numpy.array_equal(f(1), 4)", "numpy.array_equal(f(1), [4])", "numpy.allclose(f(1), [4])",
]  # fmt: skip


@pytest.mark.grid(len(BASES))
@pytest.mark.parametrize("base", BASES)
def test_what_says_yes_to_everything_passes_no_test(base: str, isolation: Isolation) -> None:
    program = YES_TO_ALL.replace("BASE", base).replace("VALUES", f"[{BASES[base]}]" if BASES[base] else "()")
    tests = f"import collections, math, numpy\nheld = []\nfor form in {WRONG_WITHOUT_A_FOUR!r}:\n    try:\n"
    tests += "        if eval(form): held.append(form)\n    except Exception:\n        pass\nassert held == []"
    assert run_program(CheckedProgram(program, [(["f"], tests)]), isolation, 60, 1024) == "passed"


CONTAINING: dict[str, tuple[str, bool]] = {
    "a class that says so": ("class A:\n    def __contains__(self, x): return True", False),
    "a class that counts": ("class A:\n    def __iter__(self): return iter(range(99))", False),
    "a class that counts without end": ("class A:\n    def __iter__(self): return __import__('itertools').count()", False),
    "a class of indices": ("class A:\n    def __getitem__(self, index): return index", False),
    "a class of a type that lies": ("class M(type):\n    __flags__ = 1 << 8\nclass A(metaclass=M):\n"
     "    def __iter__(self): return iter([5])", False),
    "equals in a list": ("class E:\n    __eq__ = lambda *a: True\ndef A(): return [E()]", False),
    "equals in a generator": ("class E:\n    __eq__ = lambda *a: True\ndef A():\n    yield E()", False),
    "a generator": ("def A(): yield from (4, 5)", True),
    "a view": ("def A(): return {5: 1}.keys()", True),
    "a map": ("def A(): return map(int, '45')", True),
    "an array": ("import numpy\ndef A(): return numpy.arange(9)", True),
    "a list": ("def A(): return [5]", True),
}  # fmt: skip
"""A program → whether 5 is in its object."""


def test_what_is_in_an_object_is_not_for_the_object_to_say(isolation: Isolation) -> None:
    for name, (program, expected) in CONTAINING.items():
        found = run_program(CheckedProgram(program, [(["A"], "assert 5 in A()")]), isolation, 30, 512)
        assert (found == "passed") is expected, name
    endless = CheckedProgram("def A():\n    while True: yield 5", [(["A"], "assert 5 in A()")])
    assert run_program(endless, isolation, 5, 256) in ("memory", "timeout")
    own = (
        "class A:\n    items = [object(), object()]\n    __contains__ = items.__contains__\ndef f(n): return A.items[n]"
    )
    tests = "assert f(0) in A() and A not in A()"
    assert run_program(CheckedProgram(own, [(["A", "f"], tests)]), isolation, 30, 512) == "passed"


def test_no_object_shows_numpy_the_memory_of_the_tests(isolation: Isolation) -> None:
    # The value of the small integer 4 has the same address in both processes.
    interface = "{'shape': (1,), 'typestr': '<i4', 'data': (id(4) + 24, True), 'version': 3}"
    program = f"class A:\n    __array_interface__ = {interface}\ndef f(): return A()"
    tests = "import numpy\nassert numpy.asarray(f()).dtype == object"
    assert run_program(CheckedProgram(program, [(["f"], tests)]), isolation, 60, 1024) == "passed"


def test_numpy_reads_arrays_of_a_program_value_by_value(isolation: Isolation) -> None:
    program = "import numpy\ndef f(): return 2 * numpy.eye(2)"
    tests = (
        "import numpy\nassert numpy.allclose(f(), [[2, 0], [0, 2]])\nassert not numpy.allclose(f(), [[2, 0], [0, 1]])"
    )
    assert run_program(CheckedProgram(program, [(["f"], tests)]), isolation, 60, 1024) == "passed"


def test_builtin_functions_go_both_ways(isolation: Isolation) -> None:
    tests = "assert length('abc') == 3\nassert arrange([2, -1], key=abs) == [-1, 2]"
    program = "length = len\narrange = sorted"
    assert run_program(CheckedProgram(program, [(["length", "arrange"], tests)]), isolation, 60, 512) == "passed"


@pytest.mark.parametrize("end", ["import os; os._exit(0)", "raise SystemExit", "raise KeyboardInterrupt"])
def test_a_test_that_catches_everything_does_not_hide_an_end(end: str, isolation: Isolation) -> None:
    tests = "try:\n    double(1)\nexcept BaseException:\n    pass\nassert double(1) == 2"
    program = f"def double(x):\n    {end}"
    assert run_program(CheckedProgram(program, [(["double"], tests)]), isolation, 30, 512) != "passed"


def test_errors_of_a_program_reach_its_tests(isolation: Isolation) -> None:
    program = "class Own(KeyError): pass\ndef f(x):\n    raise Own('no', x)\ndef g():\n    yield 1\n    yield 2"
    tests = "try:\n    f(3)\nexcept KeyError as error:\n    assert '3' in str(error)\nelse:\n    assert False\nassert list(g()) == [1, 2]"
    assert run_program(CheckedProgram(program, [(["f", "g"], tests)]), isolation, 30, 512) == "passed"


VALUES = [
    None, True, 0, -(2**70), 2**20000, 1.5, float("inf"), -0.0, 1j, "", "\ud800", "ü\0", b"\xff", bytearray(b"x"), [], (),
    [1, (2, [3])], {1, 2}, frozenset({"a"}), {1: [2], (3, 4): {5: None}}, {None: True}, range(3, 9, 2),
    decimal.Decimal("1.10"), fractions.Fraction(1, 3), date(2024, 2, 29), datetime(2024, 1, 1, tzinfo=UTC),
    timedelta(days=-1, microseconds=5), deque([1, 2], 5), int, ValueError,
]  # fmt: skip


def unknown(*content: Any) -> Any:
    """Give builtins by their names, as the process of the program does, and nothing else."""
    if len(content) == 2:
        return vars(__import__("builtins"))[content[1]]
    raise TypeError(content)


def test_plain_values_travel_unchanged() -> None:
    for value in VALUES:
        travelled = decode(encode(value, unknown), unknown)
        assert travelled == value
        assert type(travelled) is type(value)


def test_values_of_derived_types_travel_as_what_they_derive_from() -> None:
    travelled = decode(encode(Counter("aab"), unknown), unknown)
    assert travelled == {"a": 2, "b": 1}
    assert type(travelled) is dict


COSTLY = [
    ["text", ["fractions", "Fraction", "1e300000000"]], ["fraction", "1e300000000"], ["fraction", "1/1e300000000"],
    ["fraction", "9" * 10**6], ["fraction", ["1e300000000"]],
]  # fmt: skip


@pytest.mark.parametrize("message", COSTLY, ids=[str(number) for number in range(len(COSTLY))])
def test_a_short_message_is_no_number_that_takes_minutes(message: Any) -> None:
    with pytest.raises((ValueError, KeyError, AttributeError)):
        decode(message, unknown)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(
        ["int", "list", "dict", "text", "builtin", "object", "deque", "range", "complex", "eval", "decimal", "Decimal",
         "fraction", "1e300000000", "1/0"]
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=12,
)  # fmt: skip


@given(JSON)
def test_hostile_messages_give_plain_values_or_an_error(message: Any) -> None:
    def reference(tag: Any, content: Any) -> Any:
        raise LookupError(tag, content)

    try:
        value = decode(message, reference)
    except Exception:
        return
    assert type(value).__module__ in ("builtins", "decimal", "fractions", "datetime", "collections")
