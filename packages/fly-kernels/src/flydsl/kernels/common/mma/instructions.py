# SPDX-License-Identifier: Apache-2.0
"""Which matrix instruction multiplies packs of 16 bytes, by architecture and element type: the one place that knows.

A *pack* is what one lane loads at once: 16 bytes along K of one row. Of a 16-row operand, lane l has row l mod 16 and,
of every 64 bytes of K, pack l // 16. The order of K inside a product does not matter as long as both operands have the
same, so packs go to the instruction as they were loaded:

    gfx942   f16, bf16   16x16x16, 2 a pack (the low and the high 8 bytes)
             fp8, int8   16x16x32, 2 a pack
             int4        as int8, see `unpack_int4`
    gfx950   f16, bf16   16x16x32, 1 a pack
             int8, int4  16x16x64, 1 a pack
             fp8         16x16x128 of f8f6f4 with unit scales, 1 for two packs; 16x16x32, 2 a pack, where one is left

All have 16 x 16 results, 4 a lane: the row operand's rows 4 (l // 16) to 4 (l // 16) + 3, the column operand's row
l mod 16.

Chips whose waves have 32 lanes (`MatrixAtom`) have 8 results a lane, and lanes l and l + 16 share the K of a row in two
halves (gfx1201) or both hold all of it (gfx1100):

    gfx1201  f16, bf16   16x16x16, 1 a pack             fp8, int8   16x16x16, 2 a pack
             int4 x int4  16x16x32, 2 a pack
    gfx1100  f16, bf16   16x16x16, 1 for two packs      int8        16x16x16, 1 a pack
             int4 x int4  16x16x16, 2 a pack
    gfx1250  f16, bf16   16x16x32, 1 for two packs
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ..language import fx

__all__ = ["PACK_BYTES", "PAIR_BYTES", "MatrixAtom", "matrix_atom", "matrix_product", "unpack_int4"]

PACK_BYTES = 16
PAIR_BYTES = 8
"""Of an operand of int4 that a lane gives to a matrix instruction, with waves of 32 lanes."""


@dataclass(frozen=True)
class MatrixAtom:
    """A matrix instruction with 16 x 16 results; how lanes hold operands is its atom's thread-value layout.

    Attributes:
        depth: extent along K.
        groups: groups of 16 lanes that hold different parts of K.
        wave: lanes.
        element_bytes: of an operand's element.
        integer: accumulates in 32-bit integers instead of f32.
        cycles: of the matrix unit.
        rows_in_turns: groups of lanes take turns in the rows of the result; else each has neighbouring ones.
        scale_bits: sums are 2 to this power too large.
        pairs: elements are bytes of two int4, of both operands; `depth` counts them, see `pair_depth`.
        signed: of integers.
    """

    depth: int
    groups: int
    wave: int
    element_bytes: int
    integer: bool
    cycles: int = 16
    rows_in_turns: bool = False
    scale_bits: int = 0
    pairs: bool = False
    signed: bool = True

    @property
    def pack(self) -> int:
        """Elements in 16 bytes."""
        return PACK_BYTES // self.element_bytes

    @property
    def halves(self) -> int:
        """Instructions that a pack feeds."""
        return max(1, self.groups * self.pack // self.depth)

    @property
    def packs(self) -> int:
        """Packs of each operand that an instruction takes."""
        return max(1, self.depth // (self.groups * self.pack))

    @property
    def results(self) -> int:
        """Results of a lane."""
        return 256 // self.wave

    @property
    def pair_depth(self) -> int:
        """Extent along K of the instruction for int4, of which a lane gives 8 bytes of each operand."""
        return 2 * PAIR_BYTES * self.groups

    @property
    def calls(self) -> int:
        """Instructions that a product of `depth` takes: more than one of int4, where a lane has 16 bytes of it."""
        return self.depth // (self.groups * PAIR_BYTES) if self.pairs else 1

    def pair_operation(self) -> object:
        """What `fx.make_mma_atom` makes the instruction for int4 of."""
        return fx.rocdl.WMMA(16, 16, self.pair_depth, fx.Int4, sign_a=self.signed, sign_b=self.signed)

    @property
    def operation(self) -> Callable[..., object]:
        """What makes the language's atom: `fx.rocdl.MFMA` or `fx.rocdl.WMMA`."""
        return fx.rocdl.MFMA if self.wave == 64 else fx.rocdl.WMMA

    @property
    def accumulator(self) -> type[fx.Int32] | type[fx.Float32]:
        """The language's type of the results."""
        return fx.Int32 if self.integer else fx.Float32

    def exact(self, total: Any) -> Any:
        """A sum when all is added up."""
        return total >> self.scale_bits if self.scale_bits else total


def unpack_int4(words: Any) -> fx.Vector:
    """16 times the 16 int4 of a pack (an Int32 vector of 2), as int8 (an Int32 vector of 4), in the order of K.

    Of 8 neighbours v0 ... v7, byte j of 4 holds v[j] in its lower and v[j + 4] in its upper half. The upper half of a
    byte is 16 times its int4, sign and all, so nothing has to be extended; the factor is taken off the sum, which has
    room for it as long as K < 2^17.
    """
    upper = fx.Int32(-0x0F0F0F10)
    parts = [part for word in (words[0], words[1]) for part in ((word << 4) & upper, word & upper)]
    return fx.Vector.from_elements(parts, fx.Int32)


# Extent along K of the instruction with plain operands, and for waves of 32 its cycles (ISA documents of RDNA 3 and 4:
# 512 and 1024 f16 operations a cycle of a compute unit, 8 bit as many on RDNA 3, twice as many on RDNA 4; 4 bit twice
# as many as 8). Of int4 in pairs it is the time for 16 bytes of K.
_MFMA = {
    "gfx942": {"fp16": 16, "bf16": 16, "fp8": 32, "int8": 32},
    "gfx950": {"fp16": 32, "bf16": 32, "fp8": 32, "int8": 64},
}
_WMMA = {
    "gfx1100": {"fp16": 32, "bf16": 32, "int8": 32, "uint8": 32, "int4x2": 32, "uint4x2": 32},
    "gfx1201": {"fp16": 16, "bf16": 16, "fp8": 8, "int8": 8, "uint8": 8, "int4x2": 8, "uint4x2": 8},
    "gfx1250": {"fp16": 8, "bf16": 8},  # LLVM's model; nothing is published
}
_TWO_BYTES = ("fp16", "bf16")
# Instructions with block scales (here all 2^0), for an even number of packs of a lane: twice the rate of the plain one.
_SCALED = {("gfx950", "fp8"): (128, 32)}


def _atom(arch: str, dtype: str) -> MatrixAtom:
    """The instruction of a row of `_MFMA` or `_WMMA`."""
    size, integer, pairs = 2 if dtype in _TWO_BYTES else 1, "int" in dtype, dtype.endswith("x2")
    if arch in _MFMA:
        return MatrixAtom(_MFMA[arch][dtype], 4, 64, size, integer)
    doubled = arch == "gfx1100"  # both halves of the wave hold the same operands
    depth = 32 if arch == "gfx1250" else 16
    return MatrixAtom(
        depth, 1 if doubled else 2, 32, size, integer, _WMMA[arch][dtype], rows_in_turns=doubled, pairs=pairs,
        signed=not dtype.startswith("u"),
    )  # fmt: skip


# Made once: a trace asks for them thousands of times.
_ATOMS = {(arch, dtype): _atom(arch, dtype) for arch, types in (*_MFMA.items(), *_WMMA.items()) for dtype in types}
_ATOMS |= {(arch, "int4"): replace(_ATOMS[arch, "int8"], scale_bits=4) for arch in _MFMA}
_SCALED_ATOMS = {
    key: replace(_ATOMS[key], depth=depth, cycles=cycles) for key, (depth, cycles) in _SCALED.items()
}  # fmt: skip


def matrix_atom(arch: str, dtype: str) -> MatrixAtom | None:
    """The instruction for operands of `dtype` ("fp16", "bf16", "fp8", "int8", "uint8"), None where there is none.

    "int4" is of B, see `unpack_int4`; A is int8. "int4x2" and "uint4x2" are of both, two a byte, and count bytes.
    """
    return _ATOMS.get((arch, dtype))


def matrix_product(arch: str, dtype: str, packs: int) -> MatrixAtom:
    """The instruction for operands of `dtype` on a chip of waves of 64 lanes, of which each has `packs` packs of a row.

    Raises ValueError for a type that is none of "fp16", "bf16", "fp8", "int8", "int4" (of B; A is int8), and for
    another architecture.
    """
    if arch not in _MFMA:
        raise ValueError(f"matrix products are written for {' and '.join(_MFMA)}, not for {arch}")
    found = matrix_atom(arch, dtype)
    if found is None:
        raise ValueError(f"in_dtype {dtype!r} is not supported; use one of {', '.join((*_MFMA[arch], 'int4'))}")
    return _SCALED_ATOMS.get((arch, dtype), found) if packs % 2 == 0 else found
