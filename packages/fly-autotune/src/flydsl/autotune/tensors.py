# SPDX-License-Identifier: Apache-2.0
"""What the tuner does with tensors, of any framework: torch, numpy, or whatever behaves like one of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol, SupportsInt

__all__ = ["is_tensor", "normalize_strides", "restore", "shape_of", "snapshot", "tensors_in", "unwrapped", "zero"]


class HasShape(Protocol):
    """A tensor of any framework."""

    @property
    def shape(self) -> Iterable[SupportsInt]:
        """The extents."""
        ...


def is_tensor(value: object) -> bool:
    """Tell whether a value has a shape, a dtype and elements that can be indexed (numpy's scalars have not)."""
    return hasattr(value, "shape") and hasattr(value, "dtype") and not _is_numpy_scalar(value)


def _is_numpy_scalar(value: object) -> bool:
    cls = type(value)
    return cls.__module__ == "numpy" and hasattr(cls, "item") and not hasattr(cls, "__setitem__")


def unwrapped(value: object) -> Any:
    """The tensor inside of what `flyc.from_dlpack` made; any other value as it is."""
    inner = None if is_tensor(value) else getattr(value, "tensor", None)
    return inner if inner is not None and is_tensor(inner) else value


def tensors_in(name: str, value: object) -> Iterator[tuple[str, Any]]:
    """The tensors of an argument with their names: itself, or those inside of tuples, lists and dicts."""
    value = unwrapped(value)
    if isinstance(value, (tuple, list)):
        for index, one in enumerate(value):
            yield from tensors_in(f"{name}[{index}]", one)
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from tensors_in(f"{name}[{key!r}]", one)
    elif is_tensor(value):
        yield name, value


def shape_of(value: HasShape) -> tuple[int, ...]:
    """The extents."""
    return tuple(int(extent) for extent in value.shape)


def _strides(value: Any) -> tuple[int, ...]:
    """Strides in elements."""
    stride = getattr(value, "stride", None)
    if stride is not None:
        return tuple(int(one) for one in (stride() if callable(stride) else stride))
    in_bytes = getattr(value, "strides", None)
    if in_bytes is not None:
        return tuple(int(one) // int(value.itemsize) for one in in_bytes)
    contiguous: list[int] = []
    step = 1
    for extent in reversed(shape_of(value)):
        contiguous.append(step)
        step *= extent
    return tuple(reversed(contiguous))


def normalize_strides(value: HasShape) -> tuple[int | str, ...]:
    """The strides with each that is neither 0 nor 1 as "s": what kernels are chosen by."""
    return tuple(stride if stride in (0, 1) else "s" for stride in _strides(value))


def snapshot(name: str, value: object) -> Any:
    """A copy of a tensor.

    Raises:
        TypeError: it is no tensor that can be copied and written; `name` is the argument's.
    """
    value = unwrapped(value)
    if hasattr(value, "clone") and hasattr(value, "copy_"):
        return _values(value).clone()
    if is_tensor(value) and hasattr(value, "copy") and hasattr(value, "__setitem__"):
        return value.copy()
    raise TypeError(f"restore_value: argument '{name}' is a {type(value).__name__}, not a tensor that can be written")


def restore(tensors: Mapping[str, Any], copies: Mapping[str, Any]) -> None:
    """Write the copies back into the tensors of the same names."""
    for name, copied in copies.items():
        tensor = unwrapped(tensors[name])
        if hasattr(tensor, "copy_"):
            _values(tensor).copy_(copied)
        else:
            tensor[...] = copied


def zero(name: str, value: object) -> None:
    """Set all elements to zero.

    Raises:
        TypeError: it is no tensor that can be written; `name` is the argument's.
    """
    value = unwrapped(value)
    if hasattr(value, "zero_"):
        _values(value).zero_()
    elif is_tensor(value) and hasattr(value, "__setitem__"):
        value[...] = 0
    else:
        raise TypeError(
            f"reset_to_zero: argument '{name}' is a {type(value).__name__}, not a tensor that can be written"
        )


def _values(tensor: Any) -> Any:
    """The tensor outside of any graph of gradients: leaves that need a gradient refuse to be written."""
    return tensor.detach() if hasattr(tensor, "detach") else tensor
