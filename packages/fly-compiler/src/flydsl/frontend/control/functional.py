# SPDX-License-Identifier: Apache-2.0
"""Control flow for code that writes code: regions are functions of the carried values, and return the new ones.

Rewritten functions share variables with their regions (`branch`, `for_loop`, `while_loop`); here names and values are
handed over, so that no closure has to be analysed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .branch import branch
from .for_loop import run_time_loop
from .logic import truth
from .storage_locations import StorageLocation
from .while_loop import run_time_while

__all__ = ["conditional", "counted_loop", "while_loop"]


class _Variables:
    """The carried variables, and calls of regions that update them."""

    def __init__(self, names: Sequence[str], values: Sequence[Any]) -> None:
        if len(names) != len(values):
            raise ValueError(f"{len(names)} names ({', '.join(names)}) for {len(values)} values")
        self.names = list(names)
        self.values: dict[str, Any] = dict(zip(names, values, strict=True))
        self.storages = [self._storage(name) for name in self.names]

    def _storage(self, name: str) -> StorageLocation:
        return StorageLocation(name, (), lambda: self.values[name], lambda value: self.values.__setitem__(name, value))

    def call(self, region: Callable[..., Any], *leading: Any) -> Any:
        """Call a region with the present values; one that takes one argument more gets the names before them."""
        arguments = [*leading, *self.values.values()]
        if _takes(region, len(arguments) + 1):
            arguments.insert(len(leading), tuple(self.names))
        return region(*arguments)

    def update(self, result: Any) -> None:
        """Store what a region returned: a mapping by name, a sequence by position, or the value of the only name."""
        if isinstance(result, Mapping):
            self.values.update({name: result[name] for name in self.names if name in result})
        elif len(self.names) == 1 and not (isinstance(result, (list, tuple)) and len(result) == 1):
            if result is not None:
                self.values[self.names[0]] = result
        elif self.names and result is not None:
            if len(result) != len(self.names):
                raise TypeError(f"a region returned {len(result)} values for {', '.join(self.names)}")
            self.values.update(zip(self.names, result, strict=True))

    def result(self) -> Any:
        """Return the values: `None` for none, the value for one, a tuple for more."""
        found = tuple(self.values.values())
        return found if len(found) > 1 else (found[0] if found else None)


def _takes(function: Callable[..., Any], count: int) -> bool:
    try:
        inspect.signature(function).bind(*range(count))
    except (TypeError, ValueError):
        return False
    return True


def conditional(
    test: Any,
    then: Callable[..., Any],
    otherwise: Callable[..., Any] | None,
    names: Sequence[str] = (),
    values: Sequence[Any] = (),
) -> Any:
    """Return the values after `if test: then(*values) else: otherwise(*values)`.

    A Python condition calls one of the functions and emits nothing.
    """
    variables = _Variables(names, values)
    condition = truth(test, "if")

    def then_region() -> None:
        variables.update(variables.call(then))

    def else_region() -> None:
        if otherwise is not None:
            variables.update(variables.call(otherwise))

    if condition is True:
        then_region()
    elif condition is False:
        else_region()
    else:
        branch(condition, then_region, None if otherwise is None else else_region, variables.storages)
    return variables.result()


def counted_loop(
    start: Any,
    stop: Any,
    step: Any,
    body: Callable[..., Any],
    names: Sequence[str] = (),
    values: Sequence[Any] = (),
    **hints: Any,
) -> Any:
    """Return the values after a run-time loop over `range(start, stop, step)`; `body(i, names, *values)`.

    `hints` are `unroll` and `unroll_full`.
    """
    variables = _Variables(names, values)
    run_time_loop((start, stop, step), hints, lambda i: variables.update(variables.call(body, i)), variables.storages)
    return variables.result()


def while_loop(
    test: Callable[..., Any], body: Callable[..., Any], names: Sequence[str] = (), values: Sequence[Any] = ()
) -> Any:
    """Return the values after a run-time loop that runs `body(*values)` while `test(*values)` is true."""
    variables = _Variables(names, values)
    run_time_while(lambda: variables.call(test), lambda: variables.update(variables.call(body)), variables.storages)
    return variables.result()
