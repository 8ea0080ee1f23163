# SPDX-License-Identifier: Apache-2.0
"""The way of a tile of keys and values from memory to LDS, for one thread of the workgroup.

Both go through registers, so that the loads of the next tile are in flight while this one is multiplied.

Keys stay as they are: row of LDS = key, 16 bytes of padding a row. A matrix operand is 8 neighbours of a row, one
ds_read_b128; the padding turns the rows by 4 banks each, so that the lanes of a phase, which read one column of 16
bytes, hit different banks.

Values are transposed: row of LDS = one of the head's elements, along it the keys, in the order in which the result of
the first product has them in its registers (`matrix`): within 16 keys, half h of the wave holds keys
4 h .. 4 h + 3 and 8 + 4 h .. 8 + 4 h + 3, and finds their values in 16 neighbouring bytes. A thread loads 4 elements of
4 neighbouring keys and writes 4 keys of 4 elements, 8 bytes each; 8 lanes that follow each other take 8 groups of keys,
so that the 16 lanes of a write phase fill 128 neighbouring bytes of banks. A load instruction reads 64-byte pieces.
"""

from __future__ import annotations

from typing import Any

from ..common.language import fx
from .matrix import FRAGMENT, STEP

_PAD = 8  # elements: 16 bytes
_GROUP = 4  # keys, and elements, of the square that a thread transposes
_LANES_ALONG_KEYS = 8


class KeyStaging:
    """Loads rows of keys, stores rows of keys."""

    def __init__(self, element: Any, head_dim: int, kv_tile: int, threads: int) -> None:
        self.element = element
        self.pitch = head_dim + _PAD
        self.elements = kv_tile * self.pitch
        self._per_row = head_dim // FRAGMENT
        self._units = kv_tile * self._per_row
        self._threads = threads

    def prepare(self, thread: Any, row_bytes: Any, lds: Any) -> None:
        """Fix the thread's places in memory (`row_bytes` from key to key) and in LDS."""
        self._rounds = []
        for first in range(0, self._units, self._threads):
            unit = thread + first
            whole = first + self._threads <= self._units
            taken = True if whole else unit < self._units
            if not whole:
                unit = fx.min(unit, fx.Int32(self._units - 1))
            key, part = unit // self._per_row, unit % self._per_row
            self._rounds.append((key * row_bytes + part * 16, lds + (key * self.pitch + part * FRAGMENT), taken))

    def load(self, resource: Any, tile_bytes: Any) -> list[Any]:
        """Load this thread's part of the tile at `tile_bytes`; rows past the end of the resource are zero."""
        kind = fx.Vector.make_type(4, fx.Int32)
        return [fx.Vector(fx.rocdl.raw_ptr_buffer_load(kind, resource, at, tile_bytes)) for at, _, _ in self._rounds]

    def store(self, loaded: list[Any]) -> None:
        """Write what `load` gave to LDS."""
        for values, (_, place, taken) in zip(loaded, self._rounds, strict=True):
            _store_if(taken, values.bitcast(self.element), place)


class ValueStaging:
    """Loads squares of values, stores them transposed."""

    def __init__(self, element: Any, head_dim: int, kv_tile: int, threads: int) -> None:
        self.element = element
        self.pitch = kv_tile + _PAD
        self.elements = head_dim * self.pitch
        self._columns = head_dim // _GROUP
        self._units = self._columns * (kv_tile // _GROUP)
        self._threads = threads

    def prepare(self, thread: Any, row_bytes: Any, lds: Any) -> None:
        """Fix the thread's places in memory (`row_bytes` from key to key) and in LDS."""
        self._row_bytes = row_bytes
        self._rounds = []
        for first in range(0, self._units, self._threads):
            unit = thread + first
            whole = first + self._threads <= self._units
            taken = True if whole else unit < self._units
            if not whole:
                unit = fx.min(unit, fx.Int32(self._units - 1))
            column = (unit // _LANES_ALONG_KEYS) % self._columns
            # `slot`: the 8 bytes of a row of LDS; `keys`: the keys that belong there.
            slot = unit % _LANES_ALONG_KEYS + unit // (_LANES_ALONG_KEYS * self._columns) * _LANES_ALONG_KEYS
            keys = slot // 4 * STEP + slot % 2 * 8 + slot // 2 % 2 * 4
            at = keys * row_bytes + column * (2 * _GROUP)
            self._rounds.append((at, lds + (column * (_GROUP * self.pitch) + slot * _GROUP), taken))

    def load(self, resource: Any, tile_bytes: Any) -> list[Any]:
        """Load this thread's part of the tile at `tile_bytes`; rows past the end of the resource are zero."""
        kind = fx.Vector.make_type(2, fx.Int32)
        return [
            fx.Vector(fx.rocdl.raw_ptr_buffer_load(kind, resource, at + row * self._row_bytes, tile_bytes))
            for at, _, _ in self._rounds
            for row in range(_GROUP)
        ]

    def store(self, loaded: list[Any]) -> None:
        """Transpose what `load` gave in registers and write it to LDS."""
        for index, (_, place, taken) in enumerate(self._rounds):
            rows = loaded[index * _GROUP : (index + 1) * _GROUP]
            for element in range(_GROUP):
                word, selector = element // 2, 0x07060302 if element % 2 else 0x05040100
                words = [fx.rocdl.perm_b32(rows[k + 1][word], rows[k][word], selector) for k in (0, 2)]
                column = fx.Vector.from_elements(words).bitcast(self.element)
                _store_if(taken, column, place + element * self.pitch)


def _store_if(taken: Any, values: Any, place: Any) -> None:
    if taken:  # known while tracing where all threads have a part
        place.store(values)
