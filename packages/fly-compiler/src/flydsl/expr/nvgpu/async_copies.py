# SPDX-License-Identifier: Apache-2.0
"""Copies by each thread from global to shared memory, which go on while the thread does other things (cp.async)."""

from __future__ import annotations

from flydsl._mlir._mlir_libs import _flyNVVMDialect as fly_nvvm
from flydsl.trace.build import build_op, int_attribute

from ..ops.atom_types import CopyOp, check_bits
from .target import require_hopper

__all__ = ["CpAsync", "cp_async_commit", "cp_async_wait"]

_WIDTHS = (32, 64, 128)


class CpAsync(CopyOp):
    """`CpAsync(bits)`: each thread copies `bits` bits from global to shared memory, past its registers.

    For atoms of `fx.copy` and tiled copies between a tensor in global memory and one in shared memory, whose swizzle is
    applied. Both addresses are multiples of the width; that of shared memory has to be known to be. With `pred=`, where
    it is false nothing is read, and the destination is filled with zeros: outside of the tensor the address need not be
    one.

    Copies are asynchronous: `cp_async_commit` makes a group of those so far, and behind `cp_async_wait` this thread may
    read what its own copies of a group brought. What other threads copied is there behind a barrier that follows their
    wait: `cp_async_wait(...)`, then `fx.barrier()`. A place may be copied to again when all have read it, which takes a
    barrier, too. What the matrix unit (`WGMMA`) or the copy engine is to read also takes `fence_async_shared()` between
    the wait and the barrier.

    Args:
        bits: 32, 64 or 128.
        l1: have 128 bits go through the L1 cache, which they pass by; narrower copies always go through it.

    Raises:
        TypeError: `bits` is no int.
        ValueError: there is no such width.
    """

    __slots__ = ()

    def __init__(self, bits: int, *, l1: bool = False) -> None:
        check_bits("CpAsync", bits, _WIDTHS)
        super().__init__(fly_nvvm.SM80CpAsyncType, bits, bool(l1))


def cp_async_commit() -> None:
    """Make a group of the copies (`CpAsync`) that this thread issued since the last group; it may be empty.

    Raises:
        ValueError: another target than sm_90a.
    """
    require_hopper("cp_async_commit")
    build_op("nvvm.cp.async.commit.group", ())


def cp_async_wait(pending: int = 0) -> None:
    """Wait until at most the `pending` newest groups of this thread's copies (`CpAsync`) are not finished.

    The thread sees what its own copies brought; the others do behind a barrier that follows. No access to memory is
    moved over the wait.

    Args:
        pending: groups that may still be on their way. Copies that no group has yet are not waited for.

    Raises:
        ValueError: `pending` is no int from 0 on, or another target than sm_90a.
    """
    require_hopper("cp_async_wait")
    if isinstance(pending, bool) or not isinstance(pending, int) or pending < 0:
        raise ValueError(f"cp_async_wait: pending is an int from 0 on, got {pending!r}")
    build_op("nvvm.cp.async.wait.group", (), (), {"n": int_attribute(pending)})
