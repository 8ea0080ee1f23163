# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501 - a row is a case
"""Numbers that come to a kernel through objects of the standard library, protocols of classes and views of data."""

from __future__ import annotations

from edits import Edit

__all__ = ["LIBRARY"]

_POINT = "class Point:\n    def __init__(self, x): self.x = x\n"

LIBRARY = [
    # -- values of the standard library --
    Edit(
        "Struct",
        "import struct\nS = struct.Struct('VALUEi')",
        "S.size // 4",
        change="import struct; m.S = struct.Struct(f'{V}i')",
    ),
    Edit(
        "compiled pattern",
        "import re\nR = re.compile('a{VALUE}')",
        "len(R.match('a' * 9).group())",
        change="import re; m.R = re.compile('a{%d}' % V)",
    ),
    Edit("range", "R = range(VALUE)", "len(R)", change="m.R = range(V)", frozen=True),
    Edit(
        "literal_eval",
        "import ast\nT = '[1, VALUE]'",
        "ast.literal_eval(T)[1]",
        change="m.T = f'[1, {V}]'",
        frozen=True,
    ),
    Edit(
        "JSON", "import json\nT = '{\"a\": VALUE}'", "json.loads(T)['a']", change="m.T = '{\"a\": %d}' % V", frozen=True
    ),
    Edit(
        "pickled bytes",
        "import pickle\nT = pickle.dumps([VALUE])",
        "pickle.loads(T)[0]",
        change="import pickle; m.T = pickle.dumps([V])",
        frozen=True,
    ),
    Edit(
        "template",
        "import string\nT = string.Template('$a')\nD = {'a': VALUE}",
        "int(T.substitute(D))",
        change="m.D['a'] = V",
        frozen=True,
    ),
    Edit(
        "text of a template",
        "import string\nT = string.Template('VALUE')",
        "int(T.substitute())",
        change="m.T.template = str(V)",
    ),
    Edit(
        "timedelta",
        "import datetime\nT = datetime.timedelta(days=VALUE)",
        "T.days",
        change="import datetime; m.T = datetime.timedelta(days=V)",
    ),
    Edit("complex number", "Z = complex(VALUE, 1)", "Z.real", change="m.Z = complex(V, 1)", frozen=True),
    Edit(
        "decimal",
        "import decimal\nD = decimal.Decimal(VALUE)",
        "int(D)",
        change="import decimal; m.D = decimal.Decimal(V)",
    ),
    Edit(
        "level of a logger",
        "import logging\nlogging.getLogger('edits').setLevel(VALUE)\nL = logging.getLogger('edits')",
        "L.level",
        change="m.L.setLevel(V)",
    ),
    Edit("Namespace of arguments", "import argparse\nN = argparse.Namespace(x=VALUE)", "N.x", change="m.N.x = V"),
    Edit(
        "default of a parser",
        "import argparse\nP = argparse.ArgumentParser()\nP.add_argument('--x', type=int, default=VALUE)",
        "P.parse_args([]).x",
        change="m.P.set_defaults(x=V)",
    ),
    Edit("mock", "from unittest import mock\nM = mock.Mock(return_value=VALUE)", "M()", change="m.M.return_value = V"),
    Edit(
        "mocked attribute",
        f"from unittest import mock\n{_POINT}X = Point(VALUE)",
        "X.x",
        change="from unittest import mock; p = mock.patch.object(m.X, 'x', V); p.start()",
    ),
    Edit(
        "literal type",
        "import typing\nT = typing.Literal[VALUE]",
        "typing.get_args(T)[0]",
        change="import typing; m.T = typing.Literal[V]",
    ),
    Edit(
        "type hints",
        "import typing\nclass C:\n    x: typing.Literal[VALUE]",
        "typing.get_args(typing.get_type_hints(C)['x'])[0]",
        change="import typing; m.C.__annotations__['x'] = typing.Literal[V]",
    ),
    Edit(
        "bytes of an int",
        "B = (VALUE).to_bytes(2, 'big')",
        "int.from_bytes(B, 'big')",
        change="m.B = V.to_bytes(2, 'big')",
        frozen=True,
    ),
    # -- protocols --
    Edit(
        "__len__", "class C:\n    def __len__(self): return self.n\nX = C()\nX.n = VALUE", "len(X)", change="m.X.n = V"
    ),
    Edit(
        "__bool__",
        "class C:\n    def __bool__(self): return self.n == 3\nX = C()\nX.n = VALUE",
        "3 if X else 5",
        change="m.X.n = V",
    ),
    Edit(
        "__contains__",
        "class C:\n    def __contains__(self, one): return one == self.n\nX = C()\nX.n = VALUE",
        "3 if 3 in X else 5",
        change="m.X.n = V",
    ),
    Edit(
        "__eq__",
        "class C:\n    def __eq__(self, one): return self.n == one\n    __hash__ = None\nX = C()\nX.n = VALUE",
        "3 if X == 3 else 5",
        change="m.X.n = V",
    ),
    Edit(
        "__hash__",
        "class C:\n    def __hash__(self): return self.n\nX = C()\nX.n = VALUE",
        "hash(X)",
        change="m.X.n = V",
    ),
    Edit(
        "__repr__",
        "class C:\n    def __repr__(self): return str(T[0])\nT = [VALUE]\nX = C()",
        "int(repr(X))",
        change="m.T[0] = V",
        frozen=True,
    ),
    Edit(
        "__enter__",
        "class C:\n    def __enter__(self): return self.n\n    def __exit__(self, *_): pass\nX = C()\nX.n = VALUE",
        "y",
        body="with X as y: pass",
        change="m.X.n = V",
    ),
    Edit(
        "__set_name__",
        "class D:\n    def __set_name__(self, c, n): self.n = T[0]\n    def __get__(self, o, c): return self.n\nT = [VALUE]\nclass C:\n    x = D()",
        "C.x",
        change="vars(m.C)['x'].n = V",
    ),
    Edit(
        "__init_subclass__",
        "class B:\n    def __init_subclass__(cls, n): cls.n = n\nclass C(B, n=VALUE): pass",
        "C.n",
        change="m.C.n = V",
    ),
    Edit(
        "__post_init__",
        "T = [VALUE]\n@dataclasses.dataclass\nclass C:\n    x: int = 0\n    def __post_init__(self): self.x = T[0]",
        "C().x",
        change="m.T[0] = V",
        frozen=True,
    ),
    Edit(
        "super",
        "class A:\n    def f(self): return T[0]\nclass B(A):\n    def f(self): return super().f()\nT = [VALUE]\nX = B()",
        "X.f()",
        change="m.T[0] = V",
        frozen=True,
    ),
    Edit(
        "type of self",
        "class A:\n    n = VALUE\n    def f(self): return type(self).n\nclass B(A): pass\nX = B()",
        "X.f()",
        change="m.B.n = V",
    ),
    Edit(
        "abstract property",
        "import abc\nclass A(abc.ABC):\n    @property\n    @abc.abstractmethod\n    def x(self): ...\nclass B(A):\n    x = VALUE",
        "B().x",
        change="m.B.x = V",
    ),
    Edit(
        "method of a member",
        "class E(enum.Enum):\n    A = 1\n    def f(self): return self.n\nE.A.n = VALUE",
        "E.A.f()",
        change="m.E.A.n = V",
    ),
    # -- views of data --
    Edit("field of an array", "X = np.zeros(1, [('a', 'i4')])\nX['a'] = VALUE", "X['a'][0]", change="m.X['a'][0] = V"),
    Edit("scalar of numpy", "X = np.int64(VALUE)", "int(X)", change="m.X = m.np.int64(V)"),
    Edit("memoryview", "B = bytearray([VALUE])\nX = memoryview(B)", "X[0]", change="m.B[0] = V"),
    Edit(
        "ctypes array in an object",
        f"import ctypes\n{_POINT}X = Point((ctypes.c_int * 2)(1, VALUE))",
        "X.x[1]",
        change="m.X.x[1] = V",
    ),
    Edit("values of a dict", "D = {'a': VALUE}\nX = D.values()", "sum(X)", change="m.D['a'] = V"),
    Edit("items of a dict", "D = {'a': VALUE}\nX = D.items()", "[*X][0][1]", change="m.D['a'] = V"),
    Edit("proxy", f"import weakref\n{_POINT}p = Point(VALUE)\nX = weakref.proxy(p)", "X.x", change="m.p.x = V"),
    Edit(
        "stream of text",
        "import io\nX = io.StringIO('VALUE')",
        "int(X.getvalue())",
        change="m.X.seek(0); m.X.write(str(V))",
    ),
    Edit(
        "stream of bytes",
        "import io\nX = io.BytesIO(bytes([VALUE]))",
        "X.getvalue()[0]",
        change="m.X.seek(0); m.X.write(bytes([V]))",
    ),
    # -- functions --
    Edit(
        "method type",
        f"import types\n{_POINT}def g(self): return self.x\np = Point(VALUE)\nf = types.MethodType(g, p)",
        "f()",
        change="m.p.x = V",
    ),
    Edit(
        "partial with an object",
        f"{_POINT}def g(p): return p.x\np = Point(VALUE)\nf = functools.partial(g, p)",
        "f()",
        change="m.p.x = V",
    ),
    Edit(
        "default that is an object",
        f"{_POINT}def f(p=Point(VALUE)): return p.x",
        "f()",
        change="m.f.__defaults__[0].x = V",
    ),
    Edit("code of a function", "def f(): return VALUE", "f()", change="m.f.__code__ = (lambda: 5).__code__"),
    Edit(
        "registry of functions",
        "REG = {}\ndef register(n):\n    def deco(f):\n        REG[n] = f\n        return f\n    return deco\n@register('a')\ndef _(): return VALUE",
        "REG['a']()",
        change="m.REG['a'] = lambda: V",
        frozen=True,
    ),
    Edit(
        "counter in a closure",
        "def make():\n    n = VALUE\n    def f(): return n\n    def bump():\n        nonlocal n\n        n += 2\n    return f, bump\nf, bump = make()",
        "f()",
        change="m.bump()",
    ),
    Edit(
        "sorted by a key",
        "D = {'a': 3, 'b': 5}\ndef k(n): return n != T[0]\nT = [VALUE]",
        "sorted([3, 5], key=k)[0]",
        change="m.T[0] = V",
        frozen=True,
    ),
    Edit(
        "reduce", "T = [1, VALUE - 1]", "functools.reduce(lambda a, b: a + b, T)", change="m.T[1] = V - 1", frozen=True
    ),
    Edit("itemgetter", "D = {'a': VALUE}\ng = operator.itemgetter('a')", "g(D)", change="m.D['a'] = V", frozen=True),
    # -- modules --
    Edit("star import", "from OTHER import *", "X", "X = VALUE", change="m.X = V", frozen=True),
    Edit(
        "__getattr__ of a module",
        "import OTHER as o",
        "o.anything",
        "T = [VALUE]\ndef __getattr__(name):\n    if name == 'anything': return T[0]\n    raise AttributeError(name)",
        change="o.T[0] = V",
    ),
    Edit(
        "class of a module",
        "import OTHER as o",
        "o.x",
        "import sys, types\nT = [VALUE]\nclass M(types.ModuleType):\n    @property\n    def x(self): return T[0]\nsys.modules[__name__].__class__ = M",
        change="o.T[0] = V",
    ),
    Edit(
        "namespace in a module",
        "import OTHER as o",
        "o.n.m.x",
        "import types\nn = types.SimpleNamespace(m=types.SimpleNamespace(x=VALUE))",
        change="o.n.m.x = V",
    ),
    Edit("text of the other file", "import OTHER as o", "int(open(o.__file__).read().split()[-1])", "# VALUE"),
    Edit("source of a helper", "import inspect\ndef f(): return VALUE", "int(inspect.getsource(f).split()[-1])"),
    # -- states that code asks for --
    Edit(
        "state of a generator of Python",
        "import random\nR = random.Random(VALUE)",
        "3 if R.getstate() == random.Random(3).getstate() else 5",
        change="m.R.seed(V)",
    ),
    Edit(
        "state of the generator of random",
        "import random\nrandom.seed(VALUE)",
        "3 if random.getstate() == random.Random(3).getstate() else 5",
        change="m.random.seed(V)",
    ),
    Edit(
        "state of a bit generator",
        "G = np.random.default_rng(VALUE)\nS = np.random.default_rng(3).bit_generator.state",
        "3 if G.bit_generator.state == S else 5",
        change="m.G.bit_generator.state = m.np.random.default_rng(V).bit_generator.state",
    ),
    Edit(
        "state of a bit generator of arrays",
        "G = np.random.MT19937(VALUE)\nS = np.random.MT19937(3).state['state']['key'][1]",
        "3 if G.state['state']['key'][1] == S else 5",
        change="m.G.state = m.np.random.MT19937(V).state",
    ),
    Edit(
        "state of a decoder",
        "import codecs\nD = codecs.getincrementaldecoder('utf-8')()\nif VALUE == 5: D.decode(b'\\xe2')",
        "5 if D.getstate()[0] else 3",
        change="m.D.decode(b'\\xe2')",
    ),
]
