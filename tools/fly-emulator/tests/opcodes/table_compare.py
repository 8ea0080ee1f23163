# SPDX-License-Identifier: Apache-2.0
"""Comparisons and class tests: v_cmp to a mask, v_cmpx to a mask and EXEC."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .case import Case, Context, case
from .exact import signalling
from .kinds import Array
from .table_integer import mask_of

INTEGER: dict[str, Callable[[Array, Array], Array]] = {
    "f": lambda a, b: np.zeros(len(a), bool),
    "lt": lambda a, b: a < b,
    "eq": lambda a, b: a == b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ne": lambda a, b: a != b,
    "ge": lambda a, b: a >= b,
    "t": lambda a, b: np.ones(len(a), bool),
}
ORDERED: dict[str, Callable[[Array, Array], Array]] = {
    "f": lambda a, b: np.zeros(len(a), bool),
    "lt": lambda a, b: a < b,
    "eq": lambda a, b: a == b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "lg": lambda a, b: (a < b) | (a > b),
    "ge": lambda a, b: a >= b,
    "o": lambda a, b: ~(np.isnan(a) | np.isnan(b)),
}
# Each has an opposite, which is true where a NaN is among the operands.
OPPOSITES = {"u": "o", "nge": "ge", "nlg": "lg", "ngt": "gt", "nle": "le", "neq": "eq", "nlt": "lt", "tru": "f"}
FLOAT = ORDERED | {name: (lambda a, b, f=ORDERED[of]: ~f(a, b)) for name, of in OPPOSITES.items()}


def class_bits(a: Array) -> Array:
    """The bit of the class mask that each number has."""
    info = np.finfo(a.dtype)
    negative, nan = np.signbit(a), np.isnan(a)
    zero, infinite = a == 0, np.isinf(a)
    denormal = (np.abs(a) < info.tiny) & ~zero
    order = np.select([infinite, denormal, zero], [0, 2, 3], 1)  # from infinity inwards
    bit = np.where(negative, 2 + order, 9 - order)
    return np.where(nan, np.where(signalling(a), 0, 1), bit)


def is_class(a: Array, mask: Array) -> Array:
    return (mask.astype(np.int64) >> class_bits(a) & 1).astype(bool)


def _cases(name: str, kinds: str, condition: Callable[..., Array]) -> list[Case]:
    """Both forms, and both encodings."""

    def result(context: Context, *values: Any) -> Array:
        return mask_of(condition(*values), context)

    def twice(context: Context, *values: Any) -> tuple[Array, Array]:
        mask = result(context, *values)
        return mask, mask

    return [
        case(f"v_cmp_{name}", kinds, "s:u64", result, context=True),
        case(f"v_cmp_{name}", kinds, "s:u64", result, "{op}_e32 vcc, {a}, {b}\ns_mov_b64 {d}, vcc", context=True,
             label="e32"),
        case(f"v_cmpx_{name}", kinds, "s:u64 s:u64", twice, "{op} {d}, {a}, {b}\ns_mov_b64 {e}, exec", context=True),
    ]  # fmt: skip


def cases() -> list[Case]:
    out: list[Case] = []
    for kind in ("i16", "u16", "i32", "u32", "i64", "u64"):
        for name, condition in INTEGER.items():
            out += _cases(f"{name}_{kind}", f"{kind} {kind}", condition)
    for kind in ("f16", "f32", "f64"):
        for name, condition in FLOAT.items():
            out += _cases(f"{name}_{kind}", f"{kind} {kind}", condition)
        out += _cases(f"class_{kind}", f"{kind} u32<1024", is_class)
    return out
