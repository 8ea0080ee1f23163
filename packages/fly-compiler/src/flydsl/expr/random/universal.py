# SPDX-License-Identifier: Apache-2.0
"""Counter-based random numbers: Philox4x32-10, word for word what Triton gives.

Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011). Key: low and high half of the 64-bit
seed; counter: (offset low, offset high, 0, 0).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..ops.math import cos, log, max, sin, sqrt
from ..values.numeric.base import as_numeric
from ..values.numeric.types import Float32, Int32, Uint32, Uint64

if TYPE_CHECKING:
    from ..values.accepted import IntLike, ScalarLike

__all__ = ["rand", "rand4x", "randint", "randint4x", "randn", "randn4x"]

_KEY_A, _KEY_B = 0x9E3779B9, 0xBB67AE85
_ROUND_A, _ROUND_B = 0xD2511F53, 0xCD9E8D57
_TWO_PI = 6.283185307179586
_SCALE = 4.6566127342e-10  # just below 2^-31, so that the largest word stays below 1


def _words(value: Any) -> tuple[Any, Any]:
    """Return low and high 32 bits of an integer, extended to 64 bits as its type says."""
    scalar = as_numeric(value)
    if scalar.dtype.is_float:
        raise TypeError(f"seed and offset are integers, got {scalar.dtype.__name__}")
    wide = scalar.to(Uint64)
    return wide.to(Uint32), (wide >> 32).to(Uint32)


def _multiply(a: int, b: Any) -> tuple[Any, Any]:
    """Return high and low word of a 32 x 32 bit product."""
    product = b.to(Uint64) * Uint64(a)
    return (product >> Uint64(32)).to(Uint32), product.to(Uint32)


def philox_impl(
    c0: IntLike, c1: IntLike, c2: IntLike, c3: IntLike, k0: IntLike, k1: IntLike, n_rounds: int = 10
) -> tuple[Any, Any, Any, Any]:
    """Return the four `Uint32` that the counter (c0, c1, c2, c3) is enciphered to with the key (k0, k1)."""
    c0, c1, c2, c3 = (as_numeric(word).to(Uint32) for word in (c0, c1, c2, c3))
    k0, k1 = as_numeric(k0).to(Uint32), as_numeric(k1).to(Uint32)
    for _ in range(n_rounds):
        high_b, low_b = _multiply(_ROUND_B, c2)
        high_a, low_a = _multiply(_ROUND_A, c0)
        c0, c1, c2, c3 = high_b ^ c1 ^ k0, low_b, high_a ^ c3 ^ k1, low_a
        k0, k1 = k0 + Uint32(_KEY_A), k1 + Uint32(_KEY_B)
    return c0, c1, c2, c3


def philox(
    seed: IntLike, c0: IntLike, c1: IntLike, c2: IntLike, c3: IntLike, n_rounds: int = 10
) -> tuple[Any, Any, Any, Any]:
    """Return the four `Uint32` of the counter (c0, c1, c2, c3) for a seed, taken as 64 bits."""
    return philox_impl(c0, c1, c2, c3, *_words(seed), n_rounds)


def randint4x(seed: IntLike, offset: IntLike, n_rounds: int = 10) -> tuple[Any, Any, Any, Any]:
    """Return four random `Uint32` for an integer seed and offset.

    The seed is taken as 64 bits; a signed one that is narrower is extended with its sign. The high word of an offset of
    32 bits or less is zero.
    """
    c0, c1 = _words(offset)
    if as_numeric(offset).dtype.width <= 32:
        c1 = Uint32(0)
    return philox(seed, c0, c1, Uint32(0), Uint32(0), n_rounds)


def randint(seed: IntLike, offset: IntLike, n_rounds: int = 10) -> Any:
    """Return one random `Uint32`."""
    return randint4x(seed, offset, n_rounds)[0]


def uint_to_uniform_float(word: Any) -> Any:
    """Return a `Float32` in [0, 1) of 32 random bits."""
    signed = word.to(Int32)
    return (signed < 0).select(-signed - Int32(1), signed).to(Float32) * Float32(_SCALE)


def rand(seed: IntLike, offset: IntLike, n_rounds: int = 10) -> Any:
    """Return one uniform `Float32` in [0, 1)."""
    return uint_to_uniform_float(randint(seed, offset, n_rounds))


def rand4x(seed: IntLike, offset: IntLike, n_rounds: int = 10) -> tuple[Any, Any, Any, Any]:
    """Return four uniform `Float32` in [0, 1)."""
    a, b, c, d = (uint_to_uniform_float(word) for word in randint4x(seed, offset, n_rounds))
    return a, b, c, d


def pair_uniform_to_normal(u1: ScalarLike, u2: ScalarLike) -> tuple[Any, Any]:
    """Return two normal numbers of two uniform ones (Box and Muller)."""
    radius = sqrt(Float32(-2.0) * log(max(u1, Float32(1.0e-7))))
    angle = Float32(_TWO_PI) * u2
    return radius * cos(angle), radius * sin(angle)


def randn(seed: IntLike, offset: IntLike, n_rounds: int = 10) -> Any:
    """Return one normal `Float32` of mean 0 and variance 1."""
    words = randint4x(seed, offset, n_rounds)
    return pair_uniform_to_normal(uint_to_uniform_float(words[0]), uint_to_uniform_float(words[1]))[0]


def randn4x(seed: IntLike, offset: IntLike, n_rounds: int = 10) -> tuple[Any, Any, Any, Any]:
    """Return four normal `Float32` of mean 0 and variance 1."""
    a, b, c, d = rand4x(seed, offset, n_rounds)
    return (*pair_uniform_to_normal(a, b), *pair_uniform_to_normal(c, d))
