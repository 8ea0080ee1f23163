# SPDX-License-Identifier: Apache-2.0
"""The frameworks whose tensors are arguments: one row each, which says all that differs between them.

A class is looked at once. A new framework that speaks DLPack needs no row; one that is faster asked in its own way, or
whose tensors have rules of their own, gets one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

__all__ = ["TensorKind", "is_immutable_type", "is_tensor_type", "layout_of", "tensor_kind"]

Layout = tuple[str, tuple[int, ...], tuple[int, ...]]
"""Name of the dtype, extents, and strides in elements."""


class TensorKind(NamedTuple):
    """The tensors of one framework.

    Attributes:
        name: of the framework.
        holds: tells whether objects of a class are of this kind, without importing the framework.
        layout: gives the layout of a tensor; its errors are those of `layout_of`.
        signature: gives in a fraction of a microsecond what `layout` says of dtype, rank and first axis of stride 1.
        unsigned: its integers without sign are unsigned in kernels; torch's are signed, as existing kernels expect.
        immutable: its tensors never change, which their DLPack capsules do not say.
        records: an automatic differentiation has to be told when a kernel writes to a tensor.
    """

    name: str
    holds: Callable[[type], bool]
    layout: Callable[[Any], Layout]
    signature: Callable[[Any], Any]
    unsigned: bool = True
    immutable: bool = False
    records: bool = False


class _UnitAxes(dict[tuple[int, ...], tuple[int, int]]):
    """From strides to rank and first axis of stride 1 (-1: none)."""

    def __missing__(self, strides: tuple[int, ...]) -> tuple[int, int]:
        if len(self) >= 4096:
            self.clear()
        found = self[strides] = (len(strides), strides.index(1) if 1 in strides else -1)
        return found


_unit_axes = _UnitAxes()


def _is_torch(kind: type) -> bool:
    # Another thread may be importing torch, as tvm-ffi does: until that has made the class, nothing is of it.
    tensor = getattr(sys.modules.get("torch"), "Tensor", None)
    return tensor is not None and issubclass(kind, tensor)


def _torch_layout(tensor: Any) -> Layout:
    if tensor.is_neg() or tensor.is_conj():
        raise ValueError("its memory holds the negatives or conjugates of its values: pass t.resolve_neg()")
    return str(tensor.dtype).removeprefix("torch."), tuple(tensor.shape), tuple(tensor.stride())


def _torch_signature(tensor: Any) -> Any:
    return (tensor.dtype, _unit_axes[tensor.stride()])


def _is_numpy(kind: type) -> bool:
    array = getattr(sys.modules.get("numpy"), "ndarray", None)
    return array is not None and issubclass(kind, array)


def _numpy_layout(array: Any) -> Layout:
    if hasattr(array, "mask") and hasattr(array, "filled"):
        raise ValueError("a kernel does not see the mask of a masked array: pass a.filled(value), or a.data without it")
    size, strides = array.itemsize, array.strides
    if array.size == 0:  # NumPy gives them strides of 0
        return array.dtype.name, array.shape, _row_major(array.shape)
    if any(one % size for one in strides):
        raise ValueError(f"the strides of this array, {strides} bytes, are not multiples of its {size}-byte elements")
    return array.dtype.name, array.shape, tuple(one // size for one in strides)


def _row_major(shape: Sequence[int]) -> tuple[int, ...]:
    strides = [1]
    for extent in reversed(shape[1:]):
        strides.insert(0, strides[0] * max(1, extent))
    return tuple(strides[: len(shape)])


def _numpy_signature(array: Any) -> Any:
    stride, size = array.strides, array.itemsize
    return (array.dtype, len(stride), stride.index(size) if size in stride else -1 if array.size else -2)


def _is_jax(kind: type) -> bool:
    jax = sys.modules.get("jax")
    return jax is not None and issubclass(kind, jax.Array)


def _speaks_dlpack(kind: type) -> bool:
    return hasattr(kind, "__dlpack__") and hasattr(kind, "__dlpack_device__")


def _dlpack_layout(tensor: Any) -> Layout:
    import tvm_ffi

    try:
        view = tvm_ffi.from_dlpack(tensor)
        return str(view.dtype), tuple(view.shape), tuple(view.strides)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        held = getattr(tensor, "dtype", "unknown dtype")
        raise TypeError(f"{type(tensor).__name__} of {held} cannot be passed by DLPack: {error}") from None


def _dlpack_signature(tensor: Any) -> Any:
    kind = type(tensor)
    try:
        name, _, stride = layout_of(tensor)
    except (TypeError, RuntimeError, ValueError):
        return kind  # nothing is compiled for it: `classify` says why, and which argument it is
    return ("DLPack", name, _unit_axes[stride], is_immutable_type(kind))


TENSOR_KINDS = (
    TensorKind("torch", _is_torch, _torch_layout, _torch_signature, unsigned=False, records=True),
    TensorKind("numpy", _is_numpy, _numpy_layout, _numpy_signature),
    TensorKind("jax", _is_jax, _dlpack_layout, _dlpack_signature, immutable=True),
    TensorKind("DLPack", _speaks_dlpack, _dlpack_layout, _dlpack_signature),
)
"""In the order in which they are asked; the last one takes the tensors of every framework without a row."""

_kinds: dict[type, TensorKind | None] = {}


def tensor_kind(kind: type) -> TensorKind | None:
    """Return the kind of tensor that objects of a class are, `None` for those that are no tensors."""
    try:
        return _kinds[kind]
    except KeyError:
        found = _kinds[kind] = next((one for one in TENSOR_KINDS if one.holds(kind)), None)
        return found


def is_tensor_type(kind: type) -> bool:
    """Tell whether objects of a class are passed as tensors."""
    return tensor_kind(kind) is not None


def is_immutable_type(kind: type) -> bool:
    """Tell whether tensors of a class never change."""
    found = tensor_kind(kind)
    return found is not None and found.immutable


def layout_of(tensor: Any) -> Layout:
    """Return dtype name, extents and strides (in elements) of any framework's tensor.

    Raises:
        TypeError: it is no tensor, or its framework cannot export it (a dtype that DLPack has not, deleted or spread
            over devices).
        ValueError: strides that are not multiples of the element size; memory that holds other values.
    """
    found = tensor_kind(type(tensor))
    return _dlpack_layout(tensor) if found is None else found.layout(tensor)
