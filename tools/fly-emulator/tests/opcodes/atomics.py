# SPDX-License-Identifier: Apache-2.0
"""What atomic operations do to a cell, on Python integers and numpy floats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from .case import ARCHITECTURES, LANES, Context
from .exact import maximum, minimum
from .kinds import Words

Operation = Callable[[int, int, int], int]  # old, first operand, second operand


@dataclass(frozen=True)
class Atomic:
    """`compare`: there are two operands. Cells have `bytes` bytes."""

    bytes: int
    operation: Operation
    compare: bool = False
    archs: tuple[str, ...] = ARCHITECTURES
    buffer_archs: tuple[str, ...] = ARCHITECTURES


def signed(v: int, bits: int) -> int:
    return v - (1 << bits) if v >> (bits - 1) else v


_NANS = {
    np.dtype(np.float16): (0x200, 0x7E00), np.dtype(ml_dtypes.bfloat16): (0x40, 0x7FC0),
    np.dtype(np.float32): (1 << 22, 0x7FC00000), np.dtype(np.float64): (1 << 51, 0x7FF8000000000000),
}  # fmt: skip


def floats(function: Callable[..., Any], dtype: Any, count: int = 1) -> Operation:
    """On the floats that a cell holds, element by element."""
    size = np.dtype(dtype).itemsize

    def run(old: int, data: int, _: int) -> int:
        a, b = (np.frombuffer(v.to_bytes(size * count, "little"), dtype) for v in (old, data))
        with np.errstate(all="ignore"):
            out = function(a.copy(), b.copy()).astype(dtype)
        word: Any = {2: np.uint16, 4: np.uint32, 8: np.uint64}[size]
        quiet, default = _NANS[np.dtype(dtype)]
        nan_a, nan_b = (np.isnan(v.astype(np.float64)) for v in (a, b))
        # The first NaN operand, quieted, or the positive default NaN.
        nan = np.where(nan_a, a.view(word), np.where(nan_b, b.view(word), word(default))) | word(quiet)
        bits = np.where(np.isnan(out.astype(np.float64)), nan, out.view(word)).astype(word)
        return int.from_bytes(bits.tobytes(), "little")

    return run


def compare_floats(dtype: Any) -> Operation:
    size = np.dtype(dtype).itemsize

    def run(old: int, compare: int, value: int) -> int:
        a, b = (np.frombuffer(v.to_bytes(size, "little"), dtype)[0] for v in (old, compare))
        return value if a == b else old

    return run


def add(a: Any, b: Any) -> Any:
    return a + b


def number_minimum(a: Any, b: Any) -> Any:
    return minimum(a, b, False)


def number_maximum(a: Any, b: Any) -> Any:
    return maximum(a, b, False)


def integer(bits: int) -> dict[str, Operation]:
    """Unsigned results are cut to the cell."""
    return {
        "add": lambda o, d, _: o + d,
        "sub": lambda o, d, _: o - d,
        "rsub": lambda o, d, _: d - o,
        "smin": lambda o, d, _: min(o, d, key=lambda v: signed(v, bits)),
        "smax": lambda o, d, _: max(o, d, key=lambda v: signed(v, bits)),
        "umin": lambda o, d, _: min(o, d),
        "umax": lambda o, d, _: max(o, d),
        "and": lambda o, d, _: o & d,
        "or": lambda o, d, _: o | d,
        "xor": lambda o, d, _: o ^ d,
        "inc": lambda o, d, _: 0 if o >= d else o + 1,
        "dec": lambda o, d, _: d if o == 0 or o > d else o - 1,
        "swap": lambda o, d, _: d,
    }


GFX950 = ("gfx950",)
MEMORY_ATOMICS: dict[str, Atomic] = {
    **{name: Atomic(4, f) for name, f in integer(32).items() if name != "rsub"},
    **{f"{name}_x2": Atomic(8, f) for name, f in integer(64).items() if name != "rsub"},
    "cmpswap": Atomic(4, lambda o, new, old: new if o == old else o, True),
    "cmpswap_x2": Atomic(8, lambda o, new, old: new if o == old else o, True),
    "add_f32": Atomic(4, floats(add, np.float32)),
    "add_f64": Atomic(8, floats(add, np.float64)),
    "min_f64": Atomic(8, floats(number_minimum, np.float64)),
    "max_f64": Atomic(8, floats(number_maximum, np.float64)),
    "pk_add_f16": Atomic(4, floats(add, np.float16, 2)),
    "pk_add_bf16": Atomic(4, floats(add, ml_dtypes.bfloat16, 2), buffer_archs=GFX950),
}


def apply_lanes(context: Context, where: list[int], operands: Words, atomic: Atomic) -> Words:
    """Update the cells lane by lane; the old values as register rows."""
    rows = operands.reshape(-1, operands.shape[-1])
    count = atomic.bytes // 4
    out = np.zeros((count, rows.shape[1]), np.uint32)
    for lane in np.flatnonzero(context.exec):
        memory = context.memory[lane // LANES]
        place = where[lane]
        old = memory[place : place + atomic.bytes].tobytes()
        data = int.from_bytes(rows[:count, lane].tobytes(), "little")
        other = int.from_bytes(rows[count : 2 * count, lane].tobytes(), "little") if len(rows) >= 2 * count else 0
        value = atomic.operation(int.from_bytes(old, "little"), data, other) & ((1 << 8 * atomic.bytes) - 1)
        memory[place : place + atomic.bytes] = np.frombuffer(value.to_bytes(atomic.bytes, "little"), np.uint8)
        out[:, lane] = np.frombuffer(old, np.uint32)
    return out
