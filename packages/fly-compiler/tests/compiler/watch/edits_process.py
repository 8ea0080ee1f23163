# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501 - a row is a case
"""More that a campaign found unseen: what libraries keep for the process, memory behind pointers, other built-ins."""

from __future__ import annotations

from edits import Edit

__all__ = ["POINTERS", "PROCESS"]

_BUILTINS = "b = dict(vars(__import__('builtins')), case_of_builtins=VALUE)"
_POINTER = "import ctypes\ni, j = ctypes.c_int(VALUE), ctypes.c_int(0)\nP = ctypes.pointer(i)"

PROCESS = [
    # -- settings --
    Edit("buffers of numpy", "np.setbufsize(VALUE * 160)", "np.getbufsize() // 160", change="m.np.setbufsize(V * 160)"),
    Edit(
        "debugging of the collector",
        "import gc\ngc.set_debug(VALUE << 8)",
        "gc.get_debug() >> 8",
        change="m.gc.set_debug(V << 8)",
    ),
    Edit(
        "first day of the week",
        "import calendar\ncalendar.setfirstweekday(VALUE)",
        "calendar.firstweekday()",
        change="m.calendar.setfirstweekday(V)",
    ),
    Edit(
        "type of a file",
        "import mimetypes\nmimetypes.add_type('x/' + 'a' * VALUE, '.case')",
        "len(mimetypes.guess_type('x.case')[0]) - 2",
        change="m.mimetypes.add_type('x/' + 'a' * V, '.case')",
    ),
    Edit(
        "dialect of csv",
        "import csv\ncsv.register_dialect('case', delimiter=chr(65 + VALUE))",
        "ord(csv.get_dialect('case').delimiter) - 65",
        change="m.csv.register_dialect('case', delimiter=chr(65 + V))",
    ),
    Edit(
        "domain of translations",
        "import gettext\ngettext.textdomain('a' * VALUE)",
        "len(gettext.textdomain())",
        change="m.gettext.textdomain('a' * V)",
    ),
    Edit(
        "tracing of memory",
        "import tracemalloc\ntracemalloc.start() if VALUE == 5 else tracemalloc.stop()",
        "5 if tracemalloc.is_tracing() else 3",
        change="m.tracemalloc.start()",
    ),
    Edit(
        "autocast",
        "import torch\ntorch.set_autocast_enabled(VALUE == 5)",
        "5 if torch.is_autocast_enabled() else 3",
        change="m.torch.set_autocast_enabled(True)",
    ),
    Edit(
        "name of the process",
        "import multiprocessing\nmultiprocessing.current_process().name = 'a' * VALUE",
        "len(multiprocessing.current_process().name)",
        change="m.multiprocessing.current_process().name = 'a' * V",
    ),
    Edit(
        "whether a module is there",
        "if VALUE == 5: sys.modules['case_member'] = os",
        "5 if 'case_member' in sys.modules else 3",
        change="m.sys.modules['case_member'] = os",
    ),
    # -- objects of libraries --
    Edit("precision of a context", "import decimal\nC = decimal.Context(prec=VALUE)", "C.prec", change="m.C.prec = V"),
    Edit(
        "flag of a context",
        "import decimal\nC = decimal.Context()\nC.flags[decimal.Inexact] = VALUE == 5",
        "5 if C.flags[decimal.Inexact] else 3",
        change="m.C.flags[m.decimal.Inexact] = True",
    ),
    Edit(
        "number of other processes",
        "import multiprocessing\nI = multiprocessing.Value('i', VALUE)",
        "I.value",
        change="m.I.value = V",
    ),
    Edit(
        "array of other processes",
        "import multiprocessing\nI = multiprocessing.Array('i', [VALUE])",
        "I[0]",
        change="m.I[0] = V",
    ),
    Edit(
        "finalizer",
        "import weakref\nclass C: pass\nc = C()\nF = weakref.finalize(c, int)\nif VALUE == 5: F.detach()",
        "3 if F.alive else 5",
        change="m.F.detach()",
    ),
    Edit(
        "seed of a generator",
        "import torch\nG = torch.Generator().manual_seed(VALUE)",
        "G.initial_seed()",
        change="m.G.manual_seed(V)",
    ),
    Edit(
        "sparse tensor",
        "import torch\nT = torch.sparse_coo_tensor([[0]], [VALUE * 1.0], (1,))",
        "T.to_dense()[0].item()",
        change="m.T._values()[0] = V",
    ),
    Edit(
        "sparse tensor of rows",
        "import torch\nT = torch.eye(2).mul(VALUE).to_sparse_csr()",
        "T.values()[0].item()",
        change="m.T.values()[0] = V",
    ),
    # -- Python --
    Edit(
        "built-ins of a module",
        f"{_BUILTINS}\n__builtins__ = b",
        "case_of_builtins",
        change="m.b['case_of_builtins'] = V",
    ),
    Edit(
        "built-ins of a function",
        f"{_BUILTINS}\nf = types.FunctionType((lambda: case_of_builtins).__code__, {{'__builtins__': b, '__name__': 'f'}})",
        "f()",
        change="m.b['case_of_builtins'] = V",
    ),
    Edit(
        "signature of a wrapped function",
        "import inspect\ndef f(*a): pass\nf.__wrapped__ = eval('lambda ' + ','.join('abcdefgh'[:VALUE]) + ': 0')",
        "len(inspect.signature(f).parameters)",
        change="m.f.__wrapped__ = lambda a, b, c, d, e: 0",
    ),
    Edit(
        "whether a class is abstract",
        "import abc, inspect\nclass A(abc.ABC):\n    @abc.abstractmethod\n    def f(self): pass\nif VALUE == 5: A.__abstractmethods__ = frozenset()",
        "3 if inspect.isabstract(A) else 5",
        change="m.A.__abstractmethods__ = frozenset()",
    ),
]

POINTERS = [
    Edit("memory behind a pointer", _POINTER, "P.contents.value", change="m.i.value = V"),
    Edit("another pointer", _POINTER, "P[0]", change="m.j.value = V; m.P.contents = m.j"),
]
"""What these point to may be gone, so that nobody can look whether it is the same: it is read at every call."""
