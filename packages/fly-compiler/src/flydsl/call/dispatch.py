# SPDX-License-Identifier: Apache-2.0
"""From the parameters of a compiled host function to its artifact: one generated function per specialisation.

It drops compile-time parameters, converts what has to be, and calls the native function directly where fly-runtime
says that it may. The first call goes the long way, which says in the log which device is used.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .arguments.passed import Passed
from .arguments.written import check_written, is_recorded, is_written, telling

if TYPE_CHECKING:
    from flydsl.compile.compilation import Compiled

    from .jit_function import JitFunction

__all__ = ["make_dispatch"]

# User parameters keep their names, so everything else begins with _fly_.
_TEMPLATE = """
def {name}({parameters}):{checks}
    try:
        _fly_call({arguments})
    except Exception as _fly_error:
        _fly_recover(_fly_error, ({arguments}))
"""


def make_dispatch(
    jit: JitFunction[Any, Any], compiled: Compiled, passed: list[tuple[int, Passed]], values: tuple[Any, ...]
) -> Callable[..., None]:
    """Return a function of all parameters, by position, that calls the artifact with the run-time ones.

    Args:
        jit: the host function.
        compiled: its specialisation.
        passed: position and kind of the run-time parameters.
        values: what the specialisation was made for.
    """
    function = compiled.function
    if function is None:
        return _nothing
    names = [one.name for one in jit.parameters]
    scope: dict[str, Any] = {}
    parts, examples = [], []
    written = []
    for index, one in passed:
        name, convert = names[index], one.convert
        if is_written(compiled.note["arguments"], name):
            where = f"{jit.original.__qualname__}(): argument '{name}'"
            convert = telling(one, where)
            if is_recorded(type(values[index])):
                scope[f"_fly_check_{index}"] = functools.partial(check_written, where)
                written.append(_check_of(name, index))
        if convert is None:
            parts.append(name)
            examples.append(values[index])
            continue
        scope[f"_fly_convert_{index}"] = convert
        parts.append(f"{'*' if one.unpacked else ''}_fly_convert_{index}({names[index]})")
        converted = convert(values[index])
        examples += converted if one.unpacked else [converted]
    ktrace = compiled.request.ktrace
    if ktrace is not None:
        from .ktrace.buffer import buffer_for

        scope["_fly_trace_buffer"] = lambda: buffer_for(ktrace).address
        parts.append("_fly_trace_buffer()")
        examples.append(0)
    absent = [
        f"\n    if {name} is not None: _fly_absent({name!r}, {name})"
        for one, name, value in zip(jit.parameters, names, values, strict=True)
        if one.is_absent(value)
    ]
    scope["_fly_absent"] = functools.partial(_refuse_present, jit.original.__qualname__)
    direct = function.direct(tuple(examples))
    scope["_fly_call"] = function if direct is None else _first_call(function, direct, scope)
    scope["_fly_recover"] = _raise if direct is None else function.recover
    return _generated(jit, names, parts, scope, checks=[*absent, *written])


# Asking a tensor of torch costs half of what a look at its class costs besides. What has no such attribute is another
# framework's.
_CHECK = """
    try:
        _fly_grad = {name}.requires_grad
    except AttributeError:
        _fly_grad = True
    if _fly_grad:
        _fly_check_{index}({name})"""


def _check_of(name: str, index: int) -> str:
    """Return the check of a torch tensor that is written; of another one than expected, whatever it is."""
    return _CHECK.format(name=name, index=index)


def _refuse_present(function: str, name: str, value: Any) -> None:
    raise TypeError(
        f"{function}(): argument '{name}' is a {type(value).__name__}, but this was compiled for None. Compile it for "
        "such a value too (flyc.compile), or call the @flyc.jit function"
    )


def make_method(
    jit: JitFunction[Any, Any],
    call: Callable[..., None],
    recover: Callable[..., None],
    written: Mapping[str, tuple[type, Callable[[Any], None]]],
) -> Callable[..., None]:
    """Return the same as a method of a compiled function's class.

    Args:
        jit: the host function.
        call: what `make_dispatch` returned.
        recover: takes the exception that a call raised, and its arguments.
        written: tensors that the program writes, by parameter: a class whose objects may be written, and what checks
            an object of another class.
    """
    names = [one.name for one in jit.parameters]
    checks = []
    for name, (kind, check) in written.items():
        index = names.index(name)
        call.__globals__[f"_fly_check_{index}"] = check
        if is_recorded(kind):
            checks.append(_check_of(name, index))
        else:
            call.__globals__[f"_fly_kind_{index}"] = kind
            checks.append(f"\n    if type({name}) is not _fly_kind_{index}: _fly_check_{index}({name})")
    if getattr(call, "_fly_plain", False):
        # One Python call, not two: the native function itself, looked up where the first call puts it.
        scope = call.__globals__
        scope["_fly_recover_method"] = lambda error, args: _recovered(scope["_fly_recover"], recover, error, args)
        text = _TEMPLATE.replace("_fly_recover(", "_fly_recover_method(")
        return _generated(jit, _with_defaults(jit, scope), names, scope, text, checks)
    scope = {**call.__globals__, "_fly_call": call, "_fly_recover": recover}
    return _generated(jit, _with_defaults(jit, scope), names, scope, checks=checks)


def _with_defaults(jit: JitFunction[Any, Any], scope: dict[str, Any]) -> list[str]:
    """Return the parameter list of a method: all by position, the last ones with the defaults of the host function."""
    texts: list[str] = []
    trailing = True
    for index, one in reversed(list(enumerate(jit.parameters))):
        trailing = trailing and one.has_default
        if trailing:
            scope[f"_fly_default_{index}"] = one.default
        texts.insert(0, f"{one.name}=_fly_default_{index}" if trailing else one.name)
    return ["_fly_self", *texts]


def _recovered(
    first: Callable[..., None], second: Callable[..., None], error: Exception, args: tuple[Any, ...]
) -> None:
    try:
        first(error, args)
    except Exception as left:
        second(left, args)


def _generated(
    jit: JitFunction[Any, Any],
    parameters: list[str],
    parts: list[str],
    scope: dict[str, Any],
    template: str = _TEMPLATE,
    checks: Sequence[str] = (),
) -> Callable[..., None]:
    name = jit.original.__name__ if jit.original.__name__.isidentifier() else "host_function"  # of a lambda
    arguments = "".join(f"{part}, " for part in parts)
    text = template.format(
        name=name,
        parameters=", ".join([*parameters, "/"] if parameters else []),
        arguments=arguments,
        checks="".join(checks),
    )
    exec(compile(text, f"<call of {jit.original.__qualname__}>", "exec"), scope)
    made: Any = scope.pop(name)
    made.__qualname__ = jit.original.__qualname__
    made._fly_plain = parts == parameters
    function: Callable[..., None] = made
    return function


def _first_call(function: Any, direct: Callable[..., None], scope: dict[str, Any]) -> Callable[..., None]:
    def first(*args: Any) -> None:
        scope["_fly_call"] = direct
        function(*args)

    return first


def _raise(error: Exception, args: tuple[Any, ...]) -> None:
    raise error


def _nothing(*args: Any) -> None:
    """What a call runs under `COMPILE_ONLY`."""
