# SPDX-License-Identifier: Apache-2.0
"""The layers that are used where they are installed: a compiler and an emulator, found through entry points.

A wheel offers itself under the group `flydsl.autotune` with the name "compiler" or "emulator" and an object, as a rule
a module, that has the functions of the protocol of that name below. Nothing here imports another layer by its path.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from importlib import metadata
from typing import Any, Protocol

__all__ = [
    "GROUP",
    "Compiler",
    "Emulator",
    "ambient_hints",
    "compile_hints",
    "emulator_prediction",
    "prediction_model",
    "source_digest",
    "toolchain_hash",
]

GROUP = "flydsl.autotune"


class Compiler(Protocol):
    """What a compiler offers to the tuner."""

    def compile_hints(self, hints: Mapping[str, Any]) -> AbstractContextManager[None]:
        """Apply hints to the compilations of a block; TypeError or ValueError for one that it refuses."""

    def ambient_hints(self) -> dict[str, Any]:
        """The hints of the enclosing blocks."""

    def toolchain_hash(self) -> str:
        """A hash of all that turns a function into code."""

    def source_digest(self, fn: Callable[..., Any]) -> str | None:
        """A hash of a function of its language and of all code that this reaches; None for any other callable."""


class Emulator(Protocol):
    """What an emulator of devices offers to the tuner."""

    def predict(self, device: str = "", *, sampled: bool = False, warm: bool = False) -> AbstractContextManager[Any]:
        """A block whose launches are predicted; its value has them as `launches`, each with `seconds`."""

    def prediction_model(self) -> str:
        """A text that names the model of time, another one for another model."""


@lru_cache
def _entry_point(name: str) -> metadata.EntryPoint | None:
    found = list(metadata.entry_points(group=GROUP, name=name))
    distinct = sorted({one.value for one in found})
    if len(distinct) > 1:  # which one counts would depend on the order of folders
        raise RuntimeError(
            f"several packages offer a {name} to the tuner: {', '.join(distinct)}; uninstall all but one"
        )
    return found[0] if found else None


@lru_cache
def _loaded(name: str) -> Any:
    """The object that a layer registered, or None where it is not installed."""
    entry = _entry_point(name)
    return None if entry is None else entry.load()


def _compiler() -> Compiler | None:
    found: Compiler | None = _loaded("compiler")
    return found


def _compiler_in_use() -> Compiler | None:
    """The compiler, where its package was imported: without that, nothing of it can be in effect."""
    entry = _entry_point("compiler")
    if entry is None or entry.module.rpartition(".")[0] not in sys.modules:
        return None
    return _compiler()


def compile_hints(hints: Mapping[str, Any]) -> AbstractContextManager[None]:
    """Apply compile hints to the calls of a `with` block.

    Raises:
        ImportError: there are hints, and no compiler that could follow them.
        TypeError, ValueError: a hint that the compiler refuses.
    """
    if not hints:
        return nullcontext()
    compiler = _compiler()
    if compiler is None:
        raise ImportError(
            f"{', '.join(hints)}: options of a compilation, but the compiler is not installed: "
            "pip install 'fly-autotune[jit]'"
        )
    return compiler.compile_hints(hints)


def ambient_hints() -> dict[str, Any]:
    """The compile hints of the enclosing blocks; none where the compiler was not even imported."""
    compiler = _compiler_in_use()
    return {} if compiler is None else compiler.ambient_hints()


@lru_cache(maxsize=1)
def toolchain_hash() -> str:
    """A hash of the compiler, or "" without one."""
    compiler = _compiler()
    return "" if compiler is None else compiler.toolchain_hash()


def source_digest(fn: Callable[..., Any]) -> str | None:
    """A hash of a `@flyc.jit` function and of all code that it reaches; None for any other callable."""
    compiler = _compiler_in_use()
    return None if compiler is None else compiler.source_digest(fn)


def _emulator() -> Emulator:
    found: Emulator | None = _loaded("emulator")
    if found is None:
        raise RuntimeError("times of an emulated device need the wheel fly-emulator, which is missing")
    return found


def emulator_prediction(*, sampled: bool = False) -> AbstractContextManager[Any]:
    """A block whose launches the emulator predicts, as if each were repeated: they are its value's `launches`.

    `sampled`: only the workgroups run that the model wants, so what kernels compute is incomplete.

    Raises:
        RuntimeError: the wheel is not installed (the device is that of an emulator's library somewhere else).
    """
    return _emulator().predict(warm=True, sampled=sampled)


@lru_cache(maxsize=1)
def prediction_model() -> str:
    """A text that names the emulator's model of time; "" without the emulator's wheel, where nothing is predicted."""
    return "" if _entry_point("emulator") is None else _emulator().prediction_model()
