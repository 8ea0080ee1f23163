# SPDX-License-Identifier: Apache-2.0
"""The accumulator of one tiled MMA as an operand of another: attention's weights, and any chain of products.

Which registers of the accumulator an instruction of the second product wants follows from both tilings. Where each
thread already has what it needs, it is a change of layout: no thread exchanges anything.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from flydsl._mlir.facts import TiledMmaFacts

from ..values.layout import trees
from ..values.layout.algebra import composition
from ..values.layout.host import from_host
from ..values.tensor import Tensor, make_view

if TYPE_CHECKING:
    from .mma import ThrMma, TiledMma

__all__ = ["accumulator_as_operand"]


def accumulator_as_operand(
    operand: str, consumer: TiledMma | ThrMma, fragment: Tensor, producer: TiledMma | ThrMma
) -> Tensor:
    """Return an accumulator's fragment as that of operand "A" or "B" of another tiled MMA.

    Args:
        operand: "A": the accumulator (M, N) is the operand (M, K). "B": it is the operand (N, K) transposed, so that
            its N is the operand's N and its M the operand's K.
        consumer: the tiled MMA, or a thread's slice of it, that will take the operand.
        fragment: a register tensor (V, M, N) as `producer` makes its fragments of C, of any type.
        producer: the tiled MMA, or slice, whose accumulator it is.

    Raises:
        TypeError: an argument of another kind.
        ValueError: the tilings have other threads, the fragment is not that of an accumulator of `producer`, or some
            thread does not have the elements that it needs.
    """
    name = f"retile_{operand}"
    takes, makes = (getattr(getattr(one, "tiled_mma", one), "_facts", None) for one in (consumer, producer))
    for one, facts in ((consumer, takes), (producer, makes)):
        if type(facts) is not TiledMmaFacts:
            raise TypeError(f"{name} takes a tiled MMA, or a thread's slice of one, not {type(one).__name__}")
    if not isinstance(fragment, Tensor):
        raise TypeError(f"{name} takes a register tensor, not {type(fragment).__name__}")
    if fragment.rank != 3 or not trees.is_static(fragment.shape_tree):
        raise ValueError(
            f"{name}: the fragment of an accumulator is (V, M, N) of static extents, not "
            f"{trees.spelled(fragment.shape_tree)}"
        )
    extents = tuple(trees.product_of(mode) for mode in fragment.shape_tree)
    registers = from_host(_registers(operand, takes, makes, extents))
    return make_view(fragment.iter, composition(fragment.layout, registers))


@lru_cache(maxsize=64)
def _registers(operand: str, consumer: TiledMmaFacts, producer: TiledMmaFacts, extents: tuple[int, ...]) -> Any:
    """The layout from an element of the operand's fragment to that of the accumulator's, in column-major order."""
    from flydsl.layout import Layout

    from .host_atoms import tiled_mma

    name, takes, makes = f"retile_{operand}", tiled_mma(consumer), tiled_mma(producer)
    if takes.threads != makes.threads:
        raise ValueError(f"{name}: the tiled MMAs have {makes.threads} and {takes.threads} threads")
    rows, columns, _ = makes.tile_size_mnk
    values, along_m, along_n = extents
    m, n = rows * along_m, columns * along_n
    whole = Layout((m, n), (1, m))
    wanted = whole if operand == "A" else Layout((n, m), (m, 1))
    (has_thread, has), (needs_thread, needs) = makes.tv_layout("C", whole), takes.tv_layout(operand, wanted)
    if has.size() != values * along_m * along_n:
        raise ValueError(
            f"{name}: a fragment of {values} x {along_m} x {along_n} elements is not that of an accumulator of the "
            f"tiled MMA, whose threads have {has.size()} of {m} x {n}"
        )
    # What a thread has and needs are its own start and the same distances from there. So its registers are in the
    # order of thread 0's, which starts at 0, exactly if both starts are the same.
    place = {has(index): index for index in range(has.size())}
    order = [place.get(needs(index), -1) for index in range(needs.size())]
    for thread in range(takes.threads):
        if -1 in order or has_thread(thread) != needs_thread(thread):
            raise ValueError(
                f"{name}: thread {thread} does not have the elements of operand {operand} where the layout of the "
                "accumulator has them; permute the contracted mode of the tiled MMA that takes it "
                "(fx.make_tiled_mma(..., permutation=...)), or exchange through LDS"
            )
    per_atom, rest = needs.shape
    return _layout_of(order, (per_atom, *rest), name)


def _layout_of(order: list[int], shape: Any, name: str) -> Any:
    """The layout of a shape that gives these indices."""
    from flydsl.layout import Layout
    from flydsl.layout.int_tuple import flatten

    strides, at = [], 1
    for extent in flatten((shape,)):
        strides.append(order[at] if extent > 1 else 0)
        at *= extent
    rest = iter(strides)

    def nested(tree: Any) -> Any:
        return tuple(nested(one) for one in tree) if isinstance(tree, tuple) else next(rest)

    layout = Layout(shape, nested(shape))
    if [layout(index) for index in range(len(order))] != order:
        raise ValueError(f"{name}: the registers {order} of the accumulator are no layout of the operand's {shape}")
    return layout
