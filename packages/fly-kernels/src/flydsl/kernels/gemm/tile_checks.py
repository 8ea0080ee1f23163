# SPDX-License-Identifier: Apache-2.0
"""What a GEMM is given, compared with its extents: when it is built, and by the launcher on every call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..common.language import fx
from ..common.mma.operand_scales import BLOCK
from ..common.utils import cdiv
from .arguments import A_BYTES, check_count, check_matrix

if TYPE_CHECKING:
    from .tile_spec import TileGemm

__all__ = ["check_operands", "check_size"]

_MOST_SUMS = 16 * 64 * 512  # registers of the largest workgroup


def check_size(gemm: TileGemm) -> None:
    """ValueError for tiles whose sums no workgroup holds, and whose operands no buffer resource covers."""
    if gemm.tile_m * gemm.tile_n > _MOST_SUMS:
        raise ValueError(
            f"tile_m * tile_n = {gemm.tile_m} * {gemm.tile_n}: more sums than the registers of a workgroup; "
            "use a smaller tile"
        )
    rows = max(gemm.tile_m, gemm.tile_n)
    if rows * max(gemm.row_bytes(), gemm.row_bytes(of_b=True)) >= 2**31:
        raise ValueError(f"K = {gemm.K} {gemm.in_dtype}: {rows} rows of a tile have to lie within 2 GiB")


def check_operands(
    gemm: TileGemm,
    A: fx.Tensor | fx.Pointer,
    B: fx.Tensor | fx.Pointer,
    M: fx.Int32,
    extras: Mapping[str, fx.Tensor | fx.Pointer],
) -> None:
    """Have the launcher compare the extents of what is read with M, N and K."""
    fx.host_assert(M >= 0, "argument 'M': expected a number of rows, got {}", M)
    given, size = dict(gemm.rows_apart), 1 if gemm.b_mx else A_BYTES[gemm.in_dtype]
    check_matrix("A", A, M, gemm.row_bytes() // size, apart=given.get("A"))
    weights = max(1, gemm.groups)
    check_matrix("B", B, weights * gemm.N, gemm.row_bytes(of_b=True) // size, all_rows=True, apart=given.get("B"))
    if gemm.groups:
        check_count("group_offs", extras["group_offs"], gemm.groups + 1, exact=True)
    if gemm.direct and not (gemm.block_scaled or gemm.b_mx) and isinstance(A, fx.Tensor) and fx.rank(A) == 2:
        apart = fx.Int64(A.stride[0].unpack())
        fx.host_assert(
            (M <= 1) | (apart >= gemm.K),
            f"argument 'A': use_async_copy needs rows that do not overlap, {gemm.K} elements or more apart, got {{}}",
            apart,
        )
    if gemm.b_mx and not gemm.unit_scales:
        columns = 8 * cdiv(gemm.K, 2 * BLOCK)
        for one, rows in (("scale_a", fx.Int64(M)), ("scale_b", fx.Int64(gemm.N))):
            held = extras[one].element_type.width // 8  # bytes, or words of four
            check_count(one, extras[one], cdiv(rows, 32) * (32 * columns // held))
    if gemm.block_scaled:
        blocks = gemm.K // BLOCK
        check_count("scale_a", extras["scale_a"], fx.Int64(M) * blocks, exact=True)
        check_count("scale_b", extras["scale_b"], cdiv(gemm.N, BLOCK) * blocks, exact=True)
    if gemm.epilogue.scaled:
        check_count("scale_a", extras["scale_a"], 1 if gemm.one_scale else M)
        check_count("scale_b", extras["scale_b"], 1 if gemm.one_scale else weights * gemm.N, exact=True)
    if gemm.epilogue.bias:
        check_count("bias", extras["bias"], gemm.N, exact=True)
    if gemm.epilogue.residual:
        check_matrix("residual", extras["residual"], M, gemm.N)
