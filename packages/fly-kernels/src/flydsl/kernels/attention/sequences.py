# SPDX-License-Identifier: Apache-2.0
"""The tokens of one sequence as tensors, and the tiles of keys that begin at any of them."""

from __future__ import annotations

from typing import Any

from ..common.language import fx
from ..common.views import MOST, start_of


def tokens_of(tensor: fx.Tensor, row: int | fx.Int32, extents: tuple[fx.Int32, int, int], first: fx.Int64) -> fx.Tensor:
    """The buffer tensor of `extents` (tokens, elements of a head, heads) from token `first` (i64) on.

    Tokens are `row` elements apart; those past the end read zero, and are not written.
    """
    count, head_dim, heads = extents
    layout = fx.make_layout((count, head_dim, heads, MOST), (row, 1, head_dim, row))
    tokens: Any = fx.make_view(start_of(tensor), layout)[None, None, None, first]
    size = fx.Int64(count) * fx.Int64(row) * (tensor.dtype.width // 8)
    found: fx.Tensor = fx.rocdl.make_buffer_tensor(tokens, num_records_bytes=size)
    return found


def key_tiles(tokens: fx.Tensor, kv_tile: int) -> fx.Tensor:
    """Tiles of a head's keys that begin at any of them: (keys of a tile, elements of the head, first key)."""
    (_, head_dim), (row, _) = tokens.shape.unpack(), tokens.stride.unpack()
    return fx.make_view(tokens.iter, fx.make_layout((kv_tile, head_dim, MOST), (row, 1, row)))


def one_of(tensor: fx.Tensor, index: fx.Int32) -> Any:
    """An element that is the same for the whole wave, in scalar registers."""
    return fx.rocdl.readfirstlane(tensor[index])


def bounds_of(starts: fx.Tensor, batch: fx.Int32) -> tuple[fx.Int32, fx.Int32]:
    """First token and length of a sequence."""
    first = one_of(starts, batch)
    return first, one_of(starts, batch + 1) - first
