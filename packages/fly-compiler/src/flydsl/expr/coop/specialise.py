# SPDX-License-Identifier: Apache-2.0
"""What the collective classes share: `Collective[dtype, block_size, ...]` makes and keeps a specialised class."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

from flydsl._mlir import ir
from flydsl.trace import context as _trace
from flydsl.trace.build import build_op
from flydsl.trace.diagnostics import where_text

from ..ops.gpu import barrier, thread_idx
from ..values.numeric.base import _class_of, as_numeric, select
from ..values.numeric.meta import NumericMeta
from ..values.storable import Array
from ..values.storage import storage_of_handles
from ..values.struct import Empty, Struct, is_struct_type
from ..values.vector import Vector

if TYPE_CHECKING:
    from ..values.accepted import CollectiveStorage

__all__ = ["Collective", "CollectiveMeta", "items_of", "packed", "permuted", "slots_struct", "when"]


@contextmanager
def when(condition: Any) -> Iterator[None]:
    """Build what follows for the threads where `condition` is true."""
    op = build_op("scf.if", (as_numeric(condition).__dsl_bool__().ir_value(),), regions=2)
    with ir.InsertionPoint(op.regions[0].blocks.append()):
        yield
        build_op("scf.yield", ())


def items_of(value: Any, dtype: NumericMeta) -> list[Any]:
    """Return the items of a thread, a scalar or a `Vector`, as scalars of `dtype`."""
    lanes = list(value) if isinstance(value, Vector) else [as_numeric(value)]
    return [lane.to(dtype) for lane in lanes]


def packed(items: Sequence[Any], like: Any) -> Any:
    """Return items as a `Vector` where `like` is one, else the one item."""
    return Vector.from_elements(items) if isinstance(like, Vector) else items[0]


def permuted(
    cls: Any, items: Sequence[Any], write: Callable[[int], Any], read: Callable[[int], Any], slots: Any, slices: int = 1
) -> list[Any]:
    """Return the items at the numbers `read(i)` after all threads have put theirs at `write(i)`.

    With `slices`, one part of the numbers after the other goes through the slots, which are that many times fewer.
    """
    if slices == 1:
        for i, item in enumerate(items):
            slots[write(i)] = item
        cls.sync()
        return [slots[read(i)] for i in range(len(items))]
    size, found = cls.block_threads * len(items) // slices, list(items)
    for part in range(slices):
        if part:
            cls.sync()
        for i, item in enumerate(items):
            slot = as_numeric(write(i)) - part * size
            with when((slot >= 0) & (slot < size)):
                slots[slot] = item
        cls.sync()
        for i in range(len(items)):
            slot = as_numeric(read(i)) - part * size
            inside = (slot >= 0) & (slot < size)
            found[i] = select(inside, slots[select(inside, slot, 0)], found[i])
    return found


def slots_struct(dtype: NumericMeta, count: int) -> Any:
    """Return the storage of a collective: `count` slots of `dtype`."""
    return Struct.__class_getitem__(slice("slots", Array[dtype, count])) if count else Empty


def _block_size(size: Any) -> tuple[int, int, int]:
    extents = size if isinstance(size, (tuple, list)) else (size,)
    if not 1 <= len(extents) <= 3 or any(isinstance(e, bool) or not isinstance(e, int) or e < 1 for e in extents):
        raise ValueError(f"block_size is a positive int or up to three of them, got {size!r}")
    x, y, z = (*extents, 1, 1)[:3]
    return x, y, z


class CollectiveMeta(type):
    """Gives `Collective[...]`; calling the result is its `_call`."""

    def __getitem__(cls, key: Any) -> Any:
        return _specialise(cls, key)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """Run the collective; `TypeError` where it is not specialised, or has only named functions."""
        if cls.dtype is None:  # type: ignore[attr-defined]
            raise TypeError(f"specialize first: {cls.usage()}")  # type: ignore[attr-defined]
        return cls._call(*args, **kwargs)  # type: ignore[attr-defined]

    def __repr__(cls) -> str:
        return cls.__name__


class Collective(metaclass=CollectiveMeta):
    """Base of the collective classes; made by subscripting, never instantiated.

    Attributes of a specialised class: `dtype`, `value_dtype` (of pairs), `block_size`, `block_threads`, `warp_threads`,
    `num_warps`, the extra parameters, `algorithm`, and `SharedStorage`, the struct to allocate.
    """

    dtype: Any = None
    value_dtype: Any = None
    # Of a specialised class they are numbers; before that, None.
    block_size: tuple[int, int, int] = None  # type: ignore[assignment]
    block_threads: int = None  # type: ignore[assignment]
    warp_threads: int = None  # type: ignore[assignment]
    num_warps: int = None  # type: ignore[assignment]
    algorithm: Any = None
    SharedStorage: Any = None
    items_per_thread: int = 1

    extent: ClassVar[str] = "block_size"
    """What the second parameter is called."""
    extent_optional: ClassVar[bool] = False

    parameters: ClassVar[tuple[str, ...]] = ()
    """Names of the int parameters between the block size and the algorithm."""
    pairs: ClassVar[bool] = False
    """Whether the dtype may be a (key, value) pair."""
    algorithms: ClassVar[Any] = None
    unsupported: ClassVar[tuple[Any, ...]] = ()

    @classmethod
    def usage(cls) -> str:
        """Return how the class is subscripted."""
        dtype = "dtype or (key, value)" if cls.pairs else "dtype"
        parts = [dtype, cls.extent, *cls.parameters, *(["algorithm=..."] if cls.algorithms else [])]
        return f"{cls.__name__.split('[')[0]}[{', '.join(parts)}]"

    @classmethod
    def storage_slots(cls) -> int:
        """Return the number of slots of `dtype` that the collective needs."""
        return cls.block_threads * cls.items_per_thread

    @classmethod
    def thread(cls) -> Any:
        """Return the thread's number in the block, x fastest."""
        x, y, _ = cls.block_size
        index = thread_idx.x
        if cls.block_size[1] > 1:
            index = index + thread_idx.y * x
        if cls.block_size[2] > 1:
            index = index + thread_idx.z * (x * y)
        return index

    @classmethod
    def sync(cls) -> None:
        """Wait until all threads of the collective have come here and see each other's writes."""
        barrier()

    @classmethod
    def threads_of(cls, extent: Any) -> dict[str, Any]:
        """Return the attributes that the second parameter gives.

        Raises:
            ValueError: it is no positive int (or three of them), or does not divide into waves.
        """
        size = _block_size(extent)
        lanes, threads = _trace.target().warp_size, size[0] * size[1] * size[2]
        if threads % lanes and (threads > lanes or threads & (threads - 1)):
            raise ValueError(
                f"{cls.__name__} takes a block of a multiple of {lanes} threads (the warp size), or a power of two "
                f"below; got {threads}"
            )
        lanes = min(threads, lanes)
        return {
            "block_size": size, "block_threads": threads, "warp_threads": lanes, "num_warps": threads // lanes
        }  # fmt: skip

    @classmethod
    def _check_block(cls) -> None:
        trace = _trace.maybe_current()
        scope = trace.kernel if trace is not None else None
        if scope is None or scope.block_size is None or cls.extent != "block_size":
            return
        have = tuple(scope.block_size)
        # One wave of many may work alone.
        if have == cls.block_size or (cls.num_warps == 1 and have[0] > cls.block_threads):
            return
        # Another shape will do where `thread` numbers its threads one by one.
        along_y = cls.block_size[0] if cls.block_size[1] > 1 else 0
        along_z = cls.block_size[0] * cls.block_size[1] if cls.block_size[2] > 1 else 0
        numbers = (
            x + y * along_y + z * along_z for z in range(have[2]) for y in range(have[1]) for x in range(have[0])
        )
        if sorted(numbers) == list(range(cls.block_threads)):
            return
        raise ValueError(
            f"{cls.__name__} works together in a workgroup of {cls.block_size} threads, but this one has {have}: "
            f"specialise it for block_size={have}, or launch with block={cls.block_size}" + where_text()
        )

    @classmethod
    def storage_of(cls, storage: CollectiveStorage) -> Any:
        """Return the `Storage` of `SharedStorage` that was given as such, or as what its `peek()` returns.

        Raises:
            TypeError: it was not allocated for this class.
            ValueError: the workgroup has another shape than the collective.
        """
        cls._check_block()
        if getattr(type(storage), "target", None) is cls.SharedStorage:
            return storage
        if isinstance(storage, cls.SharedStorage):
            return storage_of_handles(storage)
        raise TypeError(f"storage is what an allocator gave for {cls.__name__}.SharedStorage")

    @classmethod
    def slots(cls, storage: CollectiveStorage) -> Any:
        """Return the array of the storage; `TypeError` when it was not allocated for this class."""
        return cls.storage_of(storage).slots.peek()

    @classmethod
    def items(cls, value: Any) -> list[Any]:
        """Return this thread's items as scalars; `ValueError` when there are not `items_per_thread`."""
        found = items_of(value, cls.dtype)
        if "items_per_thread" in cls.parameters and len(found) != cls.items_per_thread:
            raise ValueError(f"{cls.__name__} takes {cls.items_per_thread} items per thread, got {len(found)}")
        return found

    @classmethod
    def _call(cls, *args: Any, **kwargs: Any) -> Any:
        shared = {*dir(Collective), "make_storage"}
        own = [one for one in dir(cls) if one[0] != "_" and one not in shared and callable(getattr(cls, one))]
        raise TypeError(f"{cls.__name__} is not called itself; it has the functions {', '.join(own)}")


_made: dict[Any, Any] = {}


def _dtypes(cls: Any, key: Any) -> tuple[Any, Any]:
    if isinstance(key, tuple):
        if not cls.pairs or len(key) != 2:
            raise TypeError(f"write {cls.usage()}")
        return _number(cls, key[0]), _number(cls, key[1])
    return _number(cls, key), None


def _number(cls: Any, kind: Any) -> NumericMeta:
    if is_struct_type(kind):
        raise TypeError(
            f"{cls.__name__} takes numbers, not the struct {kind.__name__}: pack its fields into one integer "
            "(shifts and `.bitcast`), or run the collective for one field after the other"
        )
    return _class_of(kind)


def _algorithm(cls: Any, given: Sequence[Any]) -> Any:
    if cls.algorithms is None:
        return None
    default = next(iter(cls.algorithms)) if cls.algorithm is None else cls.algorithm
    chosen = given[0] if given else default
    if not isinstance(chosen, cls.algorithms):
        raise TypeError(f"expected a {cls.algorithms.__name__}, got {chosen!r}")
    if chosen in cls.unsupported:
        there = ", ".join(one.name for one in cls.algorithms if one not in cls.unsupported)
        raise NotImplementedError(f"{cls.__name__} by {chosen.name}; there are {there}")
    return chosen


def _specialise(cls: Any, key: Any) -> Any:
    items = key if isinstance(key, tuple) and not isinstance(key[0], int) else (key,)
    if cls.extent_optional and len(items) == 1:
        items = (*items, None)
    least, most = 2 + len(cls.parameters), 2 + len(cls.parameters) + (cls.algorithms is not None)
    if not least <= len(items) <= most:
        raise TypeError(f"write {cls.usage()}")
    dtype, value_dtype = _dtypes(cls, items[0])
    threads, extra = cls.threads_of(items[1]), items[2:least]
    for name, count in zip(cls.parameters, extra, strict=True):
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise ValueError(f"{name} of {cls.__name__} is a positive int, got {count!r}")
    algorithm = _algorithm(cls, items[least:])
    known = (cls, dtype, value_dtype, *threads.values(), extra, algorithm)
    found = _made.get(known)
    if found is None:
        shown = [dtype.__name__ if value_dtype is None else f"({dtype.__name__}, {value_dtype.__name__})"]
        shown.append(str(threads["block_threads"]))
        shown += [str(count) for count in extra] + ([algorithm.name] if isinstance(algorithm, enum.Enum) else [])
        namespace = {
            "dtype": dtype, "value_dtype": value_dtype, "algorithm": algorithm, **threads,
            **dict(zip(cls.parameters, extra, strict=True)),
        }  # fmt: skip
        found = _made[known] = type(cls)(f"{cls.__name__}[{', '.join(shown)}]", (cls,), namespace)
        found.SharedStorage = _storage(found)
    return found


def _storage(cls: Any) -> Any:
    make: Callable[[], Any] | None = getattr(cls, "make_storage", None)
    return slots_struct(cls.dtype, cls.storage_slots()) if make is None else make()
