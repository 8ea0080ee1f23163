# SPDX-License-Identifier: Apache-2.0
"""`Space`: the configurations that are worth a look, as axes and constraints; nothing of it is compiled to find out."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..config import Config
from ..files import canonical_json

__all__ = ["Space", "identity"]


def identity(config: Config) -> str:
    """The text that tells a configuration from others of its space."""
    try:
        return canonical_json(config.to_dict())
    except (TypeError, ValueError):
        return repr(config)


class Space:
    """A named set of configurations.

        space = Space(
            "gemm", tile_m=[64, 128, 256], tile_n=[64, 128], waves_per_eu=[None, 2],
            constraints=[lambda tile_m, tile_n: tile_m * tile_n <= 16384, lambda tile_n, N: N % tile_n == 0],
        )

    Args:
        name: what progress and errors call it.
        constraints: functions that say whether a configuration can run, or raise `ValueError` where it cannot. Their
            parameters name what they look at: axes, and arguments of the call that is tuned.
        axes: the values of each keyword argument or option of a `Config`.

    Constraints are looked at as soon as their axes have values, so a product of many axes that few constraints cut down
    is not walked through. Equal configurations count once.

    Raises:
        TypeError: a constraint that is no function, or takes `*args` or `**kwargs`.
        ValueError: no axes, an axis without values.
    """

    def __init__(self, name: str, *, constraints: Sequence[Callable[..., object]] = (), **axes: Sequence[Any]) -> None:
        if not axes:
            raise ValueError(f"space {name!r}: it has no axes")
        self.name = name
        self.axes: dict[str, tuple[Any, ...]] = {}
        for axis, values in axes.items():
            if isinstance(values, str) or not isinstance(values, Sequence) or not values:
                raise ValueError(f"space {name!r}: axis {axis} is a list of values, got {values!r}")
            self.axes[axis] = tuple(values)
        self.constraints = tuple((one, _looks_at(name, one)) for one in constraints)

    def configs(self, named: Mapping[str, Any] | None = None) -> list[Config]:
        """Return the configurations that can run for a call with these arguments, in the order of the axes.

        Raises:
            ValueError: none can, with what the constraints refused; a constraint names something that is neither an
                axis nor an argument.
        """
        given = dict(named or {})
        for function, names in self.constraints:
            missing = [one for one in names if one not in self.axes and one not in given]
            if missing:
                raise ValueError(
                    f"space {self.name!r}: {_title(function)} looks at {', '.join(missing)}, which is neither an axis "
                    f"({', '.join(self.axes)}) nor an argument of the call ({', '.join(given) or 'none'})"
                )
        refused: Counter[str] = Counter()
        found = {identity(one): one for one in self._enumerate(given, refused)}
        if not found:
            reasons = "; ".join(f"{title}: {count}" for title, count in refused.most_common(5))
            raise ValueError(
                f"space {self.name!r} has no configuration that can run for this call; refused by {reasons}"
            )
        return list(found.values())

    def _enumerate(self, given: dict[str, Any], refused: Counter[str]) -> Iterator[Config]:
        names = list(self.axes)
        # Each constraint is looked at with the last of its axes; one of the call alone, with the first axis.
        due: list[list[tuple[Callable[..., object], tuple[str, ...]]]] = [[] for _ in names]
        for function, looks_at in self.constraints:
            due[max((names.index(one) for one in looks_at if one in self.axes), default=0)].append((function, looks_at))

        def below(place: int, values: dict[str, Any]) -> Iterator[Config]:
            if place == len(names):
                yield Config(**values)
                return
            for value in self.axes[names[place]]:
                chosen = {**values, names[place]: value}
                bound = {**given, **chosen}
                if all(_holds(function, {one: bound[one] for one in of}, refused) for function, of in due[place]):
                    yield from below(place + 1, chosen)

        yield from below(0, {})

    def __contains__(self, config: Config) -> bool:
        """Tell whether the values of a configuration are on the axes (constraints may depend on the call)."""
        values = {**dict.fromkeys(("num_warps", "waves_per_eu", "maxnreg")), **config.to_dict()}
        expected = {**dict.fromkeys(("num_warps", "waves_per_eu", "maxnreg"), (None,)), **self.axes}
        return values.keys() == expected.keys() and all(values[name] in expected[name] for name in values)

    def __repr__(self) -> str:
        return f"Space({self.name!r}, {', '.join(f'{name}={list(values)}' for name, values in self.axes.items())})"


def _looks_at(space: str, constraint: Any) -> tuple[str, ...]:
    if not callable(constraint):
        raise TypeError(f"space {space!r}: a constraint is a function, got {type(constraint).__name__}")
    parameters = inspect.signature(constraint).parameters.values()
    if any(one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD, one.POSITIONAL_ONLY) for one in parameters):
        raise TypeError(f"space {space!r}: the parameters of {_title(constraint)} have to name what it looks at")
    return tuple(one.name for one in parameters)


def _holds(constraint: Callable[..., object], values: dict[str, Any], refused: Counter[str]) -> bool:
    try:
        if constraint(**values):
            return True
        refused[_title(constraint)] += 1
    except ValueError as error:
        refused[f"{_title(constraint)} ({error})"] += 1
    return False


def _title(function: Any) -> str:
    name = getattr(function, "__name__", "constraint")
    code = getattr(function, "__code__", None)
    return name if code is None or name != "<lambda>" else f"the constraint in line {code.co_firstlineno}"
