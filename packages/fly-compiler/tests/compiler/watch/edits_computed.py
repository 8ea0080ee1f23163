# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501 - a row is a case
"""Names that a trace computed, and tables of the library that it went by without naming them."""

from __future__ import annotations

from edits import Edit

__all__ = ["COMPUTED"]

_POINT = "class Point:\n    def __init__(self, x): self.x = x\nQ = Point(1)\n"
_KIND = "class K: pass\nQ = K()\n"

COMPUTED = [
    # -- names --
    Edit(
        "method by a computed name",
        "class W:\n    def visit_a(self): return VALUE\n    def visit(self, n): return getattr(self, 'visit_' + n)()\nQ = W()",
        "Q.visit('a')",
        change="m.W.visit_a = lambda self: V",
    ),
    Edit(
        "method by a computed name in a property",
        "class W:\n    def visit_a(self): return VALUE\n    @property\n    def x(self): return getattr(self, 'visit_' + 'ab'[0])()\nQ = W()",
        "Q.x",
        change="m.W.visit_a = lambda self: V",
    ),
    Edit(
        "visitor of the library",
        "import ast\nclass W(ast.NodeVisitor):\n    def visit_Constant(self, n): return VALUE\nQ = W()",
        "Q.visit(ast.Constant(1))",
        change="m.W.visit_Constant = lambda self, n: V",
    ),
    Edit(
        "default for a computed name",
        f"{_POINT}N = ['late']\nif VALUE == 5: Q.late = 5",
        "getattr(Q, N[0], 3)",
        change="m.Q.late = V",
    ),
    Edit(
        "getter of a computed name",
        f"{_POINT}N = ['la', 'te']\nQ.late = VALUE",
        "operator.attrgetter(''.join(N))(Q)",
        change="m.Q.late = V",
    ),
    Edit(
        "name that a module of Python has not",
        "if VALUE == 5: os.case_late = 5",
        "5 if hasattr(os, 'case_late') else 3",
        change="m.os.case_late = 5",
    ),
    Edit(
        "module that is not there",
        "if VALUE == 5: sys.modules['case_optional'] = types.SimpleNamespace(N=5)",
        "q",
        body="try:\n        import case_optional\n        q = case_optional.N\n    except ImportError: q = 3",
        change="m.sys.modules['case_optional'] = m.types.SimpleNamespace(N=V)",
    ),
    Edit(
        "name in a pickle",
        "import pickle\ndef f(): return VALUE\nD = pickle.dumps(f)",
        "pickle.loads(D)()",
        change="m.f = lambda: V",
    ),
    # -- tables --
    Edit(
        "what copies a class",
        f"import copyreg\n{_KIND}copyreg.pickle(K, lambda _: (int, (VALUE,)))",
        "copy.copy(Q)",
        change="m.copyreg.pickle(m.K, lambda _: (int, (V,)))",
    ),
    Edit(
        "what a copy of a class reads",
        f"import copyreg\n{_KIND}R = types.SimpleNamespace(x=VALUE)\ncopyreg.pickle(K, lambda _: (int, (R.x,)))",
        "copy.copy(Q)",
        change="m.R.x = V",
    ),
    Edit(
        "how codecs treat errors",
        "import codecs\ncodecs.register_error('case_error', lambda e: ('a' * VALUE, e.end))",
        "len('\\u00e9'.encode('ascii', 'case_error'))",
        change="m.codecs.register_error('case_error', lambda e: ('a' * V, e.end))",
    ),
    Edit(
        "line of a cache",
        "import linecache\nlinecache.cache['<case>'] = (1, None, ['VALUE\\n'], '<case>')",
        "int(linecache.getline('<case>', 1))",
        change="m.linecache.cache['<case>'] = (1, None, [f'{V}\\n'], '<case>')",
    ),
    Edit(
        "digits that numpy prints",
        "np.set_printoptions(precision=VALUE)",
        "len(np.array2string(np.array([1 / 3]))) - 4",
        change="m.np.set_printoptions(precision=V)",
    ),
    Edit(
        "where time zones lie",
        "import zoneinfo\nzoneinfo.reset_tzpath(['/a'] * VALUE)",
        "len(zoneinfo.TZPATH)",
        change="m.zoneinfo.reset_tzpath(['/a'] * V)",
    ),
]
