# SPDX-License-Identifier: Apache-2.0
"""One configuration of a kernel: keyword arguments, and options of its compilation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["Config", "Hook"]

Hook = Callable[[dict[str, Any]], object]
"""Is given the call's arguments by name, those of the configuration among them."""

_OPTIONS = ("num_warps", "waves_per_eu", "maxnreg")


class Config:
    """A configuration to try.

    Args:
        num_warps: waves of a workgroup: the argument `num_warps` of a function that has one, else the compile hint of
            that name.
        waves_per_eu: compile hint: how many waves are to fit a SIMD.
        maxnreg: compile option: the most vector registers of a thread. AMD GPUs bound them by occupancy, so it becomes
            the smallest `waves_per_eu` that leaves no more (at most what the architecture has).
        pre_hook: called before each measured call of this configuration.
        kwargs: keyword arguments of the function, as a rule its `Constexpr` parameters.

    Raises:
        TypeError: `pre_hook` is not callable, `num_warps` or `maxnreg` is no integer.
        ValueError: `num_warps` or `maxnreg` is less than 1.
    """

    def __init__(
        self,
        *,
        num_warps: int | None = None,
        waves_per_eu: Any = None,
        maxnreg: int | None = None,
        pre_hook: Hook | None = None,
        **kwargs: Any,
    ) -> None:
        for name, value in (("num_warps", num_warps), ("maxnreg", maxnreg)):
            if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
                raise TypeError(f"Config({name}=...) is an integer, got {type(value).__name__}")
            if value is not None and value < 1:
                raise ValueError(f"Config({name}={value}): expected at least 1")
        if pre_hook is not None and not callable(pre_hook):
            raise TypeError(f"Config(pre_hook=...) is a function of the arguments, got {type(pre_hook).__name__}")
        self.kwargs = kwargs
        self.num_warps = num_warps
        self.waves_per_eu = waves_per_eu
        self.maxnreg = maxnreg
        self.pre_hook = pre_hook

    def all_kwargs(self) -> dict[str, Any]:
        """The keyword arguments that the function is called with: its own and `num_warps`."""
        return {**self.kwargs, **({} if self.num_warps is None else {"num_warps": self.num_warps})}

    def compiler_opts(self) -> dict[str, Any]:
        """The options of the compilation that are set: `waves_per_eu`, `maxnreg`."""
        options = {"waves_per_eu": self.waves_per_eu, "maxnreg": self.maxnreg}
        return {name: value for name, value in options.items() if value is not None}

    def to_dict(self) -> dict[str, Any]:
        """Everything but the hook, flat: what is written to disk."""
        return {**self.all_kwargs(), **self.compiler_opts()}

    @classmethod
    def from_dict(cls, d: Mapping[str, Any]) -> Config:
        """The inverse of `to_dict`.

        Raises:
            TypeError: not a mapping with text keys.
        """
        if not isinstance(d, Mapping) or not all(isinstance(name, str) for name in d):
            raise TypeError(f"a configuration is a dict from name to value, got {d!r}")
        if "pre_hook" in d:
            raise TypeError("a configuration that was written down has no pre_hook")
        return cls(**d)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Config):
            return NotImplemented
        return self._fields() == other._fields()

    def __hash__(self) -> int:
        # Values need not be hashable; the names are enough to spread a handful of configurations.
        return hash((tuple(sorted(self.kwargs)), self.num_warps, self.maxnreg))

    def _fields(self) -> tuple[Any, ...]:
        return (self.kwargs, self.num_warps, self.waves_per_eu, self.maxnreg, self.pre_hook)

    def __repr__(self) -> str:
        options = ((name, getattr(self, name)) for name in _OPTIONS)
        shown = [*self.kwargs.items(), *((name, value) for name, value in options if value is not None)]
        return f"Config({', '.join(f'{name}={value!r}' for name, value in shown)})"
