# SPDX-License-Identifier: Apache-2.0
"""The way of a call that is compiled already: one generated function per jit function, a few dictionary look-ups long.

The generated function has the parameters of the user's, so that Python itself binds the arguments. It builds the memory
key (`JitFunction.key_of`) with one expression per parameter, and calls what it finds under it.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from .arguments.classify import constexpr_key
from .arguments.signatures import signature
from .cache.fingerprint import Drift, Fingerprint, state_key
from .hints import _ambient
from .target import environment_token

if TYPE_CHECKING:
    from .jit_function import JitFunction

__all__ = ["make_fast_call", "unchanged_check"]

_TEMPLATE = """
def {name}({parameters}):
    entry = entries.get((environment(), hints() if jit.compile_hints or ambient.stack else (), {key}))
    if entry is None or not jit.unchanged():
        entry = specialise(({names},))
    entry({names})
"""


def make_fast_call(jit: JitFunction) -> Callable[..., None]:
    """Return the function that a call of `jit` runs."""
    scope: dict[str, Any] = {
        "ambient": _ambient,
        "constexpr_key": constexpr_key,
        "entries": jit._entries,
        "environment": environment_token,
        "hints": jit.hints_token,
        "jit": jit,
        "signature": signature,
        "specialise": jit.specialise,
        "state_key": state_key,
    }
    parameters, key = [], []
    previous = None
    for index, one in enumerate(jit.parameters):
        name = one.name
        if previous is not None and previous.is_positional_only and not one.is_positional_only:
            parameters.append("/")
        if one.is_keyword_only and (previous is None or not previous.is_keyword_only):
            parameters.append("*")
        previous = one
        if one.has_default:
            scope[f"default_{index}"] = one.default
            parameters.append(f"{name}=default_{index}")
        else:
            parameters.append(name)
        if one.is_receiver:
            key.append(f"(type({name}), state_key({name}))")
        elif one.compile_time:
            where = f"{jit.original.__qualname__}(): argument '{name}'"
            key.append(f"(int, {name}) if type({name}) is int else constexpr_key({where!r}, {name})")
        else:
            key.append(f"(type({name}), signature({name}))")
    if previous is not None and previous.is_positional_only:
        parameters.append("/")
    names = ", ".join(one.name for one in jit.parameters)
    text = _TEMPLATE.format(
        name=jit.original.__name__, parameters=", ".join(parameters), key=", ".join(key), names=names
    )
    if not names:
        text = text.replace("((,))", "(())").replace("(), ))", "(),))")
    exec(compile(text, f"<call of {jit.original.__qualname__}>", "exec"), scope)
    found: Callable[..., None] = scope[jit.original.__name__]
    return found


def unchanged_check(found: Fingerprint) -> Callable[[], bool]:
    """Return a quick test of whether everything that a fingerprint saw is still there.

    It may say no when nothing changed (`Drift.changed` then looks closely), never the other way round.
    """
    by_namespace: dict[int, list[Drift]] = {}
    containers: list[Drift] = []
    for one in found.names:
        if isinstance(one.value, (list, dict, set)):
            containers.append(one)
        else:
            by_namespace.setdefault(id(one.namespace), []).append(one)
    groups = []
    for drifts in by_namespace.values():
        values = tuple(one.value for one in drifts)
        getter = itemgetter(*(one.name for one in drifts))
        groups.append((drifts[0].namespace, getter, values if len(values) > 1 else values[0]))
    cells = tuple(found.cells)

    def unchanged() -> bool:
        try:
            for namespace, getter, values in groups:
                now = getter(namespace)
                if now is not values and now != values:
                    return False
            for cell, content in cells:
                if cell.cell_contents is not content:
                    return False
        except (KeyError, ValueError, TypeError):
            return False
        return not any(one.changed() for one in containers)

    return unchanged
