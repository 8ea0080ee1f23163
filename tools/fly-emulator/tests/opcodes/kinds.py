# SPDX-License-Identifier: Apache-2.0
"""Operand kinds: how an operand lies in registers, what it is in numpy, and which values find mistakes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Words = npt.NDArray[np.uint32]

F32_SPECIALS = [
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x807FFFFF, 0x00800000, 0x80800000, 0x3F800000,
    0xBF800000, 0x3F000000, 0xBF000000, 0x3FC00000, 0xBFC00000, 0x40200000, 0xC0200000, 0x7F7FFFFF, 0xFF7FFFFF,
    0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00000, 0x7F812345, 0x3F7FFFFF, 0x3F800001, 0x4B000000, 0xCB000000,
    0x4B7FFFFF, 0x4F000000, 0xCF000000, 0x4EFFFFFF, 0x4F7FFFFF, 0x4F800000, 0x477FE000, 0x477FEFFF, 0x477FF000,
    0x387FFFFF, 0x33800000, 0x33000000, 0x43E00000, 0x43F00000, 0x42FF0000, 0xBFFFFFFF, 0x437F8000,
]  # fmt: skip
F16_SPECIALS = [
    0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x83FF, 0x0400, 0x8400, 0x3C00, 0xBC00, 0x3800, 0xB800, 0x3E00, 0xBE00,
    0x4100, 0xC100, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0xFE00, 0x7C01, 0x3BFF, 0x3C01, 0x6400, 0x77FF, 0x7800,
]  # fmt: skip
F64_SPECIALS = [
    0x0000000000000000, 0x8000000000000000, 0x0000000000000001, 0x800FFFFFFFFFFFFF, 0x0010000000000000,
    0x3FF0000000000000, 0xBFF0000000000000, 0x3FE0000000000000, 0xBFE0000000000000, 0x3FF8000000000000,
    0xC004000000000000, 0x7FEFFFFFFFFFFFFF, 0xFFEFFFFFFFFFFFFF, 0x7FF0000000000000, 0xFFF0000000000000,
    0x7FF8000000000000, 0x7FF0000000012345, 0x3FEFFFFFFFFFFFFF, 0x4330000000000000, 0x41DFFFFFFFC00000,
    0x41E0000000000000, 0xC1E0000000000000, 0x41EFFFFFFFE00000, 0x41F0000000000000, 0x47EFFFFFF0000000,
    0x380FFFFFFFFFFFFF, 0x36A0000000000000, 0x3690000000000000,
]  # fmt: skip
BF16_SPECIALS = [value >> 16 for value in F32_SPECIALS if value >> 16 not in (0x7F81,)]
INT_SPECIALS = {
    16: [0, 1, 2, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0x8001, 0xFFFF, 0xFFFE, 15, 16, 31],
    32: [0, 1, 2, 31, 32, 33, 0x7F, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFF, 0x800000, 0xFFFFFF, 0x1000000,
         0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFF8000, 0x07060504, 0x0C0D0B08],
    64: [0, 1, 2, 63, 64, 0xFFFFFFFF, 0x100000000, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000, 0xFFFFFFFFFFFFFFFF,
         0x80000000FFFFFFFF, 0x00000000FFFFFFFE],
}  # fmt: skip


def _pick(rng: np.random.Generator, specials: Sequence[int], random: Array, share: float) -> Array:
    """`share` of the values from the list, the rest random."""
    chosen = rng.choice(np.array(specials, dtype=random.dtype), random.shape)
    return np.where(rng.random(random.shape) < share, chosen, random)


def _random_f32(rng: np.random.Generator, n: int) -> Array:
    bits = rng.integers(0, 2**32, n, dtype=np.uint64).astype(np.uint32)
    near = (rng.standard_normal(n) * 2.0 ** rng.integers(-6, 10, n)).astype(np.float32).view(np.uint32)
    return np.where(rng.random(n) < 0.5, bits, near)


def _random_f16(rng: np.random.Generator, n: int) -> Array:
    bits = rng.integers(0, 2**16, n, dtype=np.uint64).astype(np.uint32)
    near = (rng.standard_normal(n) * 2.0 ** rng.integers(-4, 6, n)).astype(np.float16).view(np.uint16)
    return np.where(rng.random(n) < 0.5, bits, near.astype(np.uint32))


def _random_f64(rng: np.random.Generator, n: int) -> Array:
    bits = rng.integers(0, 2**64, n, dtype=np.uint64)
    near = (rng.standard_normal(n) * 2.0 ** rng.integers(-20, 40, n)).view(np.uint64)
    return np.where(rng.random(n) < 0.4, bits, near)


def _random_int(rng: np.random.Generator, n: int, bits: int) -> Array:
    value = rng.integers(0, 2**bits, n, dtype=np.uint64)
    small = rng.integers(0, 40, n, dtype=np.uint64)
    return np.where(rng.random(n) < 0.3, small, value)


@dataclass(frozen=True)
class Kind:
    """One way to read an operand.

    `decode` takes words of shape (rows, n) and gives what definitions compute with; `encode` is its inverse (unused
    bits are zero); `values(rng, n, share)` makes words, `share` of them special.
    """

    name: str
    rows: int
    decode: Callable[[Words], Array]
    encode: Callable[[Array], Words]
    values: Callable[[np.random.Generator, int, float], Words]
    half: bool = False  # only the low 16 bits count
    floats: tuple[int, ...] = ()  # bits of each float in it, for comparing NaNs

    def same(self, got: Words, want: Words) -> npt.NDArray[np.bool_]:
        """Equal bits, lane by lane; any NaN equals any NaN of the same format."""
        equal = np.asarray((got == want).all(axis=0))
        if not self.floats:
            return equal
        return np.asarray(equal | (_nan_normal(got, self.floats) == _nan_normal(want, self.floats)).all(axis=0))


def _nan_normal(words: Words, floats: tuple[int, ...]) -> Words:
    """The words with every NaN replaced by one."""
    out = words.copy()
    for width in set(floats):
        if width == 16:
            for shift in (0, 16)[: len(floats)]:
                part = out >> np.uint32(shift) & np.uint32(0x7FFF)
                out = np.where(part > 0x7C00, out & ~np.uint32(0xFFFF << shift) | np.uint32(0x7E00 << shift), out)
        elif width == 17:  # bf16
            for shift in (0, 16)[: len(floats)]:
                part = out >> np.uint32(shift) & np.uint32(0x7FFF)
                out = np.where(part > 0x7F80, out & ~np.uint32(0xFFFF << shift) | np.uint32(0x7FC0 << shift), out)
        elif width == 32:
            out = np.where((out & np.uint32(0x7FFFFFFF)) > 0x7F800000, np.uint32(0x7FC00000), out)
        else:
            wide = join64(out)
            nan = (wide & np.uint64(2**63 - 1)) > np.uint64(0x7FF0000000000000)
            out = split64(np.where(nan, np.uint64(0x7FF8000000000000), wide))
    return out.astype(np.uint32)


def join64(words: Words) -> npt.NDArray[np.uint64]:
    """Two rows of words to 64-bit numbers."""
    value: Array = words[0].astype(np.uint64) | words[1].astype(np.uint64) << np.uint64(32)
    return value


def split64(values: Array) -> Words:
    """64-bit numbers to two rows of words."""
    bits = values.view(np.uint64)
    return np.stack([bits & np.uint64(0xFFFFFFFF), bits >> np.uint64(32)]).astype(np.uint32)


def _one(values: Array) -> Words:
    return values.astype(np.uint32)[None, :]


def _garbage(rng: np.random.Generator, low: Array) -> Words:
    """16-bit values with noise above, which the instruction must not see."""
    high = rng.integers(0, 2**16, len(low), dtype=np.uint64).astype(np.uint32)
    return np.asarray((low.astype(np.uint32) | high << np.uint32(16))[None, :])


def _int32(name: str, dtype: Any) -> Kind:
    def encode(v: Array) -> Words:
        return np.asarray((v.astype(np.int64) & 0xFFFFFFFF).astype(np.uint32)[None, :])

    return Kind(
        name, 1, lambda w: w[0].view(dtype), encode,
        lambda rng, n, share: _one(_pick(rng, INT_SPECIALS[32], _random_int(rng, n, 32), share)),
    )  # fmt: skip


def _int16(name: str, dtype: Any) -> Kind:
    return Kind(
        name, 1, lambda w: (w[0] & 0xFFFF).astype(np.uint16).view(dtype).astype(np.int64),
        lambda v: _one(v.astype(np.int64) & 0xFFFF),
        lambda rng, n, share: _garbage(rng, _pick(rng, INT_SPECIALS[16], _random_int(rng, n, 16), share)),
        half=True,
    )  # fmt: skip


def _int64(name: str, dtype: Any) -> Kind:
    return Kind(
        name, 2, lambda w: join64(w).view(dtype), lambda v: split64(v.astype(dtype)),
        lambda rng, n, share: split64(_pick(rng, INT_SPECIALS[64], _random_int(rng, n, 64), share)),
    )  # fmt: skip


def _float16(name: str, dtype: Any, specials: Sequence[int], code: int) -> Kind:
    def values(rng: np.random.Generator, n: int, share: float) -> Words:
        random = _random_f16(rng, n) if code == 16 else _random_f32(rng, n) >> np.uint32(16)
        return _garbage(rng, _pick(rng, specials, random, share))

    return Kind(
        name, 1, lambda w: (w[0] & 0xFFFF).astype(np.uint16).view(dtype),
        lambda v: _one(v.astype(dtype).view(np.uint16)), values, half=True, floats=(code,),
    )  # fmt: skip


def _pair16(name: str, dtype: Any, element: Kind, floats: tuple[int, ...] = ()) -> Kind:
    """Two 16-bit numbers: decoded with shape (2, n)."""

    def decode(w: Words) -> Array:
        halves = np.stack([w[0] & 0xFFFF, w[0] >> 16]).astype(np.uint16).view(dtype)
        value: Array = halves if floats else halves.astype(np.int64)
        return value

    def encode(v: Array) -> Words:
        bits = v.astype(dtype).view(np.uint16) if floats else v.astype(np.int64) & 0xFFFF
        return _one(bits[0].astype(np.uint32) | bits[1].astype(np.uint32) << np.uint32(16))

    def values(rng: np.random.Generator, n: int, share: float) -> Words:
        low, high = (element.values(rng, n, share)[0] & 0xFFFF for _ in range(2))
        return _one(low | high << np.uint32(16))

    return Kind(name, 1, decode, encode, values, floats=floats)


def _raw(rows: int) -> Kind:
    return Kind(
        f"b{32 * rows}", rows, lambda w: w, lambda v: v.astype(np.uint32),
        lambda rng, n, share: rng.integers(0, 2**32, (rows, n), dtype=np.uint64).astype(np.uint32),
    )  # fmt: skip


_F16 = _float16("f16", np.float16, F16_SPECIALS, 16)
_BF16 = _float16("bf16", ml_dtypes.bfloat16, BF16_SPECIALS, 17)
_U16, _I16 = _int16("u16", np.uint16), _int16("i16", np.int16)
_F32 = Kind(
    "f32", 1, lambda w: w[0].view(np.float32), lambda v: v.astype(np.float32).view(np.uint32)[None, :],
    lambda rng, n, share: _one(_pick(rng, F32_SPECIALS, _random_f32(rng, n), share)), floats=(32,),
)  # fmt: skip
_F64 = Kind(
    "f64", 2, lambda w: join64(w).view(np.float64), lambda v: split64(v.astype(np.float64)),
    lambda rng, n, share: split64(_pick(rng, F64_SPECIALS, _random_f64(rng, n), share)), floats=(64,),
)  # fmt: skip
_PK_F32 = Kind(
    "pk_f32", 2, lambda w: w.view(np.float32), lambda v: v.astype(np.float32).view(np.uint32),
    lambda rng, n, share: np.concatenate([_F32.values(rng, n, share) for _ in range(2)]), floats=(32,),
)  # fmt: skip

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in [
        _int32("u32", np.uint32), _int32("i32", np.int32), _int64("u64", np.uint64), _int64("i64", np.int64),
        _U16, _I16, _F16, _BF16, _F32, _F64, _PK_F32,
        _pair16("pk_u16", np.uint16, _U16), _pair16("pk_i16", np.int16, _I16),
        _pair16("pk_f16", np.float16, _F16, (16, 16)), _pair16("pk_bf16", ml_dtypes.bfloat16, _BF16, (17, 17)),
        *(_raw(rows) for rows in (1, 2, 3, 4, 6, 8, 16, 32)),
    ]
}  # fmt: skip
