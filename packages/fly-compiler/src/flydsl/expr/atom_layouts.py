# SPDX-License-Identifier: Apache-2.0
"""Thread-value layouts of the operations, read from the text of their types.

Copy operations: bits of the data moved, seen as values of `val_bits` each. MMA operations: column-major indices in
(M, K), (N, K) and (M, N). The dialect has the same tables; tests compare the two.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from .layout import typetext as tt

__all__ = ["MmaFacts", "copy_layout", "mma_facts"]


def _head(text: str) -> tuple[str, list[str]]:
    name = text[: text.index("<")].removeprefix("!fly.").removeprefix("!fly_rocdl.")
    return name, tt.split(tt.arguments(text))


@lru_cache(maxsize=512)
def copy_layout(text: str, val_bits: int, which: str) -> str:
    """Return a layout of a copy operation; `which` is `thr`, `src`, `dst` or `ref`.

    Raises:
        ValueError: the operation moves whole tiles and has no such layout.
    """
    name, args = _head(text)
    if name == "cdna4.lds_read_trans":
        return _transpose_layout(args, val_bits, which)
    if which == "thr":
        return "1:1"
    if name == "universal_atomic" or name == "cdna3.buffer_atomic":
        bits = _type_bits(args[1])
    elif args and args[0].isdigit():
        bits = int(args[0])
    else:
        raise ValueError(f"{name} moves a whole tile; it has no thread-value layout")
    return f"(1,{max(1, -(-bits // val_bits))}):(1,1)"


def _type_bits(text: str) -> int:
    if text.startswith("vector<"):
        count, element = tt.arguments(text).split("x", 1)
        return int(count) * _type_bits(element)
    digits = text.removeprefix("bf").lstrip("fi")
    return int("".join(c for i, c in enumerate(digits) if c.isdigit() and digits[: i + 1].isdigit()))


def _transpose_layout(args: list[str], val_bits: int, which: str) -> str:
    granule = int(args[0].removeprefix("trans = ").removesuffix("b"))
    bits = int(args[1])
    if which == "thr":
        return "16:1"
    if which == "src":
        values = bits // val_bits
        return f"(16,{values}):({values},1)"
    inner, outer = granule // val_bits, bits // granule
    return f"(16,({inner},{outer})):({inner},(1,{16 * inner}))"


class MmaFacts(NamedTuple):
    """Shape and layouts (as texts) of an MMA operation."""

    shape: tuple[int, int, int]
    thr: str
    a: str
    b: str
    c: str
    a_type: str
    b_type: str
    c_type: str


@lru_cache(maxsize=512)
def mma_facts(text: str) -> MmaFacts:
    """Return shape, layouts and element types of an MMA operation."""
    name, args = _head(text)
    m, n, k = (int(part) for part in args[0].split("x"))
    operands, c_type = args[1].split("->")
    a_type, b_type = tt.split(operands.strip()[1:-1])
    c_type = c_type.strip()
    thr, a, b, c = _layouts(name, m, n, k, a_type, c_type)
    return MmaFacts((m, n, k), thr, a, b, c, a_type, b_type, c_type)


def _layouts(name: str, m: int, n: int, k: int, a_type: str, c_type: str) -> tuple[str, str, str, str]:
    if name == "universal_fma":
        return "1:1", "(1,1):(1,1)", "(1,1):(1,1)", "(1,1):(1,1)"
    if name in ("cdna3.mfma", "cdna4.mfma_scale"):
        groups = 64 // m
        per_thread = k // groups
        operand = f"(({m},{groups}),{per_thread}):((1,{m * per_thread}),{m})"
        rows = m // (4 * groups)
        return "64:1", operand, operand, f"(({n},{groups}),(4,{rows})):(({m},4),(1,{4 * groups}))"
    if name == "gfx11.wmma":
        operand = "((16,2),16):((1,0),16)"
        return "32:1", operand, operand, "((16,2),8):((16,1),2)"
    if name == "gfx120x.wmma":
        operand = f"((16,2),{k // 2}):((1,{16 * (k // 2)}),16)"
        return "32:1", operand, operand, "((16,2),8):((16,8),1)"
    if name == "gfx1250.wmma":
        operand = "((16,2),2):((1,32),16)" if a_type == "f32" else _gfx1250_operand(k)
        wide = c_type in ("f32", "i32")
        return "32:1", operand, operand, "((16,2),8):((16,8),1)" if wide else "((16,2),(4,2)):((16,8),(2,1))"
    if name == "gfx1250.wmma_scale":
        if m == 32:
            return "32:1", "(32,128):(1,32)", _gfx1250_operand(k), "((16,2),16):((16,16),1)"
        operand = _gfx1250_operand(k)
        return "32:1", operand, operand, "((16,2),8):((16,8),1)"
    raise ValueError(f"unknown MMA operation {name}")


def _gfx1250_operand(k: int) -> str:
    return f"((16,2),(8,{k // 16})):((1,128),(16,256))"
