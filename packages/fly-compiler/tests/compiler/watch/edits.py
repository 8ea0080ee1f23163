# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501 - a row is a case
"""Ways in which a number gets into a kernel, and ways to change it: in its file between two processes, or in a process.

Each is a module of two files. `OTHER` stands for the name of the second, `VALUE` for the number.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent

__all__ = ["EDITS", "Edit"]


@dataclass(frozen=True)
class Edit:
    """One way.

    Attributes:
        name: what it is called in tests.
        main: definitions in the module of the kernel.
        value: an expression that gives the number, evaluated while the kernel is traced.
        other: the second module.
        change: a statement that changes the number to `V` in the process, with the modules as `m` and `o`; "" where
            there is no such way.
        body: statements before `value`.
        frozen: the change is one of a module's data, which is refused.
    """

    name: str
    main: str
    value: str
    other: str = ""
    change: str = ""
    body: str = ""
    frozen: bool = False

    def texts(self, stem: str, number: int) -> tuple[str, str]:
        """Return the texts of the two files for a number."""
        texts = []
        for text in (_PROGRAM, self.other):
            text = text.replace("MAIN", dedent(self.main).strip()).replace("OTHER", f"{stem}_other")
            if "BODY" in text:
                text = text.replace("BODY", self.body or "pass").replace("EXPRESSION", self.value)
                text = text.replace("OTHER", f"{stem}_other")
            texts.append(dedent(text).replace("VALUE", str(number)))
        return texts[0], texts[1]


_PROGRAM = """
import collections, contextlib, contextvars, copy, dataclasses, enum, functools, importlib, operator, os, sys, types
import numpy as np
import flydsl.compiler as flyc, flydsl.expr as fx
MAIN

def value():
    BODY
    return float(EXPRESSION)

@flyc.kernel
def kernel(x: fx.Tensor):
    x[0] = value()

@flyc.jit
def launch(x: fx.Tensor):
    kernel(x).launch(block=1)
"""

_POINT = "class Point:\n    def __init__(self, x): self.x = x\n"

EDITS = [
    # -- names of modules --
    Edit("global int", "X = VALUE", "X", change="m.X = V", frozen=True),
    Edit("global float", "X = VALUE.5", "X", change="m.X = V + 0.5", frozen=True),
    Edit("global text", "X = 'VALUE'", "int(X)", change="m.X = str(V)", frozen=True),
    Edit("global tuple", "X = (1, VALUE)", "X[1]", change="m.X = (1, V)", frozen=True),
    Edit("nested tuple", "X = (1, (2, VALUE))", "X[1][1]", change="m.X = (1, (2, V))", frozen=True),
    Edit("global range", "X = range(VALUE)", "len(X)", change="m.X = range(V)", frozen=True),
    Edit("alias of a global", "Y = VALUE\nX = Y", "X", change="m.X = V", frozen=True),
    Edit("imported name", "from OTHER import X", "X", "X = VALUE", change="m.X = V", frozen=True),
    Edit("attribute of a module", "import OTHER as o", "o.X", "X = VALUE", change="o.X = V"),
    Edit("module under a local name", "import OTHER as o", "q.X", "X = VALUE", body="q = o", change="o.X = V"),
    Edit("import in a function", "", "X", "X = VALUE", body="from OTHER import X", change="o.X = V"),
    Edit("module imported in a function", "", "OTHER.X", "X = VALUE", body="import OTHER", change="o.X = V"),
    Edit(
        "import_module",
        "",
        "o.X",
        "X = VALUE",
        body="o = importlib.import_module('OTHER')",
        change="o.X = V",
    ),
    Edit("sys.modules", "import OTHER", "sys.modules['OTHER'].X", "X = VALUE", change="o.X = V"),
    Edit("getattr of a module", "import OTHER as o", "getattr(o, 'X')", "X = VALUE", change="o.X = V"),
    Edit("getattr with a computed name", "import OTHER as o", "getattr(o, 'X' + 'Y')", "XY = VALUE", change="o.XY = V"),
    Edit("getattr with a default", "import OTHER as o", "getattr(o, 'X', VALUE)", "", change="o.X = V"),
    Edit("vars of a module", "import OTHER as o", "vars(o)['X']", "X = VALUE", change="o.X = V"),
    Edit("globals()", "X = VALUE", "globals()['X']", change="m.X = V", frozen=True),
    Edit("eval", "X = VALUE", "eval('X * 1')", change="m.X = V", frozen=True),
    Edit(
        "module __getattr__", "import OTHER as o", "o.X", "Y = VALUE\ndef __getattr__(name): return Y", change="o.Y = V"
    ),
    # -- functions --
    Edit("body of a helper", "def f(): return VALUE", "f()", change="m.f = lambda: V"),
    Edit("helper of another module", "from OTHER import f", "f()", "def f(): return VALUE", change="m.f = lambda: V"),
    Edit(
        "helper of a helper",
        "import OTHER as o",
        "o.f()",
        "def g(): return VALUE\ndef f(): return g()",
        change="o.g = lambda: V",
    ),
    Edit(
        "__code__ of a helper",
        "def f(): return VALUE",
        "f()",
        change="m.f.__code__ = (lambda: V + 0).__code__ if 0 else compile('lambda: ' + str(V), 'x', 'eval').co_consts[0]",
    ),
    Edit("default", "def f(x=VALUE): return x", "f()", change="m.f.__defaults__ = (V,)"),
    Edit("keyword default", "def f(*, x=VALUE): return x", "f()", change="m.f.__kwdefaults__['x'] = V"),
    Edit("other keyword defaults", "def f(*, x=VALUE): return x", "f()", change="m.f.__kwdefaults__ = {'x': V}"),
    Edit("default that is a list", "def f(x=[VALUE]): return x[0]", "f()", change="m.f.__defaults__[0][0] = V"),
    Edit("attribute of a function", "def f(): return f.x\nf.x = VALUE", "f()", change="m.f.x = V"),
    Edit("lambda", "f = lambda: VALUE", "f()", change="m.f = lambda: V"),
    Edit(
        "partial",
        "def g(x): return x\nf = functools.partial(g, VALUE)",
        "f()",
        change="m.f = functools.partial(m.g, V)",
    ),
    Edit(
        "keyword of a partial",
        "def g(x): return x\nf = functools.partial(g, x=VALUE)",
        "f()",
        change="m.f.keywords['x'] = V",
    ),
    Edit("cached helper", "@functools.lru_cache\ndef f(): return VALUE", "f()"),
    Edit(
        "wrapped helper",
        "def deco(f):\n    @functools.wraps(f)\n    def inner(): return f()\n    return inner\n@deco\ndef f(): return VALUE",
        "f()",
        change="m.f = lambda: V",
    ),
    Edit(
        "context manager",
        "@contextlib.contextmanager\ndef f(): yield X\nX = VALUE",
        "y",
        body="with f() as y: pass",
        change="m.X = V",
        frozen=True,
    ),
    Edit(
        "helper given to map",
        "def f(x): return x * X\nX = VALUE",
        "list(map(f, [1]))[0]",
        change="m.X = V",
        frozen=True,
    ),
    Edit("helper in a list", "def f(): return VALUE\nFS = [f]", "FS[0]()", change="m.FS[0] = lambda: V", frozen=True),
    Edit("helper in a dict", "FS = {'a': lambda: VALUE}", "FS['a']()", change="m.FS['a'] = lambda: V", frozen=True),
    Edit("generator", "X = VALUE\ndef f():\n    yield X", "next(f())", change="m.X = V", frozen=True),
    Edit(
        "nested function",
        "X = VALUE\ndef f():\n    def g(): return X\n    return g()",
        "f()",
        change="m.X = V",
        frozen=True,
    ),
    Edit(
        "jit function used inline",
        "@flyc.jit\ndef f(): return VALUE",
        "f()",
        change="m.f = flyc.jit(eval('lambda: ' + str(V)))" if False else "m.f = lambda: V",
    ),
    Edit(
        "singledispatch",
        "@functools.singledispatch\ndef f(x): return X\nX = VALUE",
        "f(1)",
        change="m.X = V",
        frozen=True,
    ),
    # -- closures --
    Edit(
        "closure variable",
        "def make(n):\n    def f(): return n\n    return f\nf = make(VALUE)",
        "f()",
        change="m.f.__closure__[0].cell_contents = V",
    ),
    Edit(
        "closure list",
        "def make(n):\n    def f(): return n[0]\n    return f\nf = make([VALUE])",
        "f()",
        change="m.f.__closure__[0].cell_contents[0] = V",
    ),
    Edit(
        "closure object",
        _POINT + "def make(p):\n    def f(): return p.x\n    return f\nf = make(Point(VALUE))",
        "f()",
        change="m.f.__closure__[0].cell_contents.x = V",
    ),
    # -- containers --
    Edit("list", "X = [1, VALUE]", "X[1]", change="m.X[1] = V", frozen=True),
    Edit("length of a list", "X = [0] * VALUE", "len(X)", change="m.X.extend([0, 0])", frozen=True),
    Edit("sum of a list", "X = [0, VALUE]", "sum(X)", change="m.X[1] = V", frozen=True),
    Edit("list in a list", "X = [[VALUE]]", "X[0][0]", change="m.X[0][0] = V", frozen=True),
    Edit("dict", "X = {'a': VALUE}", "X['a']", change="m.X['a'] = V", frozen=True),
    Edit("dict.get", "X = {'a': VALUE}", "X.get('a')", change="m.X['a'] = V", frozen=True),
    Edit("dict in a dict", "X = {'a': {'b': VALUE}}", "X['a']['b']", change="m.X['a']['b'] = V", frozen=True),
    Edit("set", "X = {1, VALUE}", "sum(X) - 1", change="m.X.remove(3) or m.X.add(V)", frozen=True),
    Edit("frozenset", "X = frozenset({VALUE})", "max(X)", change="m.X = frozenset({V})", frozen=True),
    Edit("tuple with a list", "X = (1, [VALUE])", "X[1][0]", change="m.X[1][0] = V"),
    Edit("deque", "X = collections.deque([VALUE])", "X[0]", change="m.X[0] = V"),
    Edit("OrderedDict", "X = collections.OrderedDict(a=VALUE)", "X['a']", change="m.X['a'] = V"),
    Edit("defaultdict", "X = collections.defaultdict(lambda: VALUE)", "X['a']", change="m.X['a'] = V"),
    Edit("ChainMap", "X = collections.ChainMap({'a': VALUE})", "X['a']", change="m.X['a'] = V"),
    Edit("UserDict", "X = collections.UserDict(a=VALUE)", "X['a']", change="m.X['a'] = V"),
    Edit("MappingProxyType", "D = {'a': VALUE}\nX = types.MappingProxyType(D)", "X['a']", change="m.D['a'] = V"),
    Edit("namedtuple", "P = collections.namedtuple('P', 'x')\nX = P(VALUE)", "X.x", change="m.X = m.P(V)", frozen=True),
    Edit("list of objects", _POINT + "X = [Point(VALUE)]", "X[0].x", change="m.X[0].x = V"),
    Edit("class of lists", "class L(list): pass\nX = L([VALUE])", "X[0]", change="m.X[0] = V"),
    Edit(
        "__getitem__ of a dict",
        "class D(dict):\n    def __getitem__(self, k): return VALUE\nX = D()",
        "X['a']",
        change="m.D.__getitem__ = lambda self, k: V",
    ),
    Edit("array of numpy", "X = np.array([1, VALUE])", "X[1]", change="m.X[1] = V"),
    Edit("bytearray", "X = bytearray([VALUE])", "X[0]", change="m.X[0] = V"),
    # -- objects --
    Edit("attribute of an object", _POINT + "X = Point(VALUE)", "X.x", change="m.X.x = V"),
    Edit("object in an object", _POINT + "X = Point(Point(VALUE))", "X.x.x", change="m.X.x.x = V"),
    Edit("list in an object", _POINT + "X = Point([VALUE])", "X.x[0]", change="m.X.x[0] = V"),
    Edit("another object", _POINT + "X = Point(VALUE)", "X.x", change="m.X = m.Point(V)"),
    Edit("__dict__ of an object", _POINT + "X = Point(VALUE)", "X.x", change="m.X.__dict__ = {'x': V}"),
    Edit("vars of an object", _POINT + "X = Point(VALUE)", "sum(vars(X).values())", change="m.X.x = V"),
    Edit("attrgetter", _POINT + "X = Point(Point(VALUE))", "operator.attrgetter('x.x')(X)", change="m.X.x.x = V"),
    Edit("copy of an object", _POINT + "X = Point(VALUE)", "copy.copy(X).x", change="m.X.x = V"),
    Edit("slots", "class S:\n    __slots__ = ('x',)\nX = S()\nX.x = VALUE", "X.x", change="m.X.x = V"),
    Edit("SimpleNamespace", "X = types.SimpleNamespace(x=VALUE)", "X.x", change="m.X.x = V"),
    Edit("dataclass", "@dataclasses.dataclass\nclass C:\n    x: int\nX = C(VALUE)", "X.x", change="m.X.x = V"),
    Edit("default of a dataclass", "@dataclasses.dataclass\nclass C:\n    x: int = VALUE", "C().x"),
    Edit(
        "dataclass with slots",
        "@dataclasses.dataclass(slots=True)\nclass C:\n    x: int\nX = C(VALUE)",
        "X.x",
        change="m.X.x = V",
    ),
    Edit(
        "asdict",
        "@dataclasses.dataclass\nclass C:\n    x: int\nX = C(VALUE)",
        "sum(dataclasses.asdict(X).values())",
        change="m.X.x = V",
    ),
    Edit("method", "class C:\n    def f(self): return VALUE\nX = C()", "X.f()", change="m.C.f = lambda self: V"),
    Edit(
        "bound method", "class C:\n    x = VALUE\n    def f(self): return self.x\nf = C().f", "f()", change="m.C.x = V"
    ),
    Edit(
        "__call__",
        "class C:\n    def __call__(self): return X\nX = VALUE\nf = C()",
        "f()",
        change="m.X = V",
        frozen=True,
    ),
    Edit("__init__", "X = VALUE\nclass C:\n    def __init__(self): self.x = X", "C().x", change="m.X = V", frozen=True),
    Edit(
        "operator method",
        "class C:\n    def __add__(self, one): return X\nX = VALUE\nC0 = C()",
        "C0 + 1",
        change="m.X = V",
        frozen=True,
    ),
    Edit(
        "__getattr__",
        "class C:\n    def __getattr__(self, name): return D[name]\nD = {'x': VALUE}\nX = C()",
        "X.x",
        change="m.D['x'] = V",
        frozen=True,
    ),
    Edit("attribute that hides that of the class", "class C:\n    x = VALUE\nX = C()", "X.x", change="m.X.x = V"),
    Edit(
        "class of an object",
        "class C:\n    x = VALUE\nclass D:\n    x = 5\nX = C()",
        "X.x",
        change="m.X.__class__ = m.D",
    ),
    # -- classes --
    Edit("attribute of a class", "class C:\n    x = VALUE", "C.x", change="m.C.x = V"),
    Edit("attribute of a base", "class B:\n    x = VALUE\nclass C(B): pass", "C.x", change="m.B.x = V"),
    Edit("attribute that hides that of a base", "class B:\n    x = VALUE\nclass C(B): pass", "C.x", change="m.C.x = V"),
    Edit("list in a class", "class C:\n    x = [VALUE]", "C.x[0]", change="m.C.x[0] = V"),
    Edit("dict in a class", "class C:\n    x = {'a': VALUE}", "C.x['a']", change="m.C.x['a'] = V"),
    Edit("object in a class", _POINT + "class C:\n    p = Point(VALUE)", "C.p.x", change="m.C.p.x = V"),
    Edit(
        "property",
        "class C:\n    @property\n    def x(self): return VALUE\nX = C()",
        "X.x",
        change="m.C.x = property(lambda self: V)",
    ),
    Edit(
        "property that reads",
        "Y = VALUE\nclass C:\n    @property\n    def x(self): return Y\nX = C()",
        "X.x",
        change="m.Y = V",
        frozen=True,
    ),
    Edit(
        "cached_property",
        "Y = VALUE\nclass C:\n    @functools.cached_property\n    def x(self): return Y",
        "C().x",
        change="m.Y = V",
        frozen=True,
    ),
    Edit(
        "descriptor",
        "class D:\n    def __get__(self, o, c): return self.n\n    def __init__(self, n): self.n = n\nclass C:\n    x = D(VALUE)",
        "C().x",
        change="m.C.__dict__['x'].n = V",
    ),
    Edit(
        "staticmethod",
        "class C:\n    @staticmethod\n    def f(): return X\nX = VALUE",
        "C.f()",
        change="m.X = V",
        frozen=True,
    ),
    Edit(
        "classmethod",
        "class C:\n    x = VALUE\n    @classmethod\n    def f(cls): return cls.x",
        "C.f()",
        change="m.C.x = V",
    ),
    Edit(
        "metaclass",
        "class M(type):\n    @property\n    def x(cls): return Y\nY = VALUE\nclass C(metaclass=M): pass",
        "C.x",
        change="m.Y = V",
        frozen=True,
    ),
    Edit(
        "__class_getitem__",
        "class C:\n    def __class_getitem__(cls, i): return Y\nY = VALUE",
        "C[0]",
        change="m.Y = V",
        frozen=True,
    ),
    Edit("enum", "class E(enum.Enum):\n    A = VALUE", "E.A.value"),
    Edit("enum by name", "class E(enum.IntEnum):\n    A = VALUE", "E['A']"),
    Edit("list in an enum", "class E(enum.Enum):\n    A = [VALUE]", "E.A.value[0]", change="m.E.A.value[0] = V"),
    Edit(
        "global enum member",
        "class E(enum.IntEnum):\n    A = 3\n    B = 5\nX = E(VALUE)",
        "int(X)",
        change="m.X = m.E.B",
        frozen=True,
    ),
    Edit("class in a class", "class C:\n    class D:\n        x = VALUE", "C.D.x", change="m.C.D.x = V"),
    Edit("class from another module", "import OTHER as o", "o.C.x", "class C:\n    x = VALUE", change="o.C.x = V"),
    Edit(
        "bases of a class",
        "class A:\n    x = VALUE\nclass B:\n    x = 5\nclass C(A): pass",
        "C.x",
        change="m.C.__bases__ = (m.B,)",
    ),
    # -- outside --
    Edit(
        "environment variable",
        "os.environ['CASE'] = 'VALUE'",
        "int(os.environ['CASE'])",
        change="os.environ['CASE'] = str(V)",
    ),
    Edit("getenv", "os.environ['CASE'] = 'VALUE'", "int(os.getenv('CASE'))", change="os.environ['CASE'] = str(V)"),
    Edit(
        "getenv under another name",
        "from os import getenv as g\nos.environ['CASE'] = 'VALUE'",
        "int(g('CASE'))",
        change="os.environ['CASE'] = str(V)",
    ),
    Edit(
        "environ under another name",
        "from os import environ as e\nos.environ['CASE'] = 'VALUE'",
        "int(e.get('CASE', 0))",
        change="os.environ['CASE'] = str(V)",
    ),
    Edit("context variable", "X = contextvars.ContextVar('X')\nX.set(VALUE)", "X.get()", change="m.X.set(V)"),
    # -- objects of C that hold others --
    Edit(
        "array of objects",
        f"{_POINT}p = Point(VALUE)\nX = np.array([p], object)",
        "X[0].x",
        change="m.p.x = V",
    ),
    Edit(
        "weak reference", f"import weakref\n{_POINT}p = Point(VALUE)\nX = weakref.ref(p)", "X().x", change="m.p.x = V"
    ),
    Edit(
        "weak dictionary",
        f"import weakref\n{_POINT}p = Point(VALUE)\nX = weakref.WeakValueDictionary(k=p)",
        "X['k'].x",
        change="m.p.x = V",
    ),
    Edit("values of a thread", "import threading\nX = threading.local()\nX.v = VALUE", "X.v", change="m.X.v = V"),
    Edit(
        "attrgetter of a module",
        f"{_POINT}p = Point(Point(VALUE))\ng = operator.attrgetter('x.x')",
        "g(p)",
        change="m.p.x.x = V",
    ),
    Edit(
        "methodcaller of a module",
        "class A:\n    x = VALUE\n    def f(self): return self.x\na = A()\ng = operator.methodcaller('f')",
        "g(a)",
        change="m.A.x = V",
    ),
    Edit("bound method of a list", "T = [VALUE]\ng = T.__getitem__", "g(0)", change="m.T[0] = V"),
    Edit(
        "configparser",
        "import configparser\nP = configparser.ConfigParser()\nP.read_dict({'a': {'x': 'VALUE'}})",
        "P.getint('a', 'x')",
        change="m.P.set('a', 'x', str(V))",
    ),
    # -- classes derived from plain ones --
    Edit("attribute of an int", "class I(int): pass\nX = I(1)\nX.v = VALUE", "X.v", change="m.X.v = V"),
    Edit("attribute of a text", "class S(str): pass\nX = S('a')\nX.v = VALUE", "X.v", change="m.X.v = V"),
    Edit("value of a member", "class E(enum.Enum):\n    A = VALUE", "E.A.value", change="m.E.A._value_ = V"),
    Edit(
        "attribute of a member",
        "class E(enum.IntEnum):\n    A = 1\nE.A.width = VALUE",
        "E.A.width",
        change="m.E.A.width = V",
    ),
    Edit(
        "__new__",
        "T = [VALUE]\nclass A:\n    def __new__(cls):\n        self = object.__new__(cls)\n        self.x = T[0]\n        return self",
        "A().x",
        change="m.T = [V]",
        frozen=True,
    ),
    Edit(
        "default of a named tuple",
        "import typing\nclass P(typing.NamedTuple):\n    x: int = VALUE",
        "P().x",
        change="m.P.__new__.__defaults__ = (V,)",
    ),
    Edit(
        "annotations", "class A:\n    x: 'VALUE'", "int(A.__annotations__['x'])", change="m.A.__annotations__['x'] = V"
    ),
    # -- modules of others --
    Edit("patched module of Python", "import math\nmath.case = VALUE", "math.case", change="m.math.case = V"),
    Edit("patched built-in", "import builtins\nbuiltins.case = VALUE", "case", change="m.builtins.case = V"),
    Edit("hidden built-in", "", "abs(-VALUE)", change="m.abs = lambda _: V"),
    Edit("sys.argv", "sys.argv = ['program', 'VALUE']", "sys.argv[1]", change="m.sys.argv[1] = str(V)"),
    Edit(
        "another module of a name",
        "sys.modules['case_mod'] = types.SimpleNamespace(X=VALUE)",
        "q.X",
        body="import case_mod as q",
        change="m.sys.modules['case_mod'] = m.types.SimpleNamespace(X=V)",
    ),
]
