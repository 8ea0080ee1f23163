# SPDX-License-Identifier: Apache-2.0
"""Copies: tiled copies, their per-thread slices, and `fx.copy`."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from flydsl._mlir.facts import CopyAtomFacts, MemRefFacts, TiledCopyFacts
from flydsl.trace.build import build_op, infer
from flydsl.trace.wrap import register_wrapper

from ..values.layout import trees
from ..values.layout.algebra import composition, raked_product, right_inverse
from ..values.layout.construct import as_int_tuple, as_tile, make_layout, static
from ..values.layout.host import from_host
from ..values.layout.int_tuples import int_tuple_product_each
from ..values.layout.objects import IntTuple, Layout, Tile
from ..values.layout.overhang import warn_of_overhang
from ..values.layout.sizes import size
from ..values.tensor import Tensor, make_view, typed
from .atom import CopyAtom, _Atom, check_target, of_tiling, static_layout
from .neighbours import check_neighbours, warn_of_ignored_swizzle
from .tiling_threads import check_threads

if TYPE_CHECKING:
    from ..values.accepted import IntLike
    from .mma import TiledMma

__all__ = [
    "ThrCopy",
    "TiledCopy",
    "copy",
    "copy_atom_call",
    "gather",
    "make_layout_tv",
    "make_tiled_copy",
    "make_tiled_copy_A",
    "make_tiled_copy_B",
    "make_tiled_copy_C",
    "make_tiled_copy_tv",
    "scatter",
    "tiled_copy_partition_dst",
    "tiled_copy_partition_src",
    "tiled_copy_retile",
]


class TiledCopy(_Atom):
    """A copy atom repeated over threads and values to cover a tile."""

    __slots__ = ()
    _kinds = (TiledCopyFacts,)

    @property
    def described(self) -> Any:
        """The tiling as `flydsl.layout` describes it."""
        from .host_atoms import tiled_copy

        return tiled_copy(self._facts)

    @property
    def atom(self) -> CopyAtom:
        """The copy atom."""
        return CopyAtom(infer("fly.get_copy_atom", (self.value,)))

    @property
    def tile_mn(self) -> Tile:
        """The tile."""
        kind: Any = self.type
        tile: Tile = static(kind.tile)
        return tile

    @property
    def layout_tv_tiled(self) -> Layout:
        """(thread, value) to the column-major index in the tile."""
        return static_layout(self.described.layout_tv_tiled)

    @property
    def layout_src_tv_tiled(self) -> Layout:
        """(thread, value) of the source side to the index in the tile."""
        return static_layout(self.described.layout_src_tv_tiled)

    @property
    def layout_dst_tv_tiled(self) -> Layout:
        """(thread, value) of the destination side to the index in the tile."""
        return static_layout(self.described.layout_dst_tv_tiled)

    def _threads(self) -> int:
        return trees.product_of(self._facts.layout_tv.shape[0])

    def get_slice(self, thr_idx: IntLike) -> ThrCopy:
        """Return the part of one thread."""
        return ThrCopy(self, thr_idx)

    thr_slice = get_slice


class ThrCopy:
    """One thread's part of a tiled copy."""

    __slots__ = ("_coord", "thr_idx", "tiled_copy")

    def __init__(self, tiled_copy: TiledCopy, thr_idx: Any) -> None:
        check_threads(tiled_copy, thr_idx)
        self.tiled_copy = tiled_copy
        self.thr_idx = thr_idx
        self._coord = as_int_tuple(thr_idx)

    def _partition(self, op: str, tensor: Tensor) -> Tensor:
        if not isinstance(tensor, Tensor):
            raise TypeError(f"a tiled copy partitions a tensor, not {type(tensor).__name__}")
        part: Tensor = typed(infer(op, (self.tiled_copy.value, tensor.value, self._coord.value)), tensor)
        return part

    def partition_S(self, tensor: Tensor) -> Tensor:
        """Return this thread's view of a source: `((AtomValues, TileValues…), Rest_M, Rest_N, …)`."""
        return self._partition("fly.tiled_copy.partition_src", tensor)

    def partition_D(self, tensor: Tensor) -> Tensor:
        """Return this thread's view of a destination, of the same form."""
        return self._partition("fly.tiled_copy.partition_dst", tensor)

    def retile(self, tensor: Tensor) -> Tensor:
        """Return a register fragment (of an MMA, for example) in the value structure of this copy."""
        return tiled_copy_retile(self.tiled_copy, tensor)

    tile_mn = of_tiling("tiled_copy", TiledCopy, "tile_mn")
    layout_tv_tiled = of_tiling("tiled_copy", TiledCopy, "layout_tv_tiled")
    layout_src_tv_tiled = of_tiling("tiled_copy", TiledCopy, "layout_src_tv_tiled")
    layout_dst_tv_tiled = of_tiling("tiled_copy", TiledCopy, "layout_dst_tv_tiled")

    def get_slice(self, thr_idx: IntLike) -> ThrCopy:
        """Return the part of another thread."""
        return ThrCopy(self.tiled_copy, thr_idx)

    thr_slice = get_slice

    def set_value(self, field: Any, value: Any = None) -> ThrCopy:
        """Return this slice of the tiled copy with a state field of its atom set, as `TiledCopy.set_value`."""
        return ThrCopy(self.tiled_copy.set_value(field, value), self.thr_idx)

    def __extract_to_ir_values__(self) -> list[Any]:
        return [self.tiled_copy.value, self._coord.value]

    @classmethod
    def __construct_from_ir_values__(cls, values: Any, exemplar: Any = None) -> ThrCopy:
        return cls(TiledCopy(values[0]), IntTuple(values[1]))


register_wrapper(TiledCopyFacts, TiledCopy)


def tiled_copy_partition_src(tiled_copy: TiledCopy, src: Any, thr_idx: IntLike) -> Tensor:
    """Return one thread's view of a source: `tiled_copy.get_slice(thr_idx).partition_S(src)`."""
    return ThrCopy(tiled_copy, thr_idx).partition_S(src)


def tiled_copy_partition_dst(tiled_copy: TiledCopy, dst: Any, thr_idx: IntLike) -> Tensor:
    """Return one thread's view of a destination: `tiled_copy.get_slice(thr_idx).partition_D(dst)`."""
    return ThrCopy(tiled_copy, thr_idx).partition_D(dst)


def tiled_copy_retile(tiled_copy: TiledCopy, tensor: Tensor) -> Tensor:
    """Return a register fragment in the value structure of a tiled copy."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"retile takes a register tensor, not {type(tensor).__name__}")
    tiled: Tensor = typed(infer("fly.tiled_copy.retile", (tiled_copy.value, tensor.value)), tensor)
    return tiled


def make_layout_tv(thr_layout: Layout, val_layout: Layout) -> tuple[Any, Layout]:
    """Return the tile that threads and values cover together, and the (thread, value) layout over it.

    The TV layout is composition(right_inverse(raked_product(thr, val)), (|thr|, |val|) column-major).

    Raises:
        ValueError: a layout is not static.
    """
    thr_layout, val_layout = from_host(thr_layout), from_host(val_layout)
    for name, layout in (("thread", thr_layout), ("value", val_layout)):
        if not isinstance(layout, Layout) or not layout.is_static:
            raise ValueError(f"make_layout_tv needs a static {name} layout, got {layout}")
    joint = raked_product(thr_layout, val_layout)
    threads, values = size(thr_layout).get_static_leaf_int, size(val_layout).get_static_leaf_int
    layout_tv = composition(right_inverse(joint), make_layout((threads, values), (1, threads)))
    tiler = int_tuple_product_each(joint.shape).to_py_value()
    return tiler if isinstance(tiler, tuple) else (tiler,), layout_tv


def make_tiled_copy(atom: CopyAtom, layout_tv: Layout, tile: Any) -> TiledCopy:
    """Return the tiled copy of an atom, a (thread, value) layout and a tile (tuple or `Tile`)."""
    if not isinstance(atom, CopyAtom):
        raise TypeError(f"make_tiled_copy takes a copy atom, not {type(atom).__name__}")
    layout_tv = from_host(layout_tv)
    if not isinstance(layout_tv, Layout):
        raise TypeError(f"make_tiled_copy takes a (thread, value) layout, not {type(layout_tv).__name__}")
    if isinstance(tile, IntTuple):
        tile = tile.to_py_value()
    if isinstance(tile, int):
        tile = (tile,)
    return TiledCopy(infer("fly.make_tiled_copy", (atom.value, layout_tv.value, as_tile(tile).value)))


def make_tiled_copy_tv(atom: CopyAtom, thr_layout: Layout, val_layout: Layout) -> TiledCopy:
    """Return the tiled copy in which threads and values are arranged by these layouts."""
    tiler, layout_tv = make_layout_tv(thr_layout, val_layout)
    return make_tiled_copy(atom, layout_tv, tiler)


def _of_mma(atom: CopyAtom, tiled_mma: Any, operand: str, axes: tuple[int, int]) -> TiledCopy:
    extents = tiled_mma.type.tile_size_mnk
    layout = getattr(tiled_mma, f"tv_layout_{operand}_tiled")
    return make_tiled_copy(atom, layout, tuple(extents[axis] for axis in axes))


def make_tiled_copy_A(atom: CopyAtom, tiled_mma: TiledMma) -> TiledCopy:
    """Return the copy that brings A to the threads as `tiled_mma` needs it; tile (M, K)."""
    return _of_mma(atom, tiled_mma, "A", (0, 2))


def make_tiled_copy_B(atom: CopyAtom, tiled_mma: TiledMma) -> TiledCopy:
    """Return the copy that brings B to the threads as `tiled_mma` needs it; tile (N, K)."""
    return _of_mma(atom, tiled_mma, "B", (1, 2))


def make_tiled_copy_C(atom: CopyAtom, tiled_mma: TiledMma) -> TiledCopy:
    """Return the copy for C as `tiled_mma` has it in registers; tile (M, N)."""
    return _of_mma(atom, tiled_mma, "C", (0, 1))


def _tensor(value: Any, what: str) -> Tensor:
    if not isinstance(value, Tensor):
        raise TypeError(f"{what} is a tensor, not {type(value).__name__}")
    return value


def _predicate(pred: Any) -> list[Any]:
    if pred is None:
        return []
    if not isinstance(pred, Tensor) or pred.is_coordinate or pred.dtype.width != 1:
        raise TypeError("pred is a tensor of fx.Boolean, for example fx.make_rmem_tensor(n, fx.Boolean)")
    return [pred.value]


def _per_atom(pred: Any, source: Tensor) -> Any:
    """Return a predicate with a mode 0 of the structure of the source's: (values of the atom, repetitions…).

    Where the predicate has one element for each repetition there, or no mode 0 at all, a mode of one stands for the
    values of the atom; without mode 0 all repetitions have the same predicate.
    """
    shape, have = source.shape_tree, pred.shape_tree
    if type(shape) is not tuple or type(shape[0]) is not tuple or source.rank < 2:
        return pred
    if not (trees.is_static(shape[0]) and trees.is_static(have)):
        return pred
    repetitions = tuple(trees.product_of(one) for one in shape[0][1:])
    extents, strides = pred.shape.to_py_value(), pred.stride.to_py_value()
    if pred.rank == source.rank - 1:
        if not isinstance(extents, tuple):
            extents, strides = (extents,), (strides,)
        own = make_layout(((1, *repetitions), *extents), ((0, *[0] * len(repetitions)), *strides))
        return make_view(pred.iter, own)
    if pred.rank != source.rank or trees.product_of(have[0]) != trees.product_of(repetitions):
        return pred
    if type(have[0]) is tuple and len(have[0]) == len(shape[0]) and trees.product_of(have[0][0]) == 1:
        return pred  # it has a mode for the values of the atom already
    first, step = extents[0], strides[0]
    if not (isinstance(first, tuple) and len(first) == len(repetitions)):
        first, step = (first,), (step,)
    own = make_layout(((1, *first), *extents[1:]), ((0, *step), *strides[1:]))
    return make_view(pred.iter, own)


def _check_repetitions(pred: Any, source: Tensor) -> None:
    """Refuse a predicate with another number of elements along a mode that the atom is repeated over.

    Repetitions are counted through it: of one too short, others' elements would decide.
    """
    have = pred.shape_tree if type(pred.shape_tree) is tuple else (pred.shape_tree,)
    want = source.shape_tree if type(source.shape_tree) is tuple else (source.shape_tree,)
    have = have[len(have) - len(want) + 1 :]
    if not (trees.is_static(have) and trees.is_static(want[1:])):
        return
    if [trees.product_of(one) for one in have] != [trees.product_of(one) for one in want[1:]]:
        raise ValueError(
            f"copy: a predicate of shape {trees.spelled(pred.shape_tree)} for a source of shape "
            f"{trees.spelled(source.shape_tree)}: behind mode 0, the values of one atom, the extents have to be the "
            "same; one element for all of a mode is an extent with stride 0"
        )


def copy(atom: Any, src: Any, dst: Any, *, pred: Any = None, **state: Any) -> None:
    """Copy `src` to `dst`, one atom per position of all modes but mode 0.

    Args:
        atom: a copy atom or tiled copy.
        src: a tensor; mode 0 holds the values of one atom, as many as it moves. In memory, with a register tensor on
            the other side, one element may stand for where the access begins.
        dst: a tensor of the same top-level rank.
        pred: a register tensor of `fx.Boolean`: of the same rank, or without mode 0. Where mode 0 repeats the atom, its
            mode 0 may have one element for each. Where it is false nothing is read or written; a destination keeps its
            old value. (`fx.nvgpu.CpAsync` fills it with zeros.)
        **state: state fields of the atom, as of `set_value`.

    Raises:
        TypeError: an operand is no tensor, no atom, or no predicate.
        ValueError: the ranks differ; an extent, or the stride between the elements of one atom, is only known at run
            time.
        flydsl.compiler.DSLCompileError: mode 0 of an operand holds more or fewer bits than the atom moves, or a swizzle
            does not keep them side by side.
    """
    if not isinstance(atom, (CopyAtom, TiledCopy)):
        raise TypeError(f"copy takes a copy atom or a tiled copy, not {type(atom).__name__}")
    check_target(atom)
    source, target = _tensor(src, "the source of copy"), _tensor(dst, "the destination of copy")
    if source.rank != target.rank:
        raise ValueError(
            f"copy: source of shape {trees.spelled(source.shape_tree)} and destination of shape "
            f"{trees.spelled(target.shape_tree)} have different ranks"
        )
    for tensor, name in ((source, "source"), (target, "destination")):
        check_neighbours("copy", atom, tensor, name, one_atom=False)
    warn_of_ignored_swizzle("copy", atom, source, target)
    predicate = _predicate(pred)
    if pred is not None:
        predicate = [_per_atom(pred, source).value]
    if pred is not None and pred.rank not in (source.rank, source.rank - 1):
        raise ValueError(
            f"copy: a predicate of rank {pred.rank} for a copy of rank {source.rank}; it has the rank of the source, "
            "or one less (a predicate per atom)"
        )
    if pred is None:
        warn_of_overhang(source, target)
    else:
        _check_repetitions(pred, source)
    if state:
        atom = atom.set_value(state)
    build_op("fly.copy", [atom.value, source.value, target.value, *predicate])


@lru_cache(maxsize=4096)
def _misfit(atom: CopyAtomFacts, tensor: MemRefFacts) -> tuple[int, int, int] | None:
    """Return bits of the atom, elements and their bits where they do not fit."""
    shape = tensor.layout.shape
    if atom.operand_bits is None or not trees.is_static(shape):
        return None
    elements = trees.product_of(shape)
    if elements * tensor.element_bits == atom.operand_bits:
        return None
    return atom.operand_bits, elements, tensor.element_bits


def _check_extent(atom: CopyAtom, tensor: Tensor, name: str) -> None:
    misfit = None if tensor.is_coordinate else _misfit(atom._facts, tensor.facts)
    if misfit is not None:
        bits, elements, width = misfit
        raise ValueError(
            f"copy_atom_call: {atom} moves {bits} bits, but the {name} has {elements} x {tensor.dtype.__name__} "
            f"({elements * width} bits); fx.copy repeats an atom over a larger tensor"
        )


def copy_atom_call(atom: Any, src: Any, dst: Any, pred: Any = None) -> None:
    """Issue exactly one copy atom; `pred` is a register tensor of `fx.Boolean`.

    Raises:
        TypeError: an operand is no tensor, no atom, or no predicate.
        ValueError: an operand does not hold what the atom moves.
    """
    if not isinstance(atom, CopyAtom):
        raise TypeError(f"copy_atom_call takes a copy atom, not {type(atom).__name__}")
    check_target(atom)
    source, target = _tensor(src, "the source of copy_atom_call"), _tensor(dst, "the destination of copy_atom_call")
    _check_extent(atom, source, "source")
    _check_extent(atom, target, "destination")
    check_neighbours("copy_atom_call", atom, source, "source", one_atom=True)
    check_neighbours("copy_atom_call", atom, target, "destination", one_atom=True)
    warn_of_ignored_swizzle("copy_atom_call", atom, source, target)
    build_op("fly.copy_atom_call", [atom.value, source.value, target.value, *_predicate(pred)])


def _indirect(offsets: Tensor, what: str) -> tuple[int, int]:
    shape = offsets.shape_tree
    if not trees.is_static(shape):
        raise ValueError(f"{what}: the offset tensor needs a static shape, got {trees.spelled(shape)}")
    if type(shape) is not tuple:
        return trees.product_of(shape), 1
    return trees.product_of(shape[0]), trees.product_of(shape[1:])


def _each_indirect(offsets: Tensor, data: Tensor, pred: Any, what: str) -> Any:
    """Yield, for every (tv, rest), the element offset, the data of one atom, and its predicate."""
    tv, rest = _indirect(offsets, what)
    one_mode = type(offsets.shape_tree) is not tuple
    for r in range(rest):
        for v in range(tv):
            at = v if one_mode else (v, *_unlinear(offsets.shape_tree[1:], r))
            coordinate = ((None, v), *_unlinear(data.shape_tree[1:], r))
            part = data[coordinate]
            yield offsets[at], part, None if pred is None else _one_predicate(pred, at)


def _one_predicate(pred: Tensor, at: Any) -> Tensor:
    from ..values.numeric.types import Boolean
    from ..values.tensor import make_rmem_tensor

    result = make_rmem_tensor(1, Boolean)
    result[0] = pred[at]
    return result


def _unlinear(shape: tuple[Any, ...], index: int) -> tuple[int, ...]:
    coords = []
    for extent in shape:
        coords.append(index % trees.product_of(extent))
        index //= trees.product_of(extent)
    return tuple(coords)


def gather(atom: CopyAtom, base_ptr: Any, offset_tensor: Any, dst: Any, pred: Any = None) -> None:
    """Read one atom per element of `offset_tensor` (TV, Rest…), at `base_ptr` plus that many elements.

    `dst` has shape ((AtomV, TV), Rest…); `pred` is shaped like the offsets.
    """
    offsets, target = _tensor(offset_tensor, "the offsets of gather"), _tensor(dst, "the destination of gather")
    for offset, part, predicate in _each_indirect(offsets, target, pred, "gather"):
        view = make_view(base_ptr + offset, _contiguous(part))
        copy_atom_call(atom, view, part, predicate)


def scatter(atom: CopyAtom, src: Any, base_ptr: Any, offset_tensor: Any, pred: Any = None) -> None:
    """Write one atom per element of `offset_tensor` (TV, Rest…), at `base_ptr` plus that many elements."""
    offsets, source = _tensor(offset_tensor, "the offsets of scatter"), _tensor(src, "the source of scatter")
    for offset, part, predicate in _each_indirect(offsets, source, pred, "scatter"):
        view = make_view(base_ptr + offset, _contiguous(part))
        copy_atom_call(atom, part, view, predicate)


def _contiguous(part: Tensor) -> Layout:
    return make_layout(trees.product_of(part.shape_tree), 1)
