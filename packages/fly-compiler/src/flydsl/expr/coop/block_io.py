# SPDX-License-Identifier: Apache-2.0
"""Loading and storing the items of a workgroup."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

from ..values.numeric.base import as_numeric
from ..values.numeric.types import Int32
from ..values.pointer import Pointer
from ..values.tensor import Tensor, make_rmem_tensor
from ..values.vector import Vector
from ..values.vector_alias import VectorAlias
from .block_exchange import arrangement
from .specialise import Collective, permuted, when

if TYPE_CHECKING:
    from ..values.accepted import CollectiveStorage

__all__ = ["IO", "BlockLoad", "BlockLoadAlgorithm", "BlockStore", "BlockStoreAlgorithm", "load_items", "store_items"]


class BlockLoadAlgorithm(enum.Enum):
    """How a block loads: in which order threads read, and in which they get the items."""

    DIRECT = "direct"
    STRIPED = "striped"
    VECTORIZE = "vectorize"
    TRANSPOSE = "transpose"
    WARP_TRANSPOSE = "warp_transpose"
    WARP_TRANSPOSE_TIMESLICED = "warp_transpose_timesliced"


class BlockStoreAlgorithm(enum.Enum):
    """How a block stores."""

    DIRECT = "direct"
    STRIPED = "striped"
    VECTORIZE = "vectorize"
    TRANSPOSE = "transpose"
    WARP_TRANSPOSE = "warp_transpose"
    WARP_TRANSPOSE_TIMESLICED = "warp_transpose_timesliced"


# The order that memory is touched in; the transposing ones bring items into blocked order through LDS.
_ORDER = {
    "DIRECT": "blocked", "VECTORIZE": "blocked", "STRIPED": "striped", "TRANSPOSE": "striped",
    "WARP_TRANSPOSE": "warp_striped", "WARP_TRANSPOSE_TIMESLICED": "warp_striped",
}  # fmt: skip


def _pointer(memory: Any, what: str) -> Pointer:
    if isinstance(memory, Tensor):
        memory = memory.iter
    if not isinstance(memory, Pointer):
        raise TypeError(f"{what} takes a tensor or a pointer, not {type(memory).__name__}")
    return memory


def load_items(
    cls: Any, source: Any, storage: CollectiveStorage | None, offset: Any, valid_items: Any, default: Any
) -> Vector:
    """Return the items of this thread, loaded by the algorithm of the collective `cls`."""
    pointer, n = _pointer(source, cls.__name__), cls.items_per_thread
    order = arrangement(cls, _ORDER[cls.algorithm.name])
    if cls.algorithm.name == "VECTORIZE" and valid_items is None and n & (n - 1) == 0:
        loaded: Vector = (pointer + offset + cls.thread() * n).load(VectorAlias(cls.dtype, n))
        return loaded
    items = make_rmem_tensor(n, cls.dtype)
    if valid_items is not None:
        items.fill(default)
    for i in range(n):
        index = order(i)
        if valid_items is None:
            items[i] = pointer[index + offset]
        else:
            with when(index < valid_items):
                items[i] = pointer[index + offset]
    loaded = items.load()
    if not cls.needs_storage(storage):
        return loaded
    blocked = arrangement(cls, "blocked")
    return Vector.from_elements(permuted(cls, list(loaded), order, blocked, cls.slots(storage), cls.slices()))


def store_items(
    cls: Any, destination: Any, value: Any, storage: CollectiveStorage | None, offset: Any, valid_items: Any
) -> None:
    """Store the items of this thread by the algorithm of the collective `cls`."""
    pointer, items, n = _pointer(destination, cls.__name__), cls.items(value), cls.items_per_thread
    order = arrangement(cls, _ORDER[cls.algorithm.name])
    if cls.needs_storage(storage):
        items = permuted(cls, items, arrangement(cls, "blocked"), order, cls.slots(storage), cls.slices())
    if cls.algorithm.name == "VECTORIZE" and valid_items is None and n & (n - 1) == 0:
        (pointer + offset + cls.thread() * n).store(Vector.from_elements(items))
        return
    for i, item in enumerate(items):
        index = order(i)
        if valid_items is None:
            pointer[index + offset] = item
        else:
            with when(index < as_numeric(valid_items).to(Int32)):
                pointer[index + offset] = item


class IO(Collective):
    """What loads and stores of waves and blocks have in common."""

    parameters = ("items_per_thread",)

    @classmethod
    def slices(cls) -> int:
        """Return in how many turns items are transposed."""
        return int(cls.num_warps) if cls.algorithm.name.endswith("TIMESLICED") else 1

    @classmethod
    def storage_slots(cls) -> int:
        """Return the number of slots: one per item where items are transposed, else none."""
        transposed = "TRANSPOSE" in cls.algorithm.name
        return int(cls.block_threads * cls.items_per_thread // cls.slices()) if transposed else 0

    @classmethod
    def needs_storage(cls, storage: CollectiveStorage | None) -> bool:
        """Tell whether items go through LDS; `TypeError` when they do and there is no storage."""
        if cls.storage_slots() and storage is None:
            raise TypeError(f"{cls.__name__} needs storage= of its SharedStorage")
        return bool(cls.storage_slots())


class BlockLoad(IO):
    """`BlockLoad[dtype, block_size, items_per_thread, algorithm](source, ...)`: the items of this thread, a `Vector`.

    Items are in blocked order; by STRIPED, in striped order. `source` is a tensor or pointer, of which the first
    block_threads * items_per_thread elements from `offset` on are meant, or `valid_items` of them: the others are
    `default`, and are not read.
    """

    algorithms = BlockLoadAlgorithm
    algorithm = BlockLoadAlgorithm.DIRECT

    @classmethod
    def _call(
        cls, source: Any, *, storage: Any = None, offset: Any = 0, valid_items: Any = None, default: Any = 0
    ) -> Any:
        return load_items(cls, source, storage, offset, valid_items, default)


class BlockStore(IO):
    """`BlockStore[dtype, block_size, items_per_thread, algorithm](destination, value, ...)`: the opposite of a load."""

    algorithms = BlockStoreAlgorithm
    algorithm = BlockStoreAlgorithm.DIRECT

    @classmethod
    def _call(
        cls, destination: Any, value: Any, *, storage: Any = None, offset: Any = 0, valid_items: Any = None
    ) -> None:
        store_items(cls, destination, value, storage, offset, valid_items)
