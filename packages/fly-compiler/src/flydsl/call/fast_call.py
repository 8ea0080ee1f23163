# SPDX-License-Identifier: Apache-2.0
"""The way of a call that is compiled already: one generated function per jit function, and one for its key.

The generated function is the `__call__` of the jit function's own class and has the parameters of the user's function,
so that Python itself binds the arguments. It looks whether what was traced from is still the same (`watch`), builds the
memory key with one expression per parameter, and calls what it finds. In case of doubt it goes the slow way, which
looks closely. `JitFunction.key_of` is made of the same expressions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from flydsl.compile.target import environment
from flydsl.frontend.control.audit import heard
from flydsl.trace import context as _trace
from flydsl.trace.hints import _ambient

from .arguments.compile_time import constexpr_key, type_key
from .arguments.markers import is_static_type
from .arguments.signatures import SIGNATURES

if TYPE_CHECKING:
    from .jit_function import JitFunction
    from .watch import Watch

__all__ = ["make_fast_call"]

# User parameters keep their names, so everything else begins with _fly_.
_TEMPLATE = """
def {name}(_fly_jit{parameters}):
    if _fly_state.trace is not None:
        return _fly_inline({names})
    _fly_number, _fly_settings = _fly_environment.last
    try:
        _fly_same = (_fly_heard.settings == _fly_settings or _fly_environment.is_still(_fly_number)) and {unchanged}
    except (AttributeError, KeyError, ValueError):
        _fly_same = False
    if _fly_same:
        _fly_hints = _fly_jit.hints_token() if _fly_jit.compile_hints or _fly_ambient.stack else ()
        _fly_entry = _fly_entries.get((_fly_number, _fly_hints, {key}))
        if _fly_entry is not None:
            _fly_entry({names})
            return None
    _fly_specialise(({names}), runs=True)({names})


def _fly_key_of(_fly_jit, _fly_values):
    {unpack}
    return (_fly_environment.number(), _fly_jit.hints_token(), {key})
"""


def make_fast_call(jit: JitFunction[Any, Any], found: Watch | None) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the `__call__` and the `key_of` of `jit`.

    Args:
        jit: the jit function.
        found: what its compiled code was traced from; `None` before the first compilation.
    """
    scope: dict[str, Any] = {
        "_fly_ambient": _ambient,
        "_fly_constexpr": constexpr_key,
        "_fly_type": type_key,
        "_fly_entries": jit._entries,
        "_fly_environment": environment,
        "_fly_heard": heard,
        "_fly_inline": jit.inline,
        "_fly_signatures": SIGNATURES,
        "_fly_specialise": jit.specialise,
        "_fly_state": _trace.state,
        "_fly_receiver": jit.receiver_key,
    }
    parameters, key = _parameters(jit, scope)
    names = "".join(f"{one.name}, " for one in jit.parameters)
    name = jit.original.__name__ if jit.original.__name__.isidentifier() else "host_function"  # of a lambda
    text = _TEMPLATE.format(
        name=name,
        parameters="".join(f", {one}" for one in parameters),
        key=", ".join(key),
        names=names,
        unpack=f"{names}= _fly_values" if names else "pass",
        unchanged=(" and ".join(found.tests(scope)) or "True") if found is not None else "False",
    )
    exec(compile(text, f"<call of {jit.original.__qualname__}>", "exec"), scope)
    made: Callable[..., Any] = scope[name]
    made.__qualname__ = jit.original.__qualname__
    return made, scope["_fly_key_of"]


def _parameters(jit: JitFunction[Any, Any], scope: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return the text of the parameter list, and an expression of the key for each parameter."""
    parameters, key = [], []
    previous = None
    for index, one in enumerate(jit.parameters):
        name = one.name
        if previous is not None and previous.is_positional_only and not one.is_positional_only:
            parameters.append("/")
        if one.is_keyword_only and (previous is None or not previous.is_keyword_only):
            parameters.append("*")
        previous = one
        parameters.append(f"{name}=_fly_default_{index}" if one.has_default else name)
        scope[f"_fly_default_{index}"] = one.default
        if one.is_receiver:
            key.append(f"_fly_receiver({name})")
        elif one.compile_time:
            where = f"{jit.original.__qualname__}(): argument '{name}'"
            if is_static_type(one.annotation):
                key.append(f"_fly_type({where!r}, {name})")
                continue
            optional = ", optional=True" if one.is_optional else ""
            key.append(f"(int, {name}) if type({name}) is int else _fly_constexpr({where!r}, {name}{optional})")
        else:
            key.append(f"_fly_signatures[type({name})]({name})")
    if previous is not None and previous.is_positional_only:
        parameters.append("/")
    return parameters, key
