# SPDX-License-Identifier: Apache-2.0
"""What instructions of PTX that touch registers alone make of their operands, of 32 lanes at once.

Registers hold bits: bool, or unsigned numbers of 16, 32 or 64 bits. For `ptx_machine`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_KINDS = {
    "pred": np.bool_, "b16": np.uint16, "b32": np.uint32, "u32": np.uint32, "s32": np.int32, "b64": np.uint64,
    "u64": np.uint64, "s64": np.int64, "f32": np.float32,
}  # fmt: skip
_BITS = {1: np.bool_, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def seen_as(bits: Array, kind: str) -> Array:
    """Bits as numbers of a kind, "s32"; of wider ones the low part."""
    wanted = np.dtype(_KINDS[kind])
    unsigned = bits.astype(wanted if wanted == np.bool_ else _BITS[wanted.itemsize])
    return unsigned if wanted == np.bool_ else unsigned.view(wanted)


def bits_of(numbers: Array, kind: str) -> Array:
    """The bits of numbers as a register of a kind holds them."""
    exact: Array = np.ascontiguousarray(numbers.astype(_KINDS[kind]))
    return exact if exact.dtype == np.bool_ else exact.view(_BITS[exact.itemsize])


@dataclass(frozen=True)
class Operation:
    """A function of numbers, with the kinds of its operands and of its result."""

    operands: tuple[str, ...]
    result: str
    function: Callable[..., Array]

    def __call__(self, *bits: Array) -> Array:
        with np.errstate(all="ignore"):
            seen = [seen_as(one, kind) for one, kind in zip(bits, self.operands, strict=True)]
            return bits_of(self.function(*seen), self.result)


def bfloat16(numbers: Array) -> Array:
    """The bits of f32 rounded to the nearest bf16, ties to even; u32."""
    bits = np.ascontiguousarray(numbers, np.float32).view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    return np.where(np.isnan(numbers), np.uint32(0x7FFF), rounded).astype(np.uint32)


def float16(numbers: Array) -> Array:
    """The bits of f32 rounded to the nearest fp16, ties to even; u32."""
    return np.asarray(numbers).astype(np.float16).view(np.uint16).astype(np.uint32)


def _of_e4m3(bits: int) -> float:
    exponent, fraction = bits >> 3 & 15, bits & 7
    if bits & 127 == 127:
        return float("nan")
    amount = (fraction / 8) * 2.0**-6 if exponent == 0 else (1 + fraction / 8) * 2.0 ** (exponent - 7)
    return -amount if bits >> 7 else amount


E4M3 = np.array([_of_e4m3(bits) for bits in range(256)], np.float32)


def _shifted_left(a: Array, count: Array) -> Array:
    width = 8 * a.dtype.itemsize
    return np.where(count < width, a << np.minimum(count, width - 1).astype(a.dtype), 0)


def _shifted_right(a: Array, count: Array) -> Array:
    width = 8 * a.dtype.itemsize
    shifted = a >> np.minimum(count, width - 1).astype(a.dtype)
    return shifted if a.dtype.kind == "i" else np.where(count < width, shifted, 0)


def _chosen(a: Array, b: Array, first: Array) -> Array:
    return np.where(first, a, b)


def _field(a: Array, first: Array, length: Array) -> Array:
    return (a >> first) & ((np.uint32(1) << length) - np.uint32(1))


def _signed_field(a: Array, first: Array, length: Array) -> Array:
    """Of fields that lie within the 32 bits."""
    above = (np.uint32(32) - first - length).astype(np.int32)
    return (a << above) >> (above + first.astype(np.int32))


def _table() -> dict[str, Operation]:
    def wide(a: Array, b: Array) -> Array:
        return a.astype(np.int64) * b.astype(np.int64)

    table = {
        "add.rn.f32": Operation(("f32",) * 2, "f32", np.add),
        "bfe.u32": Operation(("u32",) * 3, "u32", _field),
        "bfe.s32": Operation(("s32", "u32", "u32"), "s32", _signed_field),
        "cvt.rn.bf16x2.f32": Operation(
            ("f32",) * 2, "b32", lambda high, low: bfloat16(high) << np.uint32(16) | bfloat16(low)
        ),
        "cvt.rn.f16x2.f32": Operation(
            ("f32",) * 2, "b32", lambda high, low: float16(high) << np.uint32(16) | float16(low)
        ),
        "cvt.f32.f16": Operation(("b16",), "f32", lambda bits: bits.view(np.float16)),
        "cvt.rn.bf16.s32": Operation(("s32",), "b16", bfloat16),
        "cvt.s64.s32": Operation(("s32",), "s64", np.copy),
        "cvt.u32.u64": Operation(("u64",), "u32", np.copy),
        "cvt.u64.u32": Operation(("u32",), "u64", np.copy),
        "div.u32": Operation(("u32",) * 2, "u32", lambda a, b: a // np.maximum(b, 1)),
        "mad.lo.s32": Operation(("s32",) * 3, "s32", lambda a, b, c: np.add(a * b, c)),
        "mul.hi.s32": Operation(("s32",) * 2, "s32", lambda a, b: wide(a, b) >> 32),
        "mul.hi.u32": Operation(("u32",) * 2, "u32", lambda a, b: a.astype(np.uint64) * b >> np.uint64(32)),
        "mul.lo.s32": Operation(("s32",) * 2, "s32", np.multiply),
        "mul.wide.s32": Operation(("s32",) * 2, "s64", wide),
        "mul.wide.u32": Operation(("u32",) * 2, "u64", lambda a, b: a.astype(np.uint64) * b),
        "neg.s32": Operation(("s32",), "s32", np.negative),
        "not.pred": Operation(("pred",), "pred", np.logical_not),
        "selp.b32": Operation(("b32", "b32", "pred"), "b32", _chosen),
    }
    # Addresses of one space seen in another are the same numbers here.
    same = ("cvta.param.u64", "cvta.shared.u64", "cvta.to.shared::cluster.u64", "mov.b16", "mov.b32", "mov.b64")
    for name in (*same, "mov.u32"):
        table[name] = Operation((name.split(".")[-1],), name.split(".")[-1], np.copy)
    function: Callable[..., Array]
    for name, function in (("add", np.add), ("sub", np.subtract), ("min", np.minimum), ("max", np.maximum)):
        for kind in ("s32", "u32", "s64", "u64"):
            table[f"{name}.{kind}"] = Operation((kind,) * 2, kind, function)
    for name, function in (("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor)):
        for kind in ("pred", "b32", "b64"):
            table[f"{name}.{kind}"] = Operation((kind,) * 2, kind, function)
    for kind in ("32", "64"):
        table[f"shl.b{kind}"] = Operation((f"b{kind}", "u32"), f"b{kind}", _shifted_left)
        for signed in "us":
            table[f"shr.{signed}{kind}"] = Operation((f"{signed}{kind}", "u32"), f"{signed}{kind}", _shifted_right)
    compared = (
        ("eq", np.equal), ("ne", np.not_equal), ("lt", np.less), ("le", np.less_equal), ("gt", np.greater),
        ("ge", np.greater_equal),
    )  # fmt: skip
    for name, function in compared:
        for kind in ("s32", "u32", "b32"):
            table[f"setp.{name}.{kind}"] = Operation((kind,) * 2, "pred", function)
    return table


OPERATIONS = _table()
