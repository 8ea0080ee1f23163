# SPDX-License-Identifier: Apache-2.0
"""Matrix multiply-accumulate: tiled MMAs, their per-thread slices and fragments, and `fx.gemm`."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from flydsl._mlir import ir
from flydsl._mlir._mlir_libs import _flyDialect as fly
from flydsl._mlir.facts import TiledMmaFacts
from flydsl.trace.build import attribute, build_op, i32_array, infer, int_attribute
from flydsl.trace.wrap import register_wrapper

from ..values.address_space import AddressSpace
from ..values.layout import trees
from ..values.layout.construct import as_int_tuple, make_layout, make_tile, static
from ..values.layout.host import from_host
from ..values.layout.modes import slice
from ..values.layout.objects import IntTuple, Layout, Tile
from ..values.tensor import Tensor, typed
from .accumulator import accumulator_as_operand
from .atom import MmaAtom, _Atom, check_target, of_tiling
from .tiling_threads import check_threads

if TYPE_CHECKING:
    from ..values.accepted import IntLike

__all__ = [
    "GemmTraversalOrder",
    "MmaOperand",
    "ThrMma",
    "TiledMma",
    "gemm",
    "make_tiled_mma",
    "mma_atom_call",
    "mma_make_fragment",
    "tiled_mma_partition",
    "tiled_mma_partition_shape",
]


class MmaOperand(enum.Enum):
    """The operands of d = a * b + c."""

    A = "a"
    B = "b"
    C = "c"
    D = "d"


class GemmTraversalOrder(enum.Enum):
    """The order of the atoms of a gemm, innermost loop first; `_Serpentine` turns round instead of starting over."""

    KMN = "kmn"
    KNM = "knm"
    MKN = "mkn"
    MNK = "mnk"
    NKM = "nkm"
    NMK = "nmk"
    KMN_Serpentine = "kmn_serpentine"
    KNM_Serpentine = "knm_serpentine"
    MKN_Serpentine = "mkn_serpentine"
    MNK_Serpentine = "mnk_serpentine"
    NKM_Serpentine = "nkm_serpentine"
    NMK_Serpentine = "nmk_serpentine"


def _operand(operand: Any) -> MmaOperand:
    if isinstance(operand, MmaOperand):
        return operand
    try:
        return MmaOperand(str(operand).lower())
    except ValueError:
        raise ValueError(f"an operand of an MMA is fx.MmaOperand.A, B, C or D, not {operand!r}") from None


class TiledMma(_Atom):
    """An MMA atom repeated over (M, N, K) by groups of threads."""

    __slots__ = ()
    _kinds = (TiledMmaFacts,)

    @property
    def described(self) -> Any:
        """The tiling as `flydsl.layout` describes it."""
        from .host_atoms import tiled_mma

        return tiled_mma(self._facts)

    @property
    def mma_atom(self) -> MmaAtom:
        """The MMA atom."""
        return MmaAtom(infer("fly.get_mma_atom", (self.value,)))

    @property
    def atom_layout(self) -> Layout:
        """The layout of the atoms over (M, N, K)."""
        return self._static(self._tiling.atom_layout)

    @property
    def permutation_mnk(self) -> Tile:
        """The permutation of each of M, N, K."""
        kind: Any = self.type
        tile: Tile = static(kind.permutation)
        return tile

    @property
    def tile_size_mnk(self) -> IntTuple:
        """The extents that one round of all atoms covers."""
        return as_int_tuple(self._tiling.tile_size_mnk)

    @property
    def thr_layout_vmnk(self) -> Layout:
        """(atom thread, M, N, K) to the thread's index."""
        return self._static(self._tiling.thr_layout_vmnk)

    @property
    def _tiling(self) -> Any:
        return self.type

    @staticmethod
    def _static(layout: ir.Type) -> Layout:
        result: Layout = static(layout)
        return result

    def _threads(self) -> int:
        return int(self._tiling.threads)

    @property
    def tv_layout_A_tiled(self) -> Layout:
        """(thread, value) of A to the column-major index in its (M, K) tile."""
        return self._static(self._tiling.tv_layout_A_tiled)

    @property
    def tv_layout_B_tiled(self) -> Layout:
        """(thread, value) of B to the column-major index in its (N, K) tile."""
        return self._static(self._tiling.tv_layout_B_tiled)

    @property
    def tv_layout_C_tiled(self) -> Layout:
        """(thread, value) of C to the column-major index in its (M, N) tile."""
        return self._static(self._tiling.tv_layout_C_tiled)

    def get_slice(self, thr_idx: IntLike) -> ThrMma:
        """Return the part of one thread."""
        return ThrMma(self, thr_idx)

    thr_slice = get_slice

    def make_fragment_A(self, block_tile: Any, stages: int | None = None) -> Tensor:
        """Return registers for this thread's part of A; takes the (M, K) block tile, not a partition of it."""
        return mma_make_fragment(MmaOperand.A, self, block_tile, stages)

    def make_fragment_B(self, block_tile: Any, stages: int | None = None) -> Tensor:
        """Return registers for this thread's part of B; takes the (N, K) block tile."""
        return mma_make_fragment(MmaOperand.B, self, block_tile, stages)

    def make_fragment_C(self, block_tile: Any, stages: int | None = None) -> Tensor:
        """Return registers for this thread's part of C; takes the (M, N) block tile."""
        return mma_make_fragment(MmaOperand.C, self, block_tile, stages)


class ThrMma:
    """One thread's part of a tiled MMA."""

    __slots__ = ("_coord", "thr_idx", "tiled_mma")

    def __init__(self, tiled_mma: TiledMma, thr_idx: Any) -> None:
        check_threads(tiled_mma, thr_idx)
        self.tiled_mma = tiled_mma
        self.thr_idx = thr_idx
        self._coord = as_int_tuple(thr_idx)

    def partition_A(self, tensor: Tensor) -> Tensor:
        """Return this thread's view of an (M, K) tile: `(V, Rest_M, Rest_K, …)`."""
        return tiled_mma_partition(MmaOperand.A, self.tiled_mma, tensor, self._coord)

    def partition_B(self, tensor: Tensor) -> Tensor:
        """Return this thread's view of an (N, K) tile: `(V, Rest_N, Rest_K, …)`."""
        return tiled_mma_partition(MmaOperand.B, self.tiled_mma, tensor, self._coord)

    def partition_C(self, tensor: Tensor) -> Tensor:
        """Return this thread's view of an (M, N) tile: `(V, Rest_M, Rest_N, …)`."""
        return tiled_mma_partition(MmaOperand.C, self.tiled_mma, tensor, self._coord)

    def make_fragment_A(self, block_tile: Any, stages: int | None = None) -> Tensor:
        """As `TiledMma.make_fragment_A`."""
        return self.tiled_mma.make_fragment_A(block_tile, stages)

    def make_fragment_B(self, block_tile: Any, stages: int | None = None) -> Tensor:
        """As `TiledMma.make_fragment_B`."""
        return self.tiled_mma.make_fragment_B(block_tile, stages)

    def make_fragment_C(self, block_tile: Any, stages: int | None = None) -> Tensor:
        """As `TiledMma.make_fragment_C`."""
        return self.tiled_mma.make_fragment_C(block_tile, stages)

    def retile_A(self, fragment: Tensor, producer: TiledMma | ThrMma) -> Tensor:
        """Return the accumulator of another tiled MMA as this one's operand A, in the same registers.

        Args:
            fragment: a register tensor like the fragment of C (M, N) of `producer`, of any type; it becomes A (M, K).
            producer: that tiled MMA, or a thread's slice of it.

        Raises:
            TypeError: an argument of another kind.
            ValueError: some thread does not have the elements that it needs as an operand.
        """
        return accumulator_as_operand("A", self, fragment, producer)

    def retile_B(self, fragment: Tensor, producer: TiledMma | ThrMma) -> Tensor:
        """As `retile_A` for operand B (N, K): the accumulator (M, N) is the operand transposed, M is contracted."""
        return accumulator_as_operand("B", self, fragment, producer)

    mma_atom = of_tiling("tiled_mma", TiledMma, "mma_atom")
    atom_layout = of_tiling("tiled_mma", TiledMma, "atom_layout")
    permutation_mnk = of_tiling("tiled_mma", TiledMma, "permutation_mnk")
    tile_size_mnk = of_tiling("tiled_mma", TiledMma, "tile_size_mnk")
    thr_layout_vmnk = of_tiling("tiled_mma", TiledMma, "thr_layout_vmnk")
    tv_layout_A_tiled = of_tiling("tiled_mma", TiledMma, "tv_layout_A_tiled")
    tv_layout_B_tiled = of_tiling("tiled_mma", TiledMma, "tv_layout_B_tiled")
    tv_layout_C_tiled = of_tiling("tiled_mma", TiledMma, "tv_layout_C_tiled")

    def get_slice(self, thr_idx: IntLike) -> ThrMma:
        """Return the part of another thread."""
        return ThrMma(self.tiled_mma, thr_idx)

    thr_slice = get_slice

    def set_value(self, field: Any, value: Any = None) -> ThrMma:
        """Return this slice of the tiled MMA with a state field of its atom set, as `TiledMma.set_value`."""
        return ThrMma(self.tiled_mma.set_value(field, value), self.thr_idx)

    def __extract_to_ir_values__(self) -> list[Any]:
        return [self.tiled_mma.value, self._coord.value]

    @classmethod
    def __construct_from_ir_values__(cls, values: Any, exemplar: Any = None) -> ThrMma:
        return cls(TiledMma(values[0]), IntTuple(values[1]))


register_wrapper(TiledMmaFacts, TiledMma)


def make_tiled_mma(mma_atom: Any, atom_layout: Any = None, permutation: Any = None) -> TiledMma:
    """Return the tiled MMA of an atom.

    Args:
        mma_atom: the atom (or MMA operation).
        atom_layout: a static layout of atoms over (M, N, K), or a shape for the column-major one; one atom by default.
        permutation: a tuple of an int, `None` or layout per mode.

    Raises:
        TypeError: an argument of another kind.
        ValueError: a layout that is not static.
    """
    from .atom import make_mma_atom
    from .atom_types import MmaOp

    if isinstance(mma_atom, MmaOp):
        mma_atom = make_mma_atom(mma_atom)
    if not isinstance(mma_atom, MmaAtom):
        raise TypeError(f"make_tiled_mma takes an MMA atom, not {type(mma_atom).__name__}")
    if atom_layout is None:
        atom_layout = make_layout((1, 1, 1), (0, 0, 0))
    elif isinstance(atom_layout, (tuple, IntTuple)):
        from ..values.layout.construct import make_ordered_layout

        atom_layout = make_ordered_layout(atom_layout, 0)
    atom_layout = from_host(atom_layout)
    if not isinstance(atom_layout, Layout):
        raise TypeError(f"make_tiled_mma takes a layout of atoms over (M, N, K), not {type(atom_layout).__name__}")
    operands = [mma_atom.value, atom_layout.value]
    if permutation is not None:
        operands.append((permutation if isinstance(permutation, Tile) else make_tile(*permutation)).value)
    return TiledMma(infer("fly.make_tiled_mma", operands))


def _kind(operand: Any) -> dict[str, ir.Attribute]:
    return {"operand_id": attribute(f"#fly<mma_operand {_operand(operand).value}>")}


def tiled_mma_partition(operand: Any, tiled: TiledMma, tensor: Tensor, coord: Any) -> Tensor:
    """Return the view of `tensor` that thread `coord` has of an operand."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"a tiled MMA partitions a tensor, not {type(tensor).__name__}")
    at = as_int_tuple(coord)
    operands = (tiled.value, tensor.value, at.value)
    part: Tensor = typed(infer("fly.tiled_mma.partition", operands, _kind(operand)), tensor)
    return part


def tiled_mma_partition_shape(operand: Any, tiled: TiledMma, shape: Any) -> IntTuple:
    """Return the shape of a thread's partition of a compact tensor of `shape`."""
    value = infer("fly.tiled_mma.partition_shape", (tiled.value, as_int_tuple(shape).value), _kind(operand))
    return IntTuple(value)


def mma_make_fragment(operand: Any, tiled: TiledMma, tensor: Tensor, stages: int | None = None) -> Tensor:
    """Return registers shaped like a thread's partition of the block tile `tensor`.

    With `stages`, the modes after the two of the matrix become one of extent `stages`.
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"make_fragment takes the block tile as a tensor, not {type(tensor).__name__}")
    if not trees.is_static(tensor.shape_tree):
        raise ValueError(
            f"make_fragment: the block tile has shape {trees.spelled(tensor.shape_tree)}, but registers need one that "
            "is known while tracing; take a tile of static extents (fx.zipped_divide), or pass the tensor "
            "as flyc.from_dlpack(...)"
        )
    attributes = _kind(operand)
    if stages is not None:
        if isinstance(stages, bool) or not isinstance(stages, int) or stages < 1:
            raise ValueError(f"stages must be a positive Python int, got {stages!r}")
        attributes["stages"] = int_attribute(stages)
    return _signed_as(Tensor(infer("fly.mma.make_fragment", (tiled.value, tensor.value), attributes)), tensor)


def _signed_as(fragment: Tensor, tensor: Tensor) -> Tensor:
    """Return the fragment with the signedness of the block tile, where both hold elements of one type."""
    if not tensor.is_coordinate and fragment.dtype.ir_type == tensor.dtype.ir_type:
        fragment._dtype = tensor.dtype
    return fragment


# -- calls -------------------------------------------------------------------------------------------------------------


def _group(operand: Any, name: str) -> list[Tensor]:
    items = list(operand) if isinstance(operand, (list, tuple)) else [operand]
    if not items:
        raise ValueError(f"{name} is an empty list; its first element is the data fragment")
    for item in items:
        if not isinstance(item, Tensor):
            raise TypeError(f"{name} of an MMA is a tensor, or a list of tensors, not {type(item).__name__}")
    return items


def _segments(*counts: int) -> dict[str, ir.Attribute]:
    return {"operandSegmentSizes": i32_array(counts)}


def mma_atom_call(atom: Any, d: Any, a: Any, b: Any, c: Any, **state: Any) -> None:
    """Issue exactly one MMA atom: d = a * b + c on its fragments. `a` and `b` may be lists [data, scale]."""
    if not isinstance(atom, MmaAtom):
        raise TypeError(f"mma_atom_call takes an MMA atom, not {type(atom).__name__}")
    check_target(atom)
    if state:
        atom = atom.set_value(state)
    target, left, right, acc = _group(d, "d"), _group(a, "a"), _group(b, "b"), _group(c, "c")
    operands = [atom.value, target[0].value, *(t.value for t in left), *(t.value for t in right), acc[0].value]
    build_op("fly.mma_atom_call", operands, (), _segments(1, 1, len(left), len(right), 1))


def _check_gemm(d: Tensor, a: Tensor, b: Tensor, c: Tensor, in_memory: str) -> None:
    for name, fragment in (("d", d), ("a", a), ("b", b), ("c", c)):
        if name in in_memory:
            if fragment.memspace is not AddressSpace.Shared:
                raise ValueError(
                    f"gemm: the operation reads {name} in shared memory itself, and got a tensor in "
                    f"{str(fragment.memspace).lower()} memory: pass partition_{name.upper()} of the tile there"
                )
        elif fragment.memspace is not AddressSpace.Register:
            raise ValueError(
                f"gemm: {name} is a tensor in {str(fragment.memspace).lower()} memory, not a fragment in registers: "
                "make one with make_fragment_A / _B / _C and copy into it"
            )
    ranks = d.rank, a.rank, b.rank, c.rank
    if ranks == (1, 1, 1, 1):
        return
    if (d.rank, c.rank) != (3, 3) or a.rank != b.rank or a.rank not in (2, 3):
        raise ValueError(
            f"gemm: fragments of ranks d {ranks[0]}, a {ranks[1]}, b {ranks[2]}, c {ranks[3]}; they are all 1, or 3 "
            "for d and c (V, M, N) and 2 or 3 for a (V, M[, K]) and b (V, N[, K])"
        )
    extents = [tuple(_size_or_none(mode) for mode in t.shape_tree) for t in (d, a, b, c)]
    (_, dm, dn), (_, am, *ak), (_, bn, *bk), (_, cm, cn) = extents
    for what, left, right in (
        ("M of d and a", dm, am),
        ("N of d and b", dn, bn),
        ("M of d and c", dm, cm),
        ("N of d and c", dn, cn),
        ("K of a and b", *((ak or [1]) + (bk or [1]))),
    ):
        if left is None or right is None:
            raise ValueError("gemm: the fragments need static shapes")
        if left != right:
            raise ValueError(f"gemm: {what} differ: {left} and {right}")


def _size_or_none(tree: Any) -> int | None:
    return trees.product_of(tree) if trees.is_static(tree) else None


def gemm(
    atom: Any,
    d: Any,
    a: Any,
    b: Any,
    c: Any,
    *,
    traversal_order: Any = None,
    traversal_layout: Any = None,
    atom_callback: Callable[[Any, tuple[int, int, int]], Any] | None = None,
    **state: Any,
) -> None:
    """Compute d = a * b^T + c on register fragments, fully unrolled.

    For the first K step `c` is the accumulator, afterwards `d`.

    Args:
        atom: an MMA atom or tiled MMA.
        d: the result fragment, `(V, M, N)`.
        a: the fragment `(V, M, K)` or `(V, M)`, or a list [data, scale].
        b: the fragment `(V, N, K)` or `(V, N)`, or a list [data, scale].
        c: the accumulator that is read, like `d`.
        traversal_order: a `GemmTraversalOrder` or its name such as "kmn_serpentine"; NMK by default.
        traversal_layout: a static layout from the step to the column-major (M, N, K) index, instead.
        atom_callback: called with (atom, (m, n, k)) before each step; returns the atom to use.
        **state: state fields of the atom.

    Raises:
        ValueError: ranks or extents do not fit, or both traversals are given.
        TypeError: an operand is no tensor, no atom, or the callback returns no atom.
    """
    if not isinstance(atom, (MmaAtom, TiledMma)):
        raise TypeError(f"gemm takes an MMA atom or a tiled MMA, not {type(atom).__name__}")
    check_target(atom)
    if traversal_order is not None and traversal_layout is not None:
        raise ValueError("gemm: give traversal_order or traversal_layout, not both")
    if state:
        atom = atom.set_value(state)
    target, left, right, acc = _group(d, "d")[0], _group(a, "a"), _group(b, "b"), _group(c, "c")[0]
    _check_gemm(target, left[0], right[0], acc, fly.memory_operands(atom.value))
    if atom_callback is not None:
        _gemm_by_callback(atom, target, left, right, acc, _order(traversal_order), traversal_layout, atom_callback)
        return
    operands = [atom.value, target.value, *(t.value for t in left), *(t.value for t in right), acc.value]
    attributes = {}
    if traversal_order is not None:
        attributes["traversalOrder"] = attribute(f"#fly<gemm_traversal_order {_order(traversal_order).value}>")
    if traversal_layout is not None:
        if not isinstance(traversal_layout, Layout) or not traversal_layout.is_static:
            raise ValueError("gemm: traversal_layout is a static layout")
        operands.append(traversal_layout.value)
    attributes.update(_segments(1, 1, len(left), len(right), 1, int(traversal_layout is not None)))
    build_op("fly.gemm", operands, (), attributes)


def _order(order: Any) -> GemmTraversalOrder:
    if order is None:
        return GemmTraversalOrder.NMK
    if isinstance(order, GemmTraversalOrder):
        return order
    if isinstance(order, str):
        try:
            return GemmTraversalOrder(order.lower())
        except ValueError:
            known = ", ".join(repr(one.value) for one in GemmTraversalOrder)
            raise ValueError(f"unknown traversal order {order!r}; there are {known}") from None
    raise TypeError(f"traversal_order is an fx.GemmTraversalOrder, not {order!r}")


def _steps(order: GemmTraversalOrder, extents: dict[str, int]) -> list[tuple[int, int, int]]:
    """Return the (m, n, k) of each step: the first letter of the order turns fastest, a serpentine to and fro."""
    letters = order.value.removesuffix("_serpentine")
    serpentine = order.value.endswith("_serpentine")
    inner, middle, outer = tuple(letters)
    steps = []
    for o in range(extents[outer]):
        for ms in range(extents[middle]):
            mid = extents[middle] - 1 - ms if serpentine and o % 2 else ms
            for i_s in range(extents[inner]):
                turned = serpentine and (o * extents[middle] + ms) % 2
                i = extents[inner] - 1 - i_s if turned else i_s
                at = {outer: o, middle: mid, inner: i}
                steps.append((at["m"], at["n"], at["k"]))
    return steps


def _gemm_by_callback(
    atom: Any,
    d: Tensor,
    a: Sequence[Tensor],
    b: Sequence[Tensor],
    c: Tensor,
    order: GemmTraversalOrder,
    layout: Any,
    callback: Callable[[Any, tuple[int, int, int]], Any],
) -> None:
    one = atom.mma_atom if isinstance(atom, TiledMma) else atom
    if d.rank == 1:
        _one_step(one, d, a, b, c, (0, 0, 0), callback)
        return
    shape_d, shape_a = d.shape_tree, a[0].shape_tree
    has_k = a[0].rank == 3
    k_steps = trees.product_of(shape_a[2]) if has_k else 1
    extents = {"m": trees.product_of(shape_d[1]), "n": trees.product_of(shape_d[2]), "k": k_steps}
    steps = _steps(order, extents)
    if layout is not None:
        total = extents["m"] * extents["n"] * extents["k"]
        indices = [layout(step).get_static_leaf_int for step in range(total)]
        m, n = extents["m"], extents["n"]
        steps = [(i % m, i // m % n, i // (m * n)) for i in indices]
    seen: set[tuple[int, int]] = set()
    for m, n, k in steps:
        left = [slice(t, (None, m, k) if has_k else (None, m)) for t in a]
        right = [slice(t, (None, n, k) if has_k else (None, n)) for t in b]
        source = d if (m, n) in seen else c
        seen.add((m, n))
        _one_step(one, slice(d, (None, m, n)), left, right, slice(source, (None, m, n)), (m, n, k), callback)


def _one_step(atom: Any, d: Any, a: Any, b: Any, c: Any, at: tuple[int, int, int], callback: Any) -> None:
    chosen = callback(atom, at)
    if not isinstance(chosen, MmaAtom):
        raise TypeError(f"gemm: atom_callback must return an MMA atom, got {type(chosen).__name__}")
    mma_atom_call(chosen, d, list(a), list(b), c)
