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
from ..values.numeric.types import (
    BFloat16,
    Float4E2M1FN,
    Float6E2M3FN,
    Float6E3M2FN,
    Float8E4M3FN,
    Float8E4M3FNUZ,
    Float8E5M2,
    Float8E5M2FNUZ,
    Float16,
    Float32,
    Float64,
    Int4,
    Int8,
    Int32,
    Uint8,
)

__all__ = ["MFMA", "WMMA", "MFMAScale", "MFMA_Scale", "WMMAScale"]

_FP8 = (Float8E4M3FNUZ, Float8E5M2FNUZ, Float8E4M3FN, Float8E5M2)
_F8F6F4 = (Float8E4M3FN, Float8E5M2, Float6E2M3FN, Float6E3M2FN, Float4E2M1FN)

# (m, k) by element type: what the hardware has.
_EIGHT_BIT = ((16, 32), (32, 16))
_DOUBLED_INT8 = ((16, 64), (32, 32))
_INT8 = ((32, 4), (16, 4), (4, 4), *_EIGHT_BIT, *_DOUBLED_INT8)
_SHAPES: dict[NumericMeta, tuple[tuple[int, int], ...]] = {
    Float64: ((4, 4), (16, 4)),
    Float32: ((32, 1), (16, 1), (4, 1), (32, 2), (16, 4)),
    Float16: ((32, 4), (16, 4), (4, 4), (32, 8), (16, 16), (16, 32), (32, 16)),
    BFloat16: ((32, 2), (16, 2), (4, 2), (32, 4), (16, 4), (4, 4), (16, 8), (32, 8), (16, 16), (16, 32), (32, 16)),
    Int8: _INT8,
    Uint8: _INT8,
    **dict.fromkeys(_FP8, _EIGHT_BIT),
}
# How many products one instruction computes, by (m, k).
_OF_FOUR = {(32, 4): 2, (16, 4): 4, (4, 4): 16}
_BLOCKS: dict[NumericMeta, dict[tuple[int, int], int]] = {
    Float64: {(4, 4): 4},
    Float32: {(32, 1): 2, (16, 1): 4, (4, 1): 16},
    Float16: _OF_FOUR,
    BFloat16: _OF_FOUR,
    Int8: _OF_FOUR,
    Uint8: _OF_FOUR,
}
_XF32 = ((16, 8), (32, 4))


class _Xf32:
    """The 19 bits of f32 that xf32 multiplies, which no class of the language has."""

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
        if other is not element and not any({element, other} <= set(mix) for mix in (_FP8[:2], _FP8[2:])):
            raise ValueError(f"MFMA does not mix {element.__name__} and {other.__name__}")
        expected = Int32 if element in (Int8, Uint8) else Float64 if element is Float64 else Float32
        acc = expected if acc_type is None else _class_of(acc_type)
        if xf32 and element is not Float32:
            raise ValueError(f"xf32 is for Float32, not {element.__name__}")
        shapes = _XF32 if xf32 else _SHAPES.get(element)
        if shapes is None:
            raise ValueError(
                f"MFMA has no {element.__name__} operands; it has {', '.join(t.__name__ for t in _SHAPES)}"
            )
        if m != n or (m, k) not in shapes:
            have = ", ".join(f"{mm}x{mm}x{kk}" for mm, kk in shapes)
            kind = "xf32" if xf32 else element.__name__
            raise ValueError(f"MFMA has no {m}x{n}x{k} for {kind}; it has {have}")
        if blocks != 1 and blocks != _BLOCKS.get(element, {}).get((m, k)):
            have = ", ".join(f"{mm}x{mm}x{kk} on {n}" for (mm, kk), n in _BLOCKS.get(element, {}).items())
            raise ValueError(
                f"MFMA {m}x{n}x{k} of {element.__name__} does not work on {blocks!r} blocks; "
                f"{have or 'of this type, all work on one'}"
            )
        if acc is not expected:
            raise ValueError(f"MFMA of {element.__name__} accumulates in {expected.__name__}, not {acc.__name__}")
        a, b = (_XF32_TYPE, _XF32_TYPE) if xf32 else (element, other)
        super().__init__(fly_rocdl.CDNA3MFMAType, m, n, k, a, b, acc, blocks)


def _opsel(name: str, value: Any, limit: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= limit:
        raise ValueError(f"{name} is an int from 0 to {limit}, got {value!r}")
    return value


def _f8f6f4(name: str, cls: Any) -> NumericMeta:
    element = _class_of(cls)
    if element not in _F8F6F4:
        raise ValueError(f"{name} takes {', '.join(t.__name__ for t in _F8F6F4)}, not {element.__name__}")
    return element


class MFMAScale(MmaOp):
    """Scaled MFMA of gfx950: 16x16x128 or 32x32x64 of fp8, fp6 and fp4 in any mix, into f32.

    State `scale_a`, `scale_b`: 32 bits, of which `opsel_a`, `opsel_b` (0 to 3) pick the E8M0 byte.
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
        if (m, n, k) not in ((16, 16, 128), (32, 32, 64)):
            raise ValueError(f"MFMAScale has 16x16x128 and 32x32x64, not {m}x{n}x{k}")
        a = _f8f6f4("MFMAScale", a_type)
        b = a if b_type is None else _f8f6f4("MFMAScale", b_type)
        if acc is not None and _class_of(acc) is not Float32:
            raise ValueError(f"MFMAScale accumulates in Float32, not {_class_of(acc).__name__}")
        selected = _opsel("opsel_a", opsel_a, 3), _opsel("opsel_b", opsel_b, 3)
        super().__init__(fly_rocdl.CDNA4MFMAScaleType, m, n, k, a, b, Float32, *selected)


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
    kinds: dict[str, TypeClass] = {
        "rdna3": fly_rocdl.GFX11WMMAType,
        "rdna4": fly_rocdl.GFX120XWMMAType,
        "gfx1250": fly_rocdl.GFX1250WMMAType,
    }
    if arch.family not in kinds:
        raise ValueError(f"{arch.name} has no WMMA; it has fx.rocdl.MFMA")
    _check_wmma(arch.family, m, n, k, a, b, acc)
    if mod_c and arch.family != "gfx1250":
        raise ValueError(f"mod_c is for gfx1250; the kernel is compiled for {arch.name}")
    more = (int(mod_c),) if mod_c else ()
    return MmaOp(kinds[arch.family], m, n, k, a, b, acc, *signs, bool(clamp), *more)


_OCP8 = (Float8E4M3FN, Float8E5M2)


def _check_wmma(family: str, m: int, n: int, k: int, a: NumericMeta, b: NumericMeta, acc: NumericMeta) -> None:
    f16s, i8 = (Float16, BFloat16), (Int8, Uint8)
    rules: list[tuple[tuple[Any, ...], tuple[int, ...], tuple[Any, ...]]]
    if family == "rdna3":
        rules = [(f16s, (16,), (Float32,)), ((*i8, Int4), (16,), (Int32,))]
    elif family == "rdna4":
        rules = [((*f16s, *_OCP8), (16,), (Float32,)), (i8, (16,), (Int32,)), ((Int4,), (16, 32), (Int32,))]
    else:
        rules = [
            ((Float32,), (4,), (Float32,)),
            ((Float16,), (32,), (Float32, Float16)),
            ((BFloat16,), (32,), (Float32, BFloat16)),
            (_OCP8, (64, 128), (Float32, Float16)),
            (i8, (64,), (Int32,)),
            ((Int4,), (32,), (Int32,)),
        ]
    mixed = a is b or (a in _OCP8 and b in _OCP8) or (a in i8 and b in i8)
    if m == n == 16 and mixed and any(a in types and k in ks and acc in accs for types, ks, accs in rules):
        return
    have = "; ".join(
        f"{'/'.join(t.__name__ for t in types)} k {'/'.join(map(str, ks))} to {'/'.join(t.__name__ for t in accs)}"
        for types, ks, accs in rules
    )
    raise ValueError(
        f"{_trace.target().name} has no WMMA {m}x{n}x{k} of {a.__name__} and {b.__name__} to {acc.__name__}; "
        f"it has 16x16: {have}"
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
        ta = _f8f6f4("WMMAScale", a)
        tb = ta if b is None else _f8f6f4("WMMAScale", b)
        if (m, n, k) not in ((16, 16, 128), (32, 16, 128)):
            raise ValueError(f"WMMAScale has 16x16x128 and 32x16x128, not {m}x{n}x{k}")
        if m == 32 and (ta, tb) != (Float4E2M1FN, Float4E2M1FN):
            raise ValueError(f"WMMAScale 32x16x128 takes Float4E2M1FN, not {ta.__name__} and {tb.__name__}")
        if acc is not None and _class_of(acc) is not Float32:
            raise ValueError(f"WMMAScale accumulates in Float32, not {_class_of(acc).__name__}")
        if block_size not in (16, 32):
            raise ValueError(f"block_size is 16 or 32, got {block_size!r}")
        if not 0 <= int(mod_c) <= 65535:
            raise ValueError(f"mod_c is from 0 to 65535, got {mod_c!r}")
        selected = _opsel("opsel_a", opsel_a, 1), _opsel("opsel_b", opsel_b, 1)
        options = (int(mod_c), bool(reuse_a), bool(reuse_b), block_size)
        super().__init__(fly_rocdl.GFX1250WMMAScaleType, m, n, k, ta, tb, Float32, *selected, *options)
