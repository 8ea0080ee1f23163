# SPDX-License-Identifier: Apache-2.0
"""Rewritten code keeps the user's lines, works from notebook cells, and says so when there is no source."""

from __future__ import annotations

import ast
import linecache
import traceback
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from types import FunctionType

import pytest

from flydsl.frontend.rewrite import RewriteError, SourceUnavailableError, compiled, find_source, rewrite_function


def cell(text, name="<ipython-input-7-abc>"):
    """Run a notebook cell: its source is known to linecache only."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace = {"__name__": "__main__"}
    code = "\n".join("" if line.startswith("%") else line for line in text.splitlines())
    exec(compile(code, name, "exec"), namespace)
    return namespace


def test_error_lines_are_the_users():
    def function(a):
        for i in range(3):
            if a:
                total = i / 0
        return total

    first = function.__code__.co_firstlineno
    with pytest.raises(ZeroDivisionError) as caught:
        rewrite_function(function, decorated=False)(1)
    lines = [frame.lineno for frame in traceback.extract_tb(caught.value.__traceback__) if frame.filename == __file__]
    assert lines[-1] == first + 3


def test_notebook_cells_with_magics():
    namespace = cell("%matplotlib inline\ndef f(a):\n    if a:\n        return 1\n    return 2\n")
    assert rewrite_function(namespace["f"], decorated=False)(0) == 2


def test_decorated_functions_are_found():
    def keep(function):
        return function

    @keep
    @keep
    def function(a):
        return 3 if a else 4

    assert find_source(function).node.name == "function"
    assert rewrite_function(function, decorated=True)(0) == 4


def test_no_source_is_an_error_that_says_what_to_do():
    namespace: dict = {}
    exec("def f(a):\n    return 1 if a else 2\n", namespace)
    with pytest.raises(SourceUnavailableError, match=r"source of 'f'.*define it in a file or in a notebook cell"):
        rewrite_function(namespace["f"], decorated=True)


def test_a_changed_file_is_noticed():
    namespace = cell("def f(a):\n    return 1 if a else 2\n", "<cell-changed>")
    text = "x = 1\n\n\ndef f(a, b):\n    return 3\n"
    linecache.cache["<cell-changed>"] = (len(text), None, text.splitlines(keepends=True), "<cell-changed>")
    with pytest.raises(SourceUnavailableError, match=r"changed after it was imported"):
        rewrite_function(namespace["f"], decorated=True)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a + 1", "a + 2"),
        ("a + 1", "a - 1"),
        ("a + 1", "a + 1.0"),
        ("a * 0.0", "a * -0.0"),
        ("a.x", "a.y"),
        ("max(a, 1)", "min(a, 1)"),
        ("[n + 1 for n in a]", "[n + 2 for n in a]"),
        ("(lambda n: n + 1)(a)", "(lambda n: n + 2)(a)"),
        ("a < 1", "a <= 1"),
        ("f(a=1)", "f(b=1)"),
    ],
)
def test_a_body_that_changed_in_the_file_is_noticed(tmp_path, before, after):
    """Python runs what it imported; only the body changed, and each line stands where it stood."""
    path = tmp_path / "edited.py"
    text = "def f(a):\n    if a:\n        return {}\n    return 2\n"
    path.write_text(text.format(before))
    specification = spec_from_file_location("edited", path)
    module = module_from_spec(specification)
    specification.loader.exec_module(module)
    path.write_text(text.format(after))
    with pytest.raises(SourceUnavailableError, match=r"'f' is not at .*edited\.py:1 any more.*changed after"):
        find_source(module.f)
    path.write_text(text.format(before))
    linecache.checkcache(str(path))
    assert find_source(module.f).node.name == "f"


def test_replaced_constants_are_noticed():
    f = cell("def f(a):\n    return 1 if a else 2\n", "<cell-constants>")["f"]
    assert find_source(f)
    f.__code__ = f.__code__.replace(co_consts=tuple(5 if one == 1 else one for one in f.__code__.co_consts))
    with pytest.raises(SourceUnavailableError, match="code was replaced"):
        find_source(f)


@pytest.mark.parametrize("name", ["argparse", "dataclasses", "inspect", "typing", "json.decoder", "functools", "enum"])
def test_code_of_the_standard_library_is_what_its_source_says(name):
    """Closures, private names, super(), lambdas, decorators, nested classes, names of imported modules, recursion."""
    module = import_module(name)
    functions = [one for one in vars(module).values() if isinstance(one, FunctionType)]
    for kind in [one for one in vars(module).values() if isinstance(one, type)]:
        functions += [one for one in vars(kind).values() if isinstance(one, FunctionType)]
    functions = [one for one in functions if one.__module__ == name and one.__code__.co_filename == module.__file__]
    assert len(functions) > 3
    for one in functions:
        assert find_source(one).node.name == one.__code__.co_name


def test_how_imported_names_are_called_is_known_from_the_file(tmp_path, monkeypatch):
    """Python calls methods of what is imported otherwise than those of other names; the file says which these are."""
    path = tmp_path / "imports.py"
    path.write_text(
        "from os import (environ as settings,  # not a module\n    path)\nimport os.path as other; import sys\n"
        "names = []\n\ndef f(a):\n    names.append(a)\n"
        "    return settings.get(a), path.join(a), other.join(a), sys.intern(a), names.copy()\n"
    )
    specification = spec_from_file_location("imports", path)
    module = module_from_spec(specification)
    specification.loader.exec_module(module)
    steps = []
    monkeypatch.setattr(compiled, "_steps", lambda code: steps.append(code))
    assert find_source(module.f).node.name == "f"
    assert not steps


@pytest.mark.parametrize("name", ["argparse", "dataclasses", "inspect", "typing", "tempfile", "functools", "enum"])
def test_imported_names_are_those_of_the_syntax_tree(name):
    text = "".join(linecache.getlines(import_module(name).__file__))
    statements = [one for one in ast.walk(ast.parse(text)) if isinstance(one, (ast.Import, ast.ImportFrom))]
    wanted = {alias.asname or alias.name.partition(".")[0] for one in statements for alias in one.names} - {"*"}
    assert wanted <= compiled.imported_names(text)


def refused(text, match):
    namespace = cell(text, f"<cell-{abs(hash(text))}>")
    with pytest.raises(RewriteError, match=match) as caught:
        rewrite_function(namespace["f"], decorated=True)
    return caught.value


def test_stray_yield_is_refused_with_its_line():
    error = refused("def f(n):\n    x = 1\n    yield n\n", "generator")
    assert error.lineno == 1
    error = refused(
        "def f(n):\n    for i, s in range(0, n, 1, init=[n]):\n        t = (yield s)[0]\n", "generator|yield"
    )
    assert error.filename.startswith("<cell-")


def test_async_is_refused():
    refused("async def f(n):\n    return n\n", "async")


def test_two_loop_variables_without_init_are_refused():
    error = refused("def f(n):\n    for i, j in range(n):\n        pass\n", r"range\(start, stop, step, init=")
    assert error.lineno == 2


def test_one_loop_variable_with_init_is_refused():
    refused("def f(n):\n    for i in range(0, n, 1, init=[n]):\n        yield [n]\n", "two loop variables")


def test_break_in_a_loop_with_init_is_refused():
    text = (
        "def f(n):\n    for i, s in range(0, n, 1, init=[n]):\n        if i == n:\n            break\n        yield s\n"
    )
    assert "init=" in str(refused(text, "break, continue and return cannot be used in a loop with init="))


def test_writing_an_outer_variable_from_a_nested_function():
    text = "def f(n):\n    total = 0\n    def add(x):\n        total += x\n    add(n)\n    return total\n"
    error = refused(text, r"'add' writes the variable 'total'.*`total = add\(total\)`.*nonlocal total")
    assert error.lineno == 4
    assert "total += x" in error.text


def test_an_outer_variable_that_the_nested_function_binds_too_is_its_own():
    text = (
        "def f(n):\n    total = last = 0\n    def add(x):\n        for total in range(3):\n            total += x\n"
        "        last = 1\n        last += x\n        return total + last\n    return add(n)\n"
    )
    assert rewrite_function(cell(text, "<cell-own>")["f"], decorated=False)(5) == 13


def test_an_exit_that_nothing_asks_about_leaves_no_empty_block():
    text = (
        "def f(n, test):\n    try:\n        n + 1\n    except TypeError:\n        if test:\n            return\n"
        "    for i in range(2):\n        if test:\n            return\n"
    )
    assert rewrite_function(cell(text, "<cell-exits>")["f"], decorated=False)("a", True) is None
