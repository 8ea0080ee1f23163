# SPDX-License-Identifier: Apache-2.0
"""From a function object to its rewritten form: same globals, same closure cells, same lines, new code."""

from __future__ import annotations

import ast
import difflib
import inspect
import operator
from types import CellType, CodeType, FunctionType, ModuleType

from flydsl.trace.context import maybe_current
from flydsl.utils import env, log

from .kept import KeptRewrites, name_of
from .namespace import Namespace
from .refusals import is_generator
from .source import FunctionSource, find_source
from .syntax import OPERAND, OPS, REGION, RewriteError, call_op, copied, is_named_call, located, nodes_in, parameters_of
from .transformer import FunctionTransformer

__all__ = [
    "SUSPENDS", "is_rewrite_of", "is_rewritten", "names_agree", "names_behind", "rewrite_function", "rewritten_source",
]  # fmt: skip

_FACTORY = "__fly_factory"
# The rewritten function's name inside the factory: under its own it would hide a global of that name from its body, as
# the function itself is when it calls itself.
_INNER = "__fly_function"

CONST_EXPR = "const_expr"

# Code objects of rewritten functions and of everything nested in them. They are compared by identity (code objects
# compare by content), so they are kept alive here.
_rewritten: dict[int, CodeType] = {}
_originals: dict[int, CodeType] = {}
_by_original: dict[tuple[int, bool, bool], tuple[CodeType, CodeType]] = {}
_answers: dict[int, dict[tuple[str, str], bool]] = {}
"""What the names around each rewritten function stood for, where its rewriting depends on one that can be replaced."""


def is_rewrite_of(rewritten: FunctionType | None, function: FunctionType) -> bool:
    """Tell whether `rewritten` was made from `function` as it is now, whose code and defaults can be replaced."""
    return (
        rewritten is not None
        and _stands(rewritten.__code__, function)
        and _originals.get(id(rewritten.__code__), rewritten.__code__) is function.__code__
        and rewritten.__defaults__ is function.__defaults__
        and rewritten.__kwdefaults__ is function.__kwdefaults__
    )


def names_behind(rewritten: FunctionType) -> dict[tuple[str, str], bool] | None:
    """Return what the names stood for on which the rewriting of a function depends, or `None` where there are none."""
    return _answers.get(id(rewritten.__code__))


def names_agree(names: dict[tuple[str, str], bool], function: FunctionType) -> bool:
    """Tell whether names around a function stand for the same as when it was rewritten, see `names_behind`."""
    return Namespace(function).agrees(names)


def _stands(code: CodeType, function: FunctionType) -> bool:
    """Tell whether names on which rewriting depends still stand for the same."""
    answers = _answers.get(id(code))
    return answers is None or names_agree(answers, function)


SUSPENDS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
"""The flags of code that can only be a generator or a coroutine, or holds the `yield` of a loop with init=."""


def is_rewritten(function: FunctionType) -> bool:
    """Tell whether `function` already is, or was defined inside, rewritten code."""
    return id(function.__code__) in _rewritten


def rewrite_function(function: FunctionType, *, decorated: bool, keep_value: bool = True) -> FunctionType:
    """Return `function` with its control flow rewritten.

    The result shares globals, defaults and closure cells with the original, and reports the original's file and lines.

    Args:
        function: a Python function.
        decorated: it is a kernel or jit function: every `range` and `while` is a run-time loop.
        keep_value: its result is used (not so for kernels, whose `return` just leaves).

    Raises:
        SourceUnavailableError: its source cannot be found.
        RewriteError: it holds a construct that no traced function can have.
    """
    if is_rewritten(function):
        return function
    key = (id(function.__code__), decorated, keep_value)
    known = _by_original.get(key)
    if known is None or not _stands(known[1], function):
        code = _kept_or_rewritten(function, decorated, keep_value)
        _register(code)
        _by_original[key] = known = (function.__code__, code)
        _originals[id(code)] = function.__code__
    return _with_code(function, known[1])


def rewritten_source(function: FunctionType, *, decorated: bool = True, keep_value: bool = True) -> str:
    """Return the rewritten function as Python text, for `FLYDSL_DEBUG_AST_DIFF` and for people."""
    return ast.unparse(_rewrite_tree(function, find_source(function), Namespace(function), decorated, keep_value))


_operations: list[ModuleType] = []


def register_operations(module: ModuleType) -> None:
    """Say which module has the operations that rewritten code calls (`flydsl.frontend.control`)."""
    _operations[:] = [module]


def _with_code(function: FunctionType, code: CodeType) -> FunctionType:
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells[OPS] = CellType(_operations[0])
    result = FunctionType(
        code,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        tuple(cells[name] for name in code.co_freevars),
    )
    result.__kwdefaults__ = function.__kwdefaults__
    result.__qualname__ = function.__qualname__
    result.__module__ = function.__module__
    result.__doc__ = function.__doc__
    result.__annotations__ = function.__annotations__
    return result


def _rewrite_tree(
    function: FunctionType, source: FunctionSource, namespace: Namespace, decorated: bool, keep_value: bool
) -> ast.FunctionDef | ast.Lambda:
    """Rewrite the tree of `source` in place and return it."""
    node = source.node
    try:
        if isinstance(node, ast.AsyncFunctionDef):
            raise RewriteError(f"'{node.name}' is async: a traced function runs at once and cannot await").at(node)
        if isinstance(node, ast.FunctionDef):
            if function.__code__.co_flags & SUSPENDS and is_generator(node):
                raise RewriteError(
                    f"'{node.name}' is a generator; in a traced function `yield` can only end the body of a loop "
                    "with init="
                ).at(node)
            node.decorator_list, node.returns = [], None
        _strip_signature(node.args)
        if _has_name(function.__code__, CONST_EXPR):
            _call_users_const_expr(node, function.__code__, namespace)
        transformer = FunctionTransformer(namespace, decorated=decorated, keep_value=keep_value)
        transformer.class_name = source.class_name
        transformer.function(node)
    except RewriteError as error:
        raise error.in_file(source.filename) from None
    return node


def _has_name(code: CodeType, name: str) -> bool:
    return name in (*code.co_names, *code.co_varnames, *code.co_freevars, *code.co_cellvars) or any(
        isinstance(one, CodeType) and _has_name(one, name) for one in code.co_consts
    )


def _call_users_const_expr(node: ast.AST, code: CodeType, namespace: Namespace) -> None:
    """Make calls of what only has the name of `const_expr` calls like any other: `callee(const_expr)(x)`."""
    imported: set[str] = set()
    calls: list[ast.Call] = []
    for one in nodes_in(node):
        if isinstance(one, ast.Call):
            if is_named_call(one, CONST_EXPR):
                calls.append(one)
        elif isinstance(one, ast.ImportFrom):
            if (one.module or "").partition(".")[0] == "flydsl":
                imported |= {name.asname or name.name for name in one.names}
        elif isinstance(one, ast.Import):
            imported |= {name.asname or "flydsl" for name in one.names if name.name.partition(".")[0] == "flydsl"}
    local = {*code.co_varnames, *code.co_cellvars}
    stands: dict[str, bool] = {}
    for one in calls:
        path = ast.unparse(one.func)
        if path not in stands:
            root = path.partition(".")[0]
            stands[path] = root in imported or (root not in local and namespace.is_const_expr(path))
        if not stands[path]:
            one.func = call_op("callee", [one.func], one.func)


def _strip_signature(arguments: ast.arguments) -> None:
    """Defaults and annotations belong to the function object, which keeps them; here they would be evaluated again."""
    for one in parameters_of(arguments):
        one.annotation = None
    arguments.defaults = [located(ast.Constant(None), one) for one in arguments.defaults]
    arguments.kw_defaults = [one and located(ast.Constant(None), one) for one in arguments.kw_defaults]


def _log_difference(before: ast.AST, after: ast.AST, name: str) -> None:
    written, rewritten = (ast.unparse(one).splitlines() for one in (before, after))
    difference = "\n".join(difflib.unified_diff(written, rewritten, "written", "rewritten", lineterm=""))
    log().info("rewriting of %s:\n%s", name, difference)


def _kept_or_rewritten(function: FunctionType, decorated: bool, keep_value: bool) -> CodeType:
    """Return the rewritten code, which an earlier process may have kept for the ones after it."""
    trace = maybe_current()
    kept: KeptRewrites | None = None if trace is None or env.debug.ast_diff else trace.rewrites
    name = None if kept is None else name_of(function, decorated, keep_value)
    namespace = Namespace(function)
    filename = function.__code__.co_filename
    if kept is not None and name is not None:
        found = kept.find(filename, name)
        if found is not None and namespace.agrees(found[0]):
            _remember(found[1], found[0])
            return found[1]
        namespace = Namespace(function)
    source = find_source(function)
    code = _rewrite_code(function, source, namespace, decorated, keep_value)
    _remember(code, namespace.answers)
    if kept is not None and name is not None:
        kept.add(filename, name, (namespace.answers, code), source.file_lines)
    return code


def _remember(code: CodeType, answers: dict[tuple[str, str], bool]) -> None:
    found = {key: value for key, value in answers.items() if key[0] == "is_const_expr"}
    if found:
        _answers[id(code)] = found


def _rewrite_code(
    function: FunctionType, source: FunctionSource, namespace: Namespace, decorated: bool, keep_value: bool
) -> CodeType:
    written = copied(source.node) if env.debug.ast_diff else None
    node = _rewrite_tree(function, source, namespace, decorated, keep_value)
    if written is not None:
        _log_difference(written, node, function.__qualname__)
    original = function.__code__
    # A factory whose parameters are the free variables makes them free in the compiled function again; it never runs.
    free = [ast.arg(name) for name in dict.fromkeys([*original.co_freevars, OPS])]
    arguments = ast.arguments(posonlyargs=[], args=free, kwonlyargs=[], kw_defaults=[], defaults=[])
    inner: ast.stmt
    if isinstance(node, ast.Lambda):
        inner = located(ast.Expr(node), node)
    else:
        inner, node.name = node, _INNER
    factory = ast.FunctionDef(_FACTORY, arguments, [inner], [])
    factory.type_params = []  # type: ignore[attr-defined]
    outer: ast.stmt = located(factory, node)
    if source.class_name is not None:  # private names are mangled with the name of the class
        holder = ast.ClassDef(source.class_name, [], [], [outer], [])
        holder.type_params = []  # type: ignore[attr-defined]
        outer = located(holder, node)
    module = ast.Module([outer], [])
    flags = original.co_flags & 0x1FF0000  # the `from __future__` features of the file
    compiled = compile(module, source.filename, "exec", flags=flags, dont_inherit=True)
    name = "<lambda>" if isinstance(node, ast.Lambda) else _INNER
    return _renamed(_find(_find(compiled, _FACTORY), name), original)


def _find(code: CodeType, name: str) -> CodeType:
    stack = [code]
    while stack:
        one = stack.pop(0)
        for constant in one.co_consts:
            if isinstance(constant, CodeType):
                if constant.co_name == name:
                    return constant
                stack.append(constant)
    raise AssertionError(f"no code named {name}")


def _renamed(code: CodeType, original: CodeType) -> CodeType:
    """Give the deferred operands their region name, and the function its qualified one."""
    names = {one: getattr(original, one) for one in ("co_name", "co_qualname") if hasattr(original, one)}
    return _regions_named(code).replace(**names)


def _regions_named(code: CodeType) -> CodeType:
    constants = tuple([_regions_named(one) if isinstance(one, CodeType) else one for one in code.co_consts])
    is_operand = code.co_name == "<lambda>" and OPERAND in code.co_varnames
    if not is_operand and all(map(operator.is_, constants, code.co_consts)):
        return code
    return code.replace(co_consts=constants, co_name=f"{REGION}_operand" if is_operand else code.co_name)


def _register(code: CodeType) -> None:
    _rewritten[id(code)] = code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            _register(constant)
