# SPDX-License-Identifier: Apache-2.0
"""The layers that are used where they are installed: the compiler and the emulator. Nothing else imports them."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import Any

__all__ = ["ambient_hints", "compile_hints", "emulator_profile", "source_digest", "toolchain_hash"]

_CONTEXT = "flydsl.compiler.kernel_function"


@lru_cache(maxsize=1)
def _has_compiler() -> bool:
    return importlib.util.find_spec("flydsl.compiler") is not None


def compile_hints(hints: Mapping[str, Any]) -> AbstractContextManager[None]:
    """Apply compile hints to the calls of a `with` block.

    Raises:
        ImportError: there are hints, and no compiler that could follow them.
        TypeError, ValueError: a hint that the compiler refuses.
    """
    if not hints:
        return nullcontext()
    if not _has_compiler():
        raise ImportError(
            f"{', '.join(hints)}: options of a compilation, but the compiler is not installed: "
            "pip install 'fly-autotune[jit]'"
        )
    context: AbstractContextManager[None] = importlib.import_module(_CONTEXT).CompilationContext.compile_hints(hints)
    return context


def ambient_hints() -> dict[str, Any]:
    """The compile hints of the enclosing blocks; none where the compiler was not even imported."""
    module = sys.modules.get(_CONTEXT)
    return {} if module is None else dict(module.CompilationContext.get_compile_hints())


@lru_cache(maxsize=1)
def toolchain_hash() -> str:
    """A hash of the compiler, or "" without one."""
    if not _has_compiler():
        return ""
    return str(importlib.import_module("flydsl.compiler.cache.toolchain").toolchain_hash())


def source_digest(fn: Any) -> str | None:
    """A hash of a `@flyc.jit` function and of all code that it reaches; None for any other callable."""
    module = sys.modules.get("flydsl.compiler.jit_function")
    if module is None or not isinstance(fn, module.JitFunction):
        return None
    return str(importlib.import_module("flydsl.compiler.cache.fingerprint").fingerprint(fn.original).digest)


def emulator_profile() -> AbstractContextManager[Any]:
    """`flydsl.emulator.profile()`: its `launches` are those of the block.

    Raises:
        RuntimeError: the wheel is not installed (the device is that of an emulator's library somewhere else).
    """
    try:
        module = importlib.import_module("flydsl.emulator")
    except ModuleNotFoundError:
        raise RuntimeError("estimates of an emulated device need the wheel fly-emulator, which is missing") from None
    profile: AbstractContextManager[Any] = module.profile()
    return profile
