# SPDX-License-Identifier: Apache-2.0
"""Kernels in notebook cells: their source is where IPython puts it, in `linecache`, under a name that is no file."""

from __future__ import annotations

import ast
import itertools
import linecache
import sys

import numpy as np
import pytest

import flydsl.compiler as flyc

_numbers = itertools.count(1)


class Notebook:
    """Runs cells as IPython does: one namespace, `__main__`, a file name and a `linecache` entry for each."""

    def __init__(self):
        self.namespace = {"__name__": "__main__"}
        self.names = []

    def run(self, cell):
        name = f"/tmp/ipykernel_4711/{next(_numbers)}.py"
        self.names.append(name)
        lines = [f"{line}\n" for line in cell.strip().splitlines()]
        linecache.cache[name] = (len(cell), None, lines, name)
        kept = ["\n" if line.startswith(("%", "!")) else line for line in lines]
        exec(compile("".join(kept), name, "exec"), self.namespace)
        return self.namespace


@pytest.fixture
def notebook():
    made = Notebook()
    yield made
    for name in made.names:
        linecache.cache.pop(name, None)


IMPORTS = "import flydsl.compiler as flyc\nimport flydsl.expr as fx\n%matplotlib inline"
KERNEL = """
@flyc.kernel
def kernel(x: fx.Tensor, n: fx.Int32):
    i = fx.thread_idx.x
    if i < n:
        x[i] = change(x[i])

@flyc.jit
def launch(x: fx.Tensor, n: fx.Int32):
    kernel(x, n).launch(block=(64,))
"""


def ran(notebook):
    x = np.ones(64, np.float32)
    notebook.namespace["launch"](x, 10)
    assert (x[10:] == 1).all()
    return x[0]


def test_cells_compile_and_a_changed_cell_counts(notebook):
    notebook.run(IMPORTS)
    notebook.run("def change(x):\n    return x + 1.0")
    notebook.run(KERNEL)
    assert ran(notebook) == 2
    notebook.run("def change(x):\n    if x > 0.5:\n        x = x * 5.0\n    return x")
    assert ran(notebook) == 5
    notebook.run(KERNEL.replace("change(x[i])", "change(x[i]) - 1.0"))
    assert ran(notebook) == 4


def test_the_number_of_a_cell_is_no_part_of_the_key(notebook):
    for _ in range(2):
        notebook.run(IMPORTS)
        notebook.run("def change(x):\n    return x + 3.0")
        notebook.run(KERNEL)
        assert ran(notebook) == 4
    assert [one.origin for one in flyc.compilation_reports()[-2:]] == ["compiled", "disk"]


def test_errors_show_the_line_of_the_cell(notebook):
    notebook.run(IMPORTS)
    notebook.run("def change(x):\n    return x + 1.0")
    notebook.run(KERNEL.replace("if i < n:", "if n:"))
    with pytest.raises(flyc.DSLCompileError) as caught:
        ran(notebook)
    assert f'File "{notebook.names[-1]}", line 4\n    if n:\n       ^' in str(caught.value)


def test_a_function_typed_at_the_plain_prompt(notebook):
    code = "import flydsl.compiler as flyc, flydsl.expr as fx\n" + KERNEL
    exec(compile(code, "<stdin>", "exec"), notebook.namespace)
    with pytest.raises(RuntimeError, match=r"cannot read the source of 'launch'.*in a file or in a notebook cell"):
        ran(notebook)


def test_nodes_with_a_parent(notebook):
    """What `executing`, which draws IPython's tracebacks, leaves on the nodes that all trees share."""
    tree = ast.parse("x = y")
    (assignment,) = tree.body
    shared = [ast.parse("y").body[0].value.ctx, assignment.targets[0].ctx]
    assert shared[0] is assignment.value.ctx  # one object for every tree of the process
    try:
        for node in shared:
            node.parent = assignment
        notebook.run(IMPORTS)
        notebook.run("def change(x):\n    if x > 0.5:\n        x = x + 1.0\n    return x")
        notebook.run(KERNEL)
        assert ran(notebook) == 2
    finally:
        for node in shared:
            del node.parent


@pytest.mark.skipif(
    "IPython" not in sys.modules and not __import__("importlib").util.find_spec("IPython"), reason="no IPython"
)
def test_ipython_itself():
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell()
    for cell in (IMPORTS.replace("%matplotlib inline", "%pwd"), "def change(x):\n    return x + 1.0", KERNEL):
        assert shell.run_cell(cell, silent=True).success
    x = np.ones(64, np.float32)
    shell.user_ns["launch"](x, 64)
    assert (x == 2).all()
    shell.run_cell("1 / 0", silent=True)  # prints a traceback
    assert shell.run_cell(KERNEL, silent=True).success
    shell.user_ns["launch"](x, 64)
    assert (x == 3).all()
