# SPDX-License-Identifier: Apache-2.0
"""Warps and warpgroups: who they are, what they wait for, how many registers they have."""

from __future__ import annotations

from typing import Any

from flydsl.trace.build import attribute, build, build_op, i32_array, int_attribute

from ..ops.gpu import shuffle_idx, thread_idx
from ..values.numeric.base import Numeric, as_numeric, wrap
from ..values.numeric.types import Boolean, Int32
from .target import require_hopper

__all__ = ["elect_one", "fence_async_shared", "named_arrive", "named_barrier", "set_registers", "warp_index"]

_LANES = 32
_REGISTERS = (24, 256, 8)
_NAMED_BARRIERS = 16


def warp_index() -> Numeric:
    """Return the index of the warp in the block (x alone), known to be the same for its lanes.

    Raises:
        ValueError: another target than sm_90a.
    """
    require_hopper("warp_index")
    result: Numeric = shuffle_idx(Int32(thread_idx.x) // _LANES, 0, _LANES)
    return result


def elect_one() -> Numeric:
    """Return a Boolean that is true for one lane of the warp, whose lanes are all here.

    Raises:
        ValueError: another target than sm_90a.
    """
    require_hopper("elect_one")
    return wrap(Boolean, build("nvvm.elect.sync", (), Boolean.ir_type))


def set_registers(count: int, *, increase: bool) -> None:
    """Change the registers of the threads of this warpgroup to `count`; all of its warps call it.

    Of a block, the sum over its threads stays within what it was launched with: producers give, consumers take.

    Raises:
        ValueError: no multiple of 8 from 24 to 256, or another target than sm_90a.
    """
    require_hopper("set_registers")
    least, most, step = _REGISTERS
    if isinstance(count, bool) or not isinstance(count, int) or not least <= count <= most or count % step:
        raise ValueError(f"set_registers: a multiple of {step} from {least} to {most}, got {count!r}")
    action = attribute(f"#nvvm<action {'increase' if increase else 'decrease'}>")
    build_op("nvvm.setmaxregister", (), (), {"regCount": int_attribute(count), "action": action})


def named_barrier(number: int | Numeric, threads: int) -> None:
    """Wait for so many threads, whole warps, at barrier `number`: 1 to 15, 0 is `fx.barrier`'s.

    Those of `named_arrive` are counted too.

    Raises:
        ValueError: no such barrier, no multiple of 32 threads, or another target than sm_90a.
    """
    operands = _barrier("named_barrier", number, threads)
    build_op("nvvm.barrier", operands, (), {"operandSegmentSizes": i32_array([1, 1, 0])})


def named_arrive(number: int | Numeric, threads: int) -> None:
    """Count the threads of this warp at barrier `number` and go on; `threads` are all that arrive and wait there.

    Raises:
        ValueError: as `named_barrier`.
    """
    build_op("nvvm.barrier.arrive", _barrier("named_arrive", number, threads))


def _barrier(what: str, number: int | Numeric, threads: int) -> list[Any]:
    require_hopper(what)
    if isinstance(number, int) and not 0 < number < _NAMED_BARRIERS:
        raise ValueError(f"{what}: 1 to {_NAMED_BARRIERS - 1}, got {number}")
    if isinstance(threads, bool) or not isinstance(threads, int) or threads <= 0 or threads % _LANES:
        raise ValueError(f"{what}: a multiple of {_LANES} threads, got {threads!r}")
    return [as_numeric(number).to(Int32).ir_value(), Int32(threads).ir_value()]


def fence_async_shared() -> None:
    """Make what this thread wrote to shared memory visible to the copy engine and the matrix unit.

    Raises:
        ValueError: another target than sm_90a.
    """
    require_hopper("fence_async_shared")
    attributes = {
        "kind": attribute("#nvvm.proxy_kind<async.shared>"),
        "space": attribute("#nvvm.shared_space<cta>"),
    }
    build_op("nvvm.fence.proxy", (), (), attributes)
