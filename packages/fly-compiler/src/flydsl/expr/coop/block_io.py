# SPDX-License-Identifier: Apache-2.0
"""Loading and storing the items of a workgroup."""

from __future__ import annotations

import enum
from typing import Any

from ..gpu import barrier
from ..numeric.base import as_numeric
from ..numeric.types import Int32
from ..pointer import Pointer
from ..tensor import Tensor, make_rmem_tensor
from ..vector import Vector, VectorAlias
from .block_exchange import arrangement
from .specialise import Collective, when

__all__ = ["BlockLoad", "BlockLoadAlgorithm", "BlockStore", "BlockStoreAlgorithm"]


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
    "WARP_TRANSPOSE": "warp_striped",
}  # fmt: skip


def _pointer(memory: Any, what: str) -> Pointer:
    if isinstance(memory, Tensor):
        memory = memory.iter
    if not isinstance(memory, Pointer):
        raise TypeError(f"{what} takes a tensor or a pointer, not {type(memory).__name__}")
    return memory


class _BlockIO(Collective):
    parameters = ("items_per_thread",)

    @classmethod
    def storage_slots(cls) -> int:
        """Return the number of slots: one per item where items are transposed, else none."""
        return cls.block_threads * cls.items_per_thread if "TRANSPOSE" in cls.algorithm.name else 0

    @classmethod
    def _needs_storage(cls, storage: Any) -> bool:
        if cls.storage_slots() and storage is None:
            raise TypeError(f"{cls.__name__} needs storage= of its SharedStorage")
        return bool(cls.storage_slots())


class BlockLoad(_BlockIO):
    """`BlockLoad[dtype, block_size, items_per_thread, algorithm](source, ...)`: the items of this thread, a `Vector`.

    Items are in blocked order; by STRIPED, in striped order. `source` is a tensor or pointer, of which the first
    block_threads * items_per_thread elements from `offset` on are meant, or `valid_items` of them: the others are
    `default`, and are not read.
    """

    algorithms = BlockLoadAlgorithm
    algorithm = BlockLoadAlgorithm.DIRECT
    unsupported = (BlockLoadAlgorithm.WARP_TRANSPOSE_TIMESLICED,)

    @classmethod
    def _call(
        cls, source: Any, *, storage: Any = None, offset: Any = 0, valid_items: Any = None, default: Any = 0
    ) -> Any:
        pointer, n = _pointer(source, "BlockLoad"), cls.items_per_thread
        place = arrangement(cls, _ORDER[cls.algorithm.name])
        if cls.algorithm is BlockLoadAlgorithm.VECTORIZE and valid_items is None and n & (n - 1) == 0:
            return (pointer + offset + cls.thread() * n).load(VectorAlias(cls.dtype, n))
        items = make_rmem_tensor(n, cls.dtype)
        items.fill(default)
        for i in range(n):
            index = place(i)
            if valid_items is None:
                items[i] = pointer[index + offset]
            else:
                with when(index < valid_items):
                    items[i] = pointer[index + offset]
        loaded = items.load()
        if not cls._needs_storage(storage):
            return loaded
        slots = cls.slots(storage)
        for i in range(n):
            slots[place(i)] = loaded[i]
        barrier()
        return Vector.from_elements([slots[cls.thread() * n + i] for i in range(n)])


class BlockStore(_BlockIO):
    """`BlockStore[dtype, block_size, items_per_thread, algorithm](destination, value, ...)`: the opposite of a load."""

    algorithms = BlockStoreAlgorithm
    algorithm = BlockStoreAlgorithm.DIRECT
    unsupported = (BlockStoreAlgorithm.WARP_TRANSPOSE_TIMESLICED,)

    @classmethod
    def _call(
        cls, destination: Any, value: Any, *, storage: Any = None, offset: Any = 0, valid_items: Any = None
    ) -> None:
        pointer, items, n = _pointer(destination, "BlockStore"), cls.items(value), cls.items_per_thread
        place = arrangement(cls, _ORDER[cls.algorithm.name])
        if cls._needs_storage(storage):
            slots = cls.slots(storage)
            for i, item in enumerate(items):
                slots[cls.thread() * n + i] = item
            barrier()
            items = [slots[place(i)] for i in range(n)]
        if cls.algorithm is BlockStoreAlgorithm.VECTORIZE and valid_items is None and n & (n - 1) == 0:
            (pointer + offset + cls.thread() * n).store(Vector.from_elements(items))
            return
        for i, item in enumerate(items):
            index = place(i)
            if valid_items is None:
                pointer[index + offset] = item
            else:
                with when(index < as_numeric(valid_items).to(Int32)):
                    pointer[index + offset] = item
