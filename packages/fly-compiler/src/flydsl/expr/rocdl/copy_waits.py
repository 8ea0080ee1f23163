# SPDX-License-Identifier: Apache-2.0
"""Waits for copies from memory straight to LDS, which name what the copies write and never count."""

from __future__ import annotations

from flydsl.trace.build import build_op

from ..ops.memory import AtomicOrdering, memory_fence
from ..values.layout.sizes import get_iter
from ..values.pointer import Pointer, to_llvm_ptr
from ..values.tensor import Tensor
from .availability import check_instruction
from .inline_asm import inline_asm
from .waits import s_waitcnt

__all__ = ["barrier_after_copies", "wait_for_copies"]


def wait_for_copies(*places: Pointer | Tensor) -> None:
    """Wait until copies of this wave to LDS (`BufferCopyLDS` and its like) have arrived; others stay on their way.

    A wait is for all copies to the LDS array (one `allocate` of a `SharedAllocator`) that a place lies in, so buffers
    that are waited for one by one are arrays of their own. How many operations of memory were asked for since, on
    every path and in the turns of loops, the compiler counts in what it has made of the program. What other waves have
    copied is there behind a barrier: `barrier_after_copies`.

    Args:
        places: pointers into LDS, or tensors there.

    Raises:
        TypeError: a place that is neither.
        ValueError: none, or not in LDS, or a target without such copies. (The compiler refuses a place that nothing is
            copied to.)
    """
    check_instruction("rocdl.raw.ptr.buffer.load.lds", "wait_for_copies")
    if not places:
        raise ValueError("wait_for_copies takes the places in LDS whose copies it waits for; there is none")
    for place in places:
        pointer = get_iter(place) if isinstance(place, Tensor) else place
        if not isinstance(pointer, Pointer):
            raise TypeError(f"wait_for_copies takes pointers or tensors in LDS, got {place!r}")
        if pointer.facts.space != "shared":
            raise ValueError(f"wait_for_copies is for memory in LDS, not for {pointer.facts.space} memory")
        inline_asm("fly.wait_for_copies", "v", [to_llvm_ptr(pointer)])


def barrier_after_copies(*places: Pointer | Tensor) -> None:
    """Have all threads of the workgroup meet when the copies of all waves to `places` have arrived.

    What they have read of LDS is read, too, and what they have written is there. Copies to other places stay on their
    way, for which `fx.barrier()` would wait.

    Args:
        places: see `wait_for_copies`.
    """
    wait_for_copies(*places)
    s_waitcnt(lgkmcnt=0)
    # No access crosses; a barrier of the memory model would wait for all that is on its way to LDS.
    memory_fence(syncscope="wavefront", ordering=AtomicOrdering.AcqRel)
    build_op("rocdl.s.barrier", ())
    memory_fence(syncscope="wavefront", ordering=AtomicOrdering.AcqRel)
