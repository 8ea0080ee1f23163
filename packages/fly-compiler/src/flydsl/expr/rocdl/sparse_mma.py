# SPDX-License-Identifier: Apache-2.0
"""Sparse matrix operations of CDNA for `fx.make_mma_atom`."""

from __future__ import annotations

from typing import Any

from flydsl._mlir._mlir_libs import _flyROCDLDialect as fly_rocdl

from ..ops.atom_types import MmaOp
from ..values.numeric.base import _class_of
from .matrix_shapes import extents_text, matrix_shapes

__all__ = ["SMFMAC"]


class SMFMAC(MmaOp):
    """`SMFMAC(m, n, k, a_type, b_type=a_type, acc_type=Float32)`: a product whose A is sparse, by a wave of 64.

    Of every four elements of a row of A two are stored, so a lane's fragment of A holds half as many elements as that
    of B. Which two, the state `sparse_index` says, or the second tensor of `[a, index]`: 32 bits per lane, in which
    each stored element has two, its position among its four, the first element in the lowest bits. Operations that
    need 8 or 16 bits take those of number `index_set`. The accumulator is Float32, of Int8 Int32. The atom cannot be
    tiled: call it with `fx.mma_atom_call`.

    16x16x32 and 32x32x16 of Float16 and BFloat16, 16x16x64 and 32x32x32 of Int8 and 8-bit floats; gfx950 has each
    with twice the K, too.

    Raises:
        ValueError: the hardware has no such shape for the types, or another accumulator, or no such set.
    """

    __slots__ = ()

    def __init__(
        self, m: int, n: int, k: int, a_type: Any, b_type: Any = None, acc_type: Any = None, *, index_set: int = 0
    ) -> None:
        a = _class_of(a_type)
        b = a if b_type is None else _class_of(b_type)
        shapes = matrix_shapes("cdna3.smfmac", a.mnemonic, b.mnemonic)
        if not shapes or False in (a.signed, b.signed):  # its integers have signs
            raise ValueError(
                f"SMFMAC has no {a.__name__} and {b.__name__}; it has Float16, BFloat16, Int8, and 8-bit floats of one "
                "encoding"
            )
        shape = next((one for one in shapes if one.extents == (m, n, k)), None)
        expected = shapes[0].acc_class
        acc = expected if acc_type is None else _class_of(acc_type)
        if acc is not expected:
            raise ValueError(f"SMFMAC of {a.__name__} accumulates in {expected.__name__}, not {acc.__name__}")
        if shape is None:
            raise ValueError(f"SMFMAC has no {m}x{n}x{k} for {a.__name__}; it has {extents_text(shapes)}")
        sets = shape.index_sets
        if isinstance(index_set, bool) or not isinstance(index_set, int) or not 0 <= index_set < sets:
            raise ValueError(f"index_set is an int from 0 to {sets - 1} for {m}x{n}x{k}, got {index_set!r}")
        super().__init__(fly_rocdl.CDNA3SMFMACType, m, n, k, a, b, acc, index_set)
