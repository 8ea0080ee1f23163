# SPDX-License-Identifier: Apache-2.0
"""Which tiles of keys a workgroup visits, and in which order.

Tiles are visited by turns, from the last turn down to turn 0, those with masked keys first. Without a window on the
left that is from the last tile to the first; with one, the tiles at both ends have masked keys:

    tiles      low ........ edge .............. plain ........ high
               masked       nothing masked      masked
    turns      [P, P + L)   [0, P)              [P + L, count)          P = plain - edge, L = edge - low

With the keys split over workgroups each gets as many tiles of those that its rows see, one after the other, and takes
the first one that it visits for masked, since there rows meet their first keys.
"""

from __future__ import annotations

from typing import Any

from ..common.language import fx
from .variant import AttentionVariant


class TileSchedule:
    """The turns of one workgroup, and what one of its waves sees.

    Args:
        variant: whether there are windows, splits, and a tile that has keys past the end.
        causal: whether a query row sees no key after its own.
        kv_tile: keys of a tile.
        block: first query row of the workgroup and their number.
        wave: first query row of the wave and their number.
        seq_len, seq_len_kv: query rows and keys of the sequence.
        part: which of the splits this is.

    Attributes:
        count: turns; none where no row of the workgroup sees a key.
        plain: the turn below which no key is masked.
    """

    def __init__(
        self,
        variant: AttentionVariant,
        causal: bool,
        kv_tile: int,
        block: tuple[Any, int],
        wave: tuple[Any, int],
        seq_len: Any,
        seq_len_kv: Any,
        part: Any,
    ) -> None:
        left, right = variant.bounds(causal)
        shift = seq_len_kv - seq_len  # query row r stands at key r + shift
        self._left, self._right, self._shift, self._kv_tile, self._seq_len_kv = left, right, shift, kv_tile, seq_len_kv
        self._to_diagonal = variant.whole_tiles and right == 0  # where no row that is written sees a key past the end

        def tiles_to(key: Any) -> Any:
            return (key + (kv_tile - 1)) // kv_tile

        def past(rows: tuple[Any, int]) -> Any:
            """The first key that no row sees."""
            key = fx.max(fx.min(rows[0] + rows[1], seq_len) + shift + (right or 0), fx.Int32(0))
            return fx.min(key, seq_len_kv) if right else key

        def first(row: Any) -> Any:
            """The first key that the row sees."""
            return fx.max(row + shift - left, fx.Int32(0))

        high = tiles_to(seq_len_kv)
        self._wave_high, plain = high, high - 1
        if variant.whole_tiles:
            plain = high
        if right is not None:
            high = tiles_to(past(block))
            self._wave_high = tiles_to(past(wave))
            plain = fx.min(fx.max(block[0] + shift + right, fx.Int32(0)) // kv_tile, high - 1)
        if variant.varlen:  # a block past the end of its sequence
            high = (block[0] < seq_len).select(high, fx.Int32(0))
        low = None  # the first tile
        if left is not None:
            low = first(block[0]) // kv_tile
            self._wave_low = first(wave[0]) // kv_tile
        self.count = high if low is None else fx.max(high - low, fx.Int32(0))
        if variant.splits > 1:
            share = (self.count + (variant.splits - 1)) // variant.splits
            begin = part * share
            self.count = fx.max(fx.min(share, self.count - begin), fx.Int32(0))
            low = begin if low is None else low + begin
            plain = fx.min(plain, low + self.count - 1)
        self._low, self._edge, self._lower = low, low, 0
        if left is not None:
            self._edge = fx.max(tiles_to(first(fx.min(block[0] + block[1], seq_len) - 1)), low)
            self._lower = self._edge - low
        self.plain = plain if low is None else fx.max(plain - self._edge, fx.Int32(0))

    def tile(self, turn: Any) -> Any:
        """The tile of a turn."""
        if self._low is None:
            return turn
        if self._left is None:
            return self._low + turn
        after = (turn < self.plain + self._lower).select(self.plain, fx.Int32(0))
        return turn + (turn < self.plain).select(self._edge, self._low - after)

    def first_key(self, turn: Any) -> Any:
        """The first key of a turn's tile; after turn 0 there is none: past the end, where loads give zero."""
        return fx.rocdl.readfirstlane((turn >= 0).select(self.tile(turn) * self._kv_tile, self._seq_len_kv))

    def seen(self, turn: Any) -> Any:
        """Whether a row of the wave sees a key of the turn's tile."""
        tile = self.tile(turn)
        seen = tile < self._wave_high
        return seen if self._left is None else seen & (tile >= self._wave_low)

    def visible(self, turn: Any, row: Any) -> tuple[Any, Any]:
        """The keys of the turn's tile that a row sees, counted from the tile's first: from, or None for all, and to."""
        first_key, diagonal, begin, end = self.tile(turn) * self._kv_tile, row + self._shift, None, self._seq_len_kv
        if self._right is not None:
            end = diagonal + 1 if self._to_diagonal else fx.min(end, diagonal + self._right + 1)
        if self._left is not None:
            begin = diagonal - self._left - first_key
        return begin, end - first_key
