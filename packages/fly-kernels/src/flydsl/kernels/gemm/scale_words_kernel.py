# SPDX-License-Identifier: Apache-2.0
"""E8M0 scales of both operands in the order that scaled matrix products read, in one launch.

What `common.scale_shuffle.shuffle_scale` does on the host, for tensors on the device: scales (rows, K / 32) of bytes
become words (ceil(rows / 32), ceil(K / 256), 64), of which word 16 g + r of a block has in its byte 2 p + q the scale
of row 16 q + r and number 4 p + g along K, or 0 where there is none. A thread makes a word from four bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from flydsl.runtime.device import get_rocm_arch

from ..common.checks import positive_integer
from ..common.language import flyc, fx
from ..common.utils import cdiv
from ..common.views import load_number, store_number
from .arguments import check_count, expect_rows

if TYPE_CHECKING:
    import torch

__all__ = ["build_scale_words", "scale_words"]

_THREADS = 256
_ROWS, _COLUMNS, _WORDS = 32, 8, 64  # of a block


def build_scale_words(K: int) -> Callable[..., None]:
    """Build the launcher `(scale_a, scale_b, words_a, words_b, rows_a, rows_b, stream)`.

    Scales (rows, K / 32) of Uint8, contiguous; words of Int32, as many as the page's top says. K is a multiple of 32.

    Raises ValueError for another K.
    """
    positive_integer("K", K)
    if K % 32:
        raise ValueError(f"K = {K} is no multiple of 32, the elements of a scale")
    columns, across = K // 32, cdiv(K // 32, _COLUMNS)

    def count(rows: Any) -> Any:
        return fx.Int64(cdiv(rows, _ROWS)) * (across * _WORDS)

    @flyc.kernel(name=f"scale_words_{K}", known_block_size=(_THREADS, 1, 1))
    def scale_words_kernel(
        scale_a: fx.Tensor,
        scale_b: fx.Tensor,
        words_a: fx.Tensor,
        words_b: fx.Tensor,
        rows_a: fx.Int32,
        rows_b: fx.Int32,
    ) -> None:
        index = fx.block_idx.x * _THREADS + fx.thread_idx.x
        lane, block = index % _WORDS, index // _WORDS
        along, down = block % across, block // across
        first_row, first_column = down * _ROWS + lane % 16, along * _COLUMNS + lane // 16

        def arrange(scale: Any, words: Any, rows: Any) -> None:
            word = fx.Int32(0)
            for pack in range(2):
                for half in range(2):
                    row, column = first_row + 16 * half, first_column + 4 * pack
                    byte = load_number(scale, row * columns + column, (row < rows) & (column < columns))
                    word = word | byte.to(fx.Int32) << 8 * (2 * pack + half)
            store_number(words, index, word, down * _ROWS < rows)

        if fx.block_idx.y == 0:
            arrange(scale_a, words_a, rows_a)
        else:
            arrange(scale_b, words_b, rows_b)

    @flyc.jit
    def launch(
        scale_a: fx.Tensor,
        scale_b: fx.Tensor,
        words_a: fx.Tensor,
        words_b: fx.Tensor,
        rows_a: fx.Int32,
        rows_b: fx.Int32,
        stream: fx.Stream = fx.Stream(None),
    ) -> None:
        for name, scale, words, rows in (("a", scale_a, words_a, rows_a), ("b", scale_b, words_b, rows_b)):
            expect_rows(f"scale_{name}", scale, fx.Uint8)
            expect_rows(f"words_{name}", words, fx.Int32)
            check_count(f"scale_{name}", scale, fx.Int64(rows) * columns, exact=True)
            check_count(f"words_{name}", words, count(rows), exact=True)
        most = fx.max(cdiv(rows_a, _ROWS), cdiv(rows_b, _ROWS)) * (across * _WORDS)
        scale_words_kernel(scale_a, scale_b, words_a, words_b, rows_a, rows_b).launch(
            grid=(cdiv(most, _THREADS), 2), block=(_THREADS,), stream=stream
        )

    built: Callable[..., None] = launch
    return built


@lru_cache(maxsize=256)
def _built(arch: str, K: int) -> Callable[..., None]:
    """`arch` only distinguishes."""
    return build_scale_words(K)


def scale_words(
    scale_a: torch.Tensor, scale_b: torch.Tensor, K: int, stream: int | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """The words (int32) of scales (rows, K / 32) of one byte each, in memory of torch's."""
    import torch

    scales = [one.contiguous().view(torch.uint8) for one in (scale_a, scale_b)]
    rows = [one.shape[0] for one in scales]
    blocks = [cdiv(one, _ROWS) * cdiv(K, 32 * _COLUMNS) * _WORDS for one in rows]
    words = [scale_a.new_empty(one, dtype=torch.int32) for one in blocks]
    _built(get_rocm_arch().split(":")[0], K)(*scales, *words, *rows, stream)
    return words[0], words[1]
