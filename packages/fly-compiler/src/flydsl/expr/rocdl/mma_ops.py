# SPDX-License-Identifier: Apache-2.0
"""Matrix operations of AMD GPUs for `fx.make_mma_atom`: MFMA (CDNA) and WMMA (RDNA, gfx1250)."""

from __future__ import annotations

from typing import Any

from flydsl._mlir import ir
from flydsl._mlir._mlir_libs import _flyROCDLDialect as fly_rocdl
from flydsl.trace import context as _trace
from flydsl.trace.build import TypeClass

from ..ops.atom_types import MmaOp
from ..values.numeric.base import _class_of
from ..values.numeric.meta import NumericMeta
from ..values.numeric.types import Float32, Int32
from .matrix_shapes import MatrixShape, class_names, extents_text, matrix_shapes

__all__ = ["MFMA", "WMMA", "MFMAScale", "MFMA_Scale", "WMMAScale"]


class _Xf32:
    """The 19 bits of f32 that xf32 multiplies, which no class of the language has."""

    mnemonic = "tf32"

    @property
    def ir_type(self) -> ir.Type:
        """The MLIR type in the current context."""
        return ir.FloatTF32Type.get()


_XF32_TYPE = _Xf32()


def _dims(m: Any, n: Any, k: Any, name: str) -> tuple[int, int, int]:
    for extent in (m, n, k):
        if isinstance(extent, bool) or not isinstance(extent, int) or extent <= 0:
            raise TypeError(f"{name} takes positive Python ints for m, n and k, got {extent!r}")
    return m, n, k


class MFMA(MmaOp):
    """`MFMA(m, n, k, ab_type, acc_type=Float32)`: a wave of 64 computes an m x n tile, m == n.

    Args:
        m, n, k: extents of the product; `m == n`.
        ab_type: element type of A and B.
        acc_type: element type of C and D: Float32, of integers Int32, of Float64 itself.
        elem_ty_b: element type of B, where it is another 8-bit float.
        blocks: products that one call computes. Such an atom cannot be tiled; its layouts count the blocks last.
        xf32: of Float32, multiply 19 of the 32 bits: 16x16x8 and 32x32x4 on gfx942.

    Raises:
        ValueError: the hardware has no such shape for the type, or another accumulator.
    """

    __slots__ = ()

    def __init__(
        self,
        m: int,
        n: int,
        k: int,
        ab_type: Any,
        acc_type: Any = None,
        *,
        elem_ty_b: Any = None,
        blocks: int = 1,
        xf32: bool = False,
    ) -> None:
        m, n, k = _dims(m, n, k, "MFMA")
        element = _class_of(ab_type)
        other = element if elem_ty_b is None else _class_of(elem_ty_b)
        if xf32 and element is not Float32:
            raise ValueError(f"xf32 is for Float32, not {element.__name__}")
        a, b = (_XF32_TYPE, _XF32_TYPE) if xf32 else (element, other)
        operation = "cdna3.mfma"
        shapes = matrix_shapes(operation, a.mnemonic)
        if not shapes:
            known = [one for shape in matrix_shapes(operation) for one in shape.elements if one != _XF32_TYPE.mnemonic]
            raise ValueError(f"MFMA has no {element.__name__} operands; it has {class_names(known)}")
        if other is not element and (element.is_integer or not matrix_shapes(operation, a.mnemonic, b.mnemonic)):
            raise ValueError(f"MFMA does not mix {element.__name__} and {other.__name__}")
        shape = _shape_of(shapes, m, n, k)
        if shape is None:
            kind = "xf32" if xf32 else element.__name__
            raise ValueError(f"MFMA has no {m}x{n}x{k} for {kind}; it has {extents_text(shapes)}")
        if blocks not in (1, shape.blocks or 1):
            have = ", ".join(f"{extents_text([one])} on {one.blocks}" for one in shapes if one.blocks > 1)
            raise ValueError(
                f"MFMA {m}x{n}x{k} of {element.__name__} does not work on {blocks!r} blocks; "
                f"{have or 'of this type, all work on one'}"
            )
        acc = _accumulator("MFMA", element, shape, acc_type)
        super().__init__(fly_rocdl.CDNA3MFMAType, m, n, k, a, b, acc, blocks)


def _shape_of(shapes: list[MatrixShape], m: int, n: int, k: int) -> MatrixShape | None:
    return next((one for one in shapes if one.extents == (m, n, k)), None)


def _accumulator(name: str, element: NumericMeta, shape: MatrixShape, asked_for: Any) -> NumericMeta:
    """Return the class that an operation accumulates in; `ValueError` when another one is asked for."""
    expected = shape.acc_class
    if asked_for is not None and _class_of(asked_for) is not expected:
        raise ValueError(
            f"{name} of {element.__name__} accumulates in {expected.__name__}, not {_class_of(asked_for).__name__}"
        )
    return expected


def _opsel(name: str, value: Any, limit: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= limit:
        raise ValueError(f"{name} is an int from 0 to {limit}, got {value!r}")
    return value


def _scaled_operands(
    name: str, operation: str, extents: tuple[int, int, int], a_type: Any, b_type: Any, acc: Any
) -> tuple[NumericMeta, NumericMeta, NumericMeta]:
    """Return the classes of A, B and C of an operation with scales.

    Raises:
        ValueError: it has not the extents, or has them not for these types.
    """
    shapes = matrix_shapes(operation)
    shape = _shape_of(shapes, *extents)
    if shape is None:
        raise ValueError(f"{name} has {extents_text(shapes, ' and ')}, not {'x'.join(map(str, extents))}")
    a = _class_of(a_type)
    b = a if b_type is None else _class_of(b_type)
    for one in (a, b):
        if one.mnemonic not in shape.elements:
            what = name if shape.elements == shapes[0].elements else f"{name} {extents_text([shape])}"
            raise ValueError(f"{what} takes {class_names(shape.elements)}, not {one.__name__}")
    return a, b, _accumulator(name, a, shape, acc)


class MFMAScale(MmaOp):
    """Scaled MFMA of gfx950: 16x16x128 or 32x32x64 of fp8, fp6 and fp4 in any mix, into f32.

    State `scale_a`, `scale_b`: 32 bits, of which `opsel_a`, `opsel_b` (0 to 3) pick the E8M0 byte.
    Where both are the constant 0, as in an atom whose scales were never set, the instruction is the one without scales:
    a factor of 1. A byte of 0 that is read in the kernel is 2^-127.
    """

    __slots__ = ()

    def __init__(
        self,
        m: int,
        n: int,
        k: int,
        a_type: Any,
        b_type: Any = None,
        acc: Any = None,
        *,
        opsel_a: int = 0,
        opsel_b: int = 0,
    ) -> None:
        m, n, k = _dims(m, n, k, "MFMAScale")
        types = _scaled_operands("MFMAScale", "cdna4.mfma_scale", (m, n, k), a_type, b_type, acc)
        selected = _opsel("opsel_a", opsel_a, 3), _opsel("opsel_b", opsel_b, 3)
        super().__init__(fly_rocdl.CDNA4MFMAScaleType, m, n, k, *types, *selected)


MFMA_Scale = MFMAScale


def WMMA(
    m: int,
    n: int,
    k: int,
    ab_type: Any,
    acc_type: Any = Float32,
    *,
    elem_ty_b: Any = None,
    sign_a: bool | None = None,
    sign_b: bool | None = None,
    clamp: bool = False,
    mod_c: int = 0,
) -> MmaOp:
    """Return the wave matrix operation of the target: gfx11, gfx120x or gfx1250.

    `sign_a`, `sign_b` and `clamp` are for integers; `sign_*` default to the signedness of the type.

    Raises:
        ValueError: the target has no WMMA, or not this shape and type.
    """
    m, n, k = _dims(m, n, k, "WMMA")
    a = _class_of(ab_type)
    b = a if elem_ty_b is None else _class_of(elem_ty_b)
    acc = _class_of(acc_type)
    arch = _trace.target()
    if a.is_float and (sign_a or sign_b or clamp):
        raise ValueError("sign_a, sign_b and clamp are for integer WMMA")
    if not a.is_float and acc is Float32:
        acc = Int32
    signs = (
        [bool(t.signed) if s is None else s for t, s in ((a, sign_a), (b, sign_b))] if not a.is_float else [False] * 2
    )
    operation = fly_rocdl.wmma_mnemonic(arch.name)
    if operation is None:
        raise ValueError(f"{arch.name} has no WMMA; it has fx.{'nvgpu.WGMMA' if arch.nvidia else 'rocdl.MFMA'}")
    kind = _WMMA[operation]
    _check_wmma(operation, (m, n, k), a, b, acc)
    if mod_c and kind is not fly_rocdl.GFX1250WMMAType:
        raise ValueError(f"mod_c is for gfx1250; the kernel is compiled for {arch.name}")
    more = (int(mod_c),) if mod_c else ()
    return MmaOp(kind, m, n, k, a, b, acc, *signs, bool(clamp), *more)


_WMMA: dict[str, TypeClass] = {
    "gfx11.wmma": fly_rocdl.GFX11WMMAType,
    "gfx120x.wmma": fly_rocdl.GFX120XWMMAType,
    "gfx1250.wmma": fly_rocdl.GFX1250WMMAType,
}


def _check_wmma(
    operation: str, extents: tuple[int, int, int], a: NumericMeta, b: NumericMeta, acc: NumericMeta
) -> None:
    for shape in matrix_shapes(operation, a.mnemonic, b.mnemonic):
        if shape.extents == extents and shape.accumulator == acc.mnemonic:
            return
    have = "; ".join(
        f"{extents_text([shape])} of {class_names(shape.elements, '/')} to {shape.acc_class.__name__}"
        for shape in matrix_shapes(operation)
    )
    raise ValueError(
        f"{_trace.target().name} has no WMMA {'x'.join(map(str, extents))} of {a.__name__} and {b.__name__} to "
        f"{acc.__name__}; it has {have}"
    )


class WMMAScale(MmaOp):
    """Scaled WMMA of gfx1250: 16x16x128 (fp8, fp6, fp4 in any mix) or 32x16x128 (fp4), into f32.

    State `scale_a`, `scale_b`: 32 bits with blocks of 32, 64 bits with blocks of 16.
    """

    __slots__ = ()

    def __init__(
        self,
        m: int,
        n: int,
        k: int,
        a: Any,
        b: Any = None,
        acc: Any = None,
        *,
        opsel_a: int = 0,
        opsel_b: int = 0,
        mod_c: int = 0,
        reuse_a: bool = False,
        reuse_b: bool = False,
        block_size: int = 32,
    ) -> None:
        m, n, k = _dims(m, n, k, "WMMAScale")
        types = _scaled_operands("WMMAScale", "gfx1250.wmma_scale", (m, n, k), a, b, acc)
        if block_size not in (16, 32):
            raise ValueError(f"block_size is 16 or 32, got {block_size!r}")
        if not 0 <= int(mod_c) <= 65535:
            raise ValueError(f"mod_c is from 0 to 65535, got {mod_c!r}")
        selected = _opsel("opsel_a", opsel_a, 1), _opsel("opsel_b", opsel_b, 1)
        options = (int(mod_c), bool(reuse_a), bool(reuse_b), block_size)
        super().__init__(fly_rocdl.GFX1250WMMAScaleType, m, n, k, *types, *selected, *options)
