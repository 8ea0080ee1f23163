# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501 - a row is a case
"""Ways in which no code has the name of what is read: texts that are programs, objects made in C, names of nothing."""

from __future__ import annotations

from edits import Edit

__all__ = ["HIDDEN", "HIDDEN_POINTERS"]

_FILE = "import tempfile\nF = tempfile.mkdtemp() + '/f'\ndef put(v): open(F, 'w').write(str(v))\nput(VALUE)"
_FOLDERS = "import tempfile\nD = tempfile.mkdtemp()\nfor i in (3, 5): os.mkdir(f'{D}/{i}'); open(f'{D}/{i}/f', 'w').write(str(i))\nL = D + '/l'\nos.symlink(D + '/VALUE', L)"
_BARE = "class K: pass\nX = K()\nX.zz = VALUE"

HIDDEN = [
    # -- names --
    Edit(
        "name that is nowhere",
        "if VALUE == 5: Z = 5",
        "q",
        body="try: q = Z\n    except NameError: q = 3",
        change="m.Z = V",
    ),
    Edit("name that is asked for", "if VALUE == 5: ZZ = 1", "5 if 'ZZ' in globals() else 3", change="m.ZZ = 1"),
    Edit("text that formats", _BARE, "int('{0.zz}'.format(X))", change="m.X.zz = V"),
    Edit("text that is evaluated", _BARE, "eval('X.zz + 0')", change="m.X.zz = V"),
    Edit(
        "star import in a text",
        "",
        "ns['X']",
        "X = VALUE",
        body="ns = {}\n    exec('from OTHER import *', ns)",
        change="o.X = V",
    ),
    Edit(
        "import in a text of the module",
        "CODE = 'import OTHER; q = OTHER.X'",
        "ns['q']",
        "X = VALUE",
        body="ns = {}\n    exec(CODE, ns)",
        change="o.X = V",
    ),
    Edit(
        "import of a name of the module",
        "import OTHER\nN = 'OTHER'",
        "importlib.import_module(N.strip()).X",
        "X = VALUE",
        change="o.X = V",
    ),
    # -- classes --
    Edit(
        "class derived from property",
        "class R(property):\n    def __get__(self, o, t=None): return T[0]\nT = [VALUE]\nclass A:\n    x = R(lambda s: 0)",
        "A().x",
        change="m.T[0] = V",
        frozen=True,
    ),
    Edit(
        "class derived from partial",
        "class R(functools.partial):\n    def __call__(self): return T[0]\nT = [VALUE]\nX = R(int)",
        "X()",
        change="m.T[0] = V",
        frozen=True,
    ),
    Edit(
        "getter of a slot",
        "class A:\n    __slots__ = ('zz',)\nX = A()\nX.zz = VALUE\nG = A.zz",
        "G.__get__(X)",
        change="m.X.zz = V",
    ),
    Edit(
        "class of make_dataclass",
        "A = dataclasses.make_dataclass('A', [('x', int, dataclasses.field(default=VALUE))])",
        "A().x",
        change="m.A.__init__.__defaults__ = (V,)",
    ),
    # -- objects made in C --
    Edit("argument of an alias", "class K:\n    x = VALUE\nA = list[K]", "A.__args__[0].x", change="m.K.x = V"),
    Edit(
        "callback of ctypes",
        "import ctypes\nT = [VALUE]\nX = ctypes.CFUNCTYPE(ctypes.c_int)(lambda: T[0])",
        "X()",
        change="m.T[0] = V",
        frozen=True,
    ),
    Edit(
        "object in a structure of ctypes",
        "import ctypes\nclass S(ctypes.Structure):\n    _fields_ = [('o', ctypes.py_object)]\nX = S([VALUE])",
        "X.o[0]",
        change="m.X.o[0] = V",
    ),
    Edit(
        "notes of a type of elements",
        "L = [VALUE]\nX = np.dtype('i4', metadata={'a': L})",
        "X.metadata['a'][0]",
        change="m.L[0] = V",
    ),
    Edit(
        "memory of a tensor",
        "import torch\nA = torch.tensor([VALUE])\nX = A.untyped_storage()",
        "X[0]",
        change="m.A[0] = V",
    ),
    Edit(
        "stream over a stream",
        "import io\nB = io.BytesIO(b'VALUE')\nX = io.TextIOWrapper(B)",
        "int(X.buffer.getvalue())",
        change="m.B.seek(0); m.B.write(b'5')",
    ),
    Edit(
        "length of a simple queue",
        "import queue\nX = queue.SimpleQueue()\nfor i in range(VALUE): X.put(1)",
        "X.qsize()",
        change="m.X.put(1); m.X.put(1)",
    ),
    # -- objects of Python's library --
    Edit(
        "decoder of JSON",
        "import json\nT = [VALUE]\nX = json.JSONDecoder(parse_int=lambda s: T[0])",
        "X.decode('[1]')[0]",
        change="m.T[0] = V",
        frozen=True,
    ),
    Edit(
        "numerator of a fraction",
        "import fractions\nX = fractions.Fraction(VALUE)",
        "X",
        change="m.X._numerator = V",
    ),
    Edit(
        "length of a short repr",
        "import reprlib\nX = reprlib.Repr()\nX.maxlist = VALUE",
        "X.repr([1] * 9).count('1')",
        change="m.X.maxlist = V",
    ),
    Edit(
        "level of the root logger",
        "import logging\nlogging.root.setLevel(VALUE)",
        "logging.root.level",
        change="m.logging.root.setLevel(V)",
    ),
    # -- files --
    Edit(
        "file with its time put back",
        _FILE,
        "int(open(F).read())",
        change="s = os.stat(m.F); m.put(V); os.utime(m.F, ns=(s.st_atime_ns, s.st_mtime_ns))",
    ),
    Edit(
        "link to a folder",
        _FOLDERS,
        "int(open(L + '/f').read())",
        change="os.unlink(m.L); os.symlink(m.D + '/5', m.L)",
    ),
]

HIDDEN_POINTERS = [
    Edit(
        "pointer in a structure",
        "import ctypes\ni = ctypes.c_int(VALUE)\nclass S(ctypes.Structure):\n    _fields_ = [('p', ctypes.POINTER(ctypes.c_int))]\nX = S(ctypes.pointer(i))",
        "X.p.contents.value",
        change="m.i.value = V",
    ),
    Edit(
        "text behind a pointer",
        "import ctypes\nb = ctypes.create_string_buffer(b'VALUE')\nX = ctypes.cast(b, ctypes.c_char_p)",
        "int(X.value)",
        change="m.b.value = b'5'",
    ),
]
