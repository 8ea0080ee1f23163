# SPDX-License-Identifier: Apache-2.0
"""The numeric types of the language, one class each."""

from __future__ import annotations

from .base import Numeric

__all__ = [
    "BFloat16",
    "Boolean",
    "Float",
    "Float4E2M1FN",
    "Float6E2M3FN",
    "Float6E3M2FN",
    "Float8E4M3",
    "Float8E4M3B11FNUZ",
    "Float8E4M3FN",
    "Float8E4M3FNUZ",
    "Float8E5M2",
    "Float8E5M2FNUZ",
    "Float8E8M0FNU",
    "Float16",
    "Float32",
    "Float64",
    "Index",
    "Int4",
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "Int128",
    "Integer",
    "Uint8",
    "Uint16",
    "Uint32",
    "Uint64",
    "Uint128",
]


class Integer(Numeric):
    """Base of the integer types, `Boolean` and `Index` included."""

    __slots__ = ()
    is_integer = True
    is_float = False
    zero = 0


class Float(Numeric):
    """Base of the floating-point types."""

    __slots__ = ()
    is_integer = False
    is_float = True
    zero = 0.0


class Boolean(Integer, width=1, mnemonic="i1", signed=True):
    """One bit; what comparisons give. `True` is 1."""

    __slots__ = ()
    zero = False


class Int4(Integer, width=4, mnemonic="i4", signed=True):
    """Signed 4-bit integer; stored only packed, in vectors."""

    __slots__ = ()


class Int8(Integer, width=8, mnemonic="i8", signed=True):
    """Signed 8-bit integer."""

    __slots__ = ()


class Int16(Integer, width=16, mnemonic="i16", signed=True):
    """Signed 16-bit integer."""

    __slots__ = ()


class Int32(Integer, width=32, mnemonic="i32", signed=True):
    """Signed 32-bit integer; what a Python int becomes."""

    __slots__ = ()


class Int64(Integer, width=64, mnemonic="i64", signed=True):
    """Signed 64-bit integer."""

    __slots__ = ()


class Int128(Integer, width=128, mnemonic="i128", signed=True):
    """Signed 128-bit integer."""

    __slots__ = ()


class Uint8(Integer, width=8, mnemonic="i8", signed=False, canonical=False):
    """Unsigned 8-bit integer."""

    __slots__ = ()


class Uint16(Integer, width=16, mnemonic="i16", signed=False, canonical=False):
    """Unsigned 16-bit integer."""

    __slots__ = ()


class Uint32(Integer, width=32, mnemonic="i32", signed=False, canonical=False):
    """Unsigned 32-bit integer."""

    __slots__ = ()


class Uint64(Integer, width=64, mnemonic="i64", signed=False, canonical=False):
    """Unsigned 64-bit integer."""

    __slots__ = ()


class Uint128(Integer, width=128, mnemonic="i128", signed=False, canonical=False):
    """Unsigned 128-bit integer."""

    __slots__ = ()


class Index(Integer, width=64, mnemonic="index", signed=False):
    """MLIR's index type, with the meaning of an unsigned 64-bit integer."""

    __slots__ = ()


class Float64(Float, width=64, mnemonic="f64"):
    """IEEE double precision."""

    __slots__ = ()


class Float32(Float, width=32, mnemonic="f32"):
    """IEEE single precision; what a Python float becomes."""

    __slots__ = ()


class Float16(Float, width=16, mnemonic="f16"):
    """IEEE half precision."""

    __slots__ = ()


class BFloat16(Float, width=16, mnemonic="bf16"):
    """bfloat16: the upper half of a `Float32`."""

    __slots__ = ()


class Float8E5M2(Float, width=8, mnemonic="f8E5M2"):
    """OCP fp8 with 5 exponent bits (bf8)."""

    __slots__ = ()


class Float8E5M2FNUZ(Float, width=8, mnemonic="f8E5M2FNUZ"):
    """bf8 without infinities and negative zero, as gfx942 has it."""

    __slots__ = ()


class Float8E4M3FN(Float, width=8, mnemonic="f8E4M3FN"):
    """OCP fp8 with 4 exponent bits, no infinities; gfx950 and later."""

    __slots__ = ()


class Float8E4M3FNUZ(Float, width=8, mnemonic="f8E4M3FNUZ"):
    """fp8 with 4 exponent bits, no infinities and no negative zero, as gfx942 has it."""

    __slots__ = ()


class Float8E4M3B11FNUZ(Float, width=8, mnemonic="f8E4M3B11FNUZ"):
    """fp8 with 4 exponent bits and bias 11."""

    __slots__ = ()


class Float8E4M3(Float, width=8, mnemonic="f8E4M3"):
    """fp8 with 4 exponent bits in IEEE style."""

    __slots__ = ()


class Float8E8M0FNU(Float, width=8, mnemonic="f8E8M0FNU"):
    """A power of two: the scale of a block of narrow floats."""

    __slots__ = ()


class Float6E2M3FN(Float, width=6, mnemonic="f6E2M3FN"):
    """fp6 with 2 exponent bits."""

    __slots__ = ()


class Float6E3M2FN(Float, width=6, mnemonic="f6E3M2FN"):
    """fp6 with 3 exponent bits."""

    __slots__ = ()


class Float4E2M1FN(Float, width=4, mnemonic="f4E2M1FN"):
    """fp4 with 2 exponent bits."""

    __slots__ = ()
