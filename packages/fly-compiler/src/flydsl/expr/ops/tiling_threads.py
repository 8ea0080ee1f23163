# SPDX-License-Identifier: Apache-2.0
"""A tiled copy or MMA shares its tile out among a number of threads, which the workgroup has to have."""

from __future__ import annotations

from typing import Any

from flydsl._mlir import ir
from flydsl.trace import context as _trace

from ..values.numeric.base import Numeric

__all__ = ["check_threads"]


def check_threads(tiling: Any, thread: Any) -> None:
    """Refuse to slice a tiling by the thread's index where the workgroup has fewer threads than the tiling.

    Another index is the caller's business: a thread may take several slices. So is a workgroup of unknown size.

    Args:
        tiling: a tiled copy or tiled MMA.
        thread: the index of the slice.

    Raises:
        ValueError: the slices of some threads would be left out.
    """
    trace = _trace.maybe_current()
    scope = trace.kernel if trace is not None else None
    axis = _axis_of(thread)
    if scope is None or scope.block_size is None or axis is None:
        return
    have = scope.block_size["xyz".index(axis)]
    need = tiling._threads()
    if have < need:
        raise ValueError(
            f"{type(tiling).__name__} shares its tile out among {need} threads, but the workgroup has {have} along "
            f"{axis}: the part of the others would be left out. Launch with block={need}, or make a tiling for {have}"
        )


def _axis_of(thread: Any) -> str | None:
    """Return the axis of a value that is `fx.thread_idx.x` or another of its axes, and nothing computed from it."""
    scalar = getattr(thread, "__dsl_scalar__", None)
    value = thread.value if isinstance(thread, Numeric) else scalar().value if scalar is not None else thread
    while isinstance(value, ir.Value) and not isinstance(value.owner, ir.Block):
        op = value.owner
        if op.name == "gpu.thread_id":
            return str(op.attributes["dimension"])[-2]
        if op.name not in ("arith.index_cast", "arith.index_castui"):
            return None
        value = op.operands[0]
    return None
