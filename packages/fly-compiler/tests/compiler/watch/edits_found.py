# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501 - a row is a case
"""Ways that a campaign against the watch found unseen: settings of the process, objects of Python's library, files."""

from __future__ import annotations

from edits import Edit

__all__ = ["FOUND", "OF_CALLERS"]

_POINT = "class Point:\n    def __init__(self, x): self.x = x\n"
_FOLDER = "import tempfile, pathlib, glob\nD = tempfile.mkdtemp()\nos.mkdir(D + '/d')\nfor i in range(VALUE): open(f'{D}/d/{i}', 'w').close()"
_TWO_MORE = "open(m.D + '/d/a', 'w').close(); open(m.D + '/d/b', 'w').close()"
_ELEMENT = "import xml.etree.ElementTree as ET\nQ = ET.fromstring('<a x=\"VALUE\"><b>VALUE</b></a>')"

FOUND = [
    # -- settings of the process --
    Edit(
        "gc threshold",
        "import gc\ngc.set_threshold(700 + VALUE, 10, 10)",
        "gc.get_threshold()[0] - 700",
        change="m.gc.set_threshold(700 + V, 10, 10)",
    ),
    Edit(
        "limit of resources",
        "import resource as r\nr.setrlimit(r.RLIMIT_CORE, (VALUE, r.getrlimit(r.RLIMIT_CORE)[1]))",
        "r.getrlimit(r.RLIMIT_CORE)[0]",
        change="m.r.setrlimit(m.r.RLIMIT_CORE, (V, m.r.getrlimit(m.r.RLIMIT_CORE)[1]))",
    ),
    Edit(
        "signal handler",
        "import signal\ndef h(*_): return VALUE\nsignal.signal(signal.SIGUSR2, h)",
        "signal.getsignal(signal.SIGUSR2)()",
        change="m.signal.signal(m.signal.SIGUSR2, lambda *_: V)",
    ),
    Edit(
        "name of the thread",
        "import threading\nthreading.current_thread().name = 'VALUE'",
        "int(threading.current_thread().name)",
        change="m.threading.current_thread().name = str(V)",
    ),
    Edit(
        "expandvars",
        "os.environ['CASE'] = 'VALUE'",
        "int(os.path.expandvars('$CASE'))",
        change="os.environ['CASE'] = str(V)",
    ),
    Edit(
        "expanduser",
        "os.environ['HOME'] = '/tmp/VALUE'",
        "int(os.path.basename(os.path.expanduser('~')))",
        change="os.environ['HOME'] = f'/tmp/{V}'",
    ),
    Edit(
        "folder for temporary files",
        "import tempfile\ntempfile.tempdir = '/VALUE'",
        "int(tempfile.gettempdir()[1:])",
        change="m.tempfile.tempdir = f'/{V}'",
    ),
    Edit(
        "time that sockets wait",
        "import socket\nsocket.setdefaulttimeout(VALUE)",
        "socket.getdefaulttimeout()",
        change="m.socket.setdefaulttimeout(V)",
    ),
    Edit(
        "effective level",
        "import logging\nlogging.getLogger('case').setLevel(VALUE)\nL = logging.getLogger('case.q')",
        "L.getEffectiveLevel()",
        change="m.logging.getLogger('case').setLevel(V)",
    ),
    Edit(
        "logging off",
        "import logging\nL = logging.getLogger('case.e')\nL.setLevel(10)",
        "VALUE if L.isEnabledFor(20) else 5",
        change="m.logging.disable(50)",
    ),
    Edit(
        "precision of torch",
        "import torch\ntorch.set_float32_matmul_precision('highest')",
        "VALUE if torch.get_float32_matmul_precision() == 'highest' else 5",
        change="m.torch.set_float32_matmul_precision('high')",
    ),
    Edit(
        "determinism of torch",
        "import torch\ntorch.use_deterministic_algorithms(False)",
        "5 if torch.are_deterministic_algorithms_enabled() else VALUE",
        change="m.torch.use_deterministic_algorithms(True)",
    ),
    # -- what classes and objects have --
    Edit(
        "callable", _POINT + "Q = Point(1)", "5 if callable(Q) else VALUE", change="m.Point.__call__ = lambda self: 1"
    ),
    Edit("dir", _POINT + "Q = Point(1)\nN = len(dir(Q))", "len(dir(Q)) - N + VALUE", change="m.Q.a = m.Q.b = 1"),
    Edit(
        "protocol",
        "import typing\n@typing.runtime_checkable\nclass A(typing.Protocol):\n    x: int\nclass K: pass\nQ = K()\nQ.x = 1",
        "VALUE if isinstance(Q, A) else 5",
        change="del m.Q.x",
    ),
    Edit("globals of a frame", "X = VALUE", "sys._getframe().f_globals['X']", change="m.X = V", frozen=True),
    Edit(
        "cause of an exception",
        "Q = ValueError(1)\nQ.__cause__ = ValueError(VALUE)",
        "Q.__cause__.args[0]",
        change="m.Q.__cause__.args = (V,)",
    ),
    Edit(
        "cache of a helper",
        "@functools.lru_cache\ndef f(x): return x\nf(1)",
        "f.cache_info().currsize - 1 + VALUE",
        change="m.f(2); m.f(3)",
    ),
    # -- objects of Python's library --
    Edit("shelf", "import shelve\nS = shelve.Shelf({})\nS['x'] = VALUE", "S['x']", change="m.S['x'] = V"),
    Edit("memory map", "import mmap\nM = mmap.mmap(-1, 16)\nM[0] = VALUE", "M[0]", change="m.M[0] = V"),
    Edit("lock", "import threading\nQ = threading.Lock()", "5 if Q.locked() else VALUE", change="m.Q.acquire()"),
    Edit("event", "import threading\nQ = threading.Event()", "5 if Q.is_set() else VALUE", change="m.Q.set()"),
    Edit(
        "length of a queue",
        "import queue\nQ = queue.Queue()\nfor i in range(VALUE): Q.put(i)",
        "Q.qsize()",
        change="m.Q.put(1); m.Q.put(1)",
    ),
    Edit(
        "distribution", "import statistics\nQ = statistics.NormalDist(VALUE, 1)", "Q.mean", change="m.Q._mu = float(V)"
    ),
    Edit(
        "tree of syntax",
        "import ast\nQ = ast.parse('VALUE', mode='eval').body",
        "int(ast.unparse(Q))",
        change="m.Q.value = V",
    ),
    Edit("element of XML", _ELEMENT, "int(Q.get('x'))", change="m.Q.set('x', str(V))"),
    Edit("element in an element of XML", _ELEMENT, "int(Q.find('b').text)", change="m.Q[0].text = str(V)"),
    Edit(
        "hash",
        "import hashlib\nQ = hashlib.sha256(b'a')\nH = Q.hexdigest()",
        "VALUE if Q.hexdigest() == H else 5",
        change="m.Q.update(b'x')",
    ),
    Edit("count", "import itertools\nQ = itertools.count(VALUE)", "int(repr(Q)[6:-1])", change="next(m.Q); next(m.Q)"),
    Edit(
        "what is left of an iterator",
        "L = [0] * VALUE\nQ = iter(L)",
        "operator.length_hint(Q)",
        change="m.L.extend([0, 0])",
    ),
    Edit("polynomial", "Q = np.poly1d([VALUE])", "Q(0)", change="m.Q.coeffs[0] = V"),
    Edit("polynomial of a class", "Q = np.polynomial.Polynomial([VALUE])", "Q(0)", change="m.Q.coef[0] = V"),
    Edit("flat array", "A = np.array([VALUE])\nQ = A.flat", "Q[0]", change="m.A[0] = V"),
    Edit(
        "vectorised function",
        "Q = np.vectorize(lambda x: x * VALUE)",
        "int(Q(1))",
        change="m.Q.pyfunc = lambda x: x * V",
    ),
    Edit(
        "flags of an array",
        "A = np.zeros(2)",
        "VALUE if A.flags.writeable else 5",
        change="m.A.flags.writeable = False",
    ),
    Edit(
        "gradient wanted",
        "import torch\nT = torch.zeros(2)",
        "5 if T.requires_grad else VALUE",
        change="m.T.requires_grad_(True)",
    ),
    Edit(
        "gradient",
        "import torch\nT = torch.zeros(2, requires_grad=True)\nT.grad = torch.full((2,), VALUE * 1.0)",
        "T.grad[0].item()",
        change="m.T.grad.fill_(V)",
    ),
    # -- files --
    Edit(
        "target of a link",
        "import tempfile\nD = tempfile.mkdtemp()\nos.symlink('/VALUE', D + '/l')",
        "int(os.readlink(D + '/l')[1:])",
        change="os.unlink(m.D + '/l'); os.symlink(f'/{V}', m.D + '/l')",
    ),
    Edit("walk through folders", _FOLDER, "sum(len(files) for _, _, files in os.walk(D))", change=_TWO_MORE),
    Edit("glob in a folder in a folder", _FOLDER, "len(glob.glob(D + '/*/*'))", change=_TWO_MORE),
    Edit("glob of a path", _FOLDER, "len(list(pathlib.Path(D).glob('*/*')))", change=_TWO_MORE),
    Edit(
        "database",
        "import sqlite3, tempfile, contextlib\nF = tempfile.mkdtemp() + '/f'\ndef put(v):\n    with contextlib.closing(sqlite3.connect(F)) as c:\n        c.executescript(f'drop table if exists t; create table t(x); insert into t values ({v})')\nput(VALUE)",
        "c.execute('select x from t').fetchone()[0]",
        body="c = sqlite3.connect(F)",
        change="m.put(V)",
    ),
]

OF_CALLERS = Edit(
    "variable of the caller",
    "import inspect\ndef outer():\n    w = N[0]\n    return inner()\ndef inner(): return inspect.currentframe().f_back.f_locals['w']\nN = [VALUE]",
    "outer()",
    change="m.outer = lambda w=V: m.inner()",
)
