# SPDX-License-Identifier: Apache-2.0
"""The matrix operation of a warp, and the copies that bring its fragments out of shared memory and back."""

from __future__ import annotations

from flydsl._mlir import ir
from flydsl._mlir._mlir_libs import _flyNVVMDialect as fly_nvvm

from ..ops.atom_types import CopyOp, MmaOp
from ..values.numeric.base import _class_of
from ..values.numeric.meta import NumericMeta
from ..values.numeric.types import Float32

__all__ = ["LdMatrix", "MmaSync", "StMatrix"]

_MATRICES = (1, 2, 4)


class _TF32:
    """The 19 bits of f32 that tf32 multiplies, which no class of the language has."""

    @property
    def ir_type(self) -> ir.Type:
        """The MLIR type in the current context."""
        return ir.FloatTF32Type.get()


_TF32_TYPE = _TF32()


class MmaSync(MmaOp):
    """`MmaSync(m, n, k, ab_type)`: the 32 threads of a warp add an m x n product of registers to registers.

    For shapes that `WGMMA` has not: tiles of 16 x 8, of one warp. Of 16-bit elements there are 16x8x16 and 16x8x8, of
    Int8 16x8x32 and 16x8x16 (sums wrap), of 8-bit floats 16x8x32, of Float32 with `tf32` 16x8x8 and 16x8x4, of Float64
    8x8x4. `LdMatrix` brings A and B out of shared memory.

    Args:
        m, n, k: extents of the product.
        ab_type: element type of A and B: BFloat16, Float16, Float8E4M3FN, Float8E5M2, Int8, Float32, Float64.
        acc_type: element type of C and D; Float32, of Float16 also Float16, of Int8 Int32, of Float64 Float64.
        elem_ty_b: element type of B, where it is the other 8-bit float.
        tf32: of Float32, multiply 19 of the 32 bits; there is no other product of Float32.

    Raises:
        TypeError: an extent is no int.
        ValueError: there is no such instruction.
    """

    __slots__ = ()

    def __init__(
        self,
        m: int,
        n: int,
        k: int,
        ab_type: NumericMeta,
        acc_type: NumericMeta = Float32,
        *,
        elem_ty_b: NumericMeta | None = None,
        tf32: bool = False,
    ) -> None:
        for extent in (m, n, k):
            if isinstance(extent, bool) or not isinstance(extent, int) or extent <= 0:
                raise TypeError(f"MmaSync takes positive Python ints for m, n and k, got {extent!r}")
        element = _class_of(ab_type)
        other = element if elem_ty_b is None else _class_of(elem_ty_b)
        if tf32 and not (element is other is Float32):
            raise ValueError(f"tf32 is for Float32, not {element.__name__}")
        if element is Float32 and not tf32:
            raise ValueError("MmaSync has no product of all bits of Float32: tf32=True multiplies 19 of them")
        a, b = (_TF32_TYPE, _TF32_TYPE) if tf32 else (element, other)
        super().__init__(fly_nvvm.SM80MmaSyncType, m, n, k, a, b, _class_of(acc_type))


def _check_matrices(name: str, matrices: int) -> int:
    if isinstance(matrices, bool) or not isinstance(matrices, int) or matrices not in _MATRICES:
        raise ValueError(f"{name} moves 1, 2 or 4 matrices of 8 x 8, got {matrices!r}")
    return matrices


class LdMatrix(CopyOp):
    """`LdMatrix(matrices)`: a warp copies 1, 2 or 4 matrices of 8 rows of 16 bytes from shared memory to registers.

    For `make_tiled_copy_A` and `make_tiled_copy_B` of an `MmaSync`: each thread names one row, whatever the swizzle of
    the tile, and gets 32 bits of each matrix. All threads of the warp run it, without a predicate. The rows lie in
    memory as the operand counts them, along K; of 16-bit elements also along M or N, `transposed`. Elements have 8, 16
    or 32 bits.

    Args:
        matrices: 4 are A of 16x8x16, or two Bs; 2 are B of 16x8x16 or A of 16x8x8; 1 is B of 16x8x8. Two atoms in one
            call lie side by side in the fragment, whose registers follow the strides of the tile that it is made of:
            two along N where that is contiguous along N, two along K where it is contiguous along K.
        transposed: the tile is contiguous along M or N (16-bit elements).

    Raises:
        ValueError: another number of matrices.
    """

    __slots__ = ()

    def __init__(self, matrices: int, *, transposed: bool = False) -> None:
        super().__init__(fly_nvvm.LdMatrixType, _check_matrices("LdMatrix", matrices), bool(transposed))


class StMatrix(CopyOp):
    """`StMatrix(matrices)`: a warp copies 1, 2 or 4 matrices of 8 rows of 16 bytes from registers to shared memory.

    For `make_tiled_copy_C` of an `MmaSync` or a `WGMMA`: `LdMatrix` the other way round. Elements have 16 bits, so
    that sums of Float32 are converted first; without `transposed`, 8 and 32 bits fit, too.

    Args:
        matrices: 2 are C of 16 x 8, 4 are two of them, side by side in the fragment (as of `LdMatrix`).
        transposed: the tile is contiguous along M (16-bit elements).

    Raises:
        ValueError: another number of matrices.
    """

    __slots__ = ()

    def __init__(self, matrices: int, *, transposed: bool = False) -> None:
        super().__init__(fly_nvvm.StMatrixType, _check_matrices("StMatrix", matrices), bool(transposed))
