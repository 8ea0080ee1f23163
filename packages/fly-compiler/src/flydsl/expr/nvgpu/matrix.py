# SPDX-License-Identifier: Apache-2.0
"""The matrix operation of a warpgroup, and what orders its products."""

from __future__ import annotations

from typing import Any

from flydsl._mlir._mlir_libs import _flyNVVMDialect as fly_nvvm
from flydsl.trace.build import build, build_op, int_attribute

from ..ops.atom_types import MmaOp
from ..values.address_space import AddressSpace
from ..values.numeric.base import _class_of
from ..values.numeric.meta import NumericMeta
from ..values.numeric.types import Float32
from ..values.tensor import Tensor
from ..values.vector import Vector
from .target import require_hopper

__all__ = ["WGMMA", "warpgroup_commit", "warpgroup_fence", "warpgroup_wait"]

_ROWS = 64
_BITS_OF_K = 256
_MOST_PENDING = 7


class WGMMA(MmaOp):
    """`WGMMA(n, ab_type)`: 128 threads add a 64 x n product of tiles in shared memory to registers.

    K is 256 bits: 16 of 16-bit elements, 32 of 8-bit ones. B, and A unless `registers_a`, are parts of tensors in
    shared memory (`partition_A`, `partition_B`) as the hardware reads them; the layout is checked. Of state it has
    `accumulate`, a Boolean that is true at first: where it is false, D is the product alone and C is not read.

    The product is asynchronous: between `warpgroup_fence` and `warpgroup_wait` its registers belong to it.

    Args:
        n: columns, a multiple of 8 up to 256.
        ab_type: element type of A and B: BFloat16, Float16, Float8E4M3FN, Float8E5M2, Int8.
        acc_type: element type of C and D; Float32, of Float16 and 8-bit floats also Float16, of Int8 Int32.
        elem_ty_b: element type of B, where it is the other 8-bit float.
        registers_a: A is a fragment.
        mn_major_a: A in shared memory is contiguous along M (16-bit elements).
        mn_major_b: B is contiguous along N (16-bit elements).

    Raises:
        ValueError: there is no such instruction.
    """

    __slots__ = ()

    def __init__(
        self,
        n: int,
        ab_type: NumericMeta,
        acc_type: NumericMeta = Float32,
        *,
        elem_ty_b: NumericMeta | None = None,
        registers_a: bool = False,
        mn_major_a: bool = False,
        mn_major_b: bool = False,
    ) -> None:
        element = _class_of(ab_type)
        other = element if elem_ty_b is None else _class_of(elem_ty_b)
        acc = _class_of(acc_type)
        k = _BITS_OF_K // element.width
        super().__init__(fly_nvvm.SM90WGMMAType, _ROWS, n, k, element, other, acc, registers_a, mn_major_a, mn_major_b)


def _accumulators(what: str, tensor: Any) -> Tensor:
    require_hopper(what)
    if not isinstance(tensor, Tensor) or tensor.memspace is not AddressSpace.Register:
        raise TypeError(f"{what} takes the accumulators, a fragment of make_fragment_C, got {type(tensor).__name__}")
    return tensor


def warpgroup_fence(accumulators: Tensor) -> None:
    """Order the products that follow behind what wrote their accumulators, A in registers and shared memory.

    Stands before the first product, and again where registers were written since. All of the warpgroup call it.

    Raises:
        TypeError: no fragment.
        ValueError: another target than sm_90a.
    """
    accumulators = _accumulators("warpgroup_fence", accumulators)
    value = accumulators.load()
    fenced = build("fly_nvvm.wgmma_fence", (value.ir_value(),), value.ir_value().type)
    accumulators.store(Vector(fenced, value.shape, value.dtype))


def warpgroup_commit() -> None:
    """Make a group of the products issued so far. All of the warpgroup call it.

    Raises:
        ValueError: another target than sm_90a.
    """
    require_hopper("warpgroup_commit")
    build_op("fly_nvvm.wgmma_commit", ())


def warpgroup_wait(accumulators: Tensor, pending: int = 0) -> None:
    """Wait until at most `pending` groups of products are not finished; with 0, the accumulators may be read.

    The products of the finished groups have read their tiles in shared memory.

    Raises:
        TypeError: no fragment.
        ValueError: `pending` is no int from 0 to 7, or another target than sm_90a.
    """
    accumulators = _accumulators("warpgroup_wait", accumulators)
    if isinstance(pending, bool) or not isinstance(pending, int) or not 0 <= pending <= _MOST_PENDING:
        raise ValueError(f"warpgroup_wait: pending is an int from 0 to {_MOST_PENDING}, got {pending!r}")
    value = accumulators.load()
    waited = build(
        "fly_nvvm.wgmma_wait", (value.ir_value(),), value.ir_value().type, {"pending": int_attribute(pending)}
    )
    accumulators.store(Vector(waited, value.shape, value.dtype))
