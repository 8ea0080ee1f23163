# SPDX-License-Identifier: Apache-2.0
"""Barriers in shared memory that count arrivals and bytes (mbarrier)."""

from __future__ import annotations

from flydsl._mlir import ir
from flydsl.trace.build import build, build_op

from ..values.numeric.base import Numeric, as_numeric
from ..values.numeric.types import Int32, Int64
from ..values.pointer import Pointer
from .clusters import cluster_address
from .target import require_hopper

__all__ = ["Mbarriers", "fence_mbarrier_init"]

_MOST_ARRIVALS = (1 << 20) - 1
# Nanoseconds that one try may sleep; the wait tries again until the phase is over.
_SLEEP = 10_000_000


class Mbarriers:
    """Barriers side by side in shared memory, 8 bytes each.

    A phase of a barrier ends when as many have arrived as `init` said and all expected bytes have come. `wait` with
    parity p returns when the phase of parity p is over: the first phase has parity 0, and of a fresh barrier a wait
    with parity 1 returns at once.

    Args:
        pointer: to 8-byte elements in shared memory.
        count: the number of barriers.

    Raises:
        TypeError: no such pointer.
        ValueError: another target than sm_90a.
    """

    def __init__(self, pointer: Pointer, count: int) -> None:
        require_hopper("Mbarriers")
        if (
            not isinstance(pointer, Pointer)
            or pointer.facts.space != "shared"
            or pointer.facts.element_bits != Int64.width
        ):
            raise TypeError("Mbarriers lie in shared memory: allocate fx.Array[fx.Int64, count] with a SharedAllocator")
        self.pointer = pointer
        self.count = count

    def at(self, index: int | Numeric) -> Pointer:
        """Return the address of barrier `index`."""
        result: Pointer = self.pointer + index
        return result

    def init(self, arrivals: int) -> None:
        """Make all of them new; one thread, and `fence_mbarrier_init` and a barrier of all behind it.

        Raises:
            ValueError: `arrivals` is no int from 1 to 2^20 - 1.
        """
        if isinstance(arrivals, bool) or not isinstance(arrivals, int) or not 1 <= arrivals <= _MOST_ARRIVALS:
            raise ValueError(f"an mbarrier takes 1 to {_MOST_ARRIVALS} arrivals, got {arrivals!r}")
        for index in range(self.count):
            build_op("nvvm.mbarrier.init", [self.at(index).llvm_ptr, Int32(arrivals).ir_value()])

    def arrive(self, index: int | Numeric) -> None:
        """Count one arrival at barrier `index`."""
        build("nvvm.mbarrier.arrive", (self.at(index).llvm_ptr,), Int64.ir_type)

    def arrive_copied(self, index: int | Numeric) -> None:
        """Count one arrival at barrier `index` when the copies (`CpAsync`) that this thread issued so far have come.

        The thread goes on. Who waits for the phase sees what the copies of all that arrive so have brought.
        """
        noinc = ir.BoolAttr.get(True)  # one of the arrivals that `init` counts
        build_op("nvvm.cp.async.mbarrier.arrive", [self.at(index).llvm_ptr], (), {"noinc": noinc})

    def arrive_at(self, index: int | Numeric, rank: int | Numeric) -> None:
        """Count one arrival at barrier `index` of the workgroup of this rank in the cluster.

        Of the scope of a workgroup, which orders the copies and products that are waited for: what this thread wrote by
        itself the other workgroup need not see.
        """
        build_op("nvvm.mbarrier.arrive", [cluster_address(self.at(index), rank)])

    def expect(self, index: int | Numeric, transferred: int | Numeric) -> None:
        """Count one arrival at barrier `index`, and expect so many bytes of copies in its phase."""
        count = as_numeric(transferred).to(Int32).ir_value()
        build_op("nvvm.mbarrier.arrive.expect_tx", [self.at(index).llvm_ptr, count])

    def wait(self, index: int | Numeric, parity: int | Numeric) -> None:
        """Wait until the phase of this parity (0 or 1) of barrier `index` is over."""
        phase = as_numeric(parity).to(Int32).ir_value()
        build_op("nvvm.mbarrier.try_wait.parity", [self.at(index).llvm_ptr, phase, Int32(_SLEEP).ir_value()])


def fence_mbarrier_init() -> None:
    """Make new barriers visible to the copy engine and the cluster; a barrier of all threads follows.

    Raises:
        ValueError: another target than sm_90a.
    """
    require_hopper("fence_mbarrier_init")
    build_op("nvvm.fence.mbarrier.init", ())
