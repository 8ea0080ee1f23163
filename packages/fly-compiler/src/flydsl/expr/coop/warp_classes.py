# SPDX-License-Identifier: Apache-2.0
"""`WarpReduce[dtype, width]` and `WarpScan[dtype, width]`: the functions of a wave for one type and width."""

from __future__ import annotations

from typing import Any

from .. import _trace
from ..numeric.base import _class_of, as_numeric
from ..struct import Empty
from . import warp

__all__ = ["WarpReduce", "WarpScan"]

_made: dict[Any, Any] = {}


class _WarpMeta(type):
    def __getitem__(cls, key: Any) -> Any:
        dtype, width = key if isinstance(key, tuple) else (key, None)
        lanes = warp._width(width)
        known = (cls, _class_of(dtype), lanes, _trace.target().warp_size)
        if known not in _made:
            namespace = {"dtype": known[1], "warp_threads": lanes}
            _made[known] = _WarpMeta(f"{cls.__name__}[{known[1].__name__}, {lanes}]", (cls,), namespace)
        return _made[known]

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        own = [name for name in dir(cls) if not name.startswith("_") and callable(getattr(cls, name))]
        raise TypeError(f"{cls.__name__} is not called itself; it has the functions {', '.join(own)}")

    def __repr__(cls) -> str:
        return cls.__name__


class _Warp(metaclass=_WarpMeta):
    dtype: Any = None
    warp_threads: int = 0
    SharedStorage = Empty

    @classmethod
    def _typed(cls, value: Any) -> Any:
        return as_numeric(value).to(cls.dtype)


class WarpReduce(_Warp):
    """Reductions over `width` lanes; they need no storage."""

    @classmethod
    def reduce(cls, value: Any, op: Any, *, valid_items: Any = None, storage: Any = None) -> Any:
        """As `warp_reduce`."""
        return warp.warp_reduce(cls._typed(value), op, width=cls.warp_threads, valid_items=valid_items)

    @classmethod
    def head_segmented_reduce(cls, value: Any, head_flag: Any, op: Any, *, storage: Any = None) -> Any:
        """As `warp_head_segmented_reduce`."""
        return warp.warp_head_segmented_reduce(cls._typed(value), head_flag, op, width=cls.warp_threads)

    @classmethod
    def tail_segmented_reduce(cls, value: Any, tail_flag: Any, op: Any, *, storage: Any = None) -> Any:
        """As `warp_tail_segmented_reduce`."""
        return warp.warp_tail_segmented_reduce(cls._typed(value), tail_flag, op, width=cls.warp_threads)


class WarpScan(_Warp):
    """Scans over `width` lanes; they need no storage."""

    @classmethod
    def inclusive_scan(cls, value: Any, op: Any, *, init: Any = None, storage: Any = None) -> Any:
        """As `warp_inclusive_scan`."""
        return warp.warp_inclusive_scan(cls._typed(value), op, width=cls.warp_threads, init=init)

    @classmethod
    def exclusive_scan(cls, value: Any, op: Any, *, init: Any = None, storage: Any = None) -> Any:
        """As `warp_exclusive_scan`."""
        return warp.warp_exclusive_scan(cls._typed(value), op, width=cls.warp_threads, init=init)

    @classmethod
    def scan(cls, value: Any, op: Any, *, init: Any = None, storage: Any = None) -> tuple[Any, Any]:
        """As `warp_scan`: the inclusive and the exclusive scan."""
        return warp.warp_scan(cls._typed(value), op, width=cls.warp_threads, init=init)

    @classmethod
    def scan_with_aggregate(cls, value: Any, op: Any, *, init: Any = None, storage: Any = None) -> tuple[Any, Any, Any]:
        """As `warp_scan_with_aggregate`: both scans and the combination of all lanes."""
        return warp.warp_scan_with_aggregate(cls._typed(value), op, width=cls.warp_threads, init=init)

    @classmethod
    def broadcast(cls, value: Any, source_lane: Any, *, storage: Any = None) -> Any:
        """As `warp_broadcast`."""
        return warp.warp_broadcast(cls._typed(value), source_lane, width=cls.warp_threads)
