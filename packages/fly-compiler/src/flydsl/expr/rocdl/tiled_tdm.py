# SPDX-License-Identifier: Apache-2.0
"""Tensor data mover atoms that are built from a tensor, the layout of its tiles in LDS, and a tile (gfx1250)."""

from __future__ import annotations

import math
from typing import Any

from flydsl._mlir import ir
from flydsl._mlir._mlir_libs import _flyROCDLDialect as fly_rocdl
from flydsl.trace.build import infer_op, int_attribute

from ..ops.atom import CopyAtom
from ..values.layout import trees
from ..values.layout.algebra import coalesce, logical_divide
from ..values.layout.algebra import composition as compose
from ..values.layout.construct import as_tile, make_layout, make_tile
from ..values.layout.coordinates import crd2idx
from ..values.layout.host import from_host
from ..values.layout.modes import group
from ..values.layout.modes import slice as take_slice
from ..values.layout.objects import IntTuple, Layout
from ..values.tensor import Tensor
from .availability import check_instruction

__all__ = ["TensorLoad", "TensorStore", "make_tiled_tdm_atom", "tdm_partition"]


class TensorLoad:
    """The load of a tile from global memory to LDS; `cache_modifier` is the cache policy."""

    __slots__ = ("cache_modifier",)
    operation = "fly_rocdl.make_tiled_tdm_load_atom"

    def __init__(self, cache_modifier: int = 0) -> None:
        self.cache_modifier = int(cache_modifier)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.cache_modifier})"


class TensorStore(TensorLoad):
    """The store of a tile from LDS to global memory."""

    __slots__ = ()
    operation = "fly_rocdl.make_tiled_tdm_store_atom"


def make_tiled_tdm_atom(
    op: TensorLoad,
    tensor: Tensor,
    smem_layout: Any,
    tdm_tile: Any,
    num_warps: int = 1,
    *,
    init_boundary_check: bool = True,
    atomic_barrier: bool = False,
    internal_type: Any = None,
) -> tuple[CopyAtom, Tensor]:
    """Return the atom that moves tiles of a tensor, and the tensor of its coordinates.

    The atom moves the largest box that global memory and LDS share; the coordinates stand for the tensor in `fx.copy`.

    Args:
        op: `TensorLoad()` or `TensorStore()`.
        tensor: the tensor in global memory.
        smem_layout: the static layout of one tile in LDS; paddings of one kind become those of the descriptor.
        tdm_tile: the tile, as a tuple or `Tile`.
        num_warps: the waves that share a tile.
        init_boundary_check: whether accesses are clamped to the tensor at first; `set_value("boundary_check", ...)`
            changes it mode by mode.
        atomic_barrier: signal an LDS barrier when done; its address is the state field `atomic_barrier_addr`.
        internal_type: reserved; `None`.

    Raises:
        TypeError: an operand of another kind.
        ValueError: tile, layout and tensor do not go together (the message says why), or another target.
    """
    if not isinstance(op, TensorLoad):
        raise TypeError(f"make_tiled_tdm_atom takes TensorLoad() or TensorStore(), not {op!r}")
    check_instruction("rocdl.tensor.load.to.lds", f"{op!r}")
    if internal_type is not None:
        raise ValueError("internal_type is reserved; leave it out")
    if not isinstance(tensor, Tensor) or tensor.is_coordinate:
        raise TypeError("make_tiled_tdm_atom takes a tensor in global memory")
    layout = from_host(smem_layout)
    if not isinstance(layout, Layout):
        raise TypeError(f"make_tiled_tdm_atom takes the layout of a tile in LDS, not {type(layout).__name__}")
    attributes = {
        "numWarps": int_attribute(num_warps),
        "initBoundaryCheck": ir.BoolAttr.get(bool(init_boundary_check)),
        "cacheModifier": int_attribute(op.cache_modifier),
        "atomicBarrier": ir.BoolAttr.get(bool(atomic_barrier)),
    }
    made = infer_op(op.operation, (tensor.value, layout.value, as_tile(tdm_tile).value), attributes)
    return CopyAtom(made.results[0]), Tensor(made.results[1])


def _box(atom: CopyAtom) -> tuple[list[int], list[int]]:
    """Return the extents of the atom's box, outermost first, and the dimension of each leaf of the tile."""
    operation = getattr(atom.type, "copy_op", None)
    if not isinstance(operation, (fly_rocdl.CDNA5TensorLoadType, fly_rocdl.CDNA5TensorStoreType)):
        raise TypeError(f"tdm_partition takes an atom of make_tiled_tdm_atom, not {atom}")
    dimensions = [leaf for leaf in trees.leaves_of(operation.tensor_to_tdm) if isinstance(leaf, trees.BasisLeaf)]
    return list(operation.shape), [leaf.modes[0] for leaf in dimensions]


def _tile_layout(atom: CopyAtom, tile: Any, warps: int) -> Layout:
    """Return (value, wave, rest) to the column-major index in the tile."""
    extents = list(trees.leaves_of(tile))
    box, dims = _box(atom)
    if len(dims) != len(extents):
        raise ValueError(f"tdm_partition: the tile {trees.spelled(tile)} has not the modes of {atom}")
    strides = [math.prod(extents[:at]) for at in range(len(extents))]
    inside = sorted(zip(dims, strides, strict=True), reverse=True)  # the innermost dimension varies fastest
    value = make_layout(tuple(box[dim] for dim, _ in inside), tuple(stride for _, stride in inside))
    counts = tuple(extent // box[dim] for extent, dim in zip(extents, dims, strict=True))
    steps = tuple(stride * box[dim] for stride, dim in zip(strides, dims, strict=True))
    if math.prod(counts) % warps:
        raise ValueError(f"tdm_partition: {math.prod(counts)} boxes do not divide among {warps} waves")
    split = logical_divide(make_layout(counts, steps), make_layout(warps, 1))
    shapes = (value.shape, split[0].shape, split[1].shape)
    parts = (value.stride, split[0].stride, split[1].stride)
    return make_layout(tuple(one.to_py_value() for one in shapes), tuple(one.to_py_value() for one in parts))


def _partition(tensor: Tensor, layout: Layout, wave: IntTuple) -> Tensor:
    rest = [None] * (tensor.rank - 1)
    composed = compose(tensor, make_tile(layout, *rest))
    mine = take_slice(composed, ((None, wave, None), *rest))
    grouped = group(mine, 0, 2)
    result: Tensor = coalesce(grouped, ((1, 1),))  # what follows the values stays as it is
    return result


def tdm_partition(
    atom: CopyAtom, warp_coord: Any, warp_layout: Any, stensor: Tensor, gtensor: Tensor
) -> tuple[Tensor, Tensor]:
    """Return this wave's part of the tile in LDS and of the coordinates: `((values, rest), ...)` each.

    Args:
        atom: an atom of `make_tiled_tdm_atom`.
        warp_coord: the coordinate of the wave in `warp_layout`; the same in all its lanes.
        warp_layout: the waves that share a tile, as it was made for.
        stensor: `(tile, rest...)` in LDS.
        gtensor: `(tile, rest...)` of the coordinate tensor.

    Raises:
        TypeError: no tensors, or an atom of another kind.
        ValueError: the boxes of a tile do not divide among the waves.
    """
    for name, tensor in (("stensor", stensor), ("gtensor", gtensor)):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"tdm_partition: {name} is a tensor, not {type(tensor).__name__}")
    warps = from_host(warp_layout)
    if not isinstance(warps, Layout) or not warps.is_static:
        raise ValueError(f"tdm_partition takes a static layout of waves, got {warps}")
    count = trees.product_of(warps.parsed.shape)
    tile = stensor.shape_tree[0] if isinstance(stensor.shape_tree, tuple) else stensor.shape_tree
    layout = _tile_layout(atom, tile, count)
    wave = crd2idx(warp_coord, warps)
    return _partition(stensor, layout, wave), _partition(gtensor, layout, wave)
