# SPDX-License-Identifier: Apache-2.0
"""Atoms and tilings as `flydsl.layout` describes them, read from the texts of their types.

The thread-value layouts are static facts; they are computed there, in one place, and not by operations of the trace.
"""

from __future__ import annotations

from functools import lru_cache

from flydsl.layout import Layout, parse, parse_tile
from flydsl.layout.atoms import matrix_instructions
from flydsl.layout.atoms.copy_atom import CopyAtom, lds_read_transpose
from flydsl.layout.atoms.copy_atom import copy_atom as plain_copy_atom
from flydsl.layout.atoms.mma_atom import MmaAtom, mfma, mfma_scale, universal_fma, wmma, wmma_scale
from flydsl.layout.atoms.tiled_copy import TiledCopy, make_tiled_copy
from flydsl.layout.atoms.tiled_mma import TiledMma, make_tiled_mma

from ..values.layout import typetext as tt

__all__ = ["copy_atom", "mma_atom", "mma_tv_layout", "tiled_copy", "tiled_mma"]


def _head(text: str) -> tuple[str, list[str]]:
    name = text[: text.index("<")].removeprefix("!fly.").removeprefix("!fly_rocdl.")
    return name, tt.split(tt.arguments(text))


@lru_cache(maxsize=256)
def copy_atom(text: str) -> CopyAtom:
    """Return the atom of `!fly.copy_atom<OPERATION, bits>`.

    Raises:
        ValueError: the operation moves whole tiles and has no thread-value layout.
    """
    operation, bits = tt.split(tt.arguments(text))
    name, args = _head(operation)
    val_bits = int(bits)
    if name == "cdna4.lds_read_trans":
        granularity = int(args[0].removeprefix("trans = ").removesuffix("b"))
        return lds_read_transpose(granularity, int(args[1]), val_bits)
    if name in ("universal_atomic", "cdna3.buffer_atomic"):
        return plain_copy_atom(name, _type_bits(args[1]), val_bits)
    if not args[0].isdigit():
        raise ValueError(f"{name} moves a whole tile; it has no thread-value layout")
    return plain_copy_atom(name, int(args[0]), val_bits)


def _type_bits(text: str) -> int:
    if text.startswith("vector<"):
        count, element = tt.arguments(text).split("x", 1)
        return int(count) * _type_bits(element)
    return tt.element_bits(text)


@lru_cache(maxsize=256)
def mma_atom(text: str) -> MmaAtom:
    """Return the atom of `!fly.mma_atom<OPERATION>`."""
    name, args = _head(tt.split(tt.arguments(text))[0])
    m, n, k = (int(part) for part in args[0].split("x"))
    operands, c = args[1].split("->")
    a, b = tt.split(operands.strip()[1:-1])
    c = c.strip()
    if name == "universal_fma":
        return universal_fma(a)
    if name == "cdna3.mfma" and len(args) == 2 and a not in ("f64", "tf32"):
        return mfma(m, n, k, a, b, c)
    if name in ("cdna3.mfma", "cdna3.smfmac"):
        blocks = next((int(key.removeprefix("blocks = ")) for key in args[2:] if key.startswith("blocks")), 1)
        return _by_instruction(text, (m, n, k), blocks, name == "cdna3.smfmac", (a, b, c))
    if name == "cdna4.mfma_scale":
        return mfma_scale(m, n, k, a, b)
    if name == "gfx1250.wmma_scale":
        return wmma_scale(m, n, k, a, b)
    if name.endswith(".wmma"):
        return wmma(name.removesuffix(".wmma"), m, n, k, a, b, c)
    raise ValueError(f"unknown MMA operation {name}")


_TABLE_TYPES = {
    "tf32": "xf32", "f8E4M3FN": "fp8", "f8E4M3FNUZ": "fp8", "f8E5M2": "bf8", "f8E5M2FNUZ": "bf8",
}  # fmt: skip


def _by_instruction(
    text: str, shape: tuple[int, int, int], blocks: int, sparse: bool, types: tuple[str, str, str]
) -> MmaAtom:
    """Return the atom of what has no closed form: the layouts are those of its instruction."""
    wanted = (shape, blocks, sparse, tuple(_TABLE_TYPES.get(t, t) for t in types))
    for instruction in (*matrix_instructions("gfx942"), *matrix_instructions("gfx950")):
        i = instruction
        if (i.shape_mnk, i.blocks, i.sparse, i.elem_types[:3]) == wanted and i.source != "contract":
            tv = (i.layout_A_tv, i.layout_B_tv, i.layout_C_tv)
            return MmaAtom(text, shape, Layout(i.wave, 1), *tv, types)
    raise ValueError(f"no instruction is {text}")


def _layout(text: str) -> Layout:
    found: Layout = parse(tt.arguments(text))
    return found


@lru_cache(maxsize=256)
def tiled_copy(text: str) -> TiledCopy:
    """Return the tiling of `!fly.tiled_copy<ATOM, LAYOUT, TILE>`."""
    atom, layout, tile = tt.split(tt.arguments(text))
    return make_tiled_copy(copy_atom(atom), _layout(layout), parse_tile(tt.arguments(tile)))


@lru_cache(maxsize=256)
def tiled_mma(text: str) -> TiledMma:
    """Return the tiling of `!fly.tiled_mma<ATOM, LAYOUT[, PERMUTATION]>`."""
    atom, layout, *permutation = tt.split(tt.arguments(text))
    modes = parse_tile(tt.arguments(permutation[0])) if permutation else None
    return make_tiled_mma(mma_atom(atom), _layout(layout), modes)


@lru_cache(maxsize=256)
def mma_tv_layout(text: str, operand: str) -> Layout:
    """Return the (thread, value) layout of an operand's tile for `!fly.tiled_mma<...>`."""
    layout: Layout = tiled_mma(text).tv_layout(operand)
    return layout
