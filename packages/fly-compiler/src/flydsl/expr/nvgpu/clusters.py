# SPDX-License-Identifier: Apache-2.0
"""Clusters: workgroups that run together and reach each other's shared memory (`launch(cluster=...)`)."""

from __future__ import annotations

from typing import Any

from flydsl._mlir import ir
from flydsl._mlir._mlir_libs._mlirDialectsLLVM import PointerType
from flydsl.trace.build import build, build_op, int_attribute, type_of

from ..values.numeric.base import Numeric, as_numeric, wrap
from ..values.numeric.types import Int32
from ..values.pointer import Pointer
from ..values.vector import Vector
from .target import require_hopper

__all__ = ["cluster_address", "cluster_barrier", "cluster_load", "cluster_rank"]

_WIDEST = 128  # bits of an access
_CLUSTER_SPACE = 7  # of the shared memory of all workgroups of a cluster, as NVVM counts


def cluster_rank() -> Numeric:
    """Return the index, Int32, of this workgroup in its cluster: 0 where it was launched without one.

    Raises:
        ValueError: another target than sm_90a.
    """
    require_hopper("cluster_rank")
    return wrap(Int32, build("nvvm.read.ptx.sreg.cluster.ctarank", (), Int32.ir_type))


def cluster_barrier() -> None:
    """Wait for all threads of the cluster; what they wrote to shared memory before is visible behind it.

    A workgroup whose shared memory others write to or signal must not end before they have: a barrier stands there.

    Raises:
        ValueError: another target than sm_90a.
    """
    require_hopper("cluster_barrier")
    build_op("nvvm.cluster.arrive", ())
    build_op("nvvm.cluster.wait", ())


def cluster_address(pointer: Pointer, rank: int | Numeric) -> ir.Value:
    """The address, of LLVM, of the same place in the shared memory of the workgroup of this rank in the cluster."""
    number = as_numeric(rank).to(Int32).ir_value()
    return build("nvvm.mapa", (pointer.llvm_ptr, number), type_of(PointerType, _CLUSTER_SPACE))


def cluster_load(pointer: Pointer, rank: int | Numeric, count: int) -> Vector:
    """Return `count` elements from where a pointer to shared memory points in the workgroup of this rank.

    A `cluster_barrier` stands between what wrote them and this, and another before that workgroup overwrites them or
    ends. They begin at a multiple of their size.

    Raises:
        TypeError: no pointer to shared memory.
        ValueError: more than 128 bits, or another target than sm_90a.
    """
    require_hopper("cluster_load")
    if not isinstance(pointer, Pointer) or pointer.facts.space != "shared":
        raise TypeError(f"cluster_load takes a pointer to shared memory, got {type(pointer).__name__}")
    element: Any = pointer.dtype
    if isinstance(count, bool) or not isinstance(count, int) or not 0 < count * element.width <= _WIDEST:
        raise ValueError(f"cluster_load: at most {_WIDEST} bits, got {count!r} elements of {element.width}")
    kind = ir.VectorType.get([count], element.ir_type)
    alignment = {"alignment": int_attribute(count * element.width // 8, 64)}
    return Vector(build("llvm.load", (cluster_address(pointer, rank),), kind, alignment), count, element)
