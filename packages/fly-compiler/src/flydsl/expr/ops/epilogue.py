# SPDX-License-Identifier: Apache-2.0
"""Epilogues: what happens to a tile's results between the registers that hold them and memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..values.address_space import AddressSpace
from ..values.layout import trees
from ..values.layout.algebra import logical_divide
from ..values.layout.construct import make_identity_layout, make_int_tuple, make_layout
from ..values.numeric.types import Boolean
from ..values.tensor import Tensor, make_rmem_tensor, make_view
from ..values.vector import Vector
from .atom import make_copy_atom
from .atom_types import copy_of_space
from .copy import ThrCopy, copy

__all__ = ["Epilogue"]

_WIDEST = 128  # bits of an access
# Accesses whose operands are loaded together, before the first of them is stored: a load does not pass a store, so one
# by one each would be waited for. What several accesses share is loaded before all of them.
_BATCH = 8


class Epilogue:
    """A chain of element functions that a thread applies to its part of a tile, and the store of what comes out.

    Each function takes a `Vector` of the results so far and a value of each of its operands, and returns a `Vector` of
    as many elements. Operands are tensors with the shape of the tile, partitioned like it: one number for each column
    is a tensor with stride 0 along the rows, and so on. What does not change between the elements of an access comes
    as one scalar, and is loaded once.

        epilogue = (
            fx.Epilogue()
            .then(lambda values, scale: values * scale, scales)       # (TILE_M, TILE_N) : (1, 0), of the rows
            .then(lambda values, bias: values + bias.to(fx.Float32), biases)  # (TILE_M, TILE_N) : (0, 1)
            .then(lambda values: values.to(fx.BFloat16))
        )
        epilogue.store(fx.make_tiled_copy_C(atom, mma).get_slice(thread), sums, tile_of_c)
    """

    __slots__ = ("_steps",)

    def __init__(self) -> None:
        self._steps: tuple[tuple[Callable[..., Any], tuple[Tensor, ...]], ...] = ()

    def then(self, function: Callable[..., Any], *operands: Tensor) -> Epilogue:
        """This chain with one more function, and the tensors that it reads.

        Raises:
            TypeError: the function cannot be called, or an operand is no tensor.
        """
        if not callable(function):
            raise TypeError(f"Epilogue.then takes an element function first, not {type(function).__name__}")
        for one in operands:
            if not isinstance(one, Tensor):
                raise TypeError(f"an operand of an epilogue is a tensor of the tile's shape, not {type(one).__name__}")
        longer = Epilogue()
        longer._steps = (*self._steps, (function, operands))
        return longer

    def finished(self, mine: ThrCopy, results: Any) -> Iterator[tuple[int, Vector]]:
        """(number of the access, what the chain makes of its results), access by access.

        Args:
            mine: this thread's slice of a tiled copy over the tile; one atom is one access.
            results: the thread's results: a register tensor, as `retile` takes it, or a sequence with one `Vector` for
                each access.
        """
        if not isinstance(mine, ThrCopy):
            raise TypeError(f"an epilogue takes this thread's slice of a tiled copy, not {type(mine).__name__}")
        if isinstance(results, Tensor):
            results = _vectors(mine, results)
        steps = [(function, [_Operand(mine, one) for one in operands]) for function, operands in self._steps]
        read = [one for _, operands in steps for one in operands]
        for one in read:
            if one.shared:
                one.load(range(len(results)))
        for number, values in enumerate(results):
            if number % _BATCH == 0:
                for one in read:
                    one.load(range(number, min(number + _BATCH, len(results))))
            for function, operands in steps:
                values = function(values, *[one.at(number) for one in operands])
            yield number, values

    def store(self, mine: ThrCopy, results: Any, tile: Tensor, *, inside: tuple[Any, Any] | None = None) -> None:
        """Apply the chain to a thread's results and store them.

        Args:
            mine, results: see `finished`.
            tile: the tile of the output, in memory.
            inside: extents of what there is of the tile along both modes, None for all of a mode. What lies beyond is
                not stored; an access is in or out as a whole, by its first element. Operands are read there all the
                same: their tensors go as far, or are buffer tensors, which read zero behind their end.

        Raises:
            TypeError: the chain does not give a `Vector` of the output's type: its last function converts.
            ValueError: it gives another number of elements than an access has, or results and tile have another number
                of accesses.
        """
        target = mine.partition_D(tile)
        accesses = _accesses(target)
        limits = None if inside is None else _Limits(mine, tile, inside)
        if isinstance(results, Tensor):
            results = _vectors(mine, results)
        if len(results) != len(accesses):
            raise ValueError(
                f"Epilogue.store: results of {len(results)} accesses for a tile of {len(accesses)} a thread"
            )
        for number, values in self.finished(mine, results):
            part = target[accesses[number]]
            if not isinstance(values, Vector) or values.dtype is not part.dtype:
                got = values.dtype.__name__ if isinstance(values, Vector) else type(values).__name__
                raise TypeError(
                    f"Epilogue.store: the chain gives {got}, and the tile holds {part.dtype.__name__}: add "
                    f".then(lambda values: values.to(fx.{part.dtype.__name__}))"
                )
            out = make_rmem_tensor(values.numel, part.dtype)
            out.store(values)
            _move(out, part, None if limits is None else limits.at(number))


class _Operand:
    """This thread's part of a tensor that an epilogue reads."""

    def __init__(self, mine: ThrCopy, tensor: Tensor) -> None:
        self._part = mine.partition_S(tensor)
        self._accesses = _accesses(self._part)
        shape, stride = self._part.facts.layout.shape, self._part.facts.layout.stride
        values, rests = _split(shape, stride)
        self._same = all(step == 0 for _, step in values)  # for all elements of an access
        self._moves = [step != 0 for _, step in rests]
        self._extents = [extent for extent, _ in rests]
        self._loaded: dict[tuple[int, ...], Any] = {}
        self.shared = not all(moves or extent == 1 for moves, extent in zip(self._moves, self._extents, strict=True))

    def load(self, numbers: range) -> None:
        """Load what these accesses want, but for what is loaded already."""
        for number in numbers:
            key = self._key(number)
            if key in self._loaded:
                continue
            part = self._part[self._accesses[number]]
            if self._same:
                part = make_view(part.iter, make_layout(1, 1))
            fragment = make_rmem_tensor(trees.product_of(part.shape_tree), part.dtype)
            _move(part, fragment, None)
            values = fragment.load()
            self._loaded[key] = values[0] if self._same else values

    def at(self, number: int) -> Any:
        """The value for an access."""
        return self._loaded[self._key(number)]

    def _key(self, number: int) -> tuple[int, ...]:
        at = zip(_coordinate(number, self._extents), self._moves, strict=True)
        return tuple(one for one, moves in at if moves)


class _Limits:
    """Which accesses of a thread lie within the extents of what there is."""

    def __init__(self, mine: ThrCopy, tile: Tensor, inside: tuple[Any, Any]) -> None:
        if not isinstance(inside, tuple) or len(inside) != 2:
            raise ValueError(f"Epilogue.store: inside is two extents, each a number or None, got {inside!r}")
        whole = make_view(make_int_tuple((0, 0)), make_identity_layout(tile.shape))
        self._places = mine.partition_D(whole)
        self._accesses = _accesses(self._places)
        self._inside = inside

    def at(self, number: int) -> Any:
        """The predicate of an access."""
        (_, *repeats), *rests = self._accesses[number]
        first = ((0, *repeats), *rests)
        place = self._places[first].unpack()
        within = [one < extent for one, extent in zip(place, self._inside, strict=True) if extent is not None]
        predicate = make_rmem_tensor(1, Boolean)
        predicate.fill(within[0] if len(within) == 1 else within[0] & within[1])
        return predicate


def _split(shape: Any, stride: Any) -> tuple[list[tuple[int, Any]], list[tuple[int, Any]]]:
    """(extent, stride) of the leaves of an access's values, and of the modes that number the accesses."""
    values = list(zip(trees.leaves_of(shape[0][0]), trees.leaves_of(stride[0][0]), strict=True))
    modes = [*zip(shape[0][1:], stride[0][1:], strict=True), *zip(shape[1:], stride[1:], strict=True)]
    rests = [leaf for one, step in modes for leaf in zip(trees.leaves_of(one), trees.leaves_of(step), strict=True)]
    return values, rests


def _vectors(mine: ThrCopy, results: Tensor) -> list[Vector]:
    """The results of each access in a register tensor."""
    held = mine.retile(results)
    return [held[one].load() for one in _accesses(held)]


def _accesses(part: Tensor) -> list[Any]:
    """The coordinates of the accesses in a partition ((values, repetitions...), rest...)."""
    shape = part.shape_tree
    if not (trees.is_static(shape) and type(shape) is tuple and type(shape[0]) is tuple):
        raise ValueError(
            f"an epilogue needs a tile of static extents, partitioned by a tiled copy; got {trees.spelled(shape)}"
        )
    modes = [*shape[0][1:], *shape[1:]]
    extents, inner = [trees.product_of(one) for one in modes], len(shape[0]) - 1
    found = []
    for number in range(math.prod(extents)):
        at = _coordinate(number, extents)
        found.append(((None, *at[:inner]), *at[inner:]))
    return found


def _coordinate(number: int, extents: Sequence[int]) -> tuple[int, ...]:
    """The coordinate of a column-major number."""
    found = []
    for extent in extents:
        found.append(number % extent)
        number //= extent
    return tuple(found)


def _move(source: Tensor, target: Tensor, predicate: Tensor | None) -> None:
    """Copy what one access has, by the widest copies that its layout in memory allows."""
    memory = target if source.memspace is AddressSpace.Register else source
    width, layout = memory.dtype.width, memory.facts.layout
    run = 1
    for extent, step in zip(trees.leaves_of(layout.shape), trees.leaves_of(layout.stride), strict=True):
        if extent != 1 and (type(step) is not int or step != run):
            break
        run *= extent
    count = run & -run
    while count > 1 and count * width > _WIDEST:
        count //= 2
    pieces = [logical_divide(one, make_layout(count, 1)) for one in (source, target)]
    copy(_atom(memory, count), *pieces, pred=predicate)


def _atom(memory: Tensor, count: int) -> Any:
    operation = copy_of_space(memory.memspace)
    return make_copy_atom(operation(count * memory.dtype.width), memory.dtype)
