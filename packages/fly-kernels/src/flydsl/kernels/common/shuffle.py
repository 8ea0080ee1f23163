# SPDX-License-Identifier: Apache-2.0
"""The memory order of weights that the GEMMs read without LDS, made on the host.

A weight (N, K) is cut into blocks of 16 rows by 16 bytes of K ("packs"). A pack of 16 neighbouring K-bytes of one row
stays together, the packs of 16 rows follow each other, then comes the next pack along K, then the next 16 rows:

    offset(n, k) = (n // 16) * 16 K + (k // P) * 16 P + (n mod 16) * P + k mod P        P = 16 / element size

So the 64 lanes of a wave, 16 rows by 4 packs, read 1024 bytes in one piece, and each lane has the operand of a matrix
instruction in the registers of one 128-bit load.
"""

from __future__ import annotations

from typing import Any

__all__ = ["ShuffledWeights", "shuffle_weight", "unshuffle_weight"]

_PACK_BYTES = 16


_PACK_INT4 = 32


def _geometry(what: str, weight: Any, layout: tuple[int, int], use_int4: bool = False) -> tuple[int, int, int, int]:
    """N, K, the rows of a block and the elements of a pack; ValueError for what does not divide."""
    size = weight.element_size() if hasattr(weight, "element_size") else weight.itemsize
    if len(layout) != 2 or any(isinstance(one, bool) or not isinstance(one, int) or one < 1 for one in layout):
        raise ValueError(f"{what}: layout is a pair of positive ints (rows, half the K of a block), got {layout!r}")
    if len(weight.shape) < 2:
        raise ValueError(f"{what}: expected (..., N, K), got shape {tuple(weight.shape)}")
    if size not in (1, 2, 4, 8, 16):
        raise ValueError(f"{what}: elements of {size} bytes do not fill packs of 16 bytes")
    rows, depth = layout[0], 2 * layout[1]
    n, k = weight.shape[-2:]
    pack = _PACK_INT4 if use_int4 else _PACK_BYTES // size
    if use_int4 and size != 1:
        raise ValueError(f"{what}: use_int4 takes int4 values as int8, not elements of {size} bytes")
    if n % rows:
        raise ValueError(f"{what}: N = {n} is no multiple of {rows}")
    if k % depth or k % pack:
        raise ValueError(f"{what}: K = {k} is no multiple of {depth}")
    return n, k, rows, pack


def _reordered(weight: Any, shape: tuple[int, ...], order: tuple[int, ...]) -> Any:
    """A contiguous copy with the modes of `shape` in another order, in the shape of `weight`."""
    if hasattr(weight, "permute"):  # torch
        return weight.reshape(shape).permute(order).contiguous().view(weight.shape)
    return weight.reshape(shape).transpose(order).copy().reshape(weight.shape)


def shuffle_weight(B: Any, layout: tuple[int, int] = (16, 16), use_int4: bool = False) -> Any:
    """Return a copy of the weights in the order that preshuffled GEMMs read.

    Args:
        B: (..., N, K), a torch tensor or numpy array of any element size up to 16 bytes that divides 16.
        layout: rows of a block, and half its elements along K; the GEMMs of this library take (16, 16).
        use_int4: B has int4 values, one a byte, whose packs are 16 bytes when two share one: 32 of them. The GEMMs of
            this library take them otherwise, see `gemm.int4_weights`.

    Returns the same kind, type and shape; element (n, k) is where the page's formula says (with layout[0] for 16).

    Raises:
        ValueError: N is no multiple of layout[0], or K none of 2 * layout[1].
    """
    n, k, rows, pack = _geometry("shuffle_weight", B, layout, use_int4)
    return _reordered(B, (-1, n // rows, rows, k // pack, pack), (0, 1, 3, 2, 4))


def unshuffle_weight(B: Any, layout: tuple[int, int] = (16, 16), use_int4: bool = False) -> Any:
    """Return a copy in row-major order of what `shuffle_weight` gave; arguments and errors as there."""
    n, k, rows, pack = _geometry("unshuffle_weight", B, layout, use_int4)
    return _reordered(B, (-1, n // rows, k // pack, rows, pack), (0, 1, 3, 2, 4))


class ShuffledWeights:
    """Shuffled copies of torch weights, each made once and again only when the weight has changed.

    A copy belongs to a storage (held weakly, so that another tensor at the same address is another weight), the view
    of it, and the version counter that torch raises at each in-place change. Writes that bypass the counter (through
    `.data`, numpy or a kernel that torch does not know) are not seen: call `forget` after them. Copies of storages that
    died are dropped at the next call.
    """

    def __init__(self) -> None:
        self._copies: dict[tuple[Any, ...], tuple[Any, int, Any]] = {}

    def __len__(self) -> int:
        return len(self._copies)

    def __call__(self, weight: Any, layout: tuple[int, int] = (16, 16)) -> Any:
        """Return `shuffle_weight(weight, layout)`, from the cache if the weight is what it was.

        Raises TypeError for what is no torch tensor: other arrays have no version counter.
        """
        import torch
        from torch.multiprocessing.reductions import StorageWeakRef

        if not isinstance(weight, torch.Tensor):
            raise TypeError(f"ShuffledWeights needs the version counter of a torch tensor, got {type(weight).__name__}")
        self._copies = {key: entry for key, entry in self._copies.items() if not entry[0].expired()}
        if weight.is_inference():  # these have no version counter
            return shuffle_weight(weight, layout)
        storage = weight.untyped_storage()
        view = (weight.storage_offset(), tuple(weight.shape), weight.stride(), weight.dtype, tuple(layout))
        key = (storage._cdata, *view)
        known = self._copies.get(key)
        if known is None or known[1] != weight._version:
            self._copies[key] = known = (
                StorageWeakRef(storage),
                weight._version,
                shuffle_weight(weight.detach(), layout),
            )
        return known[2]

    def forget(self) -> None:
        """Drop all copies."""
        self._copies.clear()
