# SPDX-License-Identifier: Apache-2.0
"""What a tuner of kernels asks of the compiler.

The wheel registers this module as the entry point "compiler" of the group "flydsl.autotune"; fly-autotune, which does
not depend on this wheel, finds it there (its `layers.Compiler` is the protocol).
"""

from __future__ import annotations

from typing import Any

from flydsl.call.watch import source_digest as _source_digest
from flydsl.compile.cache.toolchain import toolchain_hash
from flydsl.trace.hints import ambient_hints, compile_hints

from .jit_function import JitFunction

__all__ = ["ambient_hints", "compile_hints", "source_digest", "toolchain_hash"]


def source_digest(fn: Any) -> str | None:
    """Return a hash of a `@flyc.jit` function and of all code that it reaches; None for any other callable."""
    return _source_digest(fn.original) if isinstance(fn, JitFunction) else None
