# SPDX-License-Identifier: Apache-2.0
"""MMA atoms of the dialect: the fragment conventions that kernels are written against, in closed form.

They are the dialect's (``fly_rocdl``) thread-value layouts. Those of the hardware registers, from AMD's formulas, are
in `instructions`; where the two number K differently (gfx120x), A and B do so alike, and the product is the same.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import LayoutError
from ..layout import Layout

__all__ = ["MmaAtom", "mfma", "mfma_scale", "universal_fma", "wmma", "wmma_scale"]


@dataclass(frozen=True)
class MmaAtom:
    """A matrix instruction ``D[M,N] = A[M,K] B[N,K]^T + C[M,N]``.

    Attributes:
        name: the dialect's spelling.
        shape_mnk: M, N and K of one call.
        thr_layout: lanes of one call.
        layout_A_tv, layout_B_tv, layout_C_tv: (lane, value) to ``m + k*M``, ``n + k*N`` and ``m + n*M``.
        elem_types: names of the element types of A, B and C.
    """

    name: str
    shape_mnk: tuple[int, int, int]
    thr_layout: Layout
    layout_A_tv: Layout
    layout_B_tv: Layout
    layout_C_tv: Layout
    elem_types: tuple[str, str, str]

    def layout_tv(self, operand: str) -> Layout:
        """The layout of operand ``"A"``, ``"B"``, ``"C"`` or ``"D"`` (which is that of C); small letters too."""
        layouts = {"A": self.layout_A_tv, "B": self.layout_B_tv, "C": self.layout_C_tv, "D": self.layout_C_tv}
        if operand.upper() not in layouts:
            raise LayoutError(f"layout_tv({operand!r}): the operands are A, B, C and D")
        return layouts[operand.upper()]

    def __str__(self) -> str:
        return self.name


_BITS = {
    "f64": 64, "f32": 32, "i32": 32, "f16": 16, "bf16": 16, "i8": 8, "i4": 4,
    "f8E4M3FN": 8, "f8E5M2": 8, "f8E4M3FNUZ": 8, "f8E5M2FNUZ": 8, "f6E2M3FN": 6, "f6E3M2FN": 6, "f4E2M1FN": 4,
}  # fmt: skip


def _checked(operation: str, *types: str) -> None:
    for t in types:
        if t not in _BITS:
            raise LayoutError(f"{operation}: unknown element type {t!r}; known are {', '.join(_BITS)}")


def _name(kind: str, m: int, n: int, k: int, a: str, b: str, c: str) -> str:
    return f"{kind}<{m}x{n}x{k}, ({a}, {b}) -> {c}>"


def universal_fma(elem: str) -> MmaAtom:
    """``universal_fma<1x1x1>``: one multiply-add per lane."""
    _checked("universal_fma", elem)
    one = Layout((1, 1), (1, 1))
    name = f"universal_fma<1x1x1, ({elem}, {elem}) -> {elem}>"
    return MmaAtom(name, (1, 1, 1), Layout(1, 1), one, one, one, (elem, elem, elem))


def _mfma_layouts(m: int, k: int) -> tuple[Layout, Layout]:
    """A (and B) and C of an M x M x K MFMA with one block: ``g = 64 / M`` lane groups share K and the rows of C."""
    g = 64 // m
    kt = k // g
    ab = Layout(((m, g), kt), ((1, m * kt), m))
    c = Layout(((m, g), (4, m // (4 * g))), ((m, 4), (1, 4 * g)))
    return ab, c


def mfma(m: int, n: int, k: int, elem_a: str, elem_b: str | None = None, acc: str = "f32") -> MmaAtom:
    """``cdna3.mfma<MxNxK, (A, B) -> C>`` with M = N = 16 or 32 (one block), on 64 lanes.

    Raises:
        LayoutError: another M or N, or a K that the lane groups do not share evenly.
    """
    elem_b = elem_b or elem_a
    _checked("mfma", elem_a, elem_b, acc)
    if m != n or m not in (16, 32) or k < 64 // m or k % (64 // m):
        raise LayoutError(f"mfma({m}, {n}, {k}): expected M = N = 16 or 32 and K a multiple of {64 // max(m, 1)}")
    ab, c = _mfma_layouts(m, k)
    name = _name("cdna3.mfma", m, n, k, elem_a, elem_b, acc)
    return MmaAtom(name, (m, n, k), Layout(64, 1), ab, ab, c, (elem_a, elem_b, acc))


def mfma_scale(m: int, n: int, k: int, elem_a: str, elem_b: str | None = None) -> MmaAtom:
    """``cdna4.mfma_scale<16x16x128 or 32x32x64, (A, B) -> f32>`` with 8, 6 or 4-bit elements."""
    elem_b = elem_b or elem_a
    _checked("mfma_scale", elem_a, elem_b)
    if (m, n, k) not in ((16, 16, 128), (32, 32, 64)):
        raise LayoutError(f"mfma_scale({m}, {n}, {k}): expected 16x16x128 or 32x32x64")
    if max(_BITS[elem_a], _BITS[elem_b]) > 8:
        raise LayoutError(f"mfma_scale({elem_a}, {elem_b}): expected 8, 6 or 4-bit elements")
    ab, c = _mfma_layouts(m, k)
    name = _name("cdna4.mfma_scale", m, n, k, elem_a, elem_b, "f32")
    return MmaAtom(name, (m, n, k), Layout(64, 1), ab, ab, c, (elem_a, elem_b, "f32"))


# K of A and B (values per lane) by architecture; gfx1250's vary with the element type.
_WMMA_K: dict[str, dict[str, tuple[int, ...]]] = {
    "gfx11": {"f16": (16,), "bf16": (16,), "i8": (16,), "i4": (16,)},
    "gfx120x": {"f16": (16,), "bf16": (16,), "i8": (16,), "i4": (16, 32), "f8E4M3FN": (16,), "f8E5M2": (16,)},
    "gfx1250": {
        "f32": (4,), "f16": (32,), "bf16": (32,), "i8": (64,), "i4": (32,), "f8E4M3FN": (64, 128), "f8E5M2": (64, 128),
    },
}  # fmt: skip


def wmma(arch: str, m: int, n: int, k: int, elem_a: str, elem_b: str | None = None, acc: str = "f32") -> MmaAtom:
    """``gfx11.wmma``, ``gfx120x.wmma`` or ``gfx1250.wmma``, on 32 lanes.

    Args:
        arch: ``"gfx11"``, ``"gfx120x"`` or ``"gfx1250"``.
        m, n, k: 16, 16 and a K that the architecture has for the element type.
        elem_a, elem_b: element types; B's is that of A by default.
        acc: accumulator type; 16-bit accumulators (gfx1250) are packed in pairs of rows.

    Raises:
        LayoutError: the architecture has no such instruction.
    """
    elem_b = elem_b or elem_a
    _checked("wmma", elem_a, elem_b, acc)
    if arch not in _WMMA_K:
        raise LayoutError(f"wmma({arch!r}): the architectures are {', '.join(_WMMA_K)}")
    ks = _WMMA_K[arch].get(elem_a, ())
    if (m, n) != (16, 16) or k not in ks:
        have = ", ".join(f"16x16x{x}" for x in ks) or "nothing"
        raise LayoutError(f"wmma({arch}, {m}x{n}x{k}, {elem_a}): for {elem_a}, {arch} has {have}")
    c = Layout(((16, 2), 8), ((16, 8), 1))
    if arch == "gfx11":
        ab = Layout(((16, 2), 16), ((1, 0), 16))  # both halves of the wave hold the same data
        c = Layout(((16, 2), 8), ((16, 1), 2))
    elif arch == "gfx120x" or elem_a == "f32":
        ab = Layout(((16, 2), k // 2), ((1, 8 * k), 16))
    else:
        ab = Layout(((16, 2), (8, k // 16)), ((1, 128), (16, 256)))
        if _BITS[acc] == 16:
            c = Layout(((16, 2), (4, 2)), ((16, 8), (2, 1)))
    name = _name(f"{arch}.wmma", m, n, k, elem_a, elem_b, acc)
    return MmaAtom(name, (m, n, k), Layout(32, 1), ab, ab, c, (elem_a, elem_b, acc))


def wmma_scale(m: int, n: int, k: int, elem_a: str, elem_b: str | None = None) -> MmaAtom:
    """``gfx1250.wmma_scale<16x16x128 or 32x16x128>``; the 32-row form is for f4E2M1FN, its layouts provisional."""
    elem_b = elem_b or elem_a
    _checked("wmma_scale", elem_a, elem_b)
    b = Layout(((16, 2), (8, 8)), ((1, 128), (16, 256)))
    if (m, n, k) == (16, 16, 128):
        a, c = b, Layout(((16, 2), 8), ((16, 8), 1))
    elif (m, n, k) == (32, 16, 128) and elem_a == elem_b == "f4E2M1FN":
        a, c = Layout((32, 128), (1, 32)), Layout(((16, 2), 16), ((16, 16), 1))
    else:
        raise LayoutError(
            f"wmma_scale({m}x{n}x{k}, {elem_a}, {elem_b}): expected 16x16x128, or 32x16x128 with f4E2M1FN"
        )
    name = _name("gfx1250.wmma_scale", m, n, k, elem_a, elem_b, "f32")
    return MmaAtom(name, (m, n, k), Layout(32, 1), a, b, c, (elem_a, elem_b, "f32"))
