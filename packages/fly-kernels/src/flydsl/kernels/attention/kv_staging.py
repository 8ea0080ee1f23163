# SPDX-License-Identifier: Apache-2.0
"""The way of a tile of keys and values from memory to LDS, as two pairs of tiled copies.

Both go through registers, so that the loads of the next tile are in flight while this one is multiplied.

Keys stay as they are: a row of LDS is a key. A matrix operand is 8 neighbours of a row, one ds_read_b128; rows are
turned by 4 banks each, so that the lanes of a phase, which read one column of 16 bytes, hit different banks: by 16
bytes of padding, which are part of the layout and of immediate offsets; or, where two padded tiles do not fit LDS, by a
swizzle, which takes an address register for each of four columns.

Values are transposed: a row of LDS is one of the head's elements, along it the keys, in the order in which the second
product takes them (`matrix.Geometry.keys`), so that a lane finds those of a step in neighbouring bytes. A thread
loads 4 elements of 4 neighbouring keys and stores 4 keys of 4 elements, 8 bytes each: two tiled copies of the same
threads, whose values are each other's transpose. 8 lanes that follow each other take 8 groups of keys, so that the 16
lanes of a write phase fill 128 neighbouring bytes of banks. A load instruction reads 64-byte pieces.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..common.arch import LDS_BYTES, architecture
from ..common.language import fx
from .matrix import STEP, geometry
from .tile_schedule import TileSchedule

_PIECE = 8  # elements that a thread moves of a key: 16 bytes
_PAD = 8  # elements: 16 bytes
_GROUP = 4  # keys, and elements, of the square that a thread transposes
_LANES_ALONG_KEYS = 8


@dataclass(frozen=True)
class _Rows:
    """Rows of LDS of so many elements of 16 bits, and how lanes that read one column of them meet different banks."""

    elements: int
    swizzled: bool

    @property
    def pitch(self) -> int:
        """From row to row."""
        return self.elements if self.swizzled else self.elements + _PAD

    def within(self, lds: fx.Pointer) -> fx.Pointer:
        """The pointer with the swizzle: pieces of 16 bytes change places by the number of their row.

        Rows below 128 bytes share the number with those that are beside them in all banks.
        """
        if not self.swizzled:
            return lds
        pieces = (self.elements // _PIECE).bit_length() - 1  # of a row, its logarithm
        return fx.apply_swizzle(lds, fx.static(fx.SwizzleType.get(min(pieces, 3), 4, max(pieces, 3))))


def staging_of(element: Any, head_dim: int, kv_tile: int, threads: int, stages: int) -> tuple[KeyStaging, ValueStaging]:
    """That of keys and that of values, swizzled where padded tiles do not fit LDS and rows are powers of two."""
    sizes = (element, head_dim, kv_tile, threads, stages)
    keys, values = KeyStaging(*sizes, False), ValueStaging(*sizes, False)
    room = LDS_BYTES.get(architecture().name, 2 * (keys.elements + values.elements)) // 2
    if keys.elements + values.elements > room and head_dim & (head_dim - 1) == 0:
        return KeyStaging(*sizes, True), ValueStaging(*sizes, True)
    return keys, values


class _Source:
    """A thread's part of tiles in memory that begin at any key.

    Where a tile begins is the same for all threads: a scalar offset. Waves of 32 add it to their own offsets, since
    RDNA does not count scalar offsets where it compares with the end of a buffer.
    """

    def __init__(self, copy: Any, part: fx.Tensor, tiles: Any) -> None:
        self._copy, self._part, self._tiles = copy, part, tiles
        self.first = part[None, None, None, 0]

    def load(self, first: fx.Int32, fragment: fx.Tensor) -> None:
        """Load the tile from key `first` on."""
        if geometry().lanes == 64:
            fx.copy(self._copy, self.first, fragment, soffset=fx.crd2idx((0, 0, first), self._tiles).unpack())
        else:
            fx.copy(self._copy, self._part[None, None, None, first], fragment)


class KeyStaging:
    """Loads a tile of keys, stores it.

    Args:
        element: the type of the keys.
        head_dim: elements of a key.
        kv_tile: keys of a tile.
        threads: of the workgroup.
        stages: tiles in LDS.
        swizzled: rows of LDS are swizzled, else padded.

    Attributes:
        elements: of LDS.
    """

    def __init__(self, element: Any, head_dim: int, kv_tile: int, threads: int, stages: int, swizzled: bool) -> None:
        self._element, self._shape = element, (kv_tile, head_dim, stages)
        self._parts, self._rows = _grid(head_dim // _PIECE, kv_tile, threads)
        self._copiers = self._rows * self._parts
        self._threads, self._row = threads, _Rows(head_dim, swizzled)
        self._pitch = self._row.pitch
        self._tile = kv_tile * self._pitch
        self.elements = stages * self._tile

    def tiles(self, lds: fx.Pointer) -> fx.Tensor:
        """The tensor (keys, elements of the head, stages) in LDS."""
        return fx.make_view(self._row.within(lds), fx.make_layout(self._shape, (self._pitch, 1, self._tile)))

    def blocks(self, lds: fx.Pointer) -> fx.Tensor:
        """The same as (keys of a block, elements of the head, blocks of all stages), blocks as of the first product."""
        (kv_tile, head_dim, stages), block = self._shape, geometry().tile
        shape = (block, head_dim, kv_tile // block * stages)
        return fx.make_view(self._row.within(lds), fx.make_layout(shape, (self._pitch, 1, block * self._pitch)))

    def prepare(self, thread: fx.Int32, keys: fx.Tensor, tiles: fx.Tensor) -> None:
        """Partition `keys`, a buffer tensor (keys of a tile, elements of the head, first key), and `tiles` of LDS."""
        across = fx.make_layout((self._rows, self._parts), (self._parts, 1)), fx.make_layout((1, _PIECE), (1, 1))
        fetch, put = (
            fx.make_tiled_copy_tv(fx.make_copy_atom(operation, self._element), *across)
            for operation in (fx.rocdl.BufferCopy128b(), fx.UniversalCopy128b())
        )
        self._put = put
        at, self._taken = _copier(thread, self._copiers, self._threads)
        self._source = _Source(fetch, fetch.get_slice(at).partition_S(keys), keys.layout)
        self._target = put.get_slice(at).partition_D(tiles)

    def fragment(self) -> fx.Tensor:
        """Registers for this thread's part of a tile."""
        return fx.make_fragment_like(self._source.first)

    def load(self, first: fx.Int32, fragment: fx.Tensor) -> None:
        """Load this thread's part of the tile from key `first` on; keys past the end of the buffer are zero."""
        self._source.load(first, fragment)

    def store(self, fragment: fx.Tensor, stage: int | fx.Int32) -> None:
        """Write what `load` brought to a tile in LDS."""
        if self._taken:  # known while tracing where all threads have a part
            fx.copy(self._put, fragment, self._target[None, None, None, stage])


class ValueStaging:
    """Loads squares of values, stores them transposed; arguments as those of `KeyStaging`."""

    def __init__(self, element: Any, head_dim: int, kv_tile: int, threads: int, stages: int, swizzled: bool) -> None:
        self._element, self._shape = element, (kv_tile, head_dim, stages)
        columns = head_dim // _GROUP
        self._columns, _ = _grid(columns, 1, threads // _LANES_ALONG_KEYS)
        groups = kv_tile // (_GROUP * _LANES_ALONG_KEYS)
        self._groups = groups if self._columns == columns and groups * columns * _LANES_ALONG_KEYS <= threads else 1
        self._copiers = _LANES_ALONG_KEYS * self._columns * self._groups
        self._threads, self._row = threads, _Rows(kv_tile, swizzled)
        self._pitch = self._row.pitch
        self._tile = head_dim * self._pitch
        self.elements = stages * self._tile

    def tiles(self, lds: fx.Pointer) -> fx.Tensor:
        """The tensor (keys, elements of the head, stages) in LDS."""
        kv_tile, head_dim, stages = self._shape
        extents, strides = geometry().keys
        keys = (*extents, kv_tile // STEP), (*strides, STEP)
        layout = fx.make_layout((keys[0], head_dim, stages), (keys[1], self._pitch, self._tile))
        return fx.make_view(self._row.within(lds), layout)

    def prepare(self, thread: fx.Int32, values: fx.Tensor, tiles: fx.Tensor) -> None:
        """Partition `values`, a buffer tensor (keys of a tile, elements of the head, first key), and `tiles` of LDS."""
        keys = _GROUP * _LANES_ALONG_KEYS * self._groups  # of the square of all threads
        # Lanes next to each other have groups of keys that are next to each other in LDS.
        lanes, column, group = _lanes_along_keys(), self._columns, self._groups
        threads = (*lanes[0], column, group), (*lanes[1], _GROUP * keys, _GROUP * _LANES_ALONG_KEYS)
        along_head, along_keys = (_GROUP, keys), (_GROUP, 1)

        def tiled(operation: Any, *held: tuple[int, int]) -> Any:
            """The copy in which a thread has a square; `held`: extent and stride of its modes."""
            layout = fx.make_layout((threads[0], tuple(n for n, _ in held)), (threads[1], tuple(s for _, s in held)))
            return fx.make_tiled_copy(fx.make_copy_atom(operation, self._element), layout, (keys, _GROUP * column))

        self._fetch = tiled(fx.rocdl.BufferCopy64b(), along_head, along_keys)
        self._put = tiled(fx.UniversalCopy64b(), along_keys, along_head)
        square, rest = _GROUP * _GROUP, (self._shape[0] // keys, self._shape[1] // (_GROUP * column))
        self._transposed = fx.make_layout(((_GROUP, _GROUP), *rest), ((_GROUP, 1), square, square * rest[0]))
        at, self._taken = _copier(thread, self._copiers, self._threads)
        self._source = _Source(self._fetch, self._fetch.get_slice(at).partition_S(values), values.layout)
        self._target = self._put.get_slice(at).partition_D(tiles)

    def fragment(self) -> fx.Tensor:
        """Registers for this thread's part of a tile."""
        return fx.make_fragment_like(self._source.first)

    def load(self, first: fx.Int32, fragment: fx.Tensor) -> None:
        """Load this thread's part of the tile from key `first` on; keys past the end of the buffer are zero."""
        self._source.load(first, fragment)

    def store(self, fragment: fx.Tensor, stage: int | fx.Int32) -> None:
        """Transpose what `load` brought in registers and write it to a tile in LDS."""
        if self._taken:  # known while tracing where all threads have a part
            turned = fx.make_fragment_like(fragment)
            transposed = fx.composition(fragment.layout, self._transposed)
            turned.store(fx.make_view(fragment.iter, transposed).load())
            fx.copy(self._put, turned, self._target[None, None, None, stage])


class StagedTurns:
    """Tiles of keys, or of values, on their way: one in registers, and in LDS those of the turns before it.

    Args:
        staging: what moves them, prepared.
        schedule: which tile comes at a turn.
        stages: tiles in LDS.
        late: who calls loads the next tile when it is time; `follow` does not.
    """

    def __init__(
        self, staging: KeyStaging | ValueStaging, schedule: TileSchedule, stages: int, late: bool = False
    ) -> None:
        self._staging, self.schedule, self._stages, self._late = staging, schedule, stages, late
        self._next = staging.fragment()

    def stage_of(self, turn: int | fx.Int32) -> int | fx.Int32:
        """The tile of LDS that is for a turn."""
        return 0 if self._stages == 1 else turn & 1

    def load(self, turn: fx.Int32) -> None:
        """Load a turn's tile to registers."""
        self._staging.load(self.schedule.first_key(turn), self._next)

    def store(self, turn: fx.Int32) -> None:
        """Write what was loaded, a turn's tile, to LDS."""
        self._staging.store(self._next, self.stage_of(turn))

    def follow(self, turn: fx.Int32) -> None:
        """Bring the tile of the turn that follows to LDS, and load the next one."""
        self.store(turn - 1)
        if not self._late:
            self.load(turn - 2)


def _lanes_along_keys() -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Extents and strides of the first keys of eight lanes that follow each other, in the order of LDS."""
    (first, *extents), (_, *strides) = geometry().keys
    if first == STEP:
        return (_LANES_ALONG_KEYS,), (_GROUP,)
    return (*extents, _LANES_ALONG_KEYS * _GROUP // STEP), (*strides, STEP)


def _grid(parts: int, rows: int, threads: int) -> tuple[int, int]:
    """So many of the parts of a row, and rows, as divide them and take most of the threads; long rows first."""
    grids = [(p, r) for p in range(1, parts + 1) for r in range(1, rows + 1) if parts % p == 0 and rows % r == 0]
    return max((grid for grid in grids if grid[0] * grid[1] <= threads), key=lambda grid: (grid[0] * grid[1], grid[0]))


def _copier(thread: Any, copiers: int, threads: int) -> tuple[Any, Any]:
    """The thread's number among those that copy, and whether it is one; the others load what the last one does."""
    if copiers == threads:
        return thread, True
    return fx.min(thread, fx.Int32(copiers - 1)), thread < copiers
